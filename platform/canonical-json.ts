// SQL for canonical JSON (RFC 8785): members in the order of their names, no spaces, numbers that must be exact as text. The same data
// are the same text, which is what a seal is made over. PostgreSQL writes rows as JSON without spaces, and escapes as RFC 8785 asks.
import { type RawBuilder, sql } from 'kysely';

/** SQL for a value of an object or a list: a text, a whole number, or `json`. SQL's null is JSON's. */
export type JsonSql = RawBuilder<unknown>;

/** A text or null. */
export const jsonTextOf = (value: RawBuilder<unknown>): JsonSql => sql`(${value})::text`;

/** An exact decimal as text without zeros at its end, or null. */
export const jsonDecimal = (value: RawBuilder<unknown>): JsonSql => jsonTextOf(sql`trim_scale(${value})`);

/** An amount as text with two decimals, or null. */
export const jsonCents = (value: RawBuilder<unknown>): JsonSql => jsonTextOf(sql`round(${value}, 2)`);

/** A whole number as such. */
export const jsonWhole = (value: RawBuilder<unknown>): JsonSql => sql`(${value})::bigint`;

export const JSON_NULL: JsonSql = sql`null::text`;

/** An object, `json`; its members may stand in any order. */
export function jsonObjectOf(members: Readonly<Record<string, JsonSql>>): RawBuilder<unknown> {
  const columns = Object.entries(members)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => sql`${member} as ${sql.id(name)}`);
  return sql`(select row_to_json(o) from (select ${sql.join(columns)}) o)`;
}

/** The same without the members that are null. */
export const jsonFilledOf = (members: Readonly<Record<string, JsonSql>>): RawBuilder<unknown> =>
  sql`json_strip_nulls(${jsonObjectOf(members)})`;

/** An object where `condition` holds, else null. */
export const jsonIf = (condition: RawBuilder<unknown>, value: JsonSql): JsonSql =>
  sql`case when ${condition} then ${value} end`;

/** SQL of a list, `json`, for the SELECT of rows that are an object each, in the order of `by`. */
export const jsonListed = (element: RawBuilder<unknown>, by: RawBuilder<unknown>): JsonSql =>
  sql`('[' || coalesce(string_agg((${element})::text, ',' order by ${by}), '') || ']')::json`;

/** A list of an element for each row of `rows` (SQL from FROM on), in the order of `by`. */
export const jsonListOf = (element: RawBuilder<unknown>, rows: RawBuilder<unknown>, by: RawBuilder<unknown>): JsonSql =>
  sql`(select ${jsonListed(element, by)} ${rows})`;

/** The text of an object. */
export const canonicalText = (json: RawBuilder<unknown>) => sql<string>`(${json})::text`;
