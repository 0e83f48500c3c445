// Webhooks of the examples: no account file has them, so records of the collection `webhooks` are written directly.
import type { Database } from '../../platform/database.ts';
import type { FileRecord } from './world.ts';

export const isWebhook = ({ coleccion }: FileRecord) => coleccion === 'webhooks';

/** Writes these webhooks with some deliveries each. Nobody is reached at their address. */
export async function addWebhooks(
  database: Database,
  accountId: number,
  records: readonly FileRecord[],
): Promise<void> {
  if (records.length === 0) return;
  await database.transaction(accountId, { write: true }, async (db) => {
    for (const { id: given } of records) {
      const { id } = await db
        .insertInto('webhooks')
        .values({
          ...(typeof given === 'number' && { id: given }),
          ...{ account_id: accountId, url: 'https://192.0.2.1/', secret: '', delivered_up_to: 0, active: false },
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const deliveries = [1, 2, 3, 4, 5].map((n) => ({
        ...{ account_id: accountId, webhook_id: id, message: `e-${n}-${n}`, first_n: n, last_n: n, attempt: 1 },
        ...{ status: 200, milliseconds: 5 },
      }));
      await db.insertInto('webhook_deliveries').values(deliveries).execute();
    }
  });
}
