// Purchase invoices of delivery notes: each note is on one that was not annulled.
import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { badInput, type FieldProblem } from '../../platform/errors.ts';
import { isInvoiced } from './purchase-document.ts';

interface NoteRow {
  id: number;
  supplier_id: number;
  annulled: boolean;
  invoiced: boolean;
  filled: boolean;
}

/**
 * Locks delivery notes until the transaction ends. 400 for one that can't be on an invoice of this supplier: of another, annulled, on
 * an invoice already, without lines, or named twice. A second invoice of the same note waits for the first, and finds it invoiced.
 */
export async function lockNotes(
  db: Db,
  accountId: number,
  supplierId: number,
  noteIds: readonly number[],
): Promise<void> {
  const named = sql`d.account_id = ${accountId} and d.id = any(${noteIds}::bigint[])`;
  const [, { rows }] = await Promise.all([
    // In the order of their ids, so that two invoices of the same notes never deadlock.
    sql`select d.id from purchase_delivery_notes d where ${named} order by d.id for no key update`.execute(db),
    // A second statement, since it sees what was committed while the first one waited.
    sql<NoteRow>`
      select d.id, d.supplier_id, d.annulled_at is not null as annulled, ${isInvoiced(accountId, sql<number>`d.id`)} as invoiced,
        exists (select from purchase_delivery_note_lines l
          where l.account_id = ${accountId} and l.purchase_delivery_note_id = d.id) as filled
      from purchase_delivery_notes d where ${named}`.execute(db),
  ]);
  const notes = new Map(rows.map((row) => [row.id, row]));
  const problemOf = (id: number, index: number) => {
    const note = notes.get(id);
    if (!note) return 'no existe';
    if (noteIds.indexOf(id) < index) return 'está repetido';
    if (note.annulled) return 'está anulado';
    if (note.invoiced) return 'ya está facturado';
    if (!note.filled) return 'no tiene líneas que facturar';
    return note.supplier_id === supplierId ? undefined : 'es de otro proveedor';
  };
  const problems = noteIds.flatMap((id, index): FieldProblem[] => {
    const mensaje = problemOf(id, index);
    return mensaje ? [{ campo: `albaranes[${index}]`, mensaje }] : [];
  });
  if (problems.length > 0) throw badInput(problems);
}

/** Copies the lines of delivery notes, in the order given, into an invoice. */
export const copyNoteLines = (db: Db, accountId: number, invoiceId: number, noteIds: readonly number[]) =>
  sql`insert into purchase_invoice_lines (account_id, purchase_invoice_id, position, description, quantity, unit_price, discount,
      vat, product_id, variation_id, format_id, base_quantity, extended_description, start_date, end_date, project_id,
      from_delivery_note, purchase_delivery_note_id)
    select ${accountId}, ${invoiceId}::bigint,
      row_number() over (order by array_position(${noteIds}::bigint[], l.purchase_delivery_note_id), l.position, l.id),
      l.description, l.quantity, l.unit_price, l.discount, l.vat, l.product_id, l.variation_id, l.format_id, l.base_quantity,
      l.extended_description, l.start_date, l.end_date, l.project_id, true, l.purchase_delivery_note_id
    from purchase_delivery_note_lines l
    where l.account_id = ${accountId} and l.purchase_delivery_note_id = any(${noteIds}::bigint[])
    order by 3
    returning id`.execute(db);
