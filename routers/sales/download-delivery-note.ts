import { documentFile } from '../../documents/file.ts';
import { operation } from '../operation.ts';
import { download, downloadOutput } from '../shared/documents/download.ts';
import { id } from '../shared/id.ts';

/** A delivery note as it was issued, as a PDF; the same bytes whenever it is asked for. DOC-03 */
export const downloadDeliveryNote = operation({
  title: 'Descargar albarán',
  description: 'PDF, con una dirección válida 10 minutos. albaranId: de consultar_albaranes.',
  rest: ['GET /delivery-notes/{albaranId}/pdf'],
  alias: 'descargarAlbaran',
  scope: 'svc.read',
  lasts: false,
  file: 'application/pdf',
  input: { albaranId: id('deliveryNote').describe('El albarán') },
  output: downloadOutput,
  ready: ({ input, accountId, credential, service }) =>
    documentFile(service, accountId, { file: 'deliveryNotePdf', id: input.albaranId }, credential),
  async handler({ input, made, ...call }) {
    return download(call, made, { file: 'deliveryNotePdf', id: input.albaranId }, 'albaranId');
  },
});
