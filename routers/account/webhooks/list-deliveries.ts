import { sql } from 'kysely';
import { notFound } from '../../../platform/errors.ts';
import { operation } from '../../operation.ts';
import { when } from '../../shared/filters.ts';
import { id } from '../../shared/id.ts';
import { changedIn, momentText } from '../../shared/local-days.ts';
import { orderOf } from '../../shared/order.ts';
import { listOf } from '../../shared/pages.ts';
import { changedSince, PAGE, page } from '../../shared/schemas.ts';
import { plainOf, shape, textOf, wholeOf } from '../../shared/shape.ts';
import { storedWebhooks } from './webhook.ts';

const deliveries = listOf(
  'total_entregas',
  'entregas',
  shape({
    entregaId: textOf('d.message').describe('La cabecera webhook-id'),
    desde: wholeOf('d.first_n'),
    hasta: wholeOf('d.last_n'),
    momento: plainOf('moment'),
    intento: wholeOf('d.attempt'),
    estado: wholeOf('d.status').describe('De HTTP; 0 sin respuesta'),
    milisegundos: wholeOf('d.milliseconds'),
    error: textOf('d.error'),
  }),
  orderOf('d', 'id desc'),
);

/** What was sent to a webhook in the last 30 days, each attempt, the newest first. JRN-05 */
export const listDeliveries = operation({
  title: 'Consultar entregas de un webhook',
  description: 'Intentos de entrega de 30 días, el último primero. webhookId: de consultar_webhooks.',
  rest: ['GET /webhooks/{webhookId}/deliveries'],
  alias: 'consultarEntregas',
  scope: 'svc.read',
  lasts: false,
  input: { webhookId: id('webhook').describe('El webhook'), ...changedSince(), ...page(PAGE) },
  output: deliveries.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const selected = db
      .selectFrom('webhook_deliveries as d')
      .where('d.account_id', '=', accountId)
      .where('d.webhook_id', '=', input.webhookId)
      .$call(when(changedIn('d', input.modificado_desde, timeZone), (q, since) => q.where(since)));
    const moment = momentText(sql.ref('d.created_at'), timeZone);
    const [stored, answer] = await Promise.all([
      storedWebhooks(db, accountId, input.webhookId),
      deliveries.read(db, input, { selected, rows: selected.select(deliveries.columns).select(moment.as('moment')) }),
    ]);
    if (stored.length === 0) throw notFound('webhookId');
    return answer;
  },
});
