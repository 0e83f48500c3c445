// Invoices of delivery notes: each note is invoiced once.
import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { badInput, type FieldProblem } from '../../platform/errors.ts';
import { isInvoiced } from './invoice.ts';

interface NoteRow {
  id: number;
  number: string | null;
  concept: string;
  client_id: number;
  invoiced: boolean;
  annulled: boolean;
  filled: boolean;
}

interface NotesToInvoice {
  client: number;
  concept: string;
}

const CONCEPT_LENGTH = 500;

/**
 * Locks delivery notes until the transaction ends. Answers their client and the concept of their invoice: their own if they have
 * the same one, else their numbers. 400 for a note that can't be invoiced: of another client, annulled, invoiced already, without lines, or
 * named twice. A second invoice of the same note waits here for the first, and then finds the note invoiced.
 */
export async function lockNotes(db: Db, accountId: number, noteIds: readonly number[]): Promise<NotesToInvoice> {
  const named = sql`d.account_id = ${accountId} and d.id = any(${noteIds}::bigint[])`;
  const [, { rows }] = await Promise.all([
    // In the order of their ids, so that two invoices of the same notes never deadlock.
    sql`select d.id from delivery_notes d where ${named} order by d.id for no key update`.execute(db),
    // A second statement, since it sees what was committed while the first one waited.
    sql<NoteRow>`
      select d.id, d.number, d.concept, d.client_id, ${isInvoiced(accountId, sql<number>`d.id`)} as invoiced,
        d.annulled_at is not null as annulled,
        exists (select from delivery_note_lines l where l.account_id = ${accountId} and l.delivery_note_id = d.id) as filled
      from delivery_notes d where ${named}`.execute(db),
  ]);
  const notes = new Map(rows.map((row) => [row.id, row]));
  const client = rows.find(({ id }) => id === noteIds[0])?.client_id;
  const problemOf = (id: number, index: number) => {
    const note = notes.get(id);
    if (!note) return 'no existe';
    if (noteIds.indexOf(id) < index) return 'está repetido';
    if (note.annulled) return 'está anulado';
    if (note.invoiced) return 'ya está facturado';
    if (!note.filled) return 'no tiene líneas que facturar';
    return note.client_id === client ? undefined : 'es de otro cliente que albaranes[0]';
  };
  const problems = noteIds.flatMap((id, index): FieldProblem[] => {
    const mensaje = problemOf(id, index);
    return mensaje ? [{ campo: `albaranes[${index}]`, mensaje }] : [];
  });
  if (client === undefined || problems.length > 0) throw badInput(problems);
  const [concept, another] = new Set(rows.map((row) => row.concept));
  if (concept !== undefined && another === undefined) return { client, concept };
  const numbers = noteIds.flatMap((id) => notes.get(id)?.number ?? []);
  return { client, concept: numbers.length > 0 ? `Albaranes ${numbers.join(', ')}`.slice(0, CONCEPT_LENGTH) : '' };
}

/** Copies the lines of delivery notes, in the order given, into an invoice. */
export const copyNoteLines = (db: Db, accountId: number, invoiceId: number, noteIds: readonly number[]) =>
  sql`insert into invoice_lines (account_id, invoice_id, position, description, quantity, unit_price, discount, vat, surcharge,
      exemption, product_id, variation_id, format_id, base_quantity, extended_description, start_date, end_date, project_id, from_delivery_note,
      delivery_note_id)
    select ${accountId}, ${invoiceId}::bigint,
      row_number() over (order by array_position(${noteIds}::bigint[], l.delivery_note_id), l.position, l.id), l.description,
      l.quantity, l.unit_price, l.discount, l.vat, l.surcharge, l.exemption, l.product_id, l.variation_id, l.format_id, l.base_quantity,
      l.extended_description, l.start_date, l.end_date, l.project_id, true, l.delivery_note_id
    from delivery_note_lines l
    where l.account_id = ${accountId} and l.delivery_note_id = any(${noteIds}::bigint[])
    order by 3
    returning id`.execute(db);
