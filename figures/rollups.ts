// Rollups: counts and sums stored in a table, because computing them for every answer would cost too much. This file recomputes
// and checks them; figures.ts defines them. Code that writes a rollup's source records also updates the rollup, in the same
// transaction.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../platform/database.ts';

export interface Rollup {
  table: string;
  /** The primary key without `account_id`. */
  key: readonly string[];
  values: readonly string[];
  /** The rows that the table should hold, computed from the records: a query with `account_id`, the key and the values. */
  computed(accountId: number): RawBuilder<unknown>;
  /** Statements that block other writers of the table while the rollup is recomputed. */
  lock?(accountId: number): readonly RawBuilder<unknown>[];
}

/** A wrong row. `kept` is null where the row is missing, `computed` where it should not exist. */
export interface Difference {
  table: string;
  key: Record<string, string | number>;
  kept: Record<string, number> | null;
  computed: Record<string, number> | null;
}

const columns = (names: readonly string[], table?: string) =>
  sql.join(names.map((name) => sql.ref(table ? `${table}.${name}` : name)));

/** Recomputes a company's rollup and writes only the rows that changed. The transaction must hold a lock on the company's row. */
export async function recompute(db: Db, accountId: number, rollup: Rollup): Promise<void> {
  const key = ['account_id', ...rollup.key];
  const all = columns([...key, ...rollup.values]);
  const set = rollup.values.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
  for (const statement of rollup.lock?.(accountId) ?? []) await statement.execute(db);
  await sql`with computed as materialized (${rollup.computed(accountId)}),
    gone as (
      delete from ${sql.table(rollup.table)} k
      where k.account_id = ${accountId} and (${columns(key, 'k')}) not in (select ${columns(key)} from computed))
    insert into ${sql.table(rollup.table)} as k (${all})
    select ${all} from computed order by ${columns(key)}
    on conflict (${columns(key)}) do update
      set ${sql.join(set)}, version = k.version + 1, updated_at = excluded.updated_at
      where (${columns(rollup.values, 'k')}) is distinct from (${columns(rollup.values, 'excluded')})
    returning 1`.execute(db);
}

/** The stored rows that differ from what the records give. */
export async function differences(db: Db, accountId: number, { table, ...rollup }: Rollup): Promise<Difference[]> {
  const key = ['account_id', ...rollup.key];
  const object = (side: string, names: readonly string[]) =>
    sql`json_build_object(${sql.join(names.flatMap((name) => [sql.lit(name), sql.ref(`${side}.${name}`)]))})`;
  const { rows } = await sql<Omit<Difference, 'table'>>`
    with d as (
      select ${columns(key)},
        case when k.account_id is not null then ${object('k', rollup.values)} end as kept,
        case when c.account_id is not null then ${object('c', rollup.values)} end as computed
      from (select ${columns([...key, ...rollup.values])} from ${sql.table(table)} where account_id = ${accountId}) k
      full join (${rollup.computed(accountId)}) c using (${columns(key)})
      where (${columns(rollup.values, 'k')}) is distinct from (${columns(rollup.values, 'c')}))
    select ${rollup.key.length > 0 ? object('d', rollup.key) : sql`'{}'::json`} as key, kept, computed
    from d order by ${columns(key)}`.execute(db);
  return rows.map((row) => ({ table, ...row }));
}
