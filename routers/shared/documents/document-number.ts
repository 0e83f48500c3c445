// Numbers of sale documents, `A2026-0001`, and of projects, `26-001`: by company and year, without gaps (DLV-02). The counter's row
// is locked until the transaction ends, so a number that is rolled back is given again.
import { sql } from 'kysely';
import { NUMBERED_TABLES, type Numbered, seriesOf } from '../../../documents/series.ts';
import { type Db, isDivisionByZero } from '../../../platform/database.ts';
import { badField } from '../../../platform/errors.ts';

/**
 * 400 for a document of `date` where its series has a later one already, whose number is lower. Sent after the document is written, while
 * its counter is locked. W-07
 */
export async function refuseBeforeLast(
  db: Db,
  accountId: number,
  { document, id, date }: { document: Numbered; id: number; date: Temporal.PlainDate },
): Promise<void> {
  const table = sql.table(NUMBERED_TABLES[document]);
  await sql`
    select 1 / (not exists (
      select from ${table} own join ${table} d on d.account_id = ${accountId} and d.date > ${date.toString()}::date
        and d.date <= ${date.with({ month: 12, day: 31 }).toString()}::date
        and d.number ~ ('^' || regexp_replace(own.number, '\\d+$', '') || '\\d+$')
      where own.account_id = ${accountId} and own.id = ${id}))::int`
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
export function nextNumber(db: Db, accountId: number, document: Numbered | 'project', { year }: Temporal.PlainDate) {
  const [prefix, digits, company] =
    document === 'project'
      ? [sql`${`${String(year).slice(-2)}-`}::text`, 3, sql``]
      : [
          sql`${seriesOf(document)} || ${`${year}-`}::text`,
          4,
          sql`join accounts a on a.id = n.account_id and a.id = ${accountId}`,
        ];
  const taken = sql`insert into document_counters as c (account_id, document, year, last_number)
    values (${accountId}, ${document}, ${year}, 1)
    on conflict (account_id, document, year) do update
      set last_number = c.last_number + 1, version = c.version + 1, updated_at = excluded.updated_at`.execute(db);
  const numbered = sql`(
    select ${prefix} || lpad(n.last_number::text, greatest(${sql.lit(digits)}, length(n.last_number::text)), '0') as number
    from document_counters n ${company}
    where n.account_id = ${accountId} and n.document = ${document} and n.year = ${year}) numbered`;
  return { taken, numbered };
}
