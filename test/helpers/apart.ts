// Records of the examples that no account file has, webhooks and links to documents, are written directly.
import { randomBytes } from 'node:crypto';
import type { Database } from '../../platform/database.ts';
import type { FileRecord } from './world.ts';

const APART = ['webhooks', 'enlaces'];

export const isApart = ({ coleccion }: FileRecord) => APART.includes(coleccion);

/** Writes these webhooks, with some deliveries each, and these links of invoices. Nobody is reached at the address of either. */
export async function addApart(database: Database, accountId: number, records: readonly FileRecord[]): Promise<void> {
  if (records.length === 0) return;
  await database.transaction(accountId, { write: true }, async (db) => {
    for (const { coleccion, id: given, factura } of records) {
      if (coleccion === 'enlaces') {
        await db
          .insertInto('document_links')
          .values({
            ...(typeof given === 'number' && { id: given }),
            ...{ account_id: accountId, record_table: 'invoices', record_id: Number(factura ?? 0) },
            ...{ hash: randomBytes(32), expires_at: '2999-01-01T00:00:00Z' },
          })
          .execute();
        continue;
      }
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
