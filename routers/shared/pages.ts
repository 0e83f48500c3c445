// How shapes are read: a page of a list with its total, one record, or the list inside a record, each as JSON text that PostgreSQL
// writes.
import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { AnswerTooLong } from '../../platform/errors.ts';
import { fixedQueries, type Marks } from '../../platform/fixed-query.ts';
import { JsonText, jsonObject, LONGEST_ANSWER } from '../../platform/json-text.ts';
import { when } from './filters.ts';
import type { Order } from './order.ts';
import { isUsual, limit, offset, type Page, paged, size } from './schemas.ts';
import type { Field, Shown } from './shape.ts';

/** What a page is made of. */
interface PageQuery<Schema extends z.ZodType, Row extends object> extends Around {
  total: Expression<unknown>;
  rows: Expression<NoInfer<Row>>;
  row: Shown<Schema, Row>;
  bytes?: Expression<unknown> | undefined;
}

/**
 * A total and a page of rows, in one statement:
 *
 *     with ...                                                  -- before
 *     select coalesce((select count(*) ...), 0) as total,       -- total
 *       '{"suma_base":' || ... as sums,                         -- sums
 *       case when octet_length(page[1]) <= 8000000 then page[1] end as page, page[2] as number, page[3:] as last
 *     from (select case when (0) <= 8000000 then                -- bytes
 *       (select array[coalesce(string_agg('{"clienteId":' || ... || '}', ','), ''), least(count(*), 100)::text,
 *         (array_agg(r.key_0))[100]::text, ...]
 *         from (select c.id ...) as r)                          -- row, rows
 *       end as page offset 0) as p
 *
 * `total`: a query of one number; none is zero. `sums`: of all that is counted, a query of one row and what it is shown as. `rows`: the
 * page in its order, with the keys of the order. `row`: what a row of it is shown as. `before`: what the others stand on. `bytes`: the
 * least length of the rows, where that is cheaper to know than the rows are to write.
 * AnswerTooLong for a page that would be; this process does not read it then. FAIR-03
 */
function jsonPage<Schema extends z.ZodType, Row extends object>(
  input: Page,
  order: Order,
  query: PageQuery<Schema, Row>,
): RawBuilder<PageRow> {
  const { before = sql``, total, sums, rows, row, bytes = sql`0` } = query;
  const most = sql.lit(LONGEST_ANSWER);
  const length = size(input);
  const summed = sums ? sql`(select ${sums.row.json('s')} from (${sums.rows}) as s)` : sql`null`;
  const keys = order.selected.map((name) => sql`(array_agg(r.${sql.ref(name)}))[${length}]`);
  // Behind a cursor there is one row more where another page follows.
  const [shown, last] = input.cursor.after
    ? [
        sql`array_to_string((array_agg(${row.json()}))[:${length}], ',')`,
        keys.map((key) => sql`case when count(*) > ${length} then ${key}::text end`),
      ]
    : [sql`string_agg(${row.json()}, ',')`, keys.map((key) => sql`${key}::text`)];
  // Without the OFFSET, PostgreSQL would put what makes the page into each place that names it.
  return sql<PageRow>`${before}
    select coalesce((${total}), 0) as total, ${summed} as sums,
      case when octet_length(page[1]) <= ${most} then page[1] end as page, page[2]::int as number, page[3:] as last
    from (select case when (${bytes}) <= ${most}
      then (select array[coalesce(${shown}, ''), least(count(*), ${length})::text, ${sql.join(last)}] from (${rows}) as r) end as page offset 0) as p`;
}

interface PageRow {
  total: number;
  sums: string | null;
  page: string | null;
  number: number | null;
  last: (string | null)[] | null;
}

/** What the statement found. */
function foundIn<Row>(input: Page, rows: readonly PageRow[]): Found<Row> {
  const [{ total, sums, page, number, last } = { total: 0, sums: null, page: '', number: 0, last: null }] = rows;
  if (page === null || number === null) throw new AnswerTooLong();
  return {
    total,
    sums: sums === null ? undefined : new JsonText(sums),
    rows: new JsonText(`[${page}]`, number),
    last: follows(input, total, last ?? []),
  };
}

/** The keys of a page's last row, if another page follows; the last of them is never null where there are as many rows. */
function follows({ cursor, pagina, por_pagina }: Page, total: number, keys: readonly (string | null)[]) {
  const more = typeof keys.at(-1) === 'string' && (cursor.after !== undefined || total > pagina * por_pagina);
  return more ? keys : undefined;
}

