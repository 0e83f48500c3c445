import { z } from 'zod';
import { badField } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { instantsOf } from '../shared/local-days.ts';
import { limit, offset, optionalDates, PAGE, page, paged, pageOf } from '../shared/schemas.ts';
import { opportunitiesOf, opportunity, opportunityOf, STATES, withDetails } from './opportunity.ts';

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
    ...page(PAGE),
  },
  output: paged('total_oportunidades', 'oportunidades', opportunity),
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { funnel_fk, etapa_fk, resultado, contactoId, fecha_inicio, fecha_fin } = input;
    const { since, until } = instantsOf(fecha_inicio, fecha_fin, timeZone);
    const selected = opportunitiesOf(db, accountId)
      .$if(funnel_fk !== undefined, (q) => q.where('o.funnel_id', '=', funnel_fk ?? 0))
      .$if(etapa_fk !== undefined, (q) => q.where('o.stage_id', '=', etapa_fk ?? 0))
      .$if(resultado !== undefined, (q) => q.where('o.state', '=', STATES[resultado ?? 'abierta']))
      .$if(contactoId !== undefined, (q) => q.where('o.contact_id', '=', contactoId ?? 0))
      .$if(fecha_inicio !== undefined, (q) => q.where('o.opened_at', '>=', since))
      .$if(fecha_fin !== undefined, (q) => q.where('o.opened_at', '<', until));
    const [stage, { total }, rows] = await Promise.all([
      etapa_fk === undefined || funnel_fk === undefined
        ? undefined
        : db
            .selectFrom('funnel_stages')
            .select('funnel_id')
            .where('account_id', '=', accountId)
            .where('id', '=', etapa_fk)
            .executeTakeFirst(),
      selected.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      withDetails(selected, timeZone).limit(limit(input)).offset(offset(input)).execute(),
    ]);
    if (stage && stage.funnel_id !== funnel_fk) throw badField('etapa_fk', 'no es una etapa del funnel indicado');
    return { total_oportunidades: total, ...pageOf(total, input), oportunidades: rows.map(opportunityOf) };
  },
});
