import { sql } from 'kysely';
import { z } from 'zod';
import { badField, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { markAnnulled, reason, reverseMovements } from '../shared/documents/annulment.ts';
import { addToProjects } from '../shared/documents/insert-document.ts';
import { id, sealedId } from '../shared/id.ts';
import { isInvoiced } from './invoice.ts';

interface NoteRow {
  number: string | null;
  annulled: boolean;
  invoiced: boolean;
}

/**
 * Annuls a delivery note: it keeps its number, its goods come back today, and it counts nowhere, reservations included. The renewal
 * that it was issued for counts as skipped. 400 for one that is invoiced: its invoice is rectified first. W-02
 */
export const annulDeliveryNote = operation({
  title: 'Anular albarán',
  description:
    'Anula un albarán sin facturar: conserva su número, devuelve hoy su stock y deja de contar. albaranId: de consultar_albaranes.',
  rest: ['POST /delivery-notes/{albaranId}/annul'],
  alias: 'anularAlbaran',
  scope: 'svc.write',
  destructive: true,
  input: { albaranId: id('deliveryNote').describe('El albarán'), motivo: reason() },
  output: z.object({ albaranId: sealedId('deliveryNote'), numero: z.string(), anulado: z.boolean() }),
  async handler({ input: { albaranId, motivo }, ...call }) {
    const { db, accountId, beforeCommit, audit } = call;
    const named = sql`d.account_id = ${accountId} and d.id = ${albaranId}`;
    const [, { rows }] = await Promise.all([
      sql`select d.id from delivery_notes d where ${named} for no key update`.execute(db),
      // A second statement, since it sees what was committed while the first one waited: an invoice of the note too.
      sql<NoteRow>`
        select d.number, d.annulled_at is not null as annulled, ${isInvoiced(accountId, sql<number>`d.id`)} as invoiced
        from delivery_notes d where ${named}`.execute(db),
    ]);
    const [note] = rows;
    if (!note) throw notFound('albaranId');
    if (note.annulled) throw badField('albaranId', 'ya está anulado');
    if (note.invoiced) throw badField('albaranId', 'está facturado: antes se rectifica su factura');
    beforeCommit(markAnnulled(call, 'delivery_notes', albaranId, motivo));
    // Stock before projects, as sales do.
    beforeCommit(reverseMovements(call, 'delivery_note_id', albaranId));
    beforeCommit(addToProjects(db, { accountId, id: albaranId, table: 'delivery_notes' }, -1));
    audit('deliveryNote', albaranId);
    return { albaranId, numero: note.number ?? '', anulado: true };
  },
});
