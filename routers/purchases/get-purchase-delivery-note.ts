import { sql } from 'kysely';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { documentLine } from '../shared/documents/sale-document.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { always, arrayOf, flagOf, idOf, type RowOf, shape, wholeOf } from '../shared/shape.ts';
import { isInvoiced, purchaseDocumentOf, purchaseHeader } from './purchase-document.ts';

const line = shape(documentLine('purchaseDeliveryNoteLine'));
const note = shape({
  tipo: always('albaran_compra'),
  albaranCompraId: idOf('purchaseDeliveryNote', 'd.id'),
  ...purchaseHeader,
  facturado: flagOf('invoiced'),
  num_lineas: wholeOf('line_count'),
  lineas: arrayOf(line, 'lines'),
});

/** One purchase delivery note with its lines, and whether it is invoiced or annulled; amounts without VAT. EST-01, W-05 */
export const getPurchaseDeliveryNote = operation({
  title: 'Albarán de compra',
  description: 'Un albarán de compra con sus líneas. albaranCompraId: de consultar_albaranes_compra.',
  rest: ['GET /purchase-delivery-notes/{albaranCompraId}'],
  alias: 'obtenerAlbaranCompra',
  scope: 'svc.read',
  input: { albaranCompraId: id('purchaseDeliveryNote').describe('El albarán') },
  output: note.schema,
  async handler({ input: { albaranCompraId: id }, db, accountId }) {
    const more = sql`, ${isInvoiced(accountId, sql<number>`d.id`)} as invoiced`;
    const which = { accountId, id, line };
    const found = await jsonRecord(
      db,
      purchaseDocumentOf<RowOf<typeof note>>('purchase_delivery_notes', which, more),
      note,
    );
    if (!found) throw notFound('albaranCompraId');
    return found;
  },
});
