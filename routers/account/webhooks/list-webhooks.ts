import { z } from 'zod';
import { operation } from '../../operation.ts';
import { shownWebhook, storedWebhooks, webhook } from './webhook.ts';

/** The company's webhooks, each with how far it is: what is behind `ultimo` of `consultarCambios` is yet to be sent. JRN-05 */
export const listWebhooks = operation({
  title: 'Consultar webhooks',
  description: 'Direcciones a las que se envían los cambios de la empresa, y hasta dónde ha llegado cada una.',
  rest: ['GET /webhooks'],
  alias: 'consultarWebhooks',
  scope: 'svc.read',
  lasts: false,
  input: {},
  output: z.object({ webhooks: z.array(webhook) }),
  async handler({ db, accountId, principal: { timeZone } }) {
    const stored = await storedWebhooks(db, accountId);
    return { webhooks: stored.map((each) => shownWebhook(each, timeZone)) };
  },
});
