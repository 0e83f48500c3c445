// What an invoice amounts to, and which delivery notes it stands for: decided here alone.
import { type RawBuilder, sql } from 'kysely';
import { vatByRate, withheld } from '../../documents/vat-by-rate.ts';
import { jsonArray } from '../shared/pages.ts';
import { always, idOf, shape, textOf } from '../shared/shape.ts';

/**
 * One row for an invoice: `base` without VAT, `total` with it, what of that is `payable`, since the client keeps back `withholding` percent
 * of the base, and what is `paid` of it.
 */
export const invoiceAmounts = (
  accountId: number,
  invoiceId: RawBuilder<number>,
  withholding: RawBuilder<unknown> = sql`d.withholding`,
) =>
  sql<{ base: number; total: number; payable: number; paid: number }>`(
    select amounts.base, amounts.total, amounts.total - ${withheld(sql`amounts.base`, withholding)} as payable,
      (select coalesce(sum(v.paid), 0) from invoice_due_dates v
        where v.account_id = ${accountId} and v.invoice_id = ${invoiceId}) as paid
    from ${vatByRate('invoice_lines', sql`l.account_id = ${accountId} and l.invoice_id = ${invoiceId}`)} amounts)`;

/** What is left to collect of an invoice `d` of the amounts `a`: of an annulled one nothing. W-02 */
export const balance = sql<number>`case when d.annulled_at is null then a.payable - a.paid else 0 end`;

/** Whether it is paid, which an annulled one never is. */
export const isPaid = sql<boolean>`(a.payable <= a.paid and d.annulled_at is null)`;

/** Lines `b` of this delivery note in invoices that were not annulled, which no rectifying one has released. */
const linesOfNote = (accountId: number, deliveryNoteId: RawBuilder<number>) =>
  sql`from invoice_lines b
    join invoices i on i.account_id = ${accountId} and i.id = b.invoice_id and i.annulled_at is null
    where b.account_id = ${accountId} and b.delivery_note_id = ${deliveryNoteId} and not b.note_released`;

/** Whether a delivery note is invoiced. */
export const isInvoiced = (accountId: number, deliveryNoteId: RawBuilder<number>) =>
  sql<boolean>`exists (select ${linesOfNote(accountId, deliveryNoteId)})`;

/** The same, looked up for each of the few notes that are shown; of many, the condition reads the lines once. */
export const showsInvoiced = (accountId: number, deliveryNoteId: RawBuilder<number>) =>
  sql<boolean>`coalesce((select true ${linesOfNote(accountId, deliveryNoteId)} limit 1), false)`;

/** An invoice that rectifies another, or is rectified by it. */
export const otherInvoice = shape({ tipo: always('factura'), id: idOf('invoice', 'k.id'), numero: textOf('k.number') });

/** The text of the invoice that an invoice `d` rectifies, null where it does not; and of those that rectify it and were not annulled. */
export const rectifications = (accountId: number) => ({
  rectifies: sql<string | null>`(select ${otherInvoice.json('k')} from invoices k
    where k.account_id = ${accountId} and k.id = d.rectified_invoice_id)`,
  rectifiedBy: jsonArray(
    sql<typeof otherInvoice.needs>`select k.id, k.number from invoices k
      where k.account_id = ${accountId} and k.rectified_invoice_id = d.id and k.annulled_at is null order by k.id`,
    otherInvoice,
  ),
});
