// The statements that write the rows of a collection's table or of a table of inner records.
import type { Database, Db } from '../platform/database.ts';
import type { Field, Fields, Row } from './fields.ts';
import { rows } from './statements.ts';

/** Which columns of a table are written. */
export interface Definition {
  table: string;
  fields: Fields;
  columns: readonly string[];
  /** The column that identifies a row, instead of its id. */
  key: string | undefined;
}

/** The service assigns ids above this (ID-06), so only an imported id beyond it can collide with the sequence. */
export const FIRST_ASSIGNED = 1_000_000_000;
/** How far a sequence jumps past an imported id: room for ids that other calls draw meanwhile. */
const MARGIN = 1000;

/** Inserts new rows. `entered` is a column that gets the day of the import. */
export async function insertRows(
  db: Db,
  accountId: number,
  { table, fields, columns }: Definition,
  list: readonly Row[],
  entered?: { column: string; day: string },
): Promise<void> {
  if (list.length === 0) return;
  const otherwise = merged(fields, 'otherwise');
  const names = ['id', ...columns];
  const values = names.map((name) => (otherwise[name] ? `coalesce(n.${name}, ${otherwise[name]})` : `n.${name}`));
  await rows(
    db,
    `insert into ${table} (account_id, ${names.join(', ')}${entered ? `, ${entered.column}` : ''})
     select $1, ${values.join(', ')}${entered ? ', $3::date' : ''} from json_populate_recordset(null::${table}, $2) n
     returning id`,
    [accountId, JSON.stringify(list), ...(entered ? [entered.day] : [])],
  );
}

/** Updates existing rows, except those that are already equal. Returns the ids of the changed ones. */
export async function updateRows(
  db: Db,
  accountId: number,
  { table, fields, columns, key }: Definition,
  list: readonly Row[],
  timeZone: string,
): Promise<number[]> {
  if (list.length === 0) return [];
  const otherwise = merged(fields, 'otherwise');
  const follows = merged(fields, 'follows');
  const inexact = merged(fields, 'inexact');
  const seen = {
    instant: (sql: string) => `date_trunc('second', ${sql} at time zone $3)`,
    number: (sql: string) => `${sql}::float8`,
  };
  const names = key ? ['id', ...columns.filter((name) => name !== key)] : columns;
  const parts = names.map((name) => {
    const leftOut = follows[name] ?? (otherwise[name] && `t.${name}`);
    const given = leftOut ? `coalesce(n.${name}, ${leftOut})` : `n.${name}`;
    const kind = inexact[name];
    if (!kind) return { set: `${name} = ${given}`, differs: `t.${name} is distinct from ${given}` };
    const differs = `${seen[kind](`t.${name}`)} is distinct from ${seen[kind](given)}`;
    return { set: `${name} = case when ${differs} then ${given} else t.${name} end`, differs };
  });
  const zone = Object.values(inexact).includes('instant') ? [timeZone] : [];
  const changed = await rows<{ id: number }>(
    db,
    `update ${table} t set ${parts.map(({ set }) => set).join(', ')}, version = t.version + 1, updated_at = now()
     from json_populate_recordset(null::${table}, $2) n
     where t.account_id = $1 and t.${key ?? 'id'} = n.${key ?? 'id'}
       and (${parts.map(({ differs }) => differs).join(' or ')})
     returning t.id`,
    [accountId, JSON.stringify(list), ...zone],
  );
  return changed.map(({ id }) => id);
}

/** Marks rows as changed of which only the inner records were. */
export async function touchRows(db: Db, accountId: number, table: string, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await rows(
    db,
    `update ${table} set version = version + 1, updated_at = now() where account_id = $1 and id = any($2::bigint[])`,
    [accountId, ids],
  );
}

/** Deletes rows by id. */
export async function deleteRows(db: Db, accountId: number, table: string, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await rows(db, `delete from ${table} where account_id = $1 and id = any($2::bigint[])`, [accountId, ids]);
}

/**
 * Sets the ids of rows without one (0) from the table's sequence. First moves the sequence past the ids of the file, `kept`; without
 * a `database` none of them is new there.
 */
export async function assignIds(
  database: Database | undefined,
  db: Db,
  table: string,
  unnumbered: readonly { id: number }[],
  kept: readonly number[],
): Promise<void> {
  const highest = kept.reduce((high, id) => Math.max(high, id), 0);
  if (database && highest > FIRST_ASSIGNED) {
    // On the pool's own connection: the tenant role may draw from sequences but not set them. A failed import leaves a gap.
    await database.pool.query(
      `select setval('${table}_id_seq', $1::bigint + ${MARGIN}) from ${table}_id_seq where last_value <= $1::bigint`,
      [highest],
    );
  }
  const drawn = await drawIds(db, table, unnumbered.length);
  for (const [index, row] of unnumbered.entries()) row.id = drawn[index] ?? 0;
}

/** The next ids of a table's sequence. Drawn by a statement of their own: no other may where the database is spread. */
async function drawIds(db: Db, table: string, count: number): Promise<number[]> {
  if (count === 0) return [];
  const drawn = await rows<{ id: number }>(
    db,
    `select nextval('${table}_id_seq') as id from generate_series(1, $1::int)`,
    [count],
  );
  return drawn.map(({ id }) => id);
}

/** Gives new ids to standard records whose ids the file gives to other keys. No other row refers to them by id. */
export async function renumberOthers(
  db: Db,
  accountId: number,
  table: string,
  keyColumn: string,
  claims: readonly { id: number; key: string }[],
): Promise<void> {
  const others = await rows<{ id: number }>(
    db,
    `select t.id from ${table} t join json_to_recordset($2) as n(id bigint, key text) on n.id = t.id
     where t.account_id = $1 and t.${keyColumn}::text <> n.key`,
    [accountId, JSON.stringify(claims)],
  );
  const drawn = await drawIds(db, table, others.length);
  if (drawn.length === 0) return;
  await rows(
    db,
    `update ${table} t set id = n.drawn from json_to_recordset($2) as n(id bigint, drawn bigint)
     where t.account_id = $1 and t.id = n.id`,
    [accountId, JSON.stringify(others.map(({ id }, index) => ({ id, drawn: drawn[index] })))],
  );
}

/** One property of all the fields, by column. */
const merged = <Part extends 'otherwise' | 'follows' | 'inexact'>(
  fields: Fields,
  part: Part,
): NonNullable<Field[Part]> => Object.assign({}, ...Object.values(fields).map((field) => field[part] ?? {}));
