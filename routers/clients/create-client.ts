import { derivedOf } from '../../platform/derived.ts';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { newParty } from '../shared/party.ts';
import { clientColumns, clientFields, refuseUnknownList } from './client.ts';

/** Creates a client, or answers the one that has the tax id, unchanged: then with `X-Existing: true`. W-03 */
export const createClient = operation({
  title: 'Crear cliente',
  description: 'Crea un cliente. Si ya hay uno con ese cif, lo da sin cambiarlo (existente true).',
  rest: ['POST /clients'],
  alias: 'crearCliente',
  scope: 'svc.write',
  existing: true,
  input: { datos: clientFields },
  output: sealedId('client').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { datos }, ...call }) {
    const { db, accountId, beforeCommit } = call;
    const [{ id, existing }] = await Promise.all([
      newParty(call, 'client', datos.cif),
      refuseUnknownList(db, accountId, datos.tarifa),
    ]);
    if (!existing) {
      const columns = { ...clientColumns(datos), legal_name: datos.nombre_fiscal };
      const row = { ...columns, ...derivedOf('clients', columns), account_id: accountId, id };
      beforeCommit(db.insertInto('clients').values(row).execute());
    }
    return id;
  },
});
