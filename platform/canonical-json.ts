// SQL for canonical JSON text (RFC 8785): members in the order of their names, no spaces, numbers that must be exact as text. The
// same data are the same text, which is what a seal is made over.
import { type RawBuilder, sql } from 'kysely';

/** SQL for a piece of JSON text, which is never null. */
export type JsonSql = RawBuilder<string>;

/** A text or null. PostgreSQL escapes as RFC 8785 asks. */
export const jsonTextOf = (value: RawBuilder<unknown>): JsonSql =>
  sql<string>`coalesce(to_json((${value})::text)::text, 'null')`;

/** An exact decimal as text without zeros at its end, or null. */
export const jsonDecimal = (value: RawBuilder<unknown>): JsonSql => jsonTextOf(sql`trim_scale(${value})`);

/** An amount as text with two decimals, or null. */
export const jsonCents = (value: RawBuilder<unknown>): JsonSql => jsonTextOf(sql`round(${value}, 2)`);

/** A whole number as such. */
export const jsonWhole = (value: RawBuilder<unknown>): JsonSql => sql<string>`(${value})::text`;

export const JSON_NULL: JsonSql = sql<string>`'null'`;

/** A member that is left out where `value`, SQL for a text, is null. The first of an object, by name, is always there. */
export interface MemberIfAny {
  ifAny: RawBuilder<unknown>;
}

/** An object; its members may stand in any order. */
export function jsonObjectOf(members: Readonly<Record<string, JsonSql | MemberIfAny>>): JsonSql {
  const parts = Object.entries(members)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member], index) => {
      const before = sql.lit(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
      return 'ifAny' in member
        ? sql`coalesce(${before} || to_json((${member.ifAny})::text)::text, '')`
        : sql`${before} || ${member}`;
    });
  return sql<string>`(${sql.join(parts, sql` || `)} || '}')`;
}

/** An object where `condition` holds, else null. */
export const jsonIf = (condition: RawBuilder<unknown>, value: JsonSql): JsonSql =>
  sql<string>`case when ${condition} then ${value} else 'null' end`;

/** A list of an element for each row of `rows` (SQL from FROM on), in the order of `by`. */
export const jsonListOf = (element: JsonSql, rows: RawBuilder<unknown>, by: RawBuilder<unknown>): JsonSql =>
  sql<string>`(select '[' || coalesce(string_agg(${element}, ',' order by ${by}), '') || ']' ${rows})`;
