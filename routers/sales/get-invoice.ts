import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { documentHeader, documentLine, lineOf, readDocument } from './sale-document.ts';

const invoiceLine = documentLine('invoiceLine').extend({
  proviene_albaranes: z.union([z.literal(0), z.literal(1)]),
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
  output: z.object({
    tipo: z.literal('factura'),
    facturaId: sealedId('invoice'),
    ...documentHeader,
    num_lineas: z.int(),
    lineas: z.array(invoiceLine),
  }),
  async handler({ input: { facturaId }, db, accountId }) {
    const found = await readDocument(db, accountId, 'invoices', facturaId);
    if (!found) throw notFound('facturaId');
    return {
      tipo: 'factura' as const,
      facturaId,
      ...found.header,
      lineas: found.lines.map((line) => ({
        ...lineOf(line),
        proviene_albaranes: line.from_delivery_note ? (1 as const) : (0 as const),
      })),
    };
  },
});
