import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonList, jsonRecord, jsonRow } from '../shared/pages.ts';
import { decimalOf, idOf, shape, textOf, wholeOf } from '../shared/shape.ts';
import { funnel as funnelProperties } from './funnel.ts';

const funnel = shape(funnelProperties);
const reasonOnly = { motivoId: idOf('lossReason', 'r.id'), motivo: textOf('r.title') };
const reason = shape(reasonOnly);
const usage = shape({ perdidas: wholeOf('lost'), valor: decimalOf('value') });
const usedReason = shape({ ...reasonOnly, uso_funnel: usage });

/** The one catalogue of loss reasons; with a funnel, what was lost there for each. `valor`: closing amounts. LOSS-01 */
export const listLossReasons = operation({
  title: 'Motivos de pérdida',
  description:
    'Motivos de pérdida de oportunidades (dan el motivoId de cerrar_oportunidad). Con funnel_fk (de listar_funnels) añade las pérdidas de ese funnel por motivo.',
  rest: ['GET /crm/loss-reasons'],
  alias: 'listarMotivosPerdida',
  scope: 'svc.read',
  plan: 'custom',
  input: { funnel_fk: id('funnel').optional().describe('Añade el uso en este funnel') },
  output: z.object({
    motivos: z.array(z.object({ ...reason.schema.shape, uso_funnel: usage.schema.optional() })),
    funnel: funnel.schema.optional(),
    sin_motivo: usage.schema.optional(),
  }),
  async handler({ input: { funnel_fk }, db, accountId }) {
    const reasons = db
      .selectFrom('loss_reasons as r')
      .select(reason.columns)
      .where('r.account_id', '=', accountId)
      .orderBy('r.title')
      .orderBy('r.id');
    if (funnel_fk === undefined) {
      const { rows } = await jsonList(db, reasons, reason);
      return jsonObject({ motivos: rows });
    }
    const losses = db
      .selectFrom('opportunities as o')
      .select((eb) => eb.fn.countAll<number>().as('lost'))
      .select(sql<number>`coalesce(sum(o.closing_value), 0)`.as('value'))
      .where('o.account_id', '=', accountId)
      .where('o.funnel_id', '=', funnel_fk)
      .where('o.state', '=', 'lost');
    const funnels = db
      .selectFrom('funnels as f')
      .select(funnel.columns)
      .where('f.account_id', '=', accountId)
      .where('f.id', '=', funnel_fk);
    const [{ rows }, found, sin_motivo] = await Promise.all([
      jsonList(
        db,
        reasons
          .leftJoin(losses.select('o.loss_reason_id').groupBy('o.loss_reason_id').as('l'), 'l.loss_reason_id', 'r.id')
          .select((eb) => [
            eb.fn.coalesce('l.lost', sql.lit(0)).as('lost'),
            eb.fn.coalesce('l.value', sql.lit(0)).as('value'),
          ]),
        usedReason,
      ),
      jsonRecord(db, funnels, funnel),
      jsonRow(db, losses.where('o.loss_reason_id', 'is', null), usage),
    ]);
    if (!found) throw notFound('funnel_fk');
    return jsonObject({ motivos: rows, funnel: found, sin_motivo });
  },
});
