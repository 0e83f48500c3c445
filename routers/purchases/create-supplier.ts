import { derivedOf } from '../../platform/derived.ts';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { newParty } from '../shared/party.ts';
import { supplierColumns, supplierFields } from './supplier.ts';

/** Creates a supplier, or answers the one that has the tax id, unchanged: then with `X-Existing: true`. W-03 */
export const createSupplier = operation({
  title: 'Crear proveedor',
  description: 'Crea un proveedor. Si ya hay uno con ese cif, lo da sin cambiarlo (existente true).',
  rest: ['POST /suppliers'],
  alias: 'crearProveedor',
  scope: 'svc.write',
  existing: true,
  input: { datos: supplierFields },
  output: sealedId('supplier').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { datos }, ...call }) {
    const { id, existing } = await newParty(call, 'supplier', datos.cif);
    if (!existing) {
      const columns = { ...supplierColumns(datos), legal_name: datos.nombre_fiscal };
      const row = { ...columns, ...derivedOf('suppliers', columns), account_id: call.accountId, id };
      call.beforeCommit(call.db.insertInto('suppliers').values(row).execute());
    }
    return id;
  },
});
