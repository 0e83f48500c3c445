import { operation } from '../operation.ts';
import { refuseNothing, updateRecord } from '../shared/changes.ts';
import { id } from '../shared/id.ts';
import { derivedAfter } from '../shared/party.ts';
import { readSupplier, supplierColumns, supplierFields, wholeSupplier } from './supplier.ts';

/** Changes what is sent of a supplier; answers it as `obtenerProveedor` does. W-01 */
export const updateSupplier = operation({
  title: 'Actualizar proveedor',
  description: 'Cambia los datos enviados; "" vacía un texto. proveedorId: de consultar_proveedores.',
  rest: ['PUT /suppliers/{proveedorId}'],
  alias: 'actualizarProveedor',
  scope: 'svc.write',
  destructive: true,
  input: { proveedorId: id('supplier').describe('El proveedor'), datos: supplierFields.partial() },
  output: wholeSupplier.schema,
  async handler({ input: { proveedorId, datos }, ...call }) {
    const { db, accountId, now, journal } = call;
    refuseNothing(datos);
    const derived = await derivedAfter(call, 'supplier', proveedorId, datos);
    const [changes, answer] = await Promise.all([
      updateRecord(db, 'suppliers', { accountId, id: proveedorId, now }, { ...supplierColumns(datos), ...derived }),
      readSupplier(db, accountId, proveedorId),
    ]);
    if (changes) journal('modify', 'supplier', proveedorId);
    return answer;
  },
});
