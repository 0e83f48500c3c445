// Webhooks: where a company's journal is sent to, what was sent, and when processes look at a company next.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, indexOn, instant, isolated, stamped } from './columns.ts';

/** A receiver of the journal. A deleted one stays for a while, without its secret, so that deleting it again is no error. */
export const Webhook = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    id: bigint().primary().defaultRaw(`nextval('webhooks_id_seq')`),
    url: p.text(),
    /** The collections that it is sent, by their names; null: all. */
    types: p.text().array().nullable(),
    description: p.text().nullable(),
    active: p.boolean().default(true),
    /** Sealed: platform/webhooks.ts. */
    secret: p.text(),
    /** Signs too, for a while after a rotation. */
    earlierSecret: p.text().nullable(),
    earlierSecretUntil: instant().nullable(),
    deliveredUpTo: bigint(),
    /** The last change of the delivery under way, so that every attempt sends the same. */
    batchEnd: bigint().nullable(),
    /** In a row. */
    failures: p.integer().default(0),
    nextAttemptAt: instant().nullable(),
    /** Whose turn it is to send, and until when. */
    lease: p.text().nullable(),
    leasedUntil: instant().nullable(),
    deletedAt: instant().nullable(),
    ...stamped(),
  },
});

/** An attempt to deliver changes, without its body. */
export const WebhookDelivery = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    id: bigint().primary().defaultRaw(`nextval('webhook_deliveries_id_seq')`),
    webhookId: bigint(),
    /** The header `webhook-id`. */
    message: p.text(),
    firstN: bigint(),
    lastN: bigint(),
    attempt: p.integer(),
    /** Of HTTP; 0 without an answer. */
    status: p.integer(),
    milliseconds: p.integer(),
    error: p.text().nullable(),
    ...stamped(),
  },
  indexes: [indexOn('webhook_deliveries', 'webhook', 'webhook_id, id')],
});

/** When a process looks at a company with webhooks next. The tenant role has no rights here. */
export const WebhookQueue = defineEntity({
  name: 'WebhookQueue',
  tableName: 'webhook_queue',
  properties: {
    company: bigint().primary().autoincrement(false),
    lookAt: instant(),
  },
  indexes: [
    { name: 'webhook_queue_by_look', expression: 'create index webhook_queue_by_look on webhook_queue (look_at)' },
  ],
});
