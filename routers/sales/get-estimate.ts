import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { documentLine, documentOf } from '../shared/documents/sale-document.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { arrayOf, shape } from '../shared/shape.ts';
import { estimateHeader } from './list-estimates.ts';

const line = shape(documentLine('estimateLine'));
const estimate = shape({ ...estimateHeader, lineas: arrayOf(line, 'lines') });

/** One estimate with its lines; amounts without VAT. EST-01 */
export const getEstimate = operation({
  title: 'Presupuesto',
  description: 'Un presupuesto con sus líneas. presupuestoId: de consultar_presupuestos.',
  rest: ['GET /estimates/{presupuestoId}'],
  alias: 'obtenerPresupuesto',
  scope: 'svc.read',
  input: { presupuestoId: id('estimate').describe('El presupuesto') },
  output: estimate.schema,
  async handler({ input: { presupuestoId: id }, db, accountId }) {
    const found = await jsonRecord(db, documentOf('estimates', { accountId, id, line }), estimate);
    if (!found) throw notFound('presupuestoId');
    return found;
  },
});
