import { documentFile } from '../../documents/file.ts';
import { operation } from '../operation.ts';
import { download, downloadOutput } from '../shared/documents/download.ts';
import { id } from '../shared/id.ts';

/** An invoice as it was issued, as a PDF; the same bytes whenever it is asked for. DOC-03 */
export const downloadInvoice = operation({
  title: 'Descargar factura',
  description: 'PDF, con una dirección válida 10 minutos. facturaId: de consultar_facturas.',
  rest: ['GET /invoices/{facturaId}/pdf'],
  alias: 'descargarFactura',
  scope: 'svc.read',
  lasts: false,
  file: 'application/pdf',
  input: { facturaId: id('invoice').describe('La factura') },
  output: downloadOutput,
  ready: ({ input, accountId, credential, service }) =>
    documentFile(service, accountId, { file: 'invoicePdf', id: input.facturaId }, credential),
  async handler({ input, made, ...call }) {
    return download(call, made, { file: 'invoicePdf', id: input.facturaId }, 'facturaId');
  },
});
