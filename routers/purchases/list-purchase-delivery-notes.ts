import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { pageOfRows } from '../shared/rows.ts';
import { optionalDates, PAGE, page, paged, pageOf } from '../shared/schemas.ts';
import { SUPPLIER_COLUMNS, supplier, supplierOf } from './supplier.ts';

const purchaseDeliveryNote = z.object({
  albaranCompraId: sealedId('purchaseDeliveryNote'),
  numero: z.string(),
  fecha: z.string(),
  proveedor: supplier,
  base_imponible: z.number(),
});

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
  output: paged('total_albaranes', 'documentos', purchaseDeliveryNote),
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, proveedorId } = input;
    const selected = db
      .selectFrom('purchase_delivery_notes as n')
      .where('n.account_id', '=', accountId)
      .$if(fecha_inicio !== undefined, (q) => q.where('n.date', '>=', fecha_inicio ?? ''))
      .$if(fecha_fin !== undefined, (q) => q.where('n.date', '<=', fecha_fin ?? ''))
      .$if(proveedorId !== undefined, (q) => q.where('n.supplier_id', '=', proveedorId ?? 0));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected
        .innerJoin('suppliers as p', (join) =>
          join.onRef('p.account_id', '=', 'n.account_id').onRef('p.id', '=', 'n.supplier_id'),
        )
        .select(['n.id', 'n.number', 'n.date', 'n.supplier_id', ...SUPPLIER_COLUMNS])
        .select((eb) =>
          eb
            .selectFrom('purchase_delivery_note_lines as l')
            .select(sql<number>`coalesce(sum(l.amount), 0)`.as('base'))
            .whereRef('l.account_id', '=', 'n.account_id')
            .whereRef('l.purchase_delivery_note_id', '=', 'n.id')
            .as('base'),
        )
        .orderBy('n.date', 'desc')
        .orderBy('n.id', 'desc'),
      input,
    );
    return {
      total_albaranes: total,
      ...pageOf(total, input),
      documentos: rows.map((row) => ({
        albaranCompraId: row.id,
        numero: row.number ?? '',
        fecha: row.date,
        proveedor: supplierOf(row),
        base_imponible: row.base ?? 0,
      })),
    };
  },
});
