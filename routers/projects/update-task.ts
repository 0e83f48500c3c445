import { sql } from 'kysely';
import { z } from 'zod';
import { moveTaskHours } from '../../figures/task-hours.ts';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { changed, refuseNothing, updateRecord } from '../shared/changes.ts';
import { id } from '../shared/id.ts';
import { readTask, refuseReversed, taskColumns, taskFields, wholeTask } from './task.ts';

interface Before {
  project_id: number | null;
  start_date: string | null;
  planned_end_date: string | null;
}

/**
 * Changes what is sent of a task, deletes it or brings it back; answers it as the list of tasks shows it. In another project its
 * hours count there. W-01, TSK-01, PRJ-01
 */
export const updateTask = operation({
  title: 'Actualizar tarea',
  description:
    'Cambia los datos enviados; "" quita proyecto, estado, responsable o fecha. eliminada true la borra y false la recupera. tareaId: de consultar_tareas.',
  rest: ['PUT /tasks/{tareaId}'],
  alias: 'actualizarTarea',
  scope: 'svc.write',
  destructive: true,
  input: {
    tareaId: id('task').describe('La tarea'),
    datos: z.object({ ...taskFields.partial().shape, eliminada: z.boolean().optional() }),
  },
  output: wholeTask.schema,
  async handler({ input: { tareaId, datos }, db, accountId, now, today, journal }) {
    refuseNothing(datos);
    const columns = { ...taskColumns(datos), deleted: datos.eliminada };
    // It stays locked: of two moves at once the second starts where the first ended.
    const { rows } = await sql<Before>`
      select project_id, start_date, planned_end_date from tasks
      where account_id = ${accountId} and id = ${tareaId} for update`.execute(db);
    const [before] = rows;
    if (!before) throw notFound('tareaId');
    const after = changed(before, columns);
    refuseReversed(after);
    const [changes, , answer] = await Promise.all([
      updateRecord(db, 'tasks', { accountId, id: tareaId, now }, columns),
      after.project_id !== before.project_id &&
        moveTaskHours(db, accountId, tareaId, { from: before.project_id, to: after.project_id }),
      readTask(db, accountId, tareaId, today),
    ]);
    if (changes) journal(datos.eliminada ? 'delete' : 'modify', 'task', tareaId);
    return answer;
  },
});
