// Creates, lists and revokes a company's API keys. principal.ts authenticates calls with them.
import type { Author } from '../audit.ts';
import { noteWrite } from '../audit.ts';
import type { Db } from '../database.ts';
import { hashSecret, newKey } from '../principal.ts';

/** A new key with its secret. */
export interface CreatedKey {
  id: number;
  key: string;
  /** Only available now: the database stores only its hash. AUTH-03 */
  secret: string;
}

/** The settings of a new key. */
export interface NewKey {
  name: string;
  readOnly?: boolean;
  expiresAt?: Temporal.Instant | undefined;
}

/** Creates a key of the transaction's company. */
export async function createKey(
  db: Db,
  accountId: number,
  { name, readOnly = false, expiresAt }: NewKey,
  author: Author,
): Promise<CreatedKey> {
  const { key, secret } = newKey();
  const { id } = await db
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
  await noteWrite(db, accountId, author, { operation: 'key create', kind: 'apiKey', id });
  return { id, key, secret };
}

/** The company's keys that are not revoked, newest first. */
export const liveKeys = (db: Db, accountId: number) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'key', 'name', 'can_write', 'created_at', 'expires_at', 'last_used_at'])
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .orderBy('id', 'desc')
    .execute();

/** Revokes a key of the transaction's company; every process refuses it from the commit on. Returns whether there was one. */
export async function revokeKey(db: Db, accountId: number, id: number, author: Author): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_keys')
    .set((eb) => ({ revoked_at: eb.fn('now'), updated_at: eb.fn('now'), version: eb('version', '+', 1) }))
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await noteWrite(db, accountId, author, { operation: 'key revoke', kind: 'apiKey', id });
  return true;
}
