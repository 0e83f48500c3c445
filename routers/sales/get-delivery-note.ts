import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { isInvoiced } from './invoice.ts';
import { documentHeader, documentLine, lineOf, readDocument } from './sale-document.ts';

/** One delivery note with its lines, and whether it is invoiced; amounts without VAT. EST-01 */
export const getDeliveryNote = operation({
  title: 'Albarán',
  description: 'Un albarán de venta con sus líneas, y si está facturado. albaranId: de consultar_albaranes.',
  rest: ['GET /delivery-notes/{albaranId}'],
  alias: 'obtenerAlbaran',
  scope: 'svc.read',
  input: { albaranId: id('deliveryNote').describe('El albarán') },
  output: z.object({
    tipo: z.literal('albaran'),
    albaranId: sealedId('deliveryNote'),
    ...documentHeader,
    facturado: z.boolean(),
    num_lineas: z.int(),
    lineas: z.array(documentLine('deliveryNoteLine')),
  }),
  async handler({ input: { albaranId }, db, accountId }) {
    const [found, { rows }] = await Promise.all([
      readDocument(db, accountId, 'delivery_notes', albaranId),
      sql<{ invoiced: boolean }>`select ${isInvoiced(accountId, sql<number>`${albaranId}`)} as invoiced`.execute(db),
    ]);
    if (!found) throw notFound('albaranId');
    return {
      tipo: 'albaran' as const,
      albaranId,
      ...found.header,
      facturado: rows[0]?.invoiced ?? false,
      lineas: found.lines.map(lineOf),
    };
  },
});
