import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { annulNote, reason } from '../shared/documents/annulment.ts';
import { id, sealedId } from '../shared/id.ts';
import { isInvoiced } from './invoice.ts';

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
    const invoiced = isInvoiced(call.accountId, sql<number>`d.id`);
    const numero = await annulNote(call, 'delivery_notes', { id: albaranId, motivo, isInvoiced: invoiced });
    return { albaranId, numero, anulado: true };
  },
});
