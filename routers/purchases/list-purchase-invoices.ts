import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { vatByRate } from '../shared/documents/vat-by-rate.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { listOf } from '../shared/pages.ts';
import { optionalDates, PAGE, page, text } from '../shared/schemas.ts';
import { decimalOf, flagOf, idOf, plainOf, shape, textOf } from '../shared/shape.ts';
import { balance, isPaid } from './purchase-document.ts';
import { supplier } from './supplier.ts';

const purchaseInvoices = listOf(
  'total_facturas',
  'facturas',
  shape({
    facturaCompraId: idOf('purchaseInvoice', 'i.id'),
    numero: textOf('i.number'),
    fecha: plainOf('i.date'),
    proveedor: supplier,
    base_imponible: decimalOf('a.base'),
    saldo: decimalOf('balance'),
    pagada: flagOf('paid'),
    subtipo: textOf('i.subtype'),
    anulado: flagOf('annulled'),
  }),
);

/** Purchase invoices, newest first. `base_imponible` without VAT; `saldo` is what is left to pay, VAT included. PIN-01, W-02 */
export const listPurchaseInvoices = operation({
  title: 'Facturas de compra',
  description:
    'Facturas de proveedores con base, saldo pendiente y si están pagadas. proveedorId: de consultar_proveedores. Para totales usa consultar_compras.',
  rest: ['GET /purchase-invoices'],
  alias: 'consultarFacturasCompra',
  scope: 'svc.read',
  input: {
    ...optionalDates(),
    proveedorId: id('supplier').optional().describe('Solo las de este proveedor'),
    pagada: z.boolean().optional().describe('true: solo pagadas; false: solo pendientes'),
    subtipo: text(100).optional().describe('Código de clasificación fiscal'),
    ...page(PAGE),
  },
  output: purchaseInvoices.schema,
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, proveedorId, pagada, subtipo } = input;
    const amounts = vatByRate(
      'purchase_invoice_lines',
      sql`l.account_id = ${accountId} and l.purchase_invoice_id = i.id`,
    );
    const paid = isPaid(sql`i`);
    const selected = db
      .selectFrom('purchase_invoices as i')
      .innerJoinLateral(amounts.as('a'), (join) => join.onTrue())
      .where('i.account_id', '=', accountId)
      .$call(when(fecha_inicio, (q, from) => q.where('i.date', '>=', from)))
      .$call(when(fecha_fin, (q, to) => q.where('i.date', '<=', to)))
      .$call(when(proveedorId, (q, supplierId) => q.where('i.supplier_id', '=', supplierId)))
      .$call(when(subtipo, (q, subtype) => q.where('i.subtype', '=', subtype)))
      .$call(
        when(pagada, (q, wanted) => q.where(sql<boolean>`${paid} = ${wanted}`).where('i.annulled_at', 'is', null)),
      );
    return purchaseInvoices.read(db, input, {
      selected,
      rows: selected
        .innerJoin('suppliers as p', (join) =>
          join.onRef('p.account_id', '=', 'i.account_id').onRef('p.id', '=', 'i.supplier_id'),
        )
        .select(purchaseInvoices.columns)
        .select([
          balance(sql`i`).as('balance'),
          paid.as('paid'),
          sql<boolean>`i.annulled_at is not null`.as('annulled'),
        ])
        .orderBy('i.date', 'desc')
        .orderBy('i.id', 'desc'),
    });
  },
});
