import { sql } from 'kysely';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { listOf } from '../shared/pages.ts';
import { optionalDates, PAGE, page } from '../shared/schemas.ts';
import { decimalOf, flagOf, idOf, plainOf, shape, textOf } from '../shared/shape.ts';
import { supplier } from './supplier.ts';

const purchaseDeliveryNotes = listOf(
  'total_albaranes',
  'documentos',
  shape({
    albaranCompraId: idOf('purchaseDeliveryNote', 'n.id'),
    numero: textOf('n.number'),
    fecha: plainOf('n.date'),
    proveedor: supplier,
    base_imponible: decimalOf('base'),
    anulado: flagOf('annulled'),
  }),
);

/** Goods and services received, invoiced or not, newest first. `base_imponible` without VAT, from the lines. PDN-01 */
export const listPurchaseDeliveryNotes = operation({
  title: 'Albaranes de compra',
  description:
    'Albaranes recibidos de proveedores, facturados o no. proveedorId: de consultar_proveedores. Para facturas usa consultar_facturas_compra.',
  rest: ['GET /purchase-delivery-notes'],
  alias: 'consultarAlbaranesCompra',
  scope: 'svc.read',
  input: {
    ...optionalDates(),
    proveedorId: id('supplier').optional().describe('Solo los de este proveedor'),
    ...page(PAGE),
  },
  output: purchaseDeliveryNotes.schema,
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, proveedorId } = input;
    const selected = db
      .selectFrom('purchase_delivery_notes as n')
      .where('n.account_id', '=', accountId)
      .$call(when(fecha_inicio, (q, from) => q.where('n.date', '>=', from)))
      .$call(when(fecha_fin, (q, to) => q.where('n.date', '<=', to)))
      .$call(when(proveedorId, (q, supplierId) => q.where('n.supplier_id', '=', supplierId)));
    return purchaseDeliveryNotes.read(db, input, {
      selected,
      rows: selected
        .innerJoin('suppliers as p', (join) =>
          join.onRef('p.account_id', '=', 'n.account_id').onRef('p.id', '=', 'n.supplier_id'),
        )
        .select(purchaseDeliveryNotes.columns)
        .select(sql<boolean>`n.annulled_at is not null`.as('annulled'))
        .select((eb) =>
          eb
            .selectFrom('purchase_delivery_note_lines as l')
            .select(sql<number>`coalesce(sum(l.amount), 0)`.as('base'))
            .where('l.account_id', '=', accountId)
            .whereRef('l.purchase_delivery_note_id', '=', 'n.id')
            .as('base'),
        )
        .orderBy('n.date', 'desc')
        .orderBy('n.id', 'desc'),
    });
  },
});
