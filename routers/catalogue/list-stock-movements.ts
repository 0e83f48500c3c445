import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn, instantsOf } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, optionalDates, PAGE, page } from '../shared/schemas.ts';
import { always, decimalOf, idOf, oneOf, plainOf, shape, textOf } from '../shared/shape.ts';

const numero = textOf('document_number');
const note = shape({ tipo: always('albaran'), id: idOf('deliveryNote', 'm.delivery_note_id'), numero });
const invoice = shape({ tipo: always('factura'), id: idOf('invoice', 'm.invoice_id'), numero });
const purchaseNote = shape({
  tipo: always('albaran_compra'),
  id: idOf('purchaseDeliveryNote', 'm.purchase_delivery_note_id'),
  numero,
});
/** The document that moved it; null for a stocktaking or an opening. */
const document = oneOf(z.discriminatedUnion('tipo', [note.schema, invoice.schema, purchaseNote.schema]), 'document', {
  albaran: note,
  factura: invoice,
  albaran_compra: purchaseNote,
}).orNull();

const movements = listOf(
  'total_movimientos',
  'movimientos',
  shape({
    movimientoId: idOf('stockMovement', 'm.id'),
    fecha: plainOf('moved'),
    cantidad: decimalOf('m.quantity'),
    motivo: textOf('reason'),
    documento: document,
  }),
  // The opening is as old as the first of the others.
  orderOf('m', 'moved_at desc', 'opening', 'id desc'),
);

/**
 * What moved the stock of a product, newest first, in base units; by the company's local days. Each names its document, or why stock
 * was adjusted. DLV-03, DATE-02, PAG-02
 */
export const listStockMovements = operation({
  title: 'Movimientos de stock',
  description:
    'Entradas y salidas de un artículo en unidades base, de la más reciente a la más antigua. articuloId: de consultar_productos.',
  rest: ['GET /products/{articuloId}/stock-movements'],
  alias: 'consultarMovimientosStock',
  scope: 'svc.read',
  input: { articuloId: id('product').describe('El artículo'), ...optionalDates(), ...changedSince(), ...page(PAGE) },
  output: movements.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { articuloId, fecha_inicio, fecha_fin } = input;
    const { since, until } = instantsOf(fecha_inicio, fecha_fin, timeZone);
    const selected = db
      .selectFrom('stock_movements as m')
      .where('m.account_id', '=', accountId)
      .where('m.product_id', '=', articuloId)
      .$call(when(changedIn('m', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(fecha_inicio, (q) => q.where('m.moved_at', '>=', since)))
      .$call(when(fecha_fin, (q) => q.where('m.moved_at', '<', until)));
    return movements.read(db, input, {
      selected,
      rows: selected
        .leftJoin('delivery_notes as d', (join) =>
          join.onRef('d.account_id', '=', 'm.account_id').onRef('d.id', '=', 'm.delivery_note_id'),
        )
        .leftJoin('invoices as i', (join) =>
          join.onRef('i.account_id', '=', 'm.account_id').onRef('i.id', '=', 'm.invoice_id'),
        )
        .leftJoin('purchase_delivery_notes as p', (join) =>
          join.onRef('p.account_id', '=', 'm.account_id').onRef('p.id', '=', 'm.purchase_delivery_note_id'),
        )
        .select(movements.columns)
        .select([
          sql<string>`to_char(m.moved_at at time zone ${timeZone}, 'YYYY-MM-DD HH24:MI:SS')`.as('moved'),
          sql<string>`case when m.opening then 'Existencias iniciales' else coalesce(m.reason, '') end`.as('reason'),
          sql<'albaran' | 'factura' | 'albaran_compra' | null>`case when d.id is not null then 'albaran'
            when i.id is not null then 'factura' when p.id is not null then 'albaran_compra' end`.as('document'),
          sql<string | null>`coalesce(d.number, i.number, p.number)`.as('document_number'),
        ]),
    });
  },
});
