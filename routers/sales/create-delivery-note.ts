import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { billingClient, resolveBillingClient } from './billing-client.ts';
import { insertDeliveryNote, nextNoteId } from './insert-document.ts';
import { saleOrder } from './sale-document.ts';
import { resolveLines, saleLine } from './sale-lines.ts';

/**
 * Creates a reviewed, numbered delivery note of today; stock of articles in sale mode follows. Amounts without VAT.
 * No due dates: they come with the invoice. DLV-01..08
 */
export const createDeliveryNote = operation({
  title: 'Crear albarán',
  description:
    'Crea un albarán de venta revisado, numerado y con fecha de hoy, y mueve el stock. Cliente: id de consultar_clientes o cif; articulo_fk: de consultar_productos; formatoId: de consultar_formatos.',
  rest: ['POST /delivery-notes'],
  alias: 'crearAlbaran',
  scope: 'svc.write',
  input: {
    cliente: billingClient.describe('Cliente de facturación'),
    pedido: saleOrder,
    detalles: z.array(saleLine).min(1).max(1000).describe('Líneas'),
  },
  output: sealedId('deliveryNote').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input, db, accountId, principal: { multiFormatStock }, today, now, later, audit }) {
    const { pedido } = input;
    const [id, client, lines] = await Promise.all([
      nextNoteId(db),
      resolveBillingClient(db, accountId, input.cliente, audit),
      resolveLines(db, accountId, input.detalles, multiFormatStock),
    ]);
    // The company's other notes wait for this one's number until the commit: nothing is waited for in between.
    later(
      insertDeliveryNote(db, {
        id,
        accountId,
        date: today,
        now,
        clientId: client.id,
        priceList: client.priceList,
        concept: pedido.obra,
        remarks: pedido.detalles_operacion,
        promoCode: pedido.promo_code,
        lines,
      }),
    );
    audit('deliveryNote', id);
    return id;
  },
});
