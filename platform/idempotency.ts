// Exactly-once writes: the answer to an idempotency key is stored in the same transaction as the effect (IDEM-01).
// A second call with the key waits for the first one's row lock and replays its answer.
import { hash as hashOf } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import { type Db, isDatabaseError, isDivisionByZero, type Late } from './database.ts';
import { ApiError, badField } from './errors.ts';

const LOCK_NOT_AVAILABLE = '55P03';
const UNIQUE_VIOLATION = '23505';

/** A hash of the operation and its validated input; calls with the same key must have the same hash. */
export const requestHash = (operation: string, input: unknown) =>
  hashOf('sha256', JSON.stringify([operation, input]), 'base64url');

/**
 * The key as sent, or undefined. Throws 400 if it is longer than 255 characters or not printable ASCII, or if two different keys
 * were sent. W-09
 */
export function idempotencyKey(keys: readonly string[], campo: string): string | undefined {
  const [key, other] = new Set(keys.filter((sent) => sent !== ''));
  if (key === undefined) return undefined;
  if (other !== undefined) throw badField(campo, 'no coincide con Idempotency-Key, que es la misma cabecera');
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

/** An earlier call claimed the key; this transaction rolls back. */
export class KeyTaken extends Error {}

/**
 * Claims the key for this transaction, with the answer where it is known when the statement is sent. Throws KeyTaken if it is taken,
 * and 409 if the first call is still running after the wait. Later statements needn't await the claim: if it fails, they roll back.
 * `expired`: the key was taken before, by a record without effect.
 */
export async function claimKey(
  late: Late,
  { accountId, key, hash, now }: KeyedCall,
  { answer, expired }: { answer: () => string | undefined; expired: boolean },
): Promise<void> {
  const values = () => [accountId, key, hash, now.toString(), answer() ?? null];
  const claim = () =>
    expired
      ? CompiledQuery.raw(CLAIM_AGAIN, [...values(), expiryOf(now).toString()])
      : CompiledQuery.raw(CLAIM, values());
  await late(claim).catch((error: unknown) => {
    if (!isDatabaseError(error)) throw error;
    if (error.code === UNIQUE_VIOLATION || isDivisionByZero(error)) throw new KeyTaken();
    // An error with a location (`where`) comes from waiting for a row. Without one, the whole table is locked by something else.
    if (error.code === LOCK_NOT_AVAILABLE && error.where) {
      throw new ApiError('stillRunning', 'La primera llamada con esta clave de idempotencia sigue en curso', {
        retryAfterSeconds: 1,
      });
    }
    throw error;
  });
}

const CLAIM =
  'insert into idempotency_records (account_id, key, request_hash, created_at, answer) values ($1, $2, $3, $4, $5)';

const CLAIM_AGAIN = `with claimed as (
    ${CLAIM}
    on conflict (account_id, key) do update
      set request_hash = excluded.request_hash, created_at = excluded.created_at, answer = excluded.answer
      where idempotency_records.created_at <= $6
    returning 1)
  select 1 / count(*) from claimed`;

/** Records of this moment and before have expired: their keys are free again. */
const expiryOf = (now: Temporal.Instant) => now.subtract({ hours: 24 });

/** The answer of the key's first call; undefined if it is gone or has expired. Throws 422 if that call was a different one. */
export async function earlierAnswer(db: Db, { accountId, key, hash, now }: KeyedCall): Promise<string | undefined> {
  const earlier = await db
    .selectFrom('idempotency_records')
    .select(['request_hash', 'answer'])
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where('created_at', '>', expiryOf(now).toString())
    .executeTakeFirst();
  if (!earlier) return undefined;
  if (earlier.request_hash !== hash || earlier.answer === null) {
    throw new ApiError('keyReused', 'La clave de idempotencia ya se usó con otra petición');
  }
  return earlier.answer;
}

/** SQL that stores the answer `$${first + 1}` under the claimed key `$${first}` of the company `$1`. */
const keep = (first: number) =>
  `update idempotency_records set answer = $${first + 1} where account_id = $1 and key = $${first}`;

/** The same for the WITH of a statement. */
export const keptAnswer = (first: number) => `kept as (${keep(first)})`;

/** Stores the answer under the claimed key. */
export const keepAnswer = (db: Db, accountId: number, { key, answer }: { key: string; answer: string }) =>
  db.executeQuery(CompiledQuery.raw(keep(2), [accountId, key, answer]));
