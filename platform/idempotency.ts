// Exactly once: the answer to an idempotency key is written in the transaction of its effect (IDEM-01).
// A second call with the key waits on the first one's row, and replays what it finds.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { type Db, isDatabaseError } from './database.ts';
import { ApiError, badField } from './errors.ts';

const LOCK_NOT_AVAILABLE = '55P03';
const DIVISION_BY_ZERO = '22012';

/** What two calls with one key must have in common: the operation and its validated input. */
export const requestHash = (operation: string, input: unknown) =>
  createHash('sha256')
    .update(JSON.stringify([operation, input]))
    .digest('base64url');

/** The key as sent, or undefined without one. 400 when it is longer than 255 characters or not printable ASCII. */
export function idempotencyKey(key: string | undefined, campo: string): string | undefined {
  if (key === undefined || key === '') return undefined;
  if (!/^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(key)) {
    throw badField(campo, 'se esperaban entre 1 y 255 caracteres ASCII visibles');
  }
  return key;
}

interface KeyedCall {
  accountId: number;
  key: string;
  hash: string;
  now: Temporal.Instant;
}

/** The key has been claimed before: nothing of this transaction happens. */
export class KeyTaken extends Error {}

/**
 * Claims the key for this transaction, or fails it with KeyTaken: what was sent after the claim need not wait for it. 409 when
 * the key's first call is still running after the wait.
 */
export async function claimKey(db: Db, { accountId, key, hash, now }: KeyedCall): Promise<void> {
  await sql`
    with claimed as (
      insert into idempotency_records (account_id, key, request_hash, created_at)
      values (${accountId}, ${key}, ${hash}, ${now.toString()})
      on conflict (account_id, key) do update
        set request_hash = excluded.request_hash, created_at = excluded.created_at, answer = null
        where idempotency_records.created_at <= excluded.created_at - interval '24 hours'
      returning 1)
    select 1 / count(*) from claimed`
    .execute(db)
    .catch((error: unknown) => {
      if (!isDatabaseError(error)) throw error;
      if (error.code === DIVISION_BY_ZERO) throw new KeyTaken();
      // Without a place in the table the wait was for the whole of it, which somebody else has locked: no call of ours.
      if (error.code === LOCK_NOT_AVAILABLE && error.where) {
        throw new ApiError('stillRunning', 'La primera llamada con esta clave de idempotencia sigue en curso', {
          retryAfterSeconds: 1,
        });
      }
      throw error;
    });
}

/** What the key's first call answered; undefined when there is none any more. 422 when that call was another one. */
export async function earlierAnswer(db: Db, { accountId, key, hash }: KeyedCall): Promise<string | undefined> {
  const earlier = await db
    .selectFrom('idempotency_records')
    .select(['request_hash', 'answer'])
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .executeTakeFirst();
  if (!earlier) return undefined;
  if (earlier.request_hash !== hash || earlier.answer === null) {
    throw new ApiError('keyReused', 'La clave de idempotencia ya se usó con otra petición');
  }
  return earlier.answer;
}

/** Keeps the answer under the claimed key; to be executed, or to stand in the WITH of another statement. */
export const keepAnswer = (db: Pick<Db, 'updateTable'>, accountId: number, key: string, answer: string) =>
  db.updateTable('idempotency_records').set({ answer }).where('account_id', '=', accountId).where('key', '=', key);
