// Numbers of sale documents: `A2026-0001`, by company and year, without gaps (DLV-02). The counter's row is locked until
// the transaction ends, so a number that is rolled back is given again.
import { sql } from 'kysely';
import { NUMBER_LETTERS } from '../../../entities/sales.ts';
import type { Db } from '../../../platform/database.ts';

/**
 * Takes the next number of the document; the statement is sent at once. Returns it for the FROM of a later statement in the
 * transaction: one row, `numbered.number`.
 */
export function nextNumber(db: Db, accountId: number, document: keyof typeof NUMBER_LETTERS, date: Temporal.PlainDate) {
  const prefix = `${NUMBER_LETTERS[document]}${date.year}-`;
  const taken = sql`insert into document_counters as c (account_id, document, year, last_number)
    values (${accountId}, ${document}, ${date.year}, 1)
    on conflict (account_id, document, year) do update
      set last_number = c.last_number + 1, version = c.version + 1, updated_at = excluded.updated_at`.execute(db);
  const numbered = sql`(select ${prefix}::text || lpad(last_number::text, greatest(4, length(last_number::text)), '0') as number
    from document_counters where account_id = ${accountId} and document = ${document} and year = ${date.year}) numbered`;
  return { taken, numbered };
}
