import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { readOpportunity, wholeOpportunity } from './opportunity.ts';

/** One opportunity. `valor_cierre` without VAT. */
export const getOpportunity = operation({
  title: 'Oportunidad',
  description:
    'Una oportunidad con su funnel, etapa, canal, contacto, cliente y resultado. oportunidadId: de consultar_oportunidades.',
  rest: ['GET /crm/opportunities/{oportunidadId}'],
  alias: 'obtenerOportunidad',
  scope: 'svc.read',
  input: { oportunidadId: id('opportunity').describe('La oportunidad') },
  output: wholeOpportunity.schema,
  handler: ({ input: { oportunidadId }, db, accountId, principal: { timeZone } }) =>
    readOpportunity(db, accountId, oportunidadId, timeZone),
});
