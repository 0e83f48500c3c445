// Seals: what may not change any more is chained, a company and a table of records each. Each seal is the SHA-256 of an entry, canonical
// JSON that holds the seal before it: so nothing before the last can be changed, left out or put in unseen. The entry holds the hash of
// what the record says: so a person can be removed from that, and the chain still be followed. DOC-01
import { type RawBuilder, sql } from 'kysely';
import type { SealAction, SealedTable } from '../entities/values.ts';
import { canonicalText, jsonObjectOf, jsonTextOf, jsonWhole } from './canonical-json.ts';
import type { Db } from './database.ts';
import { fixedQuery, type Marks } from './fixed-query.ts';
import type { Origin } from './journal.ts';

/** The company whose chains seals are added to, and who adds them. */
export interface Chain {
  accountId: number;
  origin: Pick<Origin, 'actor' | 'door' | 'operation' | 'now'>;
}

/** A document, and what it is to be sealed for. */
export interface Sealing {
  table: SealedTable;
  id: number;
  action: SealAction;
  reason?: string;
  /** The document that the action made. */
  related?: { table: SealedTable; id: number };
}

/** Columns of the rows that are sealed, in their order: see the table `seals`. `place` orders them. */
export interface SealedRow {
  place: number;
  record_id: number;
  action: string;
  /** The record that the action made. */
  related_table: string | null;
  related_id: number | null;
  /** Of what happened to a record: the seal over what it says. */
  subject: string | null;
  /** Canonical JSON of what the record says, or of what happened to it. */
  content: string;
}

/** SQL for the text that a seal is made over. */
const entryOf = (table: RawBuilder<unknown>, before: RawBuilder<unknown>, n: RawBuilder<unknown>, row: string) => {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  const entry = jsonObjectOf({
    n: jsonWhole(n),
    tipo: jsonTextOf(table),
    anterior: jsonTextOf(before),
    accion: jsonTextOf(column('action')),
    momento: jsonTextOf(sql`to_char(${column('sealed_at')} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`),
    autor: jsonTextOf(column('actor')),
    puerta: jsonTextOf(column('door')),
    operacion: jsonTextOf(column('operation')),
    documento: jsonTextOf(column('subject')),
    contenido: jsonTextOf(column('content_hash')),
  });
  return canonicalText(entry);
};

const hashOf = (text: RawBuilder<unknown>) => sql<string>`encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`;

/** What every seal of a statement has in common. */
interface Sealed extends Pick<Origin, 'actor' | 'door' | 'operation'> {
  accountId: number;
  /** The moment. */
  now: string;
}

/**
 * How seals are added to the chain of a table's records, for the rows that a query gives (`SealedRow`); `build` gets the marks of
 * `More`, and of `accountId`. Sent at once, after what they are made from was written; from there to the commit, others that seal in
 * this chain wait.
 */
export function sealAppender<More extends object>(
  table: string,
  build: (values: Marks<More & Sealed>) => RawBuilder<SealedRow>,
): (db: Db, chain: Chain, more: More) => Promise<unknown> {
  const name = sql.lit(table);
  const chainOf = (accountId: RawBuilder<number>) => sql`account_id = ${accountId} and record_table = ${name}`;
  const locked = fixedQuery<Pick<Sealed, 'accountId'>>(
    ({ accountId }) => sql`
      insert into seal_chains (account_id, record_table) values (${accountId}, ${name})
      on conflict (account_id, record_table) do update set version = seal_chains.version + 1`,
  );
  // A later statement, since it sees what was committed while the first one waited.
  const added = fixedQuery<More & Sealed>((values) => {
    const { accountId, actor, door, operation, now } = values;
    return sql`
      insert into seals (account_id, record_table, n, record_id, action, sealed_at, actor, door, operation, related_table, related_id,
        subject, content, content_hash, previous, hash)
      with recursive head as (select n, hash from seal_chains where ${chainOf(accountId)}),
      item as materialized (
        select i.*, ${hashOf(sql`i.content`)} as content_hash, row_number() over (order by i.place) as ordinal, ${actor}::text as actor, ${door}::text as door,
          ${operation}::text as operation, ${now}::timestamptz as sealed_at
        from (${build(values)}) i),
      link (ordinal, previous, hash) as (
        select 0::bigint, null::text, head.hash from head
        union all
        select e.ordinal, link.hash, ${hashOf(sql`e.entry`)}
        from link cross join head join lateral (
          select item.ordinal, ${entryOf(name, sql`link.hash`, sql`head.n + item.ordinal`, 'item')} as entry
          from item where item.ordinal = link.ordinal + 1) e on true)
      select ${accountId}::bigint, ${name}::text, head.n + item.ordinal, item.record_id, item.action, item.sealed_at, item.actor,
        item.door, item.operation, item.related_table, item.related_id, item.subject, item.content, item.content_hash, link.previous,
        link.hash
      from item join link on link.ordinal = item.ordinal cross join head
      order by item.ordinal
      returning n`;
  });
  const noted = fixedQuery<Pick<Sealed, 'accountId'>>(
    ({ accountId }) => sql`
      update seal_chains c set n = s.n, hash = s.hash
      from (select n, hash from seals where ${chainOf(accountId)} order by n desc limit 1) s
      where c.account_id = ${accountId} and c.record_table = ${name}`,
  );
  return (db, { accountId, origin: { actor, door, operation, now } }, more) =>
    Promise.all([
      db.executeQuery(locked({ accountId })),
      db.executeQuery(added({ ...more, accountId, actor, door, operation, now: now.toString() })),
      db.executeQuery(noted({ accountId })),
    ]);
}

/**
 * SQL for the seals of a chain that are not what they should be: changed, or not after the one before. `records`: SQL for the ids of
 * those that are looked at; all without it.
 */
export function brokenSeals(accountId: number, table: string, records?: RawBuilder<unknown>) {
  const recomputed = hashOf(entryOf(sql`s.record_table`, sql`s.previous`, sql`s.n`, 's'));
  return sql<{ n: number; record_id: number; fault: 'seal' | 'gap' }>`
    select b.n, b.record_id, b.fault from (
      select s.n, s.record_id, case when s.hash is distinct from ${recomputed} or ${hashOf(sql`s.content`)} <> s.content_hash then 'seal'
        when s.n <> coalesce(s.n_before, 0) + 1 or s.previous is distinct from s.hash_before then 'gap' end as fault
      from (
        select s.*, lag(s.n) over (order by s.n) as n_before, lag(s.hash) over (order by s.n) as hash_before
        from seals s where s.account_id = ${accountId} and s.record_table = ${table}) s
      ${records ? sql`where s.record_id in ${records}` : sql``}) b
    where b.fault is not null order by b.n`;
}

/** SQL for a row where a chain does not end with its last seal. */
export const brokenChain = (accountId: number, table: string) => sql<{ n: number }>`
  select c.n from seal_chains c
  left join lateral (select s.n, s.hash from seals s where s.account_id = ${accountId} and s.record_table = ${table}
    order by s.n desc limit 1) s on true
  where c.account_id = ${accountId} and c.record_table = ${table} and (c.n, c.hash) is distinct from (coalesce(s.n, 0), s.hash)`;
