// Numbers of sale documents, `A2026-0001`, and of projects, `26-001`: by company and year, without gaps (DLV-02). The counter's row
// is locked until the transaction ends, so a number that is rolled back is given again.
import { type RawBuilder, sql } from 'kysely';
import { NUMBER_LETTERS } from '../../../entities/sales.ts';

/** A part of a writable statement, to stand in its WITH: `numbered`, with the next number as text (`number`). */
export function nextNumber(
  accountId: number,
  document: keyof typeof NUMBER_LETTERS | 'project',
  date: Temporal.PlainDate,
): RawBuilder<unknown> {
  const year = String(date.year);
  const [prefix, digits] =
    document === 'project' ? [`${year.slice(-2)}-`, 3] : [`${NUMBER_LETTERS[document]}${year}-`, 4];
  return sql`
    numbered as (
      insert into document_counters as c (account_id, document, year, last_number)
      values (${accountId}, ${document}, ${date.year}, 1)
      on conflict (account_id, document, year) do update
        set last_number = c.last_number + 1, version = c.version + 1, updated_at = excluded.updated_at
      returning ${prefix}::text || lpad(last_number::text, greatest(${sql.lit(digits)}, length(last_number::text)), '0') as number)`;
}
