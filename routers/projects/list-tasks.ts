import { z } from 'zod';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, optionalDates, PAGE, page } from '../shared/schemas.ts';
import { overdue, task, tasksOf, withDetails } from './task.ts';

const tasks = listOf('total_tareas', 'tareas', task, orderOf('t', 'planned_end_date nulls last', 'id'));

/** Tasks that are not deleted; those alive in the range when one is given. Amounts without VAT. TSK-01, TSK-02 */
export const listTasks = operation({
  title: 'Tareas',
  description:
    'Tareas de proyectos, por fecha prevista de fin. Las fechas filtran por solapamiento; vencidas=true solo las vencidas. proyectoId: de consultar_proyectos; estadoId: de listar_estados_tarea.',
  rest: ['GET /tasks'],
  alias: 'consultarTareas',
  scope: 'svc.read',
  plan: 'custom',
  input: {
    proyectoId: id('project').optional().describe('Solo las de este proyecto'),
    estadoId: id('taskState').optional().describe('Solo las de este estado'),
    ...optionalDates(),
    vencidas: z.boolean().optional().describe('true: solo las vencidas'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: tasks.schema,
  async handler({ input, db, accountId, today, principal: { timeZone } }) {
    const { proyectoId, estadoId, fecha_inicio, fecha_fin, vencidas } = input;
    const selected = tasksOf(db, accountId)
      .where('t.deleted', '=', false)
      .$call(when(changedIn('t', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(proyectoId, (q, project) => q.where('t.project_id', '=', project)))
      .$call(when(estadoId, (q, state) => q.where('t.state_id', '=', state)))
      // A missing start or end leaves that side open.
      .$call(
        when(fecha_inicio, (q, from) =>
          q.where((eb) => eb.or([eb('t.planned_end_date', 'is', null), eb('t.planned_end_date', '>=', from)])),
        ),
      )
      .$call(
        when(fecha_fin, (q, to) =>
          q.where((eb) => eb.or([eb('t.start_date', 'is', null), eb('t.start_date', '<=', to)])),
        ),
      )
      .$if(vencidas === true, (q) => q.where(overdue(today)));
    return tasks.read(db, input, {
      selected,
      rows: withDetails(selected, today),
    });
  },
});
