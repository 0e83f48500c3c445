// What a document amounts to, with VAT.
import { type RawBuilder, sql } from 'kysely';

type Lines = 'invoice_lines' | 'purchase_invoice_lines' | 'recurring_lines';

/**
 * One row for each VAT rate of the lines `l` that `which` says: `base` without VAT, and the VAT on it (`fee`), rounded once. `parent`:
 * the column of their document, where they are of several; each has its rates.
 */
export const vatRates = (lines: Lines, which: RawBuilder<unknown>, parent?: string) =>
  sql<{ vat: number; base: number; fee: number }>`(
    select l.vat, sum(l.amount) as base, round(sum(l.amount) * l.vat / 100, 2) as fee
    from ${sql.table(lines)} l where ${which} group by ${parent ? sql`l.${sql.ref(parent)}, ` : sql``} l.vat)`;

/** One row for the lines `l` that `which` says: `base` without VAT and `total` with it, 0 where there are none; `numeric`. */
export const vatByRate = (lines: Lines, which: RawBuilder<unknown>, parent?: string) =>
  sql<{ base: number; total: number }>`(
    select coalesce(sum(rate.base), 0) as base, coalesce(sum(rate.base + rate.fee), 0) as total
    from ${vatRates(lines, which, parent)} rate)`;
