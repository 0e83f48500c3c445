import { sql } from 'kysely';
import { z } from 'zod';
import { vatByRate } from '../../documents/vat-by-rate.ts';
import { operation } from '../operation.ts';
import { COUNTED, counts, FOUND, foundIn, isOfProject, wanted } from '../shared/documents/selection.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, optionalDates, PAGE, page, text } from '../shared/schemas.ts';
import { decimalOf, flagOf, idOf, plainOf, shape, textOf } from '../shared/shape.ts';
import { balance, isPaid } from './purchase-document.ts';
import { supplier } from './supplier.ts';

const sums = shape({ suma_base: decimalOf('base'), suma_saldo: decimalOf('balance') });
const purchaseInvoices = listOf(
  'total_facturas',
  'facturas',
  shape({
    facturaCompraId: idOf('purchaseInvoice', 'd.id'),
    numero: textOf('d.number'),
    fecha: plainOf('d.date'),
    proveedor: supplier,
    base_imponible: decimalOf('a.base'),
    saldo: decimalOf('balance'),
    pagada: flagOf('paid'),
    subtipo: textOf('d.subtype'),
    anulado: flagOf('annulled'),
  }),
  orderOf('d', 'date desc', 'id desc'),
  sums.schema.shape,
);

/**
 * Purchase invoices, newest first. `base_imponible` without VAT; `saldo` is what is left to pay, VAT included. The sums are of all that
 * are selected and were not annulled. PIN-01, W-02
 */
export const listPurchaseInvoices = operation({
  title: 'Facturas de compra',
  description:
    'Facturas de proveedores con base, saldo pendiente y si están pagadas. proveedorId: de consultar_proveedores; proyectoId: de consultar_proyectos. Para totales usa consultar_compras.',
  rest: ['GET /purchase-invoices'],
  alias: 'consultarFacturasCompra',
  scope: 'svc.read',
  plan: 'custom',
  input: {
    ...optionalDates(),
    proveedorId: id('supplier').optional().describe('Solo las de este proveedor'),
    pagada: z.boolean().optional().describe('false: solo pendientes'),
    subtipo: text(100).optional().describe('Código de clasificación fiscal'),
    proyectoId: id('project').optional().describe('De este proyecto o con líneas suyas'),
    numero: text(100).optional().describe('Exacto'),
    busqueda: text(200).optional().describe('En número o datos del proveedor'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: purchaseInvoices.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio, fecha_fin, proveedorId, proyectoId, pagada, subtipo, numero, busqueda } = input;
    const amounts = vatByRate(
      'purchase_invoice_lines',
      sql`l.account_id = ${accountId} and l.purchase_invoice_id = d.id`,
    );
    const paid = isPaid(sql`d`);
    const found = busqueda ? foundIn('purchase_invoices', accountId, busqueda) : undefined;
    const selected = db
      .selectFrom('purchase_invoices as d')
      .where('d.account_id', '=', accountId)
      .$call(when(changedIn('d', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(fecha_inicio, (q, from) => q.where('d.date', '>=', from)))
      .$call(when(fecha_fin, (q, to) => q.where('d.date', '<=', to)))
      .$call(when(proveedorId, (q, supplierId) => q.where('d.supplier_id', '=', supplierId)))
      .$call(when(subtipo, (q, subtype) => q.where('d.subtype', '=', subtype)))
      .$call(
        when(pagada, (q, asked) =>
          q.where(sql<boolean>`(select ${paid} from ${amounts} a) = ${asked}`).where('d.annulled_at', 'is', null),
        ),
      )
      .$call(when(proyectoId, (q, project) => q.where(isOfProject('purchase_invoices', accountId, project))))
      .$call(when(numero, (q, number) => q.where('d.number', '=', number)))
      .$call(when(found, (q) => q.where('d.id', 'in', FOUND)));
    const lines = sql`l.account_id = ${accountId} and l.purchase_invoice_id in ${COUNTED}`;
    const summed = sql`
      select a.base, a.total - (select coalesce(sum(b.paid), 0) from purchase_invoices b
        where b.account_id = ${accountId} and b.id in ${COUNTED}) as balance
      from ${vatByRate('purchase_invoice_lines', lines, 'purchase_invoice_id')} a`;
    return purchaseInvoices.read(db, input, {
      ...wanted(selected.select(['d.id', counts]), found),
      sums: { rows: summed, row: sums },
      rows: selected
        .innerJoinLateral(amounts.as('a'), (join) => join.onTrue())
        .innerJoin('suppliers as p', (join) =>
          join.onRef('p.account_id', '=', 'd.account_id').onRef('p.id', '=', 'd.supplier_id'),
        )
        .select(purchaseInvoices.columns)
        .select([
          balance(sql`d`).as('balance'),
          paid.as('paid'),
          sql<boolean>`d.annulled_at is not null`.as('annulled'),
        ]),
    });
  },
});
