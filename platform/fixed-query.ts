// Queries whose text is the same in every call. Kysely puts a text together anew each time; for the statements of the most frequent
// writes that takes longer than sending them.
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import { queries } from './database.ts';

/** A value, or where a fixed query has its values. */
export type ValueSql<T> = T | RawBuilder<T>;

/** A mark for each value that is there. */
export type Marks<Values> = {
  readonly [Name in keyof Values]: Extract<Values[Name], undefined> | RawBuilder<Exclude<Values[Name], undefined>>;
};

/**
 * A query that is put together once, when it is needed first. `build` gets a mark for each value, by its name (not by `...`), and may
 * use it several times. PostgreSQL takes a value's type from its first use, so it is cast there. Throws for a value that is no mark.
 */
export function fixedQuery<Values extends object, Row = unknown>(
  build: (values: Marks<Values>) => RawBuilder<Row>,
): (values: Values) => CompiledQuery<Row> {
  const query = fixedQueries<'', Values, Row>(build);
  return (values) => query(values, '');
}

/** The same of queries of one kind: one for each `form`, and for each choice of values that are there. An undefined one has no mark. */
export function fixedQueries<Form extends string | number, Values extends object, Row = unknown>(
  build: (values: Marks<Values>, form: Form) => RawBuilder<Row>,
): (values: Values, form: Form) => CompiledQuery<Row> {
  const fixed = new Map<string, { text: string; names: (keyof Values)[] }>();
  const put = (there: readonly string[], form: Form) => {
    const marks = Object.fromEntries(there.map((name) => [name, sql`${new Mark(name)}`]));
    const made = build(marks as Marks<Values>, form).compile(queries);
    const names: (keyof Values)[] = [];
    const numbers = made.parameters.map((mark) => {
      if (!(mark instanceof Mark)) throw new Error(`A fixed query with another value: ${made.sql}`);
      const name = mark.name as keyof Values;
      return names.indexOf(name) + 1 || names.push(name);
    });
    return { text: made.sql.trim().replace(/\$(\d+)/g, (_, at) => `$${numbers[Number(at) - 1]}`), names };
  };
  return (values, form) => {
    const there = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    const key = [form, ...there].join(' ');
    let query = fixed.get(key);
    if (!query) {
      query = put(there, form);
      fixed.set(key, query);
    }
    const { text, names } = query;
    return CompiledQuery.raw(
      text,
      names.map((name) => values[name]),
    ) as CompiledQuery<Row>;
  };
}

class Mark {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}
