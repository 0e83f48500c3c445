import { documentFile } from '../../documents/file.ts';
import { operation } from '../operation.ts';
import { download, downloadOutput } from '../shared/documents/download.ts';
import { id } from '../shared/id.ts';

/** An invoice as it was issued, as UBL by EN 16931. What the format needs and the invoice lacks is a 400 that names every field. DOC-04 */
export const downloadUbl = operation({
  title: 'Descargar UBL',
  description: 'UBL (EN 16931), con una dirección válida 10 minutos. facturaId: de consultar_facturas.',
  rest: ['GET /invoices/{facturaId}/ubl'],
  alias: 'descargarUbl',
  scope: 'svc.read',
  lasts: false,
  file: 'application/xml',
  input: { facturaId: id('invoice').describe('La factura') },
  output: downloadOutput,
  ready: ({ input, accountId, credential, service }) =>
    documentFile(service, accountId, { file: 'invoiceUbl', id: input.facturaId }, credential),
  async handler({ input, made, ...call }) {
    return download(call, made, { file: 'invoiceUbl', id: input.facturaId }, 'facturaId');
  },
});
