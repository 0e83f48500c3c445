import { sql } from 'kysely';
import { derivedOf } from '../../platform/derived.ts';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { changed, refuseNothing, updateRecord } from '../shared/changes.ts';
import { id } from '../shared/id.ts';
import { projectColumns, projectFields, readProject, wholeProject } from './project.ts';

/** Changes what is sent of a project; answers it as `obtenerProyecto` does. W-01 */
export const updateProject = operation({
  title: 'Actualizar proyecto',
  description: 'Cambia los datos enviados; "" quita cliente o estado. proyectoId: de consultar_proyectos.',
  rest: ['PUT /projects/{proyectoId}'],
  alias: 'actualizarProyecto',
  scope: 'svc.write',
  destructive: true,
  input: { proyectoId: id('project').describe('El proyecto'), datos: projectFields.partial() },
  output: wholeProject.schema,
  async handler({ input: { proyectoId, datos }, db, accountId, now, today, principal: { timeZone }, journal }) {
    refuseNothing(datos);
    const columns = projectColumns(datos);
    // It stays locked, so that `search` is of what is written.
    const { rows } = await sql<{ description: string; number: string }>`
      select description, number from projects where account_id = ${accountId} and id = ${proyectoId} for update`.execute(
      db,
    );
    const [before] = rows;
    if (!before) throw notFound('proyectoId');
    const { search } = derivedOf('projects', changed(before, columns));
    const [changes, answer] = await Promise.all([
      updateRecord(db, 'projects', { accountId, id: proyectoId, now }, { ...columns, search }),
      readProject(db, proyectoId, { accountId, timeZone }, today),
    ]);
    if (changes) journal('modify', 'project', proyectoId);
    return answer;
  },
});
