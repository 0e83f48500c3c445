// Delivery notes on their way into an invoice: each goes into one, and only once.
import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { badInput, type FieldProblem } from '../../platform/errors.ts';
import { lastWritten } from './insert-document.ts';
import { isInvoiced } from './invoice.ts';

interface NoteRow {
  id: number;
  number: string | null;
  concept: string;
  client_id: number;
  invoiced: boolean;
  filled: boolean;
}

interface NotesToInvoice {
  client: number;
  concept: string;
}

const CONCEPT_LENGTH = 500;

/**
 * Locks delivery notes until the transaction ends, and answers the client that they all have and what an invoice of them is
 * about: their concept if it is one, else their numbers. 400 for what can't be invoiced:
 * a note of another client, one that already is, one without lines, one named twice. Of two invoices of one note, the
 * second waits here for the first, and finds the note invoiced.
 */
export async function lockNotes(db: Db, accountId: number, noteIds: readonly number[]): Promise<NotesToInvoice> {
  const named = sql`d.account_id = ${accountId} and d.id = any(${noteIds}::bigint[])`;
  const [, { rows }] = await Promise.all([
    // In the order of their numbers, so that two invoices of the same notes can't wait for each other.
    sql`select d.id from delivery_notes d where ${named} order by d.id for no key update`.execute(db),
    // A statement of its own sees what was committed while the first one waited.
    sql<NoteRow>`
      select d.id, d.number, d.concept, d.client_id, ${isInvoiced(accountId, sql<number>`d.id`)} as invoiced,
        exists (select from delivery_note_lines l where l.account_id = ${accountId} and l.delivery_note_id = d.id) as filled
      from delivery_notes d where ${named}`.execute(db),
  ]);
  const notes = new Map(rows.map((row) => [row.id, row]));
  const client = notes.get(noteIds[0] ?? 0)?.client_id;
  const problems = noteIds.flatMap((id, index): FieldProblem[] => {
    const note = notes.get(id);
    const mensaje = !note
      ? 'no existe'
      : noteIds.indexOf(id) < index
        ? 'está repetido'
        : note.invoiced
          ? 'ya está facturado'
          : !note.filled
            ? 'no tiene líneas que facturar'
            : note.client_id !== client && 'es de otro cliente que albaranes[0]';
    return mensaje ? [{ campo: `albaranes[${index}]`, mensaje }] : [];
  });
  if (client === undefined || problems.length > 0) throw badInput(problems);
  const [concept = '', another] = new Set(rows.map((row) => row.concept));
  if (another === undefined) return { client, concept };
  const numbers = noteIds.flatMap((id) => notes.get(id)?.number ?? []);
  return { client, concept: numbers.length > 0 ? `Albaranes ${numbers.join(', ')}`.slice(0, CONCEPT_LENGTH) : '' };
}

/** Copies the lines of delivery notes, in the order given, into the invoice that was written just before. */
export const copyNoteLines = (db: Db, accountId: number, noteIds: readonly number[]) =>
  sql`insert into invoice_lines (account_id, invoice_id, position, description, quantity, unit_price, discount, vat, product_id,
      variation_id, format_id, base_quantity, extended_description, start_date, end_date, project_id, from_delivery_note,
      delivery_note_id)
    select ${accountId}, ${lastWritten('invoices')},
      row_number() over (order by array_position(${noteIds}::bigint[], l.delivery_note_id), l.position, l.id), l.description,
      l.quantity, l.unit_price, l.discount, l.vat, l.product_id, l.variation_id, l.format_id, l.base_quantity,
      l.extended_description, l.start_date, l.end_date, l.project_id, true, l.delivery_note_id
    from delivery_note_lines l
    where l.account_id = ${accountId} and l.delivery_note_id = any(${noteIds}::bigint[])
    order by 3`.execute(db);
