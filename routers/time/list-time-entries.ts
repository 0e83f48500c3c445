import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, LONG_PAGE, page, requiredDates } from '../shared/schemas.ts';
import { byEntry, timeEntriesWithin, timeEntry, withPeople } from '../shared/time-entry.ts';

const timeEntries = listOf('total_fichajes', 'fichajes', timeEntry, byEntry);

/** Time entries whose entry falls in the range, open ones included. Hours are decimal hours, 2 decimals. FIC-01..04 */
export const listTimeEntries = operation({
  title: 'Fichajes',
  description:
    'Fichajes (entrada y salida) por fecha de entrada, abiertos incluidos. Para filtrar: empleadoId de consultar_empleados, proyectoId de consultar_proyectos.',
  rest: ['GET /employees/times', 'GET /employees/{empleadoId}/times'],
  alias: 'consultarFichajes',
  scope: 'svc.read',
  plan: 'generic',
  input: {
    ...requiredDates(),
    empleadoId: id('employee').optional().describe('Solo los de esta persona'),
    proyectoId: id('project').optional().describe('Solo los cargados a este proyecto'),
    ...changedSince(),
    ...page(LONG_PAGE),
  },
  output: timeEntries.schema,
  async handler({ input, db, accountId, principal }) {
    const { timeZone } = principal;
    const { empleadoId, proyectoId, fecha_inicio, fecha_fin, modificado_desde } = input;
    const selected = timeEntriesWithin(db, { accountId, timeZone, ...input })
      .$call(when(changedIn('t', modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(empleadoId, (q, employee) => q.where('t.employee_id', '=', employee)))
      .$call(when(proyectoId, (q, project) => q.where('t.project_id', '=', project)));
    const rows = withPeople(selected, timeZone);
    if (empleadoId !== undefined || proyectoId !== undefined || modificado_desde)
      return timeEntries.read(db, input, { selected, rows });
    // Of everybody they are counted already, by day.
    const total = db
      .selectFrom('time_entry_days')
      .select((eb) => eb.fn.sum('entries').as('total'))
      .where('account_id', '=', accountId)
      .where('day', '>=', fecha_inicio)
      .where('day', '<=', fecha_fin);
    return timeEntries.read(db, input, { total, rows });
  },
});
