// The audit of access: keys, people, connections and links to documents, by pages and commands. What changed of a company's data is in its journal.
import type { Db } from './database.ts';

/** The interface through which a call arrived. */
export type Door = 'v1' | 'v0' | 'trpc' | 'mcp' | 'pages' | 'command' | 'schedule';

/** Who made a write. */
export interface Author {
  /** `user:1000000001`, `command`, `albaran renew`, `schedule`. */
  actor: string;
  door: Door;
  requestId: string;
}

/** What was written of access. */
export interface Written {
  operation: string;
  kind: 'apiKey' | 'user' | 'grant' | 'webhook' | 'documentLink';
  id: number;
}

/** Records a write of access in the audit, in the same transaction as the write. */
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
