import { documentFile } from '../../documents/file.ts';
import { operation } from '../operation.ts';
import { download, downloadOutput } from '../shared/documents/download.ts';
import { id } from '../shared/id.ts';

/** An estimate as it was issued, as a PDF; the same bytes whenever it is asked for. DOC-03 */
export const downloadEstimate = operation({
  title: 'Descargar presupuesto',
  description: 'PDF, con una dirección válida 10 minutos. presupuestoId: de consultar_presupuestos.',
  rest: ['GET /estimates/{presupuestoId}/pdf'],
  alias: 'descargarPresupuesto',
  scope: 'svc.read',
  lasts: false,
  file: 'application/pdf',
  input: { presupuestoId: id('estimate').describe('El presupuesto') },
  output: downloadOutput,
  ready: ({ input, accountId, credential, service }) =>
    documentFile(service, accountId, { file: 'estimatePdf', id: input.presupuestoId }, credential),
  async handler({ input, made, ...call }) {
    return download(call, made, { file: 'estimatePdf', id: input.presupuestoId }, 'presupuestoId');
  },
});
