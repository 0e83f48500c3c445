// Queries whose text is the same in every call. Kysely puts a text together anew each time; for the statements of the most frequent
// writes that takes longer than sending them.
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import { queries } from './database.ts';

/** A value, or where a fixed query has its values. */
export type ValueSql<T> = T | RawBuilder<T>;

type Marks<Values> = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> };

/**
 * A query that is put together once, when it is needed first: `build` gets a mark for each value, by its name, and may use it several
 * times. PostgreSQL takes a value's type from where it is used first; elsewhere it is cast. All other values belong into the text.
 */
export function fixedQuery<Values extends object, Row = unknown>(
  build: (values: Marks<Values>) => RawBuilder<Row>,
): (values: Values) => CompiledQuery<Row> {
  let text: string | undefined;
  const names: (keyof Values)[] = [];
  const numberOf = (name: keyof Values) => names.indexOf(name) + 1 || names.push(name);
  const put = () => {
    const marks = new Proxy({}, { get: (_, name) => sql.raw(`$${numberOf(name as keyof Values)}`) });
    const { sql: made, parameters } = build(marks as Marks<Values>).compile(queries);
    if (parameters.length > 0) throw new Error(`A fixed query with another value: ${made}`);
    return made;
  };
  return (values) => {
    text ??= put();
    return CompiledQuery.raw(
      text,
      names.map((name) => values[name]),
    ) as CompiledQuery<Row>;
  };
}
