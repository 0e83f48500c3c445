import { z } from 'zod';
import { operation } from '../../operation.ts';
import { sealedId } from '../../shared/id.ts';
import { makeWebhook, webhookFields } from './webhook.ts';

/**
 * Creates a webhook: what changes from now on, or after change number `desde`, is sent to `url` as signed messages of Standard
 * Webhooks, in the order of the journal and at least once. The secret that they are signed with is answered only here. JRN-05
 */
export const createWebhook = operation({
  title: 'Crear webhook',
  description: 'Envía los cambios de la empresa a una dirección, firmados. El secreto solo se muestra ahora.',
  rest: ['POST /webhooks'],
  alias: 'crearWebhook',
  scope: 'svc.write',
  input: webhookFields,
  output: z.object({ webhookId: sealedId('webhook'), secreto: z.string() }),
  ready: ({ accountId, service }) => service.webhooks.enqueue(accountId),
  async handler({ input, ...call }) {
    const { id, secret } = await makeWebhook(call, 'crearWebhook', input);
    return { webhookId: id, secreto: secret };
  },
});
