import { sql } from 'kysely';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { documentDetails, documentOf, saleDocumentLine } from '../shared/documents/sale-document.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { arrayOf, type RowOf, shape } from '../shared/shape.ts';
import { estimateHeader } from './estimate.ts';

const line = shape(saleDocumentLine('estimateLine'));
const estimate = shape({ ...estimateHeader, ...documentDetails, lineas: arrayOf(line, 'lines') });

/** One estimate with its lines; amounts without VAT. EST-01, W-05 */
export const getEstimate = operation({
  title: 'Presupuesto',
  description: 'Un presupuesto con sus líneas. presupuestoId: de consultar_presupuestos.',
  rest: ['GET /estimates/{presupuestoId}'],
  alias: 'obtenerPresupuesto',
  scope: 'svc.read',
  input: { presupuestoId: id('estimate').describe('El presupuesto') },
  output: estimate.schema,
  async handler({ input: { presupuestoId: id }, db, accountId }) {
    const more = sql`, d.state, d.valid_until, d.remarks, d.promo_code, d.project_id`;
    const found = await jsonRecord(
      db,
      documentOf<RowOf<typeof estimate>>('estimates', { accountId, id, line }, more),
      estimate,
    );
    if (!found) throw notFound('presupuestoId');
    return found;
  },
});
