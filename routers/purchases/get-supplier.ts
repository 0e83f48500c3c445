import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { readSupplier, wholeSupplier } from './supplier.ts';

/** One supplier. PIN-01 */
export const getSupplier = operation({
  title: 'Proveedor',
  description: 'Un proveedor. proveedorId: de consultar_proveedores.',
  rest: ['GET /suppliers/{proveedorId}'],
  alias: 'obtenerProveedor',
  scope: 'svc.read',
  input: { proveedorId: id('supplier').describe('El proveedor') },
  output: wholeSupplier.schema,
  handler: ({ input: { proveedorId }, db, accountId }) => readSupplier(db, accountId, proveedorId),
});
