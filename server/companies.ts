// Finds companies by slug, and lists all of them, for commands. Row-level security shows each statement at most one company, so the
// list queries them by number, one at a time, in round trips of many.
import { type Expression, type SqlBool, sql } from 'kysely';
import { type Database, queries } from '../platform/database.ts';
import { Failure } from './failure.ts';

/** A company's row. */
export interface Company {
  id: number;
  slug: string;
  name: string;
  time_zone: string;
  quota_per_minute: number | null;
  automatic_issuing_since: string | null;
}

const COLUMNS = ['id', 'slug', 'name', 'time_zone', 'quota_per_minute', 'automatic_issuing_since'] as const;
const AT_ONCE = 100;

/** The company with this slug, if there is one. */
export const findCompany = (database: Database, slug: string): Promise<Company | undefined> =>
  database.lookup({ account_slug: slug }, (db) =>
    db.selectFrom('accounts').select(COLUMNS).where('slug', '=', slug).executeTakeFirst(),
  );

/** The company with this slug. Throws a Failure if there is none. */
export async function companyOf(database: Database, slug: string): Promise<Company> {
  const company = await findCompany(database, slug);
  if (!company) throw new Failure(`There is no company with the slug ${JSON.stringify(slug)}`);
  return company;
}

/** Every company, or each for which the condition holds, by number. */
export async function* companies(
  database: Database,
  condition: (id: number) => Expression<SqlBool> = () => sql.lit(true),
): AsyncGenerator<Company> {
  const { rows } = await sql<{ last: number | null }>`select last_value as last from pg_sequences
    where schemaname = 'public' and sequencename = 'accounts_id_seq'`.execute(database.service);
  const last = rows[0]?.last ?? 0;
  for (let from = 1; from <= last; from += AT_ONCE) {
    const ids = Array.from({ length: Math.min(AT_ONCE, last - from + 1) }, (_, offset) => from + offset);
    yield* await database.inEach(ids, (id) =>
      queries.selectFrom('accounts').select(COLUMNS).where('id', '=', id).where(condition(id)).compile(),
    );
  }
}
