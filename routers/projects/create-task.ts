import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { refuseReversed, taskColumns, taskFields } from './task.ts';

/** Creates a task, of a project or of none. `importe_presupuestado` without VAT. */
export const createTask = operation({
  title: 'Crear tarea',
  description: 'Crea una tarea, de un proyecto o de ninguno.',
  rest: ['POST /tasks'],
  alias: 'crearTarea',
  scope: 'svc.write',
  input: { datos: taskFields },
  output: sealedId('task').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { datos }, db, accountId, newId, beforeCommit, journal }) {
    const columns = { ...taskColumns(datos), title: datos.titulo };
    refuseReversed(columns);
    const id = await newId('task');
    beforeCommit(
      db
        .insertInto('tasks')
        .values({ ...columns, account_id: accountId, id })
        .execute(),
    );
    journal('create', 'task', id);
    return id;
  },
});
