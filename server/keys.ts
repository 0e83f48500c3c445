// API keys as commands make them.
import type { Database } from '../platform/database.ts';
import { hashSecret, newKey } from '../platform/principal.ts';
import { audit } from './audit.ts';

export interface CreatedKey {
  id: number;
  key: string;
  /** Known here and now, and never again: only its hash is kept. AUTH-03 */
  secret: string;
}

/** Makes a key of a company. */
export async function createKey(
  database: Database,
  accountId: number,
  { name, readOnly = false, expiresAt }: { name: string; readOnly?: boolean; expiresAt?: Temporal.Instant | undefined },
): Promise<CreatedKey> {
  const { key, secret } = newKey();
  const id = await database.transaction(accountId, { write: true }, async (db) => {
    const row = await db
      .insertInto('api_keys')
      .values({
        account_id: accountId,
        key,
        secret_hash: hashSecret(secret),
        name,
        can_write: !readOnly,
        expires_at: expiresAt?.toString() ?? null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await audit(db, accountId, { operation: 'key create', kind: 'apiKey', id: row.id });
    return row.id;
  });
  return { id, key, secret };
}
