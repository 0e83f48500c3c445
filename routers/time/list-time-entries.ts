import { jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { LONG_PAGE, page, paged, pageOf, requiredDates } from '../shared/schemas.ts';
import { readTimeEntries, timeEntriesWithin, timeEntry } from './time-entry.ts';

/** Time entries whose entry falls in the range, open ones included. Hours are decimal hours, 2 decimals. FIC-01..04 */
export const listTimeEntries = operation({
  title: 'Fichajes',
  description:
    'Fichajes (entrada y salida) por fecha de entrada, abiertos incluidos. Para filtrar: empleadoId de consultar_empleados, proyectoId de consultar_proyectos.',
  rest: ['GET /employees/times', 'GET /employees/{empleadoId}/times'],
  alias: 'consultarFichajes',
  scope: 'svc.read',
  planned: 'once',
  input: {
    ...requiredDates(),
    empleadoId: id('employee').optional().describe('Solo los de esta persona'),
    proyectoId: id('project').optional().describe('Solo los cargados a este proyecto'),
    ...page(LONG_PAGE),
  },
  output: paged('total_fichajes', 'fichajes', timeEntry),
  async handler({ input, db, accountId, principal }) {
    const { timeZone } = principal;
    const { empleadoId, proyectoId, fecha_inicio, fecha_fin } = input;
    const selected = timeEntriesWithin(db, { accountId, timeZone, ...input })
      .$if(empleadoId !== undefined, (q) => q.where('t.employee_id', '=', empleadoId ?? 0))
      .$if(proyectoId !== undefined, (q) => q.where('t.project_id', '=', proyectoId ?? 0));
    const kept = db
      .selectFrom('time_entry_days')
      .where('account_id', '=', accountId)
      .where('day', '>=', fecha_inicio)
      .where('day', '<=', fecha_fin);
    const { total, rows } = await readTimeEntries(
      db,
      {
        selected,
        total:
          empleadoId === undefined && proyectoId === undefined
            ? kept.select((eb) => eb.fn.sum<number>('entries').as('total'))
            : selected.select((eb) => eb.fn.countAll<number>().as('total')),
      },
      input,
      timeZone,
    );
    return jsonObject({ total_fichajes: total, ...pageOf(total, input), fichajes: rows });
  },
});
