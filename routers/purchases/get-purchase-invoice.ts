import { sql } from 'kysely';
import { vatByRate } from '../../documents/vat-by-rate.ts';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { documentLine, fromDeliveryNote } from '../shared/documents/sale-document.ts';
import { id } from '../shared/id.ts';
import { jsonArray, jsonRecord } from '../shared/pages.ts';
import {
  always,
  arrayOf,
  decimalOf,
  flagOf,
  idOf,
  plainOf,
  type RowOf,
  shape,
  textOf,
  wholeOf,
} from '../shared/shape.ts';
import { balance, isPaid, purchaseDocumentOf, purchaseHeader } from './purchase-document.ts';

const line = shape({ ...documentLine('purchaseInvoiceLine'), proviene_albaranes: fromDeliveryNote });

const dueDate = shape({
  vencimientoId: idOf('purchaseDueDate', 'v.id'),
  fecha: plainOf('v.date'),
  importe: decimalOf('v.amount'),
  pendiente: decimalOf('pending'),
});

const deliveryNote = shape({
  tipo: always('albaran_compra'),
  id: idOf('purchaseDeliveryNote', 'n.id'),
  numero: textOf('n.number'),
});

const invoice = shape({
  tipo: always('factura_compra'),
  facturaCompraId: idOf('purchaseInvoice', 'd.id'),
  ...purchaseHeader,
  subtipo: textOf('d.subtype'),
  total_con_iva: decimalOf('a.total'),
  saldo: decimalOf('balance'),
  pagada: flagOf('paid'),
  vencimientos: arrayOf(dueDate, 'due_dates'),
  albaranes: arrayOf(deliveryNote, 'delivery_notes'),
  num_lineas: wholeOf('line_count'),
  lineas: arrayOf(line, 'lines'),
});

/**
 * One purchase invoice with its lines, those that delivery notes brought marked; amounts without VAT, but for `total_con_iva`, `saldo`
 * (what is left to pay) and its due dates. An annulled one has nothing left to pay. EST-01, PIN-01, W-05
 */
export const getPurchaseInvoice = operation({
  title: 'Factura de compra',
  description:
    'Una factura de compra con sus líneas, saldo y vencimientos (IVA incluido). facturaCompraId: de consultar_facturas_compra.',
  rest: ['GET /purchase-invoices/{facturaCompraId}'],
  alias: 'obtenerFacturaCompra',
  scope: 'svc.read',
  input: { facturaCompraId: id('purchaseInvoice').describe('La factura') },
  output: invoice.schema,
  async handler({ input: { facturaCompraId: id }, db, accountId }) {
    const dueDates = sql<RowOf<typeof dueDate>>`
      select v.id, v.date, v.amount, case when d.annulled_at is null then v.amount - v.paid else 0 end as pending
      from purchase_invoice_due_dates v where v.account_id = ${accountId} and v.purchase_invoice_id = ${id}
      order by v.position, v.id`;
    const notes = sql<RowOf<typeof deliveryNote>>`select n.id, n.number from purchase_delivery_notes n
      where n.account_id = ${accountId} and n.id in (select b.purchase_delivery_note_id from purchase_invoice_lines b
        where b.account_id = ${accountId} and b.purchase_invoice_id = ${id})
      order by n.date, n.id`;
    const more = sql`, d.subtype, a.total, ${balance(sql`d`)} as balance, ${isPaid(sql`d`)} as paid,
      ${jsonArray(dueDates, dueDate)} as due_dates, ${jsonArray(notes, deliveryNote)} as delivery_notes`;
    const lines = sql`l.account_id = ${accountId} and l.purchase_invoice_id = d.id`;
    const amounts = sql`cross join lateral ${vatByRate('purchase_invoice_lines', lines)} a`;
    const which = { accountId, id, line };
    const found = await jsonRecord(
      db,
      purchaseDocumentOf<RowOf<typeof invoice>>('purchase_invoices', which, more, amounts),
      invoice,
    );
    if (!found) throw notFound('facturaCompraId');
    return found;
  },
});
