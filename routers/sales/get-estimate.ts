import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { estimateHeader } from './list-estimates.ts';
import { documentLine, lineOf, readDocument } from './sale-document.ts';

/** One estimate with its lines; amounts without VAT. EST-01 */
export const getEstimate = operation({
  title: 'Presupuesto',
  description: 'Un presupuesto con sus líneas. presupuestoId: de consultar_presupuestos.',
  rest: ['GET /estimates/{presupuestoId}'],
  alias: 'obtenerPresupuesto',
  scope: 'svc.read',
  input: { presupuestoId: id('estimate').describe('El presupuesto') },
  output: estimateHeader.extend({ lineas: z.array(documentLine('estimateLine')) }),
  async handler({ input: { presupuestoId }, db, accountId }) {
    const found = await readDocument(db, accountId, 'estimates', presupuestoId);
    if (!found) throw notFound('presupuestoId');
    return { tipo: 'presupuesto' as const, presupuestoId, ...found.header, lineas: found.lines.map(lineOf) };
  },
});
