import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';

/** The company's funnels with their stages in order. */
export const listFunnels = operation({
  title: 'Funnels',
  description:
    'Funnels de venta y sus etapas, en orden. Da el funnel_fk y la etapa_fk que piden crear_oportunidad y mover_oportunidad.',
  rest: ['GET /crm/funnels'],
  alias: 'listarFunnels',
  scope: 'svc.read',
  input: {},
  output: z.object({
    total_funnels: z.int(),
    funnels: z.array(
      z.object({
        funnelId: sealedId('funnel'),
        funnel: z.string(),
        etapas: z.array(z.object({ etapaId: sealedId('stage'), etapa: z.string(), orden: z.int() })),
      }),
    ),
  }),
  async handler({ db, accountId }) {
    const [funnels, stages] = await Promise.all([
      db
        .selectFrom('funnels')
        .select(['id', 'title'])
        .where('account_id', '=', accountId)
        .orderBy('title')
        .orderBy('id')
        .execute(),
      db
        .selectFrom('funnel_stages')
        .select(['id', 'funnel_id', 'title', 'position'])
        .where('account_id', '=', accountId)
        .orderBy('funnel_id')
        .orderBy('position')
        .execute(),
    ]);
    const byFunnel = Map.groupBy(stages, ({ funnel_id }) => funnel_id);
    return {
      total_funnels: funnels.length,
      funnels: funnels.map(({ id, title }) => ({
        funnelId: id,
        funnel: title,
        etapas: (byFunnel.get(id) ?? []).map((stage, index) => ({
          etapaId: stage.id,
          etapa: stage.title,
          orden: index + 1,
        })),
      })),
    };
  },
});
