import { sql } from 'kysely';
import { operation } from '../operation.ts';
import { baseOf, counts, FOUND, foundIn, isOfProject, wanted } from '../shared/documents/selection.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, optionalDates, PAGE, page, text } from '../shared/schemas.ts';
import { decimalOf, flagOf, idOf, plainOf, shape, textOf } from '../shared/shape.ts';
import { supplier } from './supplier.ts';

const sums = shape({ suma_base: decimalOf('base') });
const purchaseDeliveryNotes = listOf(
  'total_albaranes',
  'documentos',
  shape({
    albaranCompraId: idOf('purchaseDeliveryNote', 'd.id'),
    numero: textOf('d.number'),
    fecha: plainOf('d.date'),
    proveedor: supplier,
    base_imponible: decimalOf('base'),
    anulado: flagOf('annulled'),
  }),
  orderOf('d', 'date desc', 'id desc'),
  sums.schema.shape,
);

/**
 * Goods and services received, invoiced or not, newest first. `base_imponible` without VAT, from the lines; `suma_base` of all that are
 * selected and were not annulled. PDN-01
 */
export const listPurchaseDeliveryNotes = operation({
  title: 'Albaranes de compra',
  description:
    'Albaranes recibidos de proveedores, facturados o no. proveedorId: de consultar_proveedores; proyectoId: de consultar_proyectos. Para facturas usa consultar_facturas_compra.',
  rest: ['GET /purchase-delivery-notes'],
  alias: 'consultarAlbaranesCompra',
  scope: 'svc.read',
  plan: 'custom',
  input: {
    ...optionalDates(),
    proveedorId: id('supplier').optional().describe('Solo los de este proveedor'),
    proyectoId: id('project').optional().describe('De este proyecto o con líneas suyas'),
    numero: text(100).optional().describe('Exacto'),
    busqueda: text(200).optional().describe('En número o datos del proveedor'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: purchaseDeliveryNotes.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio, fecha_fin, proveedorId, proyectoId, numero, busqueda } = input;
    const found = busqueda ? foundIn('purchase_delivery_notes', accountId, busqueda) : undefined;
    const selected = db
      .selectFrom('purchase_delivery_notes as d')
      .where('d.account_id', '=', accountId)
      .$call(when(changedIn('d', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(fecha_inicio, (q, from) => q.where('d.date', '>=', from)))
      .$call(when(fecha_fin, (q, to) => q.where('d.date', '<=', to)))
      .$call(when(proveedorId, (q, supplierId) => q.where('d.supplier_id', '=', supplierId)))
      .$call(when(proyectoId, (q, project) => q.where(isOfProject('purchase_delivery_notes', accountId, project))))
      .$call(when(numero, (q, number) => q.where('d.number', '=', number)))
      .$call(when(found, (q) => q.where('d.id', 'in', FOUND)));
    return purchaseDeliveryNotes.read(db, input, {
      ...wanted(selected.select(['d.id', counts]), found),
      sums: { rows: baseOf('purchase_delivery_notes', accountId), row: sums },
      rows: selected
        .innerJoin('suppliers as p', (join) =>
          join.onRef('p.account_id', '=', 'd.account_id').onRef('p.id', '=', 'd.supplier_id'),
        )
        .select(purchaseDeliveryNotes.columns)
        .select(sql<boolean>`d.annulled_at is not null`.as('annulled'))
        .select((eb) =>
          eb
            .selectFrom('purchase_delivery_note_lines as l')
            .select(sql<number>`coalesce(sum(l.amount), 0)`.as('base'))
            .where('l.account_id', '=', accountId)
            .whereRef('l.purchase_delivery_note_id', '=', 'd.id')
            .as('base'),
        ),
    });
  },
});
