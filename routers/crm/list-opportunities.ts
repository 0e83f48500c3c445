import { z } from 'zod';
import { badField } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn, instantsOf } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, optionalDates, PAGE, page } from '../shared/schemas.ts';
import { opportunitiesOf, opportunity, STATES, withDetails } from './opportunity.ts';

const opportunities = listOf(
  'total_oportunidades',
  'oportunidades',
  opportunity,
  orderOf('o', 'opened_at desc', 'id desc'),
);

/** Opportunities by date of creation, newest first. `valor_cierre` without VAT. DATE-02, PAG-02, ID-05 */
export const listOpportunities = operation({
  title: 'Oportunidades',
  description:
    'Oportunidades de venta, de la más reciente a la más antigua; las fechas filtran por creación. Da el oportunidadId de mover_oportunidad y cerrar_oportunidad. funnel_fk y etapa_fk: de listar_funnels; contactoId: de consultar_contactos.',
  rest: ['GET /crm/opportunities'],
  alias: 'consultarOportunidades',
  scope: 'svc.read',
  input: {
    funnel_fk: id('funnel').optional().describe('Solo las de este funnel'),
    etapa_fk: id('stage').optional().describe('Solo las que están en esta etapa'),
    resultado: z.enum(['abierta', 'ganado', 'perdido']).optional().describe('Solo las que están así'),
    contactoId: id('contact').optional().describe('Solo las de este contacto'),
    ...optionalDates(),
    ...changedSince(),
    ...page(PAGE),
  },
  output: opportunities.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { funnel_fk, etapa_fk, resultado, contactoId, fecha_inicio, fecha_fin } = input;
    const { since, until } = instantsOf(fecha_inicio, fecha_fin, timeZone);
    const selected = opportunitiesOf(db, accountId)
      .$call(when(changedIn('o', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(funnel_fk, (q, funnel) => q.where('o.funnel_id', '=', funnel)))
      .$call(when(etapa_fk, (q, stage) => q.where('o.stage_id', '=', stage)))
      .$call(when(resultado, (q, result) => q.where('o.state', '=', STATES[result])))
      .$call(when(contactoId, (q, contact) => q.where('o.contact_id', '=', contact)))
      .$call(when(fecha_inicio, (q) => q.where('o.opened_at', '>=', since)))
      .$call(when(fecha_fin, (q) => q.where('o.opened_at', '<', until)));
    const [stage, answer] = await Promise.all([
      etapa_fk === undefined || funnel_fk === undefined
        ? undefined
        : db
            .selectFrom('funnel_stages')
            .select('funnel_id')
            .where('account_id', '=', accountId)
            .where('id', '=', etapa_fk)
            .executeTakeFirst(),
      opportunities.read(db, input, { selected, rows: withDetails(selected, timeZone) }),
    ]);
    if (stage && stage.funnel_id !== funnel_fk) throw badField('etapa_fk', 'no es una etapa del funnel indicado');
    return answer;
  },
});
