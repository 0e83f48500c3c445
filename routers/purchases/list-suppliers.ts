import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { pageOfRows } from '../shared/rows.ts';
import { PAGE, page, paged, pageOf, text } from '../shared/schemas.ts';
import { SUPPLIER_COLUMNS, supplier, supplierOf } from './supplier.ts';

/** The suppliers by legal name. PAG-02 */
export const listSuppliers = operation({
  title: 'Proveedores',
  description:
    'Proveedores, por nombre fiscal. Da el proveedorId por el que filtran consultar_facturas_compra y consultar_albaranes_compra.',
  rest: ['GET /suppliers'],
  alias: 'consultarProveedores',
  scope: 'svc.read',
  input: {
    busqueda: text(200).optional().describe('Texto en nombre fiscal, nombre comercial, CIF o correo'),
    ...page(PAGE),
  },
  output: paged('total_proveedores', 'proveedores', supplier),
  async handler({ input, db, accountId }) {
    const { busqueda } = input;
    const selected = db
      .selectFrom('suppliers as p')
      .where('p.account_id', '=', accountId)
      .$if(Boolean(busqueda), (q) => q.where('p.search', 'like', containing(busqueda ?? '')));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected
        .select(['p.id as supplier_id', ...SUPPLIER_COLUMNS])
        .orderBy('p.legal_name')
        .orderBy('p.id'),
      input,
    );
    return { total_proveedores: total, ...pageOf(total, input), proveedores: rows.map(supplierOf) };
  },
});
