import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { pageOfRows } from '../shared/rows.ts';
import { optionalDates, PAGE, page, paged, pageOf, text } from '../shared/schemas.ts';
import { SUPPLIER_COLUMNS, supplier, supplierOf } from './supplier.ts';

const purchaseInvoice = z.object({
  facturaCompraId: sealedId('purchaseInvoice'),
  numero: z.string(),
  fecha: z.string(),
  proveedor: supplier,
  base_imponible: z.number(),
  saldo: z.number(),
  pagada: z.boolean(),
  subtipo: z.string(),
});

/** Purchase invoices, newest first. `base_imponible` without VAT; `saldo` is what is left to pay, VAT included. PIN-01 */
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
  output: paged('total_facturas', 'facturas', purchaseInvoice),
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, proveedorId, pagada, subtipo } = input;
    // VAT is rounded once for each rate of the document.
    const amounts = sql<{ base: number; total: number }>`(
      select coalesce(sum(rate.base), 0) as base, coalesce(sum(rate.base + round(rate.base * rate.vat / 100, 2)), 0) as total
      from (select vat, sum(amount) as base from purchase_invoice_lines l
            where l.account_id = i.account_id and l.purchase_invoice_id = i.id group by vat) rate)`;
    const selected = db
      .selectFrom('purchase_invoices as i')
      .innerJoinLateral(amounts.as('a'), (join) => join.onTrue())
      .where('i.account_id', '=', accountId)
      .$if(fecha_inicio !== undefined, (q) => q.where('i.date', '>=', fecha_inicio ?? ''))
      .$if(fecha_fin !== undefined, (q) => q.where('i.date', '<=', fecha_fin ?? ''))
      .$if(proveedorId !== undefined, (q) => q.where('i.supplier_id', '=', proveedorId ?? 0))
      .$if(Boolean(subtipo), (q) => q.where('i.subtype', '=', subtipo ?? ''))
      .$if(pagada !== undefined, (q) => q.where(sql<boolean>`(a.total <= i.paid) = ${pagada ?? false}`));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected
        .innerJoin('suppliers as p', (join) =>
          join.onRef('p.account_id', '=', 'i.account_id').onRef('p.id', '=', 'i.supplier_id'),
        )
        .select(['i.id', 'i.number', 'i.date', 'i.supplier_id', 'i.subtype', ...SUPPLIER_COLUMNS])
        .select([sql<number>`a.base`.as('base'), sql<number>`a.total - i.paid`.as('balance')])
        .orderBy('i.date', 'desc')
        .orderBy('i.id', 'desc'),
      input,
    );
    return {
      total_facturas: total,
      ...pageOf(total, input),
      facturas: rows.map((row) => ({
        facturaCompraId: row.id,
        numero: row.number,
        fecha: row.date,
        proveedor: supplierOf(row),
        base_imponible: row.base,
        saldo: row.balance,
        pagada: row.balance <= 0,
        subtipo: row.subtype ?? '',
      })),
    };
  },
});
