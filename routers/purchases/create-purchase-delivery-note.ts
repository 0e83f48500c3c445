import { z } from 'zod';
import { operation } from '../operation.ts';
import { byIdAlone } from '../shared/documents/billing-client.ts';
import { insertLines } from '../shared/documents/insert-document.ts';
import { refuseFuture } from '../shared/documents/sale-document.ts';
import { checkAmounts, goodsOf, purchaseLine, resolveLines } from '../shared/documents/sale-lines.ts';
import { id, sealedId } from '../shared/id.ts';
import { isoDate, text } from '../shared/schemas.ts';
import { billingSupplier, resolveSupplier } from './billing-supplier.ts';

/**
 * Creates a delivery note of a supplier, under the supplier's number; stock of articles in sale mode rises, now. A line without a price
 * takes what the article costs. Amounts without VAT. DLV-01, DLV-03..06, DLV-08, W-08
 */
export const createPurchaseDeliveryNote = operation({
  title: 'Crear albarán de compra',
  description:
    'Crea un albarán recibido, y suma su stock. De quién: id de consultar_proveedores o cif; articulo_fk: de consultar_productos; proyectoId: de consultar_proyectos.',
  rest: ['POST /purchase-delivery-notes'],
  alias: 'crearAlbaranCompra',
  scope: 'svc.write',
  relevant: byIdAlone('proveedor'),
  input: {
    proveedor: billingSupplier,
    numero: text(100).optional().describe('El del proveedor'),
    fecha: isoDate().optional().describe('Si falta, hoy'),
    proyectoId: id('project').optional().describe('De las líneas que no tengan otro'),
    detalles: z.array(purchaseLine).min(1).max(1000).describe('Sin importe_unitario, el coste del artículo'),
  },
  output: sealedId('purchaseDeliveryNote').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input, ...call }) {
    const { db, accountId, principal, today, now, newId, beforeCommit, journal } = call;
    const date = refuseFuture(input.fecha, today, 'fecha');
    const projectId = input.proyectoId ?? null;
    const [noteId, supplierId, lines] = await Promise.all([
      newId('purchaseDeliveryNote'),
      resolveSupplier(call, input.proveedor),
      resolveLines(db, accountId, input.detalles, principal.multiFormatStock, { trade: 'purchase' }),
    ]);
    checkAmounts(lines, 'cost');
    const note = { account_id: accountId, id: noteId, number: input.numero || null, date: date.toString() };
    beforeCommit(
      db
        .insertInto('purchase_delivery_notes')
        .values({ ...note, supplier_id: supplierId, project_id: projectId })
        .execute(),
    );
    const table = 'purchase_delivery_notes';
    beforeCommit(insertLines(db, { accountId, id: noteId, table, lines, priceList: 'cost', projectId, now }));
    journal('create', 'purchaseDeliveryNote', noteId);
    journal('modify', 'product', goodsOf(lines));
    return noteId;
  },
});
