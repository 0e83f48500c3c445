// How purchase documents are read whole, and which invoice a delivery note is on: decided here alone.
import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { linesOf, supplierParty } from '../shared/documents/sale-document.ts';
import { DOCUMENTS } from '../shared/documents/selection.ts';
import { decimalOf, flagOf, idOf, plainOf, type Shown, textOf } from '../shared/shape.ts';

/** What a purchase document `d` of a supplier `s` says of itself, as an estimate does; `base_imponible` without VAT. EST-01, W-05 */
export const purchaseHeader = {
  numero: textOf('d.number'),
  fecha: plainOf('d.date'),
  concepto: textOf('concept'),
  contraparte: supplierParty,
  base_imponible: decimalOf('base'),
  proyectoId: idOf('project', 'd.project_id').orNull(),
  anulado: flagOf('annulled'),
  motivo_anulacion: textOf('d.annulment_reason'),
};

interface PurchaseRow {
  id: number;
  number: string | null;
  date: string;
  concept: string;
  supplier_id: number;
  project_id: number | null;
  annulled: boolean;
  legal_name: string;
  tax_id: string;
  email: string;
  base: number;
  line_count: number;
  lines: string;
}

/** A purchase document `d` with its supplier `s` and lines `l`; `more` and `from` as for `documentOf`. It has no concept of its own. */
export const purchaseDocumentOf = <More extends object = object>(
  table: 'purchase_delivery_notes' | 'purchase_invoices',
  which: { accountId: number; id: number; line: Shown<z.ZodType, object> },
  more: RawBuilder<unknown>,
  from: RawBuilder<unknown> = sql``,
) => sql<PurchaseRow & More>`
  select d.id, d.number, d.date, '' as concept, d.supplier_id, d.project_id, d.annulled_at is not null as annulled, d.annulment_reason,
    s.legal_name, s.tax_id, s.email, l.* ${more}
  from ${sql.table(table)} d join suppliers s on s.account_id = ${which.accountId} and s.id = d.supplier_id
    cross join lateral ${linesOf(DOCUMENTS[table], which)} l ${from}
  where d.account_id = ${which.accountId} and d.id = ${which.id}`;

/** Whether an invoice that was not annulled has lines of this delivery note. */
export const isInvoiced = (accountId: number, noteId: RawBuilder<number>) =>
  sql<boolean>`exists (select from purchase_invoice_lines b
    join purchase_invoices i on i.account_id = ${accountId} and i.id = b.purchase_invoice_id and i.annulled_at is null
    where b.account_id = ${accountId} and b.purchase_delivery_note_id = ${noteId})`;

/** What is left to pay of an invoice that amounts to `a.total`: of an annulled one nothing. */
export const balance = (invoice: RawBuilder<unknown>) =>
  sql<number>`case when ${invoice}.annulled_at is null then a.total - ${invoice}.paid else 0 end`;

/** Whether it is paid, which an annulled one never is. */
export const isPaid = (invoice: RawBuilder<unknown>) =>
  sql<boolean>`(a.total <= ${invoice}.paid and ${invoice}.annulled_at is null)`;
