import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { shape } from '../shared/shape.ts';
import { opportunitiesOf, opportunity, withDetails } from './opportunity.ts';

const shown = shape({ oportunidad: opportunity });

/** One opportunity. `valor_cierre` without VAT. */
export const getOpportunity = operation({
  title: 'Oportunidad',
  description:
    'Una oportunidad con su funnel, etapa, canal, contacto y resultado. oportunidadId: de consultar_oportunidades.',
  rest: ['GET /crm/opportunities/{oportunidadId}'],
  alias: 'obtenerOportunidad',
  scope: 'svc.read',
  input: { oportunidadId: id('opportunity').describe('La oportunidad') },
  output: shown.schema,
  async handler({ input: { oportunidadId }, db, accountId, principal: { timeZone } }) {
    const selected = opportunitiesOf(db, accountId).where('o.id', '=', oportunidadId);
    const found = await jsonRecord(db, withDetails(selected, timeZone), shown);
    if (!found) throw notFound('oportunidadId');
    return found;
  },
});
