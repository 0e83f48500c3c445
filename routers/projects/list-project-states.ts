import { operation } from '../operation.ts';
import { statesOf } from './states.ts';

const states = statesOf('projectState', 'project_states');

/** The states that the company's projects may be in, by title. PAG-02 */
export const listProjectStates = operation({
  title: 'Estados de proyecto',
  description: 'Estados en que puede estar un proyecto de la empresa. Da el estadoId que admite consultar_proyectos.',
  rest: ['GET /project-states'],
  alias: 'listarEstadosProyecto',
  scope: 'svc.read',
  input: {},
  output: states.schema,
  handler: ({ db, accountId }) => states.read(db, accountId),
});
