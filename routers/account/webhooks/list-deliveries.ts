import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../../platform/errors.ts';
import { operation } from '../../operation.ts';
import { id } from '../../shared/id.ts';
import { limit, offset, page, paged, pageOf } from '../../shared/schemas.ts';
import { momentIn } from '../changes.ts';
import { deliveriesOf } from './deliveries.ts';
import { storedWebhooks } from './webhook.ts';

const delivery = z.object({
  entregaId: z.string().describe('La cabecera webhook-id'),
  desde: z.int(),
  hasta: z.int(),
  momento: z.string(),
  intento: z.int(),
  estado: z.int().describe('De HTTP; 0 sin respuesta'),
  milisegundos: z.int(),
  error: z.string(),
});

/** What was sent to a webhook in the last 30 days, each attempt, the newest first. JRN-05 */
export const listDeliveries = operation({
  title: 'Consultar entregas de un webhook',
  description: 'Intentos de entrega de 30 días, el último primero. webhookId: de consultar_webhooks.',
  rest: ['GET /webhooks/{webhookId}/deliveries'],
  alias: 'consultarEntregas',
  scope: 'svc.read',
  input: { webhookId: id('webhook').describe('El webhook'), ...page() },
  output: paged('total_entregas', 'entregas', delivery),
  async handler({ input: { webhookId, ...asked }, db, accountId, principal: { timeZone } }) {
    const [stored, count, { rows }] = await Promise.all([
      storedWebhooks(db, accountId, webhookId),
      sql<{ total: number }>`
        select count(*) as total from webhook_deliveries
        where account_id = ${accountId} and webhook_id = ${webhookId}`.execute(db),
      deliveriesOf(db, accountId, webhookId, limit(asked), offset(asked)),
    ]);
    if (stored.length === 0) throw notFound('webhookId');
    const total = count.rows[0]?.total ?? 0;
    return {
      ...{ total_entregas: total, ...pageOf(total, asked) },
      entregas: rows.map((row) => ({
        entregaId: row.message,
        desde: row.first_n,
        hasta: row.last_n,
        momento: momentIn(timeZone, row.created_at),
        intento: row.attempt,
        estado: row.status,
        milisegundos: row.milliseconds,
        error: row.error ?? '',
      })),
    };
  },
});
