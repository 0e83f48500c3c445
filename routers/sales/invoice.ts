// What an invoice amounts to, and which delivery notes it stands for: decided here alone.
import { type RawBuilder, sql } from 'kysely';

/**
 * One row for an invoice: `base` without VAT, `total` with it, and what is `paid` of it. VAT is rounded once for each rate of
 * the invoice; amounts in the database's `numeric`.
 */
export const invoiceAmounts = (accountId: number, invoiceId: RawBuilder<number>) =>
  sql<{ base: number; total: number; paid: number }>`(
    select coalesce(sum(rate.base), 0) as base, coalesce(sum(rate.base + round(rate.base * rate.vat / 100, 2)), 0) as total,
      (select coalesce(sum(v.paid), 0) from invoice_due_dates v
        where v.account_id = ${accountId} and v.invoice_id = ${invoiceId}) as paid
    from (select l.vat, sum(l.amount) as base from invoice_lines l
      where l.account_id = ${accountId} and l.invoice_id = ${invoiceId} group by l.vat) rate)`;

/** Whether an invoice has lines of this delivery note. */
export const isInvoiced = (accountId: number, deliveryNoteId: RawBuilder<number>) =>
  sql<boolean>`exists (select from invoice_lines b where b.account_id = ${accountId} and b.delivery_note_id = ${deliveryNoteId})`;

/** The same, looked up for each of the few notes that are shown; of many, the condition reads the lines once. */
export const showsInvoiced = (accountId: number, deliveryNoteId: RawBuilder<number>) =>
  sql<boolean>`coalesce((select true from invoice_lines b where b.account_id = ${accountId}
    and b.delivery_note_id = ${deliveryNoteId} limit 1), false)`;
