import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { documentLine, party, readDocument } from './sale-document.ts';

/** One estimate with its lines; amounts without VAT. EST-01 */
export const getEstimate = operation({
  title: 'Presupuesto',
  description: 'Un presupuesto con sus líneas. presupuestoId: de consultar_presupuestos.',
  rest: ['GET /estimates/{presupuestoId}'],
  alias: 'obtenerPresupuesto',
  scope: 'svc.read',
  input: { presupuestoId: id('estimate').describe('El presupuesto') },
  output: z.object({
    tipo: z.literal('presupuesto'),
    presupuestoId: sealedId('estimate'),
    numero: z.string(),
    fecha: z.string(),
    concepto: z.string(),
    contraparte: party,
    base_imponible: z.number(),
    num_lineas: z.int(),
    lineas: z.array(documentLine('estimateLine')),
  }),
  async handler({ input: { presupuestoId }, db, accountId }) {
    const found = await readDocument(db, accountId, 'estimates', presupuestoId);
    if (!found) throw notFound('presupuestoId');
    return { tipo: 'presupuesto' as const, presupuestoId, ...found };
  },
});
