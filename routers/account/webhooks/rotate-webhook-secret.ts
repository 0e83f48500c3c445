import { z } from 'zod';
import { operation } from '../../operation.ts';
import { id } from '../../shared/id.ts';
import { rotateSecret } from './webhook.ts';

/** Gives a webhook another secret, answered only here. For 24 hours both sign, so that the receiver can change over. JRN-05 */
export const rotateWebhookSecret = operation({
  title: 'Rotar el secreto de un webhook',
  description: 'Da otro secreto; durante 24 horas firman los dos. webhookId: de consultar_webhooks.',
  rest: ['POST /webhooks/{webhookId}/secret'],
  alias: 'rotarSecretoWebhook',
  scope: 'svc.write',
  destructive: true,
  input: { webhookId: id('webhook').describe('El webhook') },
  output: z.object({ secreto: z.string() }),
  async handler({ input: { webhookId }, ...call }) {
    return { secreto: await rotateSecret(call, 'rotarSecretoWebhook', webhookId) };
  },
});
