// Numbers of sale documents, `A2026-0001`, and of projects, `26-001`: by company and year, without gaps (DLV-02). The counter's row
// is locked until the transaction ends, so a number that is rolled back is given again.
import { sql } from 'kysely';
import { NUMBER_LETTERS } from '../../../entities/sales.ts';
import { type Db, isDivisionByZero } from '../../../platform/database.ts';
import { badField } from '../../../platform/errors.ts';

/** What numbers of a series begin with in a year. */
const prefixOf = (document: keyof typeof NUMBER_LETTERS, { year }: Temporal.PlainDate) =>
  `${NUMBER_LETTERS[document]}${year}-`;

const TABLES = {
  delivery_note: 'delivery_notes',
  invoice: 'invoices',
  rectification: 'invoices',
  estimate: 'estimates',
} as const;

/**
 * 400 for a document of `date` where its series has a later one already, whose number is lower. Sent after the number is given, while its
 * counter is locked. W-07
 */
export async function refuseBeforeLast(
  db: Db,
  accountId: number,
  document: keyof typeof NUMBER_LETTERS,
  date: Temporal.PlainDate,
): Promise<void> {
  await sql`
    select 1 / (not exists (
      select from ${sql.table(TABLES[document])} d
      where d.account_id = ${accountId} and d.date > ${date.toString()}::date
        and d.date <= ${date.with({ month: 12, day: 31 }).toString()}::date
        and d.number like ${`${prefixOf(document, date)}%`}))::int`
    .execute(db)
    .catch((error: unknown) => {
      throw isDivisionByZero(error)
        ? badField('pedido.fecha', 'no puede ser anterior a la del último número de la serie')
        : error;
    });
}

/**
 * Takes the next number of the document; the statement is sent at once. Returns it for the FROM of a later statement in the
 * transaction: one row, `numbered.number`.
 */
export function nextNumber(
  db: Db,
  accountId: number,
  document: keyof typeof NUMBER_LETTERS | 'project',
  date: Temporal.PlainDate,
) {
  const [prefix, digits] =
    document === 'project' ? [`${String(date.year).slice(-2)}-`, 3] : [prefixOf(document, date), 4];
  const taken = sql`insert into document_counters as c (account_id, document, year, last_number)
    values (${accountId}, ${document}, ${date.year}, 1)
    on conflict (account_id, document, year) do update
      set last_number = c.last_number + 1, version = c.version + 1, updated_at = excluded.updated_at`.execute(db);
  const numbered = sql`(
    select ${prefix}::text || lpad(last_number::text, greatest(${sql.lit(digits)}, length(last_number::text)), '0') as number
    from document_counters where account_id = ${accountId} and document = ${document} and year = ${date.year}) numbered`;
  return { taken, numbered };
}
