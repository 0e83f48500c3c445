import { sql } from 'kysely';
import { INVOICE_TYPE } from '../../documents/sealed-content.ts';
import { BY_RATE, vatRates } from '../../documents/vat-by-rate.ts';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import {
  documentDetails,
  documentHeader,
  documentOf,
  fromDeliveryNote,
  saleDocumentLine,
  taxes,
} from '../shared/documents/sale-document.ts';
import { id } from '../shared/id.ts';
import { jsonArray, jsonRecord } from '../shared/pages.ts';
import {
  always,
  arrayOf,
  decimalOf,
  flagOf,
  idOf,
  objectOf,
  plainOf,
  type RowOf,
  shape,
  textOf,
  wholeOf,
} from '../shared/shape.ts';
import { balance, invoiceAmounts, isPaid, otherInvoice, rectifications } from './invoice.ts';

const line = shape({ ...saleDocumentLine('invoiceLine'), proviene_albaranes: fromDeliveryNote });

const vatRate = shape({
  iva: decimalOf('rate.vat'),
  ...taxes('rate'),
  base: decimalOf('rate.base'),
  cuota: decimalOf('rate.fee'),
  cuota_recargo: decimalOf('rate.surcharge_fee'),
});

const dueDate = shape({
  vencimientoId: idOf('dueDate', 'v.id'),
  fecha: plainOf('v.date'),
  importe: decimalOf('v.amount'),
  pendiente: decimalOf('pending'),
});

const deliveryNote = shape({
  tipo: always('albaran'),
  id: idOf('deliveryNote', 'n.id'),
  numero: textOf('n.number'),
});

const invoice = shape({
  tipo: always('factura'),
  facturaId: idOf('invoice', 'd.id'),
  tipo_factura: plainOf('invoice_type'),
  ...documentHeader,
  ...documentDetails,
  total_con_iva: decimalOf('a.total'),
  retencion: decimalOf('d.withholding').orNull(),
  a_pagar: decimalOf('a.payable'),
  desglose_iva: arrayOf(vatRate, 'vat_rates'),
  saldo: decimalOf('balance'),
  pagada: flagOf('paid'),
  anulada: flagOf('annulled'),
  motivo_anulacion: textOf('d.annulment_reason'),
  vencimientos: arrayOf(dueDate, 'due_dates'),
  albaranes: arrayOf(deliveryNote, 'delivery_notes'),
  motivo_rectificacion: textOf('d.rectification_reason'),
  rectifica: objectOf(otherInvoice, 'rectifies').orNull(),
  rectificada_por: arrayOf(otherInvoice, 'rectified_by'),
  num_lineas: wholeOf('line_count'),
  lineas: arrayOf(line, 'lines'),
});

/**
 * One invoice with its lines, those that delivery notes brought marked; amounts without VAT, but for `total_con_iva`, `a_pagar` (that
 * without what the client keeps back, `retencion` percent of the base), `saldo` (what is left to collect) and its due dates. An annulled one has nothing left to collect. EST-01, PRJ-01, W-02, W-05
 */
export const getInvoice = operation({
  title: 'Factura',
  description:
    'Una factura con sus líneas, sin IVA (proviene_albaranes 1: de un albarán), su IVA, saldo y vencimientos. facturaId: de consultar_facturas.',
  rest: ['GET /invoices/{facturaId}'],
  alias: 'obtenerFactura',
  scope: 'svc.read',
  input: { facturaId: id('invoice').describe('La factura') },
  output: invoice.schema,
  async handler({ input: { facturaId: id }, db, accountId }) {
    const rates = sql<RowOf<typeof vatRate>>`select ${vatRate.selected} from ${vatRates(
      'invoice_lines',
      sql`l.account_id = ${accountId} and l.invoice_id = ${id}`,
    )} rate order by ${BY_RATE}`;
    const dueDates = sql<
      RowOf<typeof dueDate>
    >`select v.id, v.date, v.amount, case when d.annulled_at is null then v.amount - v.paid else 0 end as pending
      from invoice_due_dates v where v.account_id = ${accountId} and v.invoice_id = ${id} order by v.position, v.id`;
    const notes = sql<RowOf<typeof deliveryNote>>`select n.id, n.number from delivery_notes n
      where n.account_id = ${accountId} and n.id in (
        select b.delivery_note_id from invoice_lines b where b.account_id = ${accountId} and b.invoice_id = ${id})
      order by n.date, n.id`;
    const { rectifies, rectifiedBy } = rectifications(accountId);
    const more = sql`, d.remarks, d.promo_code, d.project_id, d.withholding, a.total, a.payable, ${INVOICE_TYPE} as invoice_type, ${balance} as balance, ${isPaid} as paid,
      d.annulled_at is not null as annulled, d.annulment_reason,
      ${jsonArray(rates, vatRate)} as vat_rates, ${jsonArray(dueDates, dueDate)} as due_dates,
      ${jsonArray(notes, deliveryNote)} as delivery_notes, d.rectification_reason, ${rectifies} as rectifies, ${rectifiedBy} as rectified_by`;
    const amounts = sql`cross join lateral ${invoiceAmounts(accountId, sql<number>`d.id`)} a`;
    const found = await jsonRecord(
      db,
      documentOf<RowOf<typeof invoice>>('invoices', { accountId, id, line }, more, amounts),
      invoice,
    );
    if (!found) throw notFound('facturaId');
    return found;
  },
});
