import { z } from 'zod';
import { operation } from '../../operation.ts';
import { refuseNothing } from '../../shared/changes.ts';
import { id } from '../../shared/id.ts';
import { changeWebhook, shownWebhook, webhook, webhookFields } from './webhook.ts';

/**
 * Changes what is sent of a webhook; answers it as `consultarWebhooks` does. With `activo` it is stopped, and goes on from where it was;
 * `desde` sends again what came after that number. W-01, JRN-05
 */
export const updateWebhook = operation({
  title: 'Actualizar webhook',
  description:
    'Cambia los datos enviados; activo lo para o lo reanuda, desde repite los cambios posteriores. webhookId: de consultar_webhooks.',
  rest: ['PUT /webhooks/{webhookId}'],
  alias: 'actualizarWebhook',
  scope: 'svc.write',
  destructive: true,
  input: {
    webhookId: id('webhook').describe('El webhook'),
    datos: z.object({ ...webhookFields, activo: z.boolean() }).partial(),
  },
  output: webhook,
  ready: ({ accountId, service }) => service.webhooks.enqueue(accountId),
  async handler({ input: { webhookId, datos }, ...call }) {
    refuseNothing(datos);
    return shownWebhook(await changeWebhook(call, 'actualizarWebhook', webhookId, datos), call.principal.timeZone);
  },
});