/** The page of rows that were read with those keys, behind a cursor one more than the page has. */
export function pageOf<Row extends object>(order: Order, input: Page, total: number, rows: readonly Row[]) {
  const { por_pagina, cursor } = input;
  const end: Readonly<Record<string, unknown>> | undefined =
    cursor.after && rows.length <= por_pagina ? undefined : { ...rows[por_pagina - 1] };
  const keys = order.selected.map((name) => (end?.[name] == null ? null : String(end[name])));
  return {
    rows: rows.slice(0, por_pagina),
    counters: order.counters(input, total, follows(input, total, keys)),
  };
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
  /** The keys of the last row where another page follows. */
  last?: readonly (string | null)[] | undefined;
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

/** The records of a list: a query that is counted, or their number. */
type Counted<Tables, Table extends keyof Tables> =
  | { selected: SelectQueryBuilder<Tables, Table, object>; total?: undefined }
  | { total: Expression<unknown>; selected?: undefined };

/**
 * The paged list that an operation answers, in its `order`: `schema` of the whole answer (PAG-02), under the heading where it has one;
 * `read` for the page that an input asks for: of the records `selected` (or `total`, their number) those that `rows` shows, under their
 * `sums` or what is `headed` (`wanted` is the query for that); `page` for rows in their order that end where the page does.
 */
export function listOf<
  const Total extends string,
  const Rows extends string,
  Schema extends z.ZodType,
  Reference extends string,
  Row extends object,
  Heading extends z.ZodRawShape = Record<never, never>,
>(total: Total, rowsName: Rows, row: Field<Schema, Reference, Row>, order: Order, heading?: Heading) {
  type Headed = z.input<z.ZodObject<Heading>>;
  const list = paged(total, rowsName, row.schema);
  const schema = z.object({ ...(heading as Heading), ...list.shape });
  type Query = Omit<PageQuery<Schema, Row>, 'row'>;
  const statement = (input: Page, query: Query) => jsonPage(input, order, { ...query, row });
  const answer = (input: Page, rows: readonly PageRow[], headed?: Headed) => {
    const found = foundIn<z.input<Schema>>(input, rows);
    const counters = order.counters(input, found.total, found.last);
    const { text } = jsonObject<object>({ ...headed, [total]: found.total, ...counters, [rowsName]: found.rows });
    const whole = found.sums ? `${found.sums.text.slice(0, -1)},${text.slice(1)}` : text;
    return new JsonText<z.input<typeof schema>>(whole, found.rows.rows);
  };
  const page = async (db: Db, input: Page, query: Query, headed?: Headed) =>
    answer(input, (await statement(input, query).execute(db)).rows, headed);
  const wanted = <Tables, Table extends keyof Tables, RowTables, RowTable extends keyof RowTables>(
    input: Page,
    query: Counted<Tables, Table> & { rows: SelectQueryBuilder<RowTables, RowTable, NoInfer<Row>> } & Around,
  ): Query => {
    const { before, sums } = query;
    return {
      before,
      total: query.total ?? query.selected.select((eb) => eb.fn.countAll().as('total')),
      sums,
      rows: query.rows
        .$call(when(order.after(input), (q, after) => q.where(after)))
        .select(order.keys)
        .orderBy(order.by)
        .limit(limit(input))
        .offset(offset(input)),
    };
  };
  return {
    schema,
    row,
    order,
    columns: row.columns,
    page,
    wanted,
    read: <Tables, Table extends keyof Tables, RowTables, RowTable extends keyof RowTables>(
      db: Db,
      input: Page,
      query: Counted<Tables, Table> & { rows: SelectQueryBuilder<RowTables, RowTable, NoInfer<Row>> } & Around,
      headed?: Headed,
    ) => page(db, input, wanted(input, query), headed),
    /**
     * How a page is read of values: the statement of the usual one, a first page of a usual size, is put together once for each choice of
     * them. For lists that are asked for most: else that takes a tenth of a call.
     */
    readOf<Values extends object>(query: (values: Values | Marks<Values>, input: Page) => Query) {
      const usual = fixedQueries<number, Values, PageRow>((values, por_pagina) => {
        const input: Page = { pagina: 1, por_pagina, cursor: { after: undefined, next: unasked } };
        return statement(input, query(values, input));
      });
      return async (db: Db, input: Page, values: Values) => {
        if (!isUsual(input)) return page(db, input, query(values, input));
        return answer(input, (await db.executeQuery(usual(values, input.por_pagina))).rows);
      };
    },
  };
}

const unasked = () => {
  throw new Error('A statement has no cursor of its own');
};
