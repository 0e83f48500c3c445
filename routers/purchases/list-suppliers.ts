import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, PAGE, page, text } from '../shared/schemas.ts';
import { shape } from '../shared/shape.ts';
import { supplier } from './supplier.ts';

const suppliers = listOf('total_proveedores', 'proveedores', shape(supplier), orderOf('p', 'legal_name', 'id'));

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
    ...changedSince(),
    ...page(PAGE),
  },
  output: suppliers.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const selected = db
      .selectFrom('suppliers as p')
      .where('p.account_id', '=', accountId)
      .$call(when(changedIn('p', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(input.busqueda, (q, wanted) => q.where('p.search', 'like', containing(wanted))));
    return suppliers.read(db, input, {
      selected,
      rows: selected.select(suppliers.columns),
    });
  },
});
