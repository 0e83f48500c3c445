import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { optionalDates } from '../shared/schemas.ts';
import { readProject, wholeProject } from './project.ts';

/** One project with its economics, which the dates bound, and how many tasks it has. Amounts without VAT. PRJ-01, TSK-01 */
export const getProject = operation({
  title: 'Proyecto',
  description:
    'Un proyecto con su situación económica y cuántas tareas tiene; las fechas acotan solo lo económico. proyectoId: de consultar_proyectos.',
  rest: ['GET /projects/{proyectoId}'],
  alias: 'obtenerProyecto',
  scope: 'svc.read',
  input: { proyectoId: id('project').describe('El proyecto'), ...optionalDates() },
  output: wholeProject.schema,
  handler: ({ input, db, accountId, today, principal: { timeZone } }) =>
    readProject(db, input.proyectoId, { accountId, timeZone, from: input.fecha_inicio, to: input.fecha_fin }, today),
});
