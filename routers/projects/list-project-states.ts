import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';

/** The states that the company's projects may be in, by title. PAG-02 */
export const listProjectStates = operation({
  title: 'Estados de proyecto',
  description: 'Estados en que puede estar un proyecto de la empresa. Da el estadoId que admite consultar_proyectos.',
  rest: ['GET /project-states'],
  alias: 'listarEstadosProyecto',
  scope: 'svc.read',
  input: {},
  output: z.object({ estados: z.array(z.object({ estadoId: sealedId('projectState'), titulo: z.string() })) }),
  async handler({ db, accountId }) {
    const rows = await db
      .selectFrom('project_states')
      .select(['id', 'title'])
      .where('account_id', '=', accountId)
      .orderBy('title')
      .orderBy('id')
      .execute();
    return { estados: rows.map(({ id, title }) => ({ estadoId: id, titulo: title })) };
  },
});
