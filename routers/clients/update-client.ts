import { operation } from '../operation.ts';
import { refuseNothing, updateRecord } from '../shared/changes.ts';
import { id } from '../shared/id.ts';
import { derivedAfter } from '../shared/party.ts';
import { clientColumns, clientFields, readClient, refuseUnknownList, wholeClient } from './client.ts';

/** Changes what is sent of a client; answers it as `obtenerCliente` does. W-01 */
export const updateClient = operation({
  title: 'Actualizar cliente',
  description: 'Cambia los datos enviados; "" vacía un texto. clienteId: de consultar_clientes.',
  rest: ['PUT /clients/{clienteId}'],
  alias: 'actualizarCliente',
  scope: 'svc.write',
  destructive: true,
  input: { clienteId: id('client').describe('El cliente'), datos: clientFields.partial() },
  output: wholeClient.schema,
  async handler({ input: { clienteId, datos }, ...call }) {
    const { db, accountId, now, journal } = call;
    refuseNothing(datos);
    const [derived] = await Promise.all([
      derivedAfter(call, 'client', clienteId, datos),
      refuseUnknownList(db, accountId, datos.tarifa),
    ]);
    const [changes, answer] = await Promise.all([
      updateRecord(db, 'clients', { accountId, id: clienteId, now }, { ...clientColumns(datos), ...derived }),
      readClient(db, accountId, clienteId),
    ]);
    if (changes) journal('modify', 'client', clienteId);
    return answer;
  },
});
