import { documentFile } from '../../documents/file.ts';
import { operation } from '../operation.ts';
import { download, downloadOutput } from '../shared/documents/download.ts';
import { id } from '../shared/id.ts';

/** An invoice as it was issued, as Facturae 3.2.2, unsigned. What the format needs and the invoice lacks is a 400 that names every field. DOC-04 */
export const downloadFacturae = operation({
  title: 'Descargar Facturae',
  description: 'Facturae 3.2.2 sin firmar, con una dirección válida 10 minutos. facturaId: de consultar_facturas.',
  rest: ['GET /invoices/{facturaId}/facturae'],
  alias: 'descargarFacturae',
  scope: 'svc.read',
  lasts: false,
  file: 'application/xml',
  input: { facturaId: id('invoice').describe('La factura') },
  output: downloadOutput,
  ready: ({ input, accountId, credential, service }) =>
    documentFile(service, accountId, { file: 'invoiceFacturae', id: input.facturaId }, credential),
  async handler({ input, made, ...call }) {
    return download(call, made, { file: 'invoiceFacturae', id: input.facturaId }, 'facturaId');
  },
});
