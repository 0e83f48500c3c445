// Authenticates callers by API key. A call's company comes only from here and from grants.ts (TEN-01). A process caches keys for a
// few seconds; every call's transaction checks again that the key is live (database.ts), so a revoked key never works.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { InferResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import type { Credential, Database, Db } from './database.ts';
import { unauthorized } from './errors.ts';
import type { Guesses } from './guesses.ts';

/** A permission of a credential. */
export type Scope = 'svc.read' | 'svc.write';

/** The company of a call, and what the caller may do there. */
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

/** An API key as sent. */
export interface Credentials {
  key: string | undefined;
  secret: string | undefined;
  /** The caller's network address, for AUTH-05. */
  address: string;
}

interface KnownKey {
  principal: Principal;
  secretHash: Uint8Array;
  expiresAt: Temporal.Instant | null;
}

/** A key that was right: where to find it again. */
interface SeenKey {
  accountId: number;
  keyId: number;
  secretHash: Uint8Array;
}

const REMEMBER_MS = 5_000;
const SEEN_MS = 3_600_000;
const NOTE_USE_EVERY_SECONDS = 60;
/** Of a service with very many companies: each call of one that seldom calls finds its key here. */
const MOST_SEEN = 50_000;
const NO_HASH = Buffer.alloc(32);

/** The columns of a company that a principal needs. */
export const ACCOUNT_COLUMNS = ['time_zone', 'multi_format_stock', 'quota_per_minute'] as const;

/** Secrets have 256 random bits, so one pass of SHA-256 is enough. AUTH-03 */
export const hashSecret = (secret: string) => hash('sha256', secret, 'buffer');

/** A new API key with its secret. */
export const newKey = () => ({
  key: `ak_${randomBytes(16).toString('base64url')}`,
  secret: `sk_${randomBytes(32).toString('base64url')}`,
});

/** Verifies API keys. */
export class Keys {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #guesses: Guesses;
  readonly #known = new LRUCache<string, KnownKey>({ max: 10_000, ttl: REMEMBER_MS });
  /** Keys whose secrets were right in the last hour. That only skips the queue of guesses and the search for the company. */
  readonly #seen = new LRUCache<string, SeenKey>({ max: MOST_SEEN, ttl: SEEN_MS });
  readonly #notes = new Set<Promise<void>>();

  constructor(database: Database, clock: Clock, guesses: Guesses) {
    this.#database = database;
    this.#clock = clock;
    this.#guesses = guesses;
  }

  /** The principal of a key and its secret. Throws 401, the same for every cause; 429 after too many. AUTH-01, AUTH-05 */
  async authenticate({ key, secret, address }: Credentials): Promise<Principal> {
    if (!key || !secret) throw unauthorized();
    const hash = hashSecret(secret);
    const remembered = this.#known.get(key);
    if (remembered && timingSafeEqual(hash, remembered.secretHash) && !this.#expired(remembered)) {
      return remembered.principal;
    }
    const known = this.#seen.get(key);
    const seen = known && timingSafeEqual(hash, known.secretHash) ? known : undefined;
    const row = await this.#guesses.attempt({
      address,
      credential: `${key} ${hash.toString('base64')}`,
      // Someone who is guessing does not know a secret that was accepted before.
      proven: seen !== undefined,
      // An unknown key and a wrong secret do the same work, so they take the same time.
      find: async () => {
        const row = await (seen ? this.#findAgain(seen) : this.#find(key));
        const right = timingSafeEqual(hash, row?.secretHash ?? NO_HASH);
        return row && right && !this.#expired(row) ? row : undefined;
      },
    });
    const { accountId, keyId, lastUsedAt, scopes, secretHash, expiresAt } = row;
    const account = row.account ?? (await this.#database.transaction(accountId, {}, (db) => accountOf(db, accountId)));
    if (!account) throw unauthorized(); // It was deleted since.
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
    this.#seen.set(key, { accountId, keyId, secretHash });
    return principal;
  }

  /** Removes the key from the cache. */
  forget({ key = '' }: Credentials): void {
    this.#known.delete(key);
  }

  /** Waits for pending writes of `last_used_at`. */
  async close(): Promise<void> {
    await Promise.all(this.#notes);
  }

  #expired = ({ expiresAt }: Pick<KnownKey, 'expiresAt'>) =>
    expiresAt !== null && Temporal.Instant.compare(expiresAt, this.#clock.now()) <= 0;

  async #find(key: string) {
    const found = await this.#database.lookup({ api_key: key }, (db) =>
      liveKeys(db).where('key', '=', key).executeTakeFirst(),
    );
    return found && { ...read(found), account: undefined };
  }

  /** With the company, in the same round trip. */
  async #findAgain({ accountId, keyId }: SeenKey) {
    const [found, account] = await this.#database.transaction(accountId, {}, (db) =>
      Promise.all([
        liveKeys(db).where('account_id', '=', accountId).where('id', '=', keyId).executeTakeFirst(),
        accountOf(db, accountId),
      ]),
    );
    return found && { ...read(found), account };
  }

  #secondsSince = (moment: string) => Temporal.Instant.from(moment).until(this.#clock.now()).total('seconds');

  #noteUse(accountId: number, keyId: number): void {
    const note = this.#database
      .transaction(accountId, { write: true, durable: false }, async (db) => {
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
}

const accountOf = (db: Db, accountId: number) =>
  db.selectFrom('accounts').select(ACCOUNT_COLUMNS).where('id', '=', accountId).executeTakeFirst();

const liveKeys = (db: Db) =>
  db
    .selectFrom('api_keys')
    .select(['account_id', 'id', 'secret_hash', 'expires_at', 'last_used_at', 'can_write'])
    .where('revoked_at', 'is', null);

const read = (row: InferResult<ReturnType<typeof liveKeys>>[number]) => ({
  accountId: row.account_id,
  keyId: row.id,
  // A copy of its own: a Buffer would keep a whole slab of Buffer's pool, and a process remembers very many keys.
  secretHash: new Uint8Array(row.secret_hash),
  expiresAt: row.expires_at === null ? null : Temporal.Instant.from(row.expires_at),
  lastUsedAt: row.last_used_at,
  scopes: new Set<Scope>(row.can_write ? ['svc.read', 'svc.write'] : ['svc.read']),
});
