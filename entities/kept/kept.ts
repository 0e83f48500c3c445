// Figures that are kept in a table, because to count or sum them for every answer would cost more than the rest of it. How one
// is written and looked over; which there are is figures.ts. Whoever writes what a figure follows from also writes the figure,
// in the same transaction.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../platform/database.ts';

export interface Kept {
  /** Where it is kept. */
  table: string;
  /** The primary key beside `account_id`. */
  key: readonly string[];
  values: readonly string[];
  /** What the table has to hold, worked out from the records: a query with `account_id`, the key and the values. */
  computed(accountId: number): RawBuilder<unknown>;
  /** Statements that make others who write the table wait: the figure is worked out after them. */
  hold?(accountId: number): readonly RawBuilder<unknown>[];
}

/** A row that is not what it has to be; null where there is none, or should be none. */
export interface Difference {
  table: string;
  key: Record<string, string | number>;
  kept: Record<string, number> | null;
  computed: Record<string, number> | null;
}

const columns = (names: readonly string[], table?: string) =>
  sql.join(names.map((name) => sql.ref(table ? `${table}.${name}` : name)));

/** Works a figure of a company out anew; rows that are right stay untouched. The transaction holds the company's row. */
export async function keep(db: Db, accountId: number, kept: Kept): Promise<void> {
  const key = ['account_id', ...kept.key];
  const all = columns([...key, ...kept.values]);
  const set = kept.values.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
  for (const statement of kept.hold?.(accountId) ?? []) await statement.execute(db);
  await sql`with computed as materialized (${kept.computed(accountId)}),
    gone as (
      delete from ${sql.table(kept.table)} k
      where k.account_id = ${accountId} and (${columns(key, 'k')}) not in (select ${columns(key)} from computed))
    insert into ${sql.table(kept.table)} as k (${all})
    select ${all} from computed order by ${columns(key)}
    on conflict (${columns(key)}) do update
      set ${sql.join(set)}, version = k.version + 1, updated_at = now()
      where (${columns(kept.values, 'k')}) is distinct from (${columns(kept.values, 'excluded')})`.execute(db);
}

/** The rows of a figure that differ from what it follows from. */
export async function differences(db: Db, accountId: number, { table, ...kept }: Kept): Promise<Difference[]> {
  const key = ['account_id', ...kept.key];
  const object = (side: string, names: readonly string[]) =>
    sql`json_build_object(${sql.join(names.flatMap((name) => [sql.lit(name), sql.ref(`${side}.${name}`)]))})`;
  const { rows } = await sql<Omit<Difference, 'table'>>`
    with d as (
      select ${columns(key)},
        case when k.account_id is not null then ${object('k', kept.values)} end as kept,
        case when c.account_id is not null then ${object('c', kept.values)} end as computed
      from (select ${columns([...key, ...kept.values])} from ${sql.table(table)} where account_id = ${accountId}) k
      full join (${kept.computed(accountId)}) c using (${columns(key)})
      where (${columns(kept.values, 'k')}) is distinct from (${columns(kept.values, 'c')}))
    select ${kept.key.length > 0 ? object('d', kept.key) : sql`'{}'::json`} as key, kept, computed
    from d order by ${columns(key)}`.execute(db);
  return rows.map((row) => ({ table, ...row }));
}
