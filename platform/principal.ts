// Who calls: with grants.ts the one place where a company comes from (TEN-01). API keys are verified here against their hashes;
// whether a key is still live is checked again inside each call's own transaction (database.ts), so that a process
// may remember for a few seconds what a key maps to without ever honouring a revoked one.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import type { Credential, Database } from './database.ts';
import { ApiError, unauthorized } from './errors.ts';

export type Scope = 'svc.read' | 'svc.write';

/** The company a call acts on, and what it may do there. */
export interface Principal {
  accountId: number;
  timeZone: string;
  multiFormatStock: boolean;
  quotaPerMinute: number | null;
  credential: Credential;
  scopes: ReadonlySet<Scope>;
  /** For the audit: `key:1000000001`, `token:1000000001` (the authorization's number). */
  actor: string;
}

export interface Credentials {
  key: string | undefined;
  secret: string | undefined;
  /** The caller's network address, for AUTH-05. */
  address: string;
}

interface KnownKey {
  principal: Principal;
  secretHash: Buffer;
  expiresAt: Temporal.Instant | null;
}

const REMEMBER_MS = 5_000;
const NOTE_USE_EVERY_SECONDS = 60;
const NO_HASH = Buffer.alloc(32);

/** Secrets are 256 random bits, so that one pass of SHA-256 is enough. AUTH-03 */
export const hashSecret = (secret: string) => hash('sha256', secret, 'buffer');

/** A new API key with its secret. */
export const newKey = () => ({
  key: `ak_${randomBytes(16).toString('base64url')}`,
  secret: `sk_${randomBytes(32).toString('base64url')}`,
});

export class Keys {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #failuresPerMinute: number;
  readonly #known = new LRUCache<string, KnownKey>({ max: 10_000, ttl: REMEMBER_MS });
  readonly #notes = new Set<Promise<void>>();

  constructor(database: Database, clock: Clock, failuresPerMinute: number) {
    this.#database = database;
    this.#clock = clock;
    this.#failuresPerMinute = failuresPerMinute;
  }

  /** The principal of a key and its secret. 401 for anything else, always the same; 429 after too many. AUTH-01, AUTH-05 */
  async authenticate({ key, secret, address }: Credentials): Promise<Principal> {
    if (!key || !secret) throw unauthorized();
    const hash = hashSecret(secret);
    const remembered = this.#known.get(key);
    if (remembered && timingSafeEqual(hash, remembered.secretHash) && !this.#expired(remembered)) {
      return remembered.principal;
    }
    // Whatever is wrong, the same work is done: an unknown key and a wrong secret take the same time.
    await this.#refuseGuessing(address);
    const row = await this.#find(key);
    const right = timingSafeEqual(hash, row?.secretHash ?? NO_HASH);
    if (!row || !right || this.#expired(row)) {
      await this.#noteFailure(address);
      throw unauthorized();
    }
    const { accountId, keyId, lastUsedAt, scopes, secretHash, expiresAt } = row;
    const account = await this.#database.transaction(accountId, {}, (db) =>
      db.selectFrom('accounts').selectAll().where('id', '=', accountId).executeTakeFirstOrThrow(),
    );
    if (!lastUsedAt || this.#secondsSince(lastUsedAt) > NOTE_USE_EVERY_SECONDS) this.#noteUse(accountId, keyId);
    const principal: Principal = {
      accountId,
      timeZone: account.time_zone,
      multiFormatStock: account.multi_format_stock,
      quotaPerMinute: account.quota_per_minute,
      credential: { kind: 'key', id: keyId },
      scopes,
      actor: `key:${keyId}`,
    };
    this.#known.set(key, { principal, secretHash, expiresAt });
    return principal;
  }

  /** What was remembered of this key is no longer so. */
  forget({ key = '' }: Credentials): void {
    this.#known.delete(key);
  }

  /** Waits for what was still to be written. */
  async close(): Promise<void> {
    await Promise.all(this.#notes);
  }

  #expired = ({ expiresAt }: Pick<KnownKey, 'expiresAt'>) =>
    expiresAt !== null && Temporal.Instant.compare(expiresAt, this.#clock.now()) <= 0;

  async #find(key: string) {
    const found = await this.#database.lookup({ api_key: key }, (db) =>
      db.selectFrom('api_keys').selectAll().where('key', '=', key).where('revoked_at', 'is', null).executeTakeFirst(),
    );
    return (
      found && {
        accountId: found.account_id,
        keyId: found.id,
        secretHash: Buffer.from(found.secret_hash),
        expiresAt: found.expires_at === null ? null : Temporal.Instant.from(found.expires_at),
        lastUsedAt: found.last_used_at,
        scopes: new Set<Scope>(found.can_write ? ['svc.read', 'svc.write'] : ['svc.read']),
      }
    );
  }

  #secondsSince = (moment: string) => Temporal.Instant.from(moment).until(this.#clock.now()).total('seconds');

  #noteUse(accountId: number, keyId: number): void {
    const note = this.#database
      .transaction(accountId, { write: true }, async (db) => {
        await db
          .updateTable('api_keys')
          .set({ last_used_at: this.#clock.now().toString() })
          .where('account_id', '=', accountId)
          .where('id', '=', keyId)
          .execute();
      })
      .catch(() => {})
      .finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }

  async #refuseGuessing(address: string): Promise<void> {
    const recent = await this.#database.service
      .selectFrom('failed_attempts')
      .select(['failures', 'starts_at'])
      .where('address', '=', address)
      .executeTakeFirst();
    if (!recent || recent.failures < this.#failuresPerMinute) return;
    const wait = 60 - this.#secondsSince(recent.starts_at);
    if (wait > 0) {
      throw new ApiError('quotaSpent', 'Demasiados intentos con claves no válidas desde esta dirección', {
        retryAfterSeconds: Math.ceil(wait),
      });
    }
  }

  async #noteFailure(address: string): Promise<void> {
    const now = this.#clock.now().toString();
    await sql`insert into failed_attempts (address, starts_at, failures) values (${address}, ${now}, 1)
      on conflict (address) do update set
        failures = case when failed_attempts.starts_at <= excluded.starts_at - interval '1 minute' then 1
                        else failed_attempts.failures + 1 end,
        starts_at = case when failed_attempts.starts_at <= excluded.starts_at - interval '1 minute' then excluded.starts_at
                         else failed_attempts.starts_at end`.execute(this.#database.service);
  }
}
