import { z } from 'zod';
import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { pageOfRows } from '../shared/rows.ts';
import { PAGE, page, paged, pageOf, person, text } from '../shared/schemas.ts';

const employee = person.extend({
  email: z.string(),
  activo: z.boolean(),
  departamento: z.object({ departamentoId: sealedId('department'), titulo: z.string() }),
});

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
    activo: z.boolean().optional().describe('true: solo activos; false: solo los que ya no lo están'),
    ...page(PAGE),
  },
  output: paged('total_empleados', 'empleados', employee),
  async handler({ input, db, accountId }) {
    const { busqueda, departamentoId, activo } = input;
    const selected = db
      .selectFrom('employees as e')
      .where('e.account_id', '=', accountId)
      .$if(Boolean(busqueda), (q) => q.where('e.search', 'like', containing(busqueda ?? '')))
      .$if(departamentoId !== undefined, (q) => q.where('e.department_id', '=', departamentoId ?? 0))
      .$if(activo !== undefined, (q) => q.where('e.active', '=', activo ?? true));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected
        .leftJoin('departments as d', (join) =>
          join.onRef('d.account_id', '=', 'e.account_id').onRef('d.id', '=', 'e.department_id'),
        )
        .select(['e.id', 'e.first_name', 'e.last_name', 'e.email', 'e.active', 'e.department_id', 'd.title'])
        .orderBy('e.last_name')
        .orderBy('e.first_name')
        .orderBy('e.id'),
      input,
    );
    return {
      total_empleados: total,
      ...pageOf(total, input),
      empleados: rows.map((row) => ({
        empleadoId: row.id,
        nombre: row.first_name,
        apellidos: row.last_name,
        email: row.email ?? '',
        activo: row.active,
        departamento: { departamentoId: row.department_id, titulo: row.title ?? '' },
      })),
    };
  },
});
