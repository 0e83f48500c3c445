// How shapes are read: a page of a list with its total, one record, or the list inside a record, each as JSON text that PostgreSQL
// writes.
import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { AnswerTooLong } from '../../platform/errors.ts';
import { JsonText, jsonObject, LONGEST_ANSWER } from '../../platform/json-text.ts';
import { limit, offset, type Page, paged, pageOf } from './schemas.ts';
import type { Field, Shown } from './shape.ts';

/**
 * A total and a page of rows, in one statement:
 *
 *     with ...                                                  -- before
 *     select coalesce((select count(*) ...), 0) as total,       -- total
 *       '{"suma_base":' || ... as sums,                         -- sums
 *       case when octet_length(page) <= 8000000 then page end as page
 *     from (select case when (0) <= 8000000 then                -- bytes
 *       (select coalesce(string_agg('{"clienteId":' || ... || '}', ','), '') from (select c.id ...) as r)   -- row, rows
 *       end as page offset 0) as p
 *
 * `total`: a query of one number; none is zero. `sums`: of all that is counted, a query of one row and what it is shown as. `rows`: the
 * page in its order. `row`: what a row of it is shown as. `before`: what the others stand on. `bytes`: the least length of the rows,
 * where that is cheaper to know than the rows are to write.
 * AnswerTooLong for a page that would be; this process does not read it then. FAIR-03
 */
export async function jsonPage<Schema extends z.ZodType, Row extends object>(
  db: Db,
  query: Around & {
    total: Expression<unknown>;
    rows: Expression<NoInfer<Row>>;
    row: Shown<Schema, Row>;
    bytes?: Expression<unknown>;
  },
): Promise<Found<z.input<Schema>>> {
  const { before = sql``, total, sums, rows, row, bytes = sql`0` } = query;
  const most = sql.lit(LONGEST_ANSWER);
  const summed = sums ? sql`(select ${sums.row.json('s')} from (${sums.rows}) as s)` : sql`null`;
  // Without the OFFSET, PostgreSQL would put what makes the page into each place that names it.
  const { rows: found } = await sql<{ total: number; sums: string | null; page: string | null }>`${before}
    select coalesce((${total}), 0) as total, ${summed} as sums,
      case when octet_length(page) <= ${most} then page end as page
    from (select case when (${bytes}) <= ${most}
      then (select coalesce(string_agg(${row.json()}, ','), '') from (${rows}) as r) end as page offset 0) as p`.execute(
    db,
  );
  const [{ total: counted, sums: sum, page } = { total: 0, sums: null, page: '' }] = found;
  if (page === null) throw new AnswerTooLong();
  return { total: counted, sums: sum === null ? undefined : new JsonText(sum), rows: new JsonText(`[${page}]`) };
}

/** What a page may stand on, and stand under. */
interface Around {
  before?: Expression<unknown> | undefined;
  sums?: { rows: Expression<unknown>; row: Shown<z.ZodType, object> } | undefined;
}

interface Found<Row> {
  total: number;
  /** An object. */
  sums?: JsonText | undefined;
  rows: JsonText<Row[]>;
}

/** The record that a query finds; undefined when it finds none. */
export async function jsonRecord<Schema extends z.ZodType, Row extends object>(
  db: Db,
  rows: Expression<NoInfer<Row>>,
  row: Shown<Schema, Row>,
): Promise<JsonText<z.input<Schema>> | undefined> {
  const { rows: found } = await sql<{ record: string }>`select ${row.json()} as record from (${rows}) as r`.execute(db);
  return found[0] && new JsonText(found[0].record);
}

/** All that a query finds, in its order, and how many: for lists that are short by nature. */
export async function jsonList<Schema extends z.ZodType, Row extends object>(
  db: Db,
  rows: Expression<NoInfer<Row>>,
  row: Shown<Schema, Row>,
): Promise<Found<z.input<Schema>>> {
  const { rows: found } = await sql<{ total: number; list: string }>`
    select count(*) as total, coalesce(string_agg(${row.json()}, ','), '') as list from (${rows}) as r`.execute(db);
  const [{ total, list } = { total: 0, list: '' }] = found;
  return { total, rows: new JsonText(`[${list}]`) };
}

/** The same of a query that always finds one, such as a sum. */
export async function jsonRow<Schema extends z.ZodType, Row extends object>(
  db: Db,
  rows: Expression<NoInfer<Row>>,
  row: Shown<Schema, Row>,
): Promise<JsonText<z.input<Schema>>> {
  const found = await jsonRecord(db, rows, row);
  if (!found) throw new Error('No row where there always is one');
  return found;
}

/** SQL for the text of a list inside a record, in the query's order. */
export const jsonArray = <Schema extends z.ZodType, Row extends object>(
  rows: Expression<NoInfer<Row>>,
  row: Shown<Schema, Row>,
): RawBuilder<string> => sql`(select '[' || coalesce(string_agg(${row.json()}, ','), '') || ']' from (${rows}) as r)`;

/** A query that is yet to be told which page of its rows is wanted. */
interface Ordered<Row> {
  limit(rows: number | Expression<number>): { offset(rows: number | Expression<number>): Expression<Row> };
}

/** The records of a list: a query that is counted, or their number. */
type Counted<Tables, Table extends keyof Tables> =
  | { selected: SelectQueryBuilder<Tables, Table, object>; total?: undefined }
  | { total: Expression<unknown>; selected?: undefined };

/**
 * The paged list that an operation answers: `schema` of the whole answer (PAG-02), under the heading where it has one; `read` for
 * the page that an input asks for: of the records `selected` (or `total`, their number) those that `rows` shows, in its order, under
 * their `sums` or what is `headed`; `answer` for a page that was read otherwise.
 */
export function listOf<
  const Total extends string,
  const Rows extends string,
  Schema extends z.ZodType,
  Reference extends string,
  Row extends object,
  Heading extends z.ZodRawShape = Record<never, never>,
>(total: Total, rows: Rows, row: Field<Schema, Reference, Row>, heading?: Heading) {
  type Headed = z.input<z.ZodObject<Heading>>;
  const page = paged(total, rows, row.schema);
  const schema = z.object({ ...(heading as Heading), ...page.shape });
  const answer = (input: Page, found: Found<z.input<Schema>>, headed?: Headed) => {
    const properties = { ...headed, [total]: found.total, ...pageOf(found.total, input), [rows]: found.rows };
    const { text } = jsonObject<object>(properties);
    return new JsonText<z.input<typeof schema>>(found.sums ? `${found.sums.text.slice(0, -1)},${text.slice(1)}` : text);
  };
  return {
    schema,
    row,
    columns: row.columns,
    answer,
    async read<Tables, Table extends keyof Tables>(
      db: Db,
      input: Page,
      query: Counted<Tables, Table> & { rows: Ordered<NoInfer<Row>> } & Around,
      headed?: Headed,
    ) {
      const { before, sums } = query;
      const found = await jsonPage(db, {
        before,
        total: query.total ?? query.selected.select((eb) => eb.fn.countAll().as('total')),
        sums,
        rows: query.rows.limit(limit(input)).offset(offset(input)),
        row,
      });
      return answer(input, found, headed);
    },
  };
}
