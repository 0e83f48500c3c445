import { z } from 'zod';
import { operation } from '../../operation.ts';
import { id, sealedId } from '../../shared/id.ts';
import { removeWebhook } from './webhook.ts';

/** Deletes a webhook and its secrets: nothing more is sent. One that is deleted already is answered the same. JRN-05 */
export const deleteWebhook = operation({
  title: 'Eliminar webhook',
  description: 'Deja de enviar cambios a esa dirección y borra su secreto. webhookId: de consultar_webhooks.',
  rest: ['DELETE /webhooks/{webhookId}'],
  alias: 'eliminarWebhook',
  scope: 'svc.write',
  destructive: true,
  input: { webhookId: id('webhook').describe('El webhook') },
  output: z.object({ webhookId: sealedId('webhook'), eliminado: z.boolean() }),
  async handler({ input: { webhookId }, ...call }) {
    await removeWebhook(call, 'eliminarWebhook', webhookId);
    return { webhookId, eliminado: true };
  },
});
