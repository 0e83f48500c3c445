import { operation } from '../operation.ts';
import { statesOf } from './states.ts';

const states = statesOf('taskState', 'task_states');

/** The states that the company's tasks may be in, by title. PAG-02 */
export const listTaskStates = operation({
  title: 'Estados de tarea',
  description: 'Estados en que puede estar una tarea de la empresa. Da el estadoId que admite consultar_tareas.',
  rest: ['GET /task-states'],
  alias: 'listarEstadosTarea',
  scope: 'svc.read',
  input: {},
  output: states.schema,
  handler: ({ db, accountId }) => states.read(db, accountId),
});
