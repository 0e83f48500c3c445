import { sql } from 'kysely';
import { z } from 'zod';
import { badField, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { markAnnulled, reason, reverseMovements } from '../shared/documents/annulment.ts';
import { addToProjects } from '../shared/documents/insert-document.ts';
import { id, sealedId } from '../shared/id.ts';
import { isInvoiced } from './purchase-document.ts';

interface NoteRow {
  number: string | null;
  annulled: boolean;
  invoiced: boolean;
}

/** Annuls a purchase delivery note: its goods leave stock today, and it counts nowhere. 400 for one that is invoiced. W-02 */
export const annulPurchaseDeliveryNote = operation({
  title: 'Anular albarán de compra',
  description:
    'Anula un albarán de compra sin facturar: deshace hoy su stock y deja de contar. albaranCompraId: de consultar_albaranes_compra.',
  rest: ['POST /purchase-delivery-notes/{albaranCompraId}/annul'],
  alias: 'anularAlbaranCompra',
  scope: 'svc.write',
  destructive: true,
  input: { albaranCompraId: id('purchaseDeliveryNote').describe('El albarán'), motivo: reason() },
  output: z.object({ albaranCompraId: sealedId('purchaseDeliveryNote'), numero: z.string(), anulado: z.boolean() }),
  async handler({ input: { albaranCompraId: id, motivo }, ...call }) {
    const { db, accountId, beforeCommit, audit } = call;
    const named = sql`d.account_id = ${accountId} and d.id = ${id}`;
    const [, { rows }] = await Promise.all([
      sql`select d.id from purchase_delivery_notes d where ${named} for no key update`.execute(db),
      // A second statement, since it sees what was committed while the first one waited: an invoice of the note too.
      sql<NoteRow>`
        select d.number, d.annulled_at is not null as annulled, ${isInvoiced(accountId, sql<number>`d.id`)} as invoiced
        from purchase_delivery_notes d where ${named}`.execute(db),
    ]);
    const [note] = rows;
    if (!note) throw notFound('albaranCompraId');
    if (note.annulled) throw badField('albaranCompraId', 'ya está anulado');
    if (note.invoiced) throw badField('albaranCompraId', 'está facturado: antes se anula su factura');
    beforeCommit(markAnnulled(call, 'purchase_delivery_notes', id, motivo));
    // Stock before projects, as where documents are written.
    beforeCommit(reverseMovements(call, 'purchase_delivery_note_id', id));
    beforeCommit(addToProjects(db, { accountId, id, table: 'purchase_delivery_notes' }, -1));
    audit('purchaseDeliveryNote', id);
    return { albaranCompraId: id, numero: note.number ?? '', anulado: true };
  },
});
