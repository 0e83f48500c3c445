import { z } from 'zod';
import { operation } from '../operation.ts';
import { billingClient, clientByIdAlone, resolveBillingClient } from '../shared/documents/billing-client.ts';
import { refuseBeforeLast } from '../shared/documents/document-number.ts';
import { insertDeliveryNote } from '../shared/documents/insert-document.ts';
import { refuseFuture, saleOrder } from '../shared/documents/sale-document.ts';
import { checkAmounts, goodsOf, resolveLines, saleLine } from '../shared/documents/sale-lines.ts';
import { sealedId } from '../shared/id.ts';

/**
 * Creates a reviewed, numbered delivery note, of today unless it says otherwise; stock of articles in sale mode follows, now. Amounts
 * without VAT. No due dates: they come with the invoice. DLV-01..08, W-07, W-08
 */
export const createDeliveryNote = operation({
  title: 'Crear albarán',
  description:
    'Crea un albarán de venta revisado y numerado, y mueve el stock. Cliente: id de consultar_clientes o cif; articulo_fk: de consultar_productos; proyectoId: de consultar_proyectos.',
  rest: ['POST /delivery-notes'],
  alias: 'crearAlbaran',
  scope: 'svc.write',
  relevant: clientByIdAlone,
  input: {
    cliente: billingClient.describe('De facturación'),
    pedido: saleOrder,
    detalles: z.array(saleLine).min(1).max(1000),
  },
  output: sealedId('deliveryNote').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({
    input,
    db,
    accountId,
    principal: { multiFormatStock },
    today,
    now,
    newId,
    beforeCommit,
    journal,
    seal,
  }) {
    const { pedido } = input;
    const date = refuseFuture(pedido.fecha, today);
    const [id, client, lines] = await Promise.all([
      newId('deliveryNote'),
      resolveBillingClient(db, accountId, input.cliente, journal),
      resolveLines(db, accountId, input.detalles, multiFormatStock),
    ]);
    checkAmounts(lines, client.priceList);
    // From here to the commit, the company's other notes wait for this one's number: so it is the last thing done.
    beforeCommit(
      insertDeliveryNote(db, {
        id,
        accountId,
        date,
        now,
        clientId: client.id,
        priceList: client.priceList,
        concept: pedido.obra,
        remarks: pedido.detalles_operacion,
        promoCode: pedido.promo_code,
        projectId: pedido.proyectoId ?? null,
        lines,
      }),
    );
    if (pedido.fecha !== undefined)
      beforeCommit(refuseBeforeLast(db, accountId, { document: 'delivery_note', id, date }));
    journal('create', 'deliveryNote', id);
    seal({ table: 'delivery_notes', id, action: 'issue' });
    journal('modify', 'product', goodsOf(lines));
    return id;
  },
});
