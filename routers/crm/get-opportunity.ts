import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { opportunitiesOf, opportunity, opportunityOf, withDetails } from './opportunity.ts';

/** One opportunity. `valor_cierre` without VAT. */
export const getOpportunity = operation({
  title: 'Oportunidad',
  description:
    'Una oportunidad con su funnel, etapa, canal, contacto y resultado. oportunidadId: de consultar_oportunidades.',
  rest: ['GET /crm/opportunities/{oportunidadId}'],
  alias: 'obtenerOportunidad',
  scope: 'svc.read',
  input: { oportunidadId: id('opportunity').describe('La oportunidad') },
  output: z.object({ oportunidad: opportunity }),
  async handler({ input: { oportunidadId }, db, accountId, principal: { timeZone } }) {
    const row = await withDetails(
      opportunitiesOf(db, accountId).where('o.id', '=', oportunidadId),
      timeZone,
    ).executeTakeFirst();
    if (!row) throw notFound('oportunidadId');
    return { oportunidad: opportunityOf(row) };
  },
});
