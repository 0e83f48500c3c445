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

/** The quantity of a line `l` of an estimate that documents have. Which documents count is decided here alone. W-04 */
export const convertedQuantity = (accountId: number) => sql<number>`(
  select coalesce(sum(c.quantity), 0) from (
    select n.quantity from delivery_note_lines n where n.account_id = ${accountId} and n.estimate_line_id = l.id
    union all
    select i.quantity from invoice_lines i where i.account_id = ${accountId} and i.estimate_line_id = l.id) c)`;
