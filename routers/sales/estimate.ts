// How an estimate is shown, and what documents have of it.
import { sql } from 'kysely';
import { documentHeader } from '../shared/documents/sale-document.ts';
import { always, enumOf, idOf, plainOf, wholeOf } from '../shared/shape.ts';

/** `estado` on the wire and the state that is stored. */
export const STATES = { pendiente: 'pending', aceptado: 'accepted', rechazado: 'rejected' } as const;

/** An estimate `d` without its lines. EST-01 */
export const estimateHeader = {
  tipo: always('presupuesto'),
  presupuestoId: idOf('estimate', 'd.id'),
  ...documentHeader,
  estado: enumOf('d.state', STATES),
  valido_hasta: plainOf('d.valid_until').orNull(),
  num_lineas: wholeOf('line_count'),
};

/**
 * The quantity of a line `l` of an estimate that documents have; annulled ones give theirs back. Which documents count is decided here
 * alone. W-04
 */
export const convertedQuantity = (accountId: number) => sql<number>`(
  select coalesce(sum(c.quantity), 0) from (
    select n.quantity from delivery_note_lines n
    join delivery_notes d on d.account_id = ${accountId} and d.id = n.delivery_note_id
    where n.account_id = ${accountId} and n.estimate_line_id = l.id and d.annulled_at is null
    union all
    select n.quantity from invoice_lines n
    join invoices d on d.account_id = ${accountId} and d.id = n.invoice_id
    where n.account_id = ${accountId} and n.estimate_line_id = l.id and d.annulled_at is null) c)`;
