import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { documentHeader, documentLine, documentOf } from '../shared/documents/sale-document.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { always, arrayOf, fieldOf, idOf, shape, wholeOf } from '../shared/shape.ts';

const line = shape({
  ...documentLine('invoiceLine'),
  proviene_albaranes: fieldOf<boolean>()(
    z.union([z.literal(0), z.literal(1)]),
    'l.from_delivery_note',
    (column) => `${column}::int::text`,
  ),
});

const invoice = shape({
  tipo: always('factura'),
  facturaId: idOf('invoice', 'd.id'),
  ...documentHeader,
  num_lineas: wholeOf('line_count'),
  lineas: arrayOf(line, 'lines'),
});

/** One invoice with its lines, those that delivery notes brought marked; amounts without VAT. EST-01, PRJ-01 */
export const getInvoice = operation({
  title: 'Factura',
  description:
    'Una factura con sus líneas, sin IVA; proviene_albaranes 1 en las que vienen de un albarán. facturaId: de consultar_facturas, que da también el saldo.',
  rest: ['GET /invoices/{facturaId}'],
  alias: 'obtenerFactura',
  scope: 'svc.read',
  input: { facturaId: id('invoice').describe('La factura') },
  output: invoice.schema,
  async handler({ input: { facturaId: id }, db, accountId }) {
    const found = await jsonRecord(db, documentOf('invoices', { accountId, id, line }), invoice);
    if (!found) throw notFound('facturaId');
    return found;
  },
});
