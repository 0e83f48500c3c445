import { z } from 'zod';
import { notFound } from '../../../platform/errors.ts';
import { operation } from '../../operation.ts';
import { id } from '../../shared/id.ts';
import { testWebhook as sendTest } from './webhook.ts';

/** Sends a webhook one signed delivery without changes, and says what came of it. It counts neither as delivery nor as failure. JRN-05 */
export const testWebhook = operation({
  title: 'Probar webhook',
  description:
    'Envía una entrega firmada sin cambios y dice qué respondió; estado 0 sin respuesta. webhookId: de consultar_webhooks.',
  rest: ['POST /webhooks/{webhookId}/test'],
  alias: 'probarWebhook',
  scope: 'svc.write',
  input: { webhookId: id('webhook').describe('El webhook') },
  output: z.object({ estado: z.int(), milisegundos: z.int(), error: z.string() }),
  ready: ({ input: { webhookId }, service, ...call }) => sendTest(service, call, webhookId),
  async handler({ made }) {
    if (!made) throw notFound('webhookId');
    return { estado: made.status, milisegundos: made.milliseconds, error: made.error };
  },
});
