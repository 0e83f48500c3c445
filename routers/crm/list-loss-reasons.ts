import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';

const usage = z.object({ perdidas: z.int(), valor: z.number() });

/** The one catalogue of loss reasons; with a funnel, what was lost there for each. `valor`: closing amounts. LOSS-01 */
export const listLossReasons = operation({
  title: 'Motivos de pérdida',
  description:
    'Motivos de pérdida de oportunidades (dan el motivoId de cerrar_oportunidad). Con funnel_fk (de listar_funnels) añade las pérdidas de ese funnel por motivo.',
  rest: ['GET /crm/loss-reasons'],
  alias: 'listarMotivosPerdida',
  scope: 'svc.read',
  planned: 'anew',
  input: { funnel_fk: id('funnel').optional().describe('Añade el uso en este funnel') },
  output: z.object({
    motivos: z.array(z.object({ motivoId: sealedId('lossReason'), motivo: z.string(), uso_funnel: usage.optional() })),
    funnel: z.object({ funnelId: sealedId('funnel'), funnel: z.string() }).optional(),
    sin_motivo: usage.optional(),
  }),
  async handler({ input: { funnel_fk }, db, accountId }) {
    const [reasons, funnel, losses] = await Promise.all([
      db
        .selectFrom('loss_reasons')
        .select(['id', 'title'])
        .where('account_id', '=', accountId)
        .orderBy('title')
        .orderBy('id')
        .execute(),
      funnel_fk === undefined
        ? undefined
        : db
            .selectFrom('funnels')
            .select(['id', 'title'])
            .where('account_id', '=', accountId)
            .where('id', '=', funnel_fk)
            .executeTakeFirst(),
      funnel_fk === undefined
        ? []
        : db
            .selectFrom('opportunities')
            .select((eb) => ['loss_reason_id', eb.fn.countAll<number>().as('lost')])
            .select(sql<number>`coalesce(sum(closing_value), 0)`.as('value'))
            .where('account_id', '=', accountId)
            .where('funnel_id', '=', funnel_fk)
            .where('state', '=', 'lost')
            .groupBy('loss_reason_id')
            .execute(),
    ]);
    const byReason = new Map(
      losses.map(({ loss_reason_id, lost, value }) => [loss_reason_id, { perdidas: lost, valor: value }]),
    );
    const usageOf = (reason: number | null) => byReason.get(reason) ?? { perdidas: 0, valor: 0 };
    return {
      motivos: reasons.map(({ id, title }) => ({
        motivoId: id,
        motivo: title,
        ...(funnel && { uso_funnel: usageOf(id) }),
      })),
      ...(funnel && { funnel: { funnelId: funnel.id, funnel: funnel.title }, sin_motivo: usageOf(null) }),
    };
  },
});
