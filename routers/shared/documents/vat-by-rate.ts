// What a document amounts to, with VAT.
import { type RawBuilder, sql } from 'kysely';

/**
 * One row for the lines `l` that `which` says: `base` without VAT and `total` with it, 0 where there are none. VAT is rounded once for
 * each rate of the document; amounts in the database's `numeric`.
 */
export const vatByRate = (
  lines: 'invoice_lines' | 'purchase_invoice_lines' | 'recurring_lines',
  which: RawBuilder<unknown>,
) =>
  sql<{ base: number; total: number }>`(
    select coalesce(sum(rate.base), 0) as base, coalesce(sum(rate.base + round(rate.base * rate.vat / 100, 2)), 0) as total
    from (select l.vat, sum(l.amount) as base from ${sql.table(lines)} l where ${which} group by l.vat) rate)`;
