// Pages that PostgreSQL writes as the JSON text a caller gets, in one statement with their total: this process neither reads
// nor builds their rows. For lists that are asked for often and long; rows.ts is for all others.
import { type Expression, sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { KINDS, type Kind } from '../../platform/ids.ts';
import { JsonText } from '../../platform/json-text.ts';

/** An SQL expression, never null, for a piece of JSON text. */
export class JsonSql {
  readonly sql: string;

  constructor(sql: string) {
    this.sql = sql;
  }
}

/** An id, which is sealed on its way out; `none` where it is null. ENV-08 */
export const idOf = (kind: Kind, expression: string, none: 'null' | '""' = '""') =>
  new JsonSql(`coalesce(E'\\t${KINDS[kind].code}:' || (${expression}) || E'\\t', '${none}')`);

/** A boolean; null where it is null. */
export const flag = (expression: string) => new JsonSql(`coalesce((${expression})::text, 'null')`);

/** A decimal number, in its shortest form; null where it is null. */
export const decimal = (expression: string) => new JsonSql(`coalesce(trim_scale(${expression})::text, 'null')`);

/** A text; null where it is null. */
export const text = (expression: string) => new JsonSql(`coalesce(to_json(${expression})::text, 'null')`);

/** A text in which nothing is to be escaped, such as a date; null where it is null. */
export const bare = (expression: string) => new JsonSql(`coalesce('"' || (${expression}) || '"', 'null')`);

type Properties<Value> = {
  [Name in keyof Value]: JsonSql | (Value[Name] extends object ? Properties<Value[Name]> : never);
};

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** An object with these properties, in their order. */
export function jsonOf<Value>(properties: Properties<Value>): JsonSql {
  const pieces = Object.entries<JsonSql | Properties<unknown>>(properties).map(([name, value], index) => {
    const { sql } = value instanceof JsonSql ? value : jsonOf(value);
    return `${literal(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`)} || ${sql}`;
  });
  return new JsonSql(`${pieces.join(' || ')} || '}'`);
}

/**
 * A total and a page of rows. `total`: a query of one number, of which none is zero. `rows`: the page in its order. `row`: a row
 * of it as the caller gets it. `before`: what the others stand on, `with ...`.
 */
export async function jsonPage<Row>(
  db: Db,
  query: { before?: Expression<unknown>; total: Expression<unknown>; rows: Expression<unknown>; row: JsonSql },
): Promise<{ total: number; rows: JsonText<Row[]> }> {
  const { before = sql``, total, rows, row } = query;
  const { rows: found } = await sql<{ total: number; page: string }>`${before}
    select coalesce((${total}), 0) as total,
      (select coalesce(string_agg(${sql.raw(row.sql)}, ','), '') from (${rows}) as r) as page`.execute(db);
  const [{ total: counted, page } = { total: 0, page: '' }] = found;
  return { total: counted, rows: new JsonText(`[${page}]`) };
}
