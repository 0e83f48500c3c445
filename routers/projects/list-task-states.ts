import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';

/** The states that the company's tasks may be in, by title. PAG-02 */
export const listTaskStates = operation({
  title: 'Estados de tarea',
  description: 'Estados en que puede estar una tarea de la empresa. Da el estadoId que admite consultar_tareas.',
  rest: ['GET /task-states'],
  alias: 'listarEstadosTarea',
  scope: 'svc.read',
  input: {},
  output: z.object({ estados: z.array(z.object({ estadoId: sealedId('taskState'), titulo: z.string() })) }),
  async handler({ db, accountId }) {
    const rows = await db
      .selectFrom('task_states')
      .select(['id', 'title'])
      .where('account_id', '=', accountId)
      .orderBy('title')
      .orderBy('id')
      .execute();
    return { estados: rows.map(({ id, title }) => ({ estadoId: id, titulo: title })) };
  },
});
