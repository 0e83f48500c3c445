import { sql } from 'kysely';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { documentDetails, documentHeader, documentOf, saleDocumentLine } from '../shared/documents/sale-document.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { always, arrayOf, flagOf, idOf, type RowOf, shape, textOf, wholeOf } from '../shared/shape.ts';
import { isInvoiced } from './invoice.ts';

const line = shape(saleDocumentLine('deliveryNoteLine'));
const deliveryNote = shape({
  tipo: always('albaran'),
  albaranId: idOf('deliveryNote', 'd.id'),
  ...documentHeader,
  ...documentDetails,
  facturado: flagOf('invoiced'),
  anulado: flagOf('annulled'),
  motivo_anulacion: textOf('d.annulment_reason'),
  num_lineas: wholeOf('line_count'),
  lineas: arrayOf(line, 'lines'),
});

/** One delivery note with its lines, whether it is invoiced or annulled, and why; amounts without VAT. EST-01, W-02, W-05 */
export const getDeliveryNote = operation({
  title: 'Albarán',
  description: 'Un albarán de venta con sus líneas, y si está facturado. albaranId: de consultar_albaranes.',
  rest: ['GET /delivery-notes/{albaranId}'],
  alias: 'obtenerAlbaran',
  scope: 'svc.read',
  input: { albaranId: id('deliveryNote').describe('El albarán') },
  output: deliveryNote.schema,
  async handler({ input: { albaranId: id }, db, accountId }) {
    const more = sql`, d.remarks, d.promo_code, d.project_id, ${isInvoiced(accountId, sql<number>`d.id`)} as invoiced,
      d.annulled_at is not null as annulled, d.annulment_reason`;
    const note = documentOf<RowOf<typeof deliveryNote>>('delivery_notes', { accountId, id, line }, more);
    const found = await jsonRecord(db, note, deliveryNote);
    if (!found) throw notFound('albaranId');
    return found;
  },
});
