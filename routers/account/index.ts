import { findRecord } from './find-record.ts';
import { getAccount } from './get-account.ts';
import { getFiscalSettings } from './get-fiscal-settings.ts';
import { importIntoCompany } from './import-records.ts';
import { listChanges } from './list-changes.ts';
import { createWebhook } from './webhooks/create-webhook.ts';
import { deleteWebhook } from './webhooks/delete-webhook.ts';
import { listDeliveries } from './webhooks/list-deliveries.ts';
import { listWebhooks } from './webhooks/list-webhooks.ts';
import { rotateWebhookSecret } from './webhooks/rotate-webhook-secret.ts';
import { testWebhook } from './webhooks/test-webhook.ts';
import { updateWebhook } from './webhooks/update-webhook.ts';

export const account = {
  account: { get: getAccount },
  fiscalSettings: { get: getFiscalSettings },
  changes: { list: listChanges },
  imports: { create: importIntoCompany },
  records: { find: findRecord },
  webhooks: {
    list: listWebhooks,
    create: createWebhook,
    update: updateWebhook,
    delete: deleteWebhook,
    listDeliveries,
    test: testWebhook,
    rotateSecret: rotateWebhookSecret,
  },
};
