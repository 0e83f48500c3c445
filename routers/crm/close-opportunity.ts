import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { amountInput, isoDate, text } from '../shared/schemas.ts';
import { STATES } from './opportunity.ts';

/** Wins, loses or reopens an opportunity, from any state. CLO-01..04 */
export const closeOpportunity = operation({
  title: 'Cerrar oportunidad',
  description:
    'Marca una oportunidad como ganada, perdida (con motivoId de listar_motivos_perdida) o la reabre. oportunidadId: de consultar_oportunidades.',
  rest: ['PUT /crm/opportunities/{oportunidadId}/close'],
  alias: 'cerrarOportunidad',
  scope: 'svc.write',
  destructive: true,
  relevant: ({ fecha_cierre, ...input }) => (input.resultado === 'abierta' ? input : { ...input, fecha_cierre }),
  input: {
    oportunidadId: id('opportunity').describe('La oportunidad'),
    resultado: z.enum(['ganado', 'perdido', 'abierta']).describe('abierta la reabre'),
    motivoId: id('lossReason', 'badInput').optional().describe('Motivo de pérdida; solo con perdido'),
    comentarios: text(5000).optional().describe('Comentario sobre la pérdida; solo con perdido'),
    valor_cierre: amountInput().optional().describe('Importe de cierre sin IVA'),
    fecha_cierre: isoDate().optional().describe('Fecha de cierre; ahora si no se indica; al reabrir no cuenta'),
  },
  output: z.object({
    oportunidadId: sealedId('opportunity'),
    titulo: z.string(),
    resultado: z.string(),
    fecha_cierre: z.string(),
    motivo: z.string(),
  }),
  async handler({ input, db, accountId, principal: { timeZone }, now, journal }) {
    const { oportunidadId, resultado, motivoId, comentarios, valor_cierre, fecha_cierre } = input;
    const lost = resultado === 'perdido';
    const closedAt =
      resultado === 'abierta'
        ? null
        : fecha_cierre
          ? Temporal.PlainDate.from(fecha_cierre).toZonedDateTime(timeZone).toInstant()
          : now;
    const written = db
      .updateTable('opportunities as o')
      .set((eb) => ({
        state: STATES[resultado],
        closed_at: closedAt?.toString() ?? null,
        loss_reason_id: lost ? (motivoId ?? eb.ref('o.loss_reason_id')) : null,
        comments: lost ? (comentarios ?? eb.ref('o.comments')) : null,
        closing_value: valor_cierre ?? eb.ref('o.closing_value'),
        version: eb('o.version', '+', 1),
        updated_at: now.toString(),
      }))
      .where('o.account_id', '=', accountId)
      .where('o.id', '=', oportunidadId)
      .returning(['o.title', 'o.closed_at', 'o.loss_reason_id']);
    const closed = await db
      .with('c', () => written)
      .selectFrom('c')
      .select((eb) => [
        'c.title',
        sql<string | null>`to_char(c.closed_at at time zone ${timeZone}, 'YYYY-MM-DD HH24:MI:SS')`.as('closed'),
        eb
          .selectFrom('loss_reasons as r')
          .select('r.title')
          .where('r.account_id', '=', accountId)
          .whereRef('r.id', '=', 'c.loss_reason_id')
          .as('reason'),
      ])
      .executeTakeFirst();
    if (!closed) throw notFound('oportunidadId');
    journal('modify', 'opportunity', oportunidadId);
    return {
      oportunidadId,
      titulo: closed.title,
      resultado,
      fecha_cierre: closed.closed ?? '',
      motivo: closed.reason ?? '',
    };
  },
});
