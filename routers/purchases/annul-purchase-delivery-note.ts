import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { annulNote, reason } from '../shared/documents/annulment.ts';
import { id, sealedId } from '../shared/id.ts';
import { isInvoiced } from './purchase-document.ts';

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
  async handler({ input: { albaranCompraId, motivo }, ...call }) {
    const invoiced = isInvoiced(call.accountId, sql<number>`d.id`);
    const numero = await annulNote(call, 'purchase_delivery_notes', {
      id: albaranCompraId,
      motivo,
      isInvoiced: invoiced,
    });
    return { albaranCompraId, numero, anulado: true };
  },
});
