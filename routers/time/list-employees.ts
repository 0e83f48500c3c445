import { z } from 'zod';
import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, PAGE, page, text } from '../shared/schemas.ts';
import { shape } from '../shared/shape.ts';
import { employee } from './employee.ts';

const employees = listOf(
  'total_empleados',
  'empleados',
  shape(employee),
  orderOf('e', 'last_name', 'first_name', 'id'),
);

/** The staff by surname and name, those who left included unless `activo` says otherwise. PAG-02 */
export const listEmployees = operation({
  title: 'Empleados',
  description:
    'Personas de la plantilla, por apellidos. Da el empleadoId que piden las demás herramientas, y el departamentoId por el que filtrar. Para una persona con su contrato usa obtener_empleado.',
  rest: ['GET /employees'],
  alias: 'consultarEmpleados',
  scope: 'svc.read',
  input: {
    busqueda: text(200).optional().describe('Texto en nombre, apellidos o correo'),
    departamentoId: id('department').optional().describe('Solo los de este departamento'),
    activo: z.boolean().optional().describe('false: solo los que ya no lo están'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: employees.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { busqueda, departamentoId, activo } = input;
    const selected = db
      .selectFrom('employees as e')
      .where('e.account_id', '=', accountId)
      .$call(when(changedIn('e', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(busqueda, (q, wanted) => q.where('e.search', 'like', containing(wanted))))
      .$call(when(departamentoId, (q, department) => q.where('e.department_id', '=', department)))
      .$call(when(activo, (q, active) => q.where('e.active', '=', active)));
    return employees.read(db, input, {
      selected,
      rows: selected
        .leftJoin('departments as d', (join) =>
          join.onRef('d.account_id', '=', 'e.account_id').onRef('d.id', '=', 'e.department_id'),
        )
        .select(employees.columns),
    });
  },
});
