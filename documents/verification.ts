// Whether sealed documents still say what they said, and their chains are whole. DOC-01
import { type RawBuilder, sql } from 'kysely';
import { SEALED_TABLES, type SealedTable } from '../entities/values.ts';
import type { Db } from '../platform/database.ts';
import { brokenChain, brokenSeals } from '../platform/seals.ts';
import { brokenRegisters } from './registers.ts';
import { contentOf, lastAction, lastSaying, sayingOf, sealedAnswer } from './sealed-content.ts';

/** What is wrong with a document or its chain. */
export const FAULTS = [
  'content',
  'annulment',
  'answer',
  'deleted',
  'seal',
  'gap',
  'end',
  'register',
  'registers',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface Failure {
  table: SealedTable;
  /** Null where a chain lacks its end. */
  id: number | null;
  number: string | null;
  fault: Fault;
}

export interface Verification {
  documents: number;
  seals: number;
  /** Documents that have a seal, and no failure. */
  right: number;
  /** Registers of invoices for the tax agency. */
  registers: number;
  /** In the order of their chains, at most `limit`. */
  failures: Failure[];
}

/** Of documents `d`, whose days are the range's: all without one. */
export interface VerificationScope {
  tables?: readonly SealedTable[];
  from?: string | undefined;
  to?: string | undefined;
  limit: number;
}

/** Recomputes every seal, and compares what documents say with what was sealed. Amounts to a read of all of them. */
export async function verifyDocuments(
  db: Db,
  accountId: number,
  { tables = SEALED_TABLES, from, to, limit }: VerificationScope,
): Promise<Verification> {
  const found: Verification = { documents: 0, seals: 0, right: 0, registers: 0, failures: [] };
  for (const table of tables) {
    const one = await verifyTable(db, accountId, table, { from, to });
    found.documents += one.documents;
    found.seals += one.seals;
    found.right += one.right;
    found.registers += one.registers;
    found.failures.push(...one.failures.slice(0, limit - found.failures.length));
  }
  return found;
}

async function verifyTable(
  db: Db,
  accountId: number,
  table: SealedTable,
  { from, to }: Pick<VerificationScope, 'from' | 'to'>,
): Promise<Verification> {
  const within = (day: RawBuilder<unknown>) =>
    sql`(${from ?? null}::date is null or ${day} >= ${from ?? null}::date)
      and (${to ?? null}::date is null or ${day} <= ${to ?? null}::date)`;
  const ofTable = sql`s.account_id = ${accountId} and s.record_table = ${table}`;
  const content = lastSaying(accountId, table, sql`d.id`, 'content');
  const state =
    table === 'estimates'
      ? sql`case when ${sealedAnswer(accountId, sql`d.id`)} <> d.state then 'answer' end`
      : sql`case when (d.annulled_at is not null) <> (${lastAction(accountId, table, sql`d.id`, ['annul'])} is not null)
          then 'annulment' end`;
  const selected = sql`(select d.id from ${sql.table(table)} d where d.account_id = ${accountId} and ${within(sql`d.date`)})`;
  const { rows: documents } = await sql<{ documents: number; sealed: number; seals: number }>`
    select count(*)::int as documents,
      count(*) filter (where exists (select from seals s where ${ofTable} and s.record_id = d.id))::int as sealed,
      coalesce(sum((select count(*) from seals s where ${ofTable} and s.record_id = d.id)), 0)::int as seals
    from ${sql.table(table)} d where d.account_id = ${accountId} and ${within(sql`d.date`)}`.execute(db);
  const { rows: changed } = await sql<{ id: number; number: string | null; fault: Fault }>`
    select v.id, v.number, v.fault from (
      select d.id, d.number, case when ${sayingOf(sql`d.sealed`)} is distinct from ${sayingOf(sql`d.content`)} then 'content'
        else ${state} end as fault
      from (
        select d.*, c.content, ${content} as sealed, ${lastSaying(accountId, table, sql`d.id`, 'hash')} as seal
        from (${contentOf(table, accountId, within(sql`d.date`))}) c
        join ${sql.table(table)} d on d.account_id = ${accountId} and d.id = c.id) d
      where d.seal is not null) v
    where v.fault is not null order by v.id`.execute(db);
  const { rows: seals } = await brokenSeals(
    accountId,
    table,
    from === undefined && to === undefined ? undefined : selected,
  ).execute(db);
  const { rows: deleted } = await sql<{ id: number; number: string | null }>`
    select distinct s.record_id as id, s.content::jsonb ->> 'numero' as number from seals s
    where ${ofTable} and s.content is not null and ${within(sql`(s.content::jsonb ->> 'fecha')::date`)}
      and not exists (select from ${sql.table(table)} d where d.account_id = ${accountId} and d.id = s.record_id)
    order by 1`.execute(db);
  const { rows: ends } = await brokenChain(accountId, table).execute(db);
  const { registers, failures: ofRegisters } =
    table === 'invoices' ? await verifyRegisters(db, accountId, selected) : { registers: 0, failures: [] };
  const failures: Failure[] = [
    ...seals.map(({ record_id: id, fault }) => ({ table, id, number: null, fault })),
    ...changed.map((one) => ({ table, ...one })),
    ...deleted.map((one) => ({ table, ...one, fault: 'deleted' as const })),
    ...ends.map(() => ({ table, id: null, number: null, fault: 'end' as const })),
    ...ofRegisters,
  ];
  const wrong = new Set(failures.map(({ id }) => id));
  const { documents: count, sealed, seals: sealCount } = documents[0] ?? { documents: 0, sealed: 0, seals: 0 };
  const numbered = await withNumbers(db, accountId, table, failures);
  const right = Math.max(0, sealed - wrong.size);
  return { documents: count, seals: sealCount, right, registers, failures: numbered };
}

/** A chain is followed whole, whatever the range: it is of invoices of all days. */
async function verifyRegisters(db: Db, accountId: number, selected: RawBuilder<unknown>) {
  const { registers, broken, endIsLost } = await brokenRegisters(db, accountId);
  const { rows } = await sql<{ id: number }>`
    select i.id from invoices i where i.account_id = ${accountId} and i.id = any(${[...broken]}::bigint[])
      and i.id in ${selected} order by i.id`.execute(db);
  const failures: Failure[] = rows.map(({ id }) => ({ table: 'invoices', id, number: null, fault: 'register' }));
  if (endIsLost) failures.push({ table: 'invoices', id: null, number: null, fault: 'registers' });
  return { registers, failures };
}

/** The numbers of documents whose seals are wrong, one failure a document. */
async function withNumbers(
  db: Db,
  accountId: number,
  table: SealedTable,
  failures: readonly Failure[],
): Promise<Failure[]> {
  const seen = new Set<number | null>();
  const first = failures.filter(({ id }) => !seen.has(id) && seen.add(id));
  const ids = first.flatMap(({ id, number }) => (id !== null && number === null ? [id] : []));
  if (ids.length === 0) return first;
  const { rows } = await sql<{ id: number; number: string | null }>`
    select d.id, d.number from ${sql.table(table)} d where d.account_id = ${accountId} and d.id = any(${ids}::bigint[])`.execute(
    db,
  );
  const numbers = new Map(rows.map(({ id, number }) => [id, number]));
  return first.map((failure) =>
    failure.id === null ? failure : { ...failure, number: failure.number ?? numbers.get(failure.id) ?? null },
  );
}
