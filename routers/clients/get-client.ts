import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { readClient, wholeClient } from './client.ts';

/** One client with its address. TAR-01 */
export const getClient = operation({
  title: 'Cliente',
  description: 'Un cliente. clienteId: de consultar_clientes.',
  rest: ['GET /clients/{clienteId}'],
  alias: 'obtenerCliente',
  scope: 'svc.read',
  input: { clienteId: id('client').describe('El cliente') },
  output: wholeClient.schema,
  handler: ({ input: { clienteId }, db, accountId }) => readClient(db, accountId, clienteId),
});
