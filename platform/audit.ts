// The audit of writes: by operations, pages and commands.
import { CompiledQuery } from 'kysely';
import type { Db } from './database.ts';
import { keepAnswer } from './idempotency.ts';
import { KINDS, type Kind } from './ids.ts';

/** The interface through which a call arrived. */
export type Door = 'v1' | 'v0' | 'trpc' | 'mcp' | 'pages' | 'command' | 'schedule';

/** Who made a write. */
export interface Author {
  /** `user:1000000001`, `command`, `albaran renew`, `schedule`. */
  actor: string;
  door: Door;
  requestId: string;
}

/** What was written. */
export interface Written {
  operation: string;
  kind:
    | 'account'
    | 'apiKey'
    | 'user'
    | 'grant'
    | 'deliveryNote'
    | 'recurring'
    | 'employee'
    | 'contact'
    | 'client'
    | 'supplier';
  id: number;
}

/** Records a write in the audit, in the same transaction as the write. */
export async function noteWrite(
  db: Db,
  accountId: number,
  { actor, door, requestId }: Author,
  { operation, kind, id }: Written,
): Promise<void> {
  await db
    .insertInto('audit_records')
    .values({
      account_id: accountId,
      actor,
      door,
      operation,
      record_kind: kind,
      record_id: id,
      request_id: requestId,
    })
    .execute();
}

/** An operation's call, as its audit records name it. */
export interface Audited {
  actor: string;
  door: Door;
  operation: string;
  requestId: string;
}

export interface WrittenRecord {
  kind: Kind | 'account';
  id: number;
  /** Whether this call wrote it is known to the database alone: there is a record with this id if it did. */
  ifThere: boolean;
}

/** More records than these are given as lists: each is there. */
const FEW = 20;

/** The statement that records what a call wrote, and stores its answer under its idempotency key where that is `kept` with it. */
export function auditRecords(
  accountId: number,
  { actor, door, operation, requestId }: Audited,
  written: readonly WrittenRecord[],
  kept?: { key: string; answer: string },
): CompiledQuery {
  const values: unknown[] = [accountId, actor, door, operation, requestId];
  const keptAt = values.length + 1;
  if (kept) values.push(kept.key, kept.answer);
  const keeping = kept ? `with ${keepAnswer(keptAt)} ` : '';
  const head = `${keeping}insert into audit_records (account_id, actor, door, operation, request_id, record_kind, record_id)`;
  if (written.length > FEW) {
    const first =
      values.push(
        written.map(({ kind }) => kind),
        written.map(({ id }) => id),
      ) - 1;
    return CompiledQuery.raw(
      `${head} select $1::bigint, $2, $3, $4, $5, n.kind, n.id
      from unnest($${first}::text[], $${first + 1}::bigint[]) as n (kind, id)
      returning 1`,
      values,
    );
  }
  const records = written.map(({ kind, id, ifThere }) => {
    const first = values.push(kind, id) - 1;
    const record = `select $1::bigint, $2, $3, $4, $5, $${first}, $${first + 1}::bigint`;
    return ifThere && kind !== 'account'
      ? `${record} from ${KINDS[kind].table} r where r.account_id = $1 and r.id = $${first + 1}::bigint`
      : record;
  });
  return CompiledQuery.raw(
    `${head}
    ${records.join(' union all ')}
    returning 1`,
    values,
  );
}
