// Series of documents: what a company's numbers of each kind begin with before the year, `A2026-0001`. DLV-02
import { type RawBuilder, sql } from 'kysely';
import { NUMBER_LETTERS } from '../entities/values.ts';
import type { Db } from '../platform/database.ts';

export type Numbered = keyof typeof NUMBER_LETTERS;
type Column = `${Numbered}_series`;

/** The wire names of the series. */
export const SERIES = {
  albaran: 'delivery_note',
  factura: 'invoice',
  rectificativa: 'rectification',
  presupuesto: 'estimate',
} as const satisfies Record<string, Numbered>;
export type SeriesName = keyof typeof SERIES;
export const SERIES_NAMES: readonly SeriesName[] = ['albaran', 'factura', 'rectificativa', 'presupuesto'];

const columnOf = (name: SeriesName) => `${SERIES[name]}_series` as const;
/** Their columns of `accounts`; null: the usual letter. */
export const SERIES_COLUMNS: readonly Column[] = SERIES_NAMES.map(columnOf);

/** The tables that documents of each series are in. */
export const NUMBERED_TABLES = {
  delivery_note: 'delivery_notes',
  invoice: 'invoices',
  rectification: 'invoices',
  estimate: 'estimates',
} as const satisfies Record<Numbered, string>;

/** One that ended in a digit would run into the year. */
export const isSeries = (text: string) => /^[A-Z0-9/-]{0,9}[A-Z/-]$/.test(text);

type SeriesRow = Readonly<Record<Column, string | null>>;

/** The series that a company's row says. */
export const seriesIn = (row: SeriesRow): Record<SeriesName, string> => {
  const of = (name: SeriesName) => row[columnOf(name)] ?? NUMBER_LETTERS[SERIES[name]];
  return {
    albaran: of('albaran'),
    factura: of('factura'),
    rectificativa: of('rectificativa'),
    presupuesto: of('presupuesto'),
  };
};

/** SQL for a series of the company `a`. */
export const seriesOf = (document: Numbered): RawBuilder<string> =>
  sql<string>`coalesce(${sql.ref(`a.${document}_series`)}, ${sql.lit(NUMBER_LETTERS[document])})`;

/** What is said of series: '' and null are the usual letter, what is left out stays. */
export type SeriesSaid = Readonly<Partial<Record<SeriesName, string | null | undefined>>>;

export interface SeriesChange {
  /** What is to be stored in `accounts`. */
  columns: Partial<Record<Column, string | null>>;
  /** Those whose counters are to be raised after that. */
  changed: readonly Numbered[];
  /** Those that were said and are another's, too: nothing is to be stored. */
  repeated: readonly { name: SeriesName; other: SeriesName }[];
}

/** What would change. Imports wait until the transaction ends: the numbers that they bring are of the series before, or of those after. */
export async function seriesChange(db: Db, accountId: number, said: SeriesSaid): Promise<SeriesChange> {
  const names = SERIES_NAMES.filter((name) => said[name] !== undefined);
  if (names.length === 0) return { columns: {}, changed: [], repeated: [] };
  await sql`select pg_advisory_xact_lock(hashtextextended('import', ${accountId}))`.execute(db);
  const row = await db
    .selectFrom('accounts')
    .select([...SERIES_COLUMNS])
    .where('id', '=', accountId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const columns = Object.fromEntries(
    names.map((name) => {
      const text = said[name] || null;
      return [columnOf(name), text === NUMBER_LETTERS[SERIES[name]] ? null : text];
    }),
  );
  const [before, after] = [seriesIn(row), seriesIn({ ...row, ...columns })];
  return {
    columns,
    changed: names.filter((name) => after[name] !== before[name]).map((name) => SERIES[name]),
    repeated: names.flatMap((name) => {
      const other = SERIES_NAMES.find((each) => each !== name && after[each] === after[name]);
      return other ? [{ name, other }] : [];
    }),
  };
}

/** Raises the counter of a series to its highest number: no number is given twice. */
export const raiseCounter = (db: Db, accountId: number, document: Numbered) =>
  sql`
    insert into document_counters (account_id, document, year, last_number)
    select ${accountId}::bigint, ${document}::text, extract(year from d.date)::int, max(n.parts[2]::int)
    from ${sql.table(NUMBERED_TABLES[document])} d
    join accounts a on a.id = ${accountId}
    cross join lateral regexp_match(d.number, '^' || ${seriesOf(document)} || '(\\d{4})-(\\d{4,9})$') as n (parts)
    where d.account_id = ${accountId} and n.parts[1]::int = extract(year from d.date)
    group by extract(year from d.date)
    on conflict (account_id, document, year) do update
      set last_number = excluded.last_number, version = document_counters.version + 1, updated_at = excluded.updated_at
      where document_counters.last_number < excluded.last_number
    returning document`.execute(db);
