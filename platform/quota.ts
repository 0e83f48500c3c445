// The company's quota: one bucket a minute, shared by every door and every process (LIM-01).
// A process debits a block of calls beforehand and spends it alone, so that the limit is never passed and a call
// rarely writes; blocks shrink as the bucket empties, down to one call at a time.
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Clock } from './clock.ts';
import type { Database } from './database.ts';
import { ApiError, unavailable } from './errors.ts';

export interface QuotaState {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

/** Adds to a company's use in the window that starts at `windowStart`, and answers the use so far. */
export interface QuotaStore {
  add(accountId: number, windowStart: Temporal.Instant, calls: number): Promise<number>;
  close(): Promise<void>;
}

const WINDOW_SECONDS = 60;
const LARGEST_BLOCK = 50;
const BLOCKS_LEFT = 20;

export const postgresQuotaStore = (database: Database): QuotaStore => ({
  add: (accountId, windowStart, calls) =>
    database.transaction(accountId, { write: true }, async (db) => {
      const { used } = await db
        .insertInto('quota_windows')
        .values({ account_id: accountId, starts_at: windowStart.toString(), used: calls })
        .onConflict((conflict) =>
          conflict.column('account_id').doUpdateSet((eb) => {
            // Clocks differ at the turn of a minute: the row only goes forward, and who is behind counts in the newer one.
            const stored = eb.ref('quota_windows.starts_at');
            const counted = sql<boolean>`${stored} between excluded.starts_at and excluded.starts_at + interval '1 minute'`;
            const use = eb('quota_windows.used', '+', eb.ref('excluded.used'));
            return {
              used: eb.case().when(counted).then(use).else(eb.ref('excluded.used')).end(),
              starts_at: eb.case().when(counted).then(stored).else(eb.ref('excluded.starts_at')).end(),
            };
          }),
        )
        .returning('used')
        .executeTakeFirstOrThrow();
      return used;
    }),
  close: async () => {},
});

const REDIS_ANSWERS_WITHIN_MS = 2_000;

/** The same in Redis, for services whose PostgreSQL has better things to do. Rejects when Redis is not there at the start. */
export async function redisQuotaStore(url: string, onError: (error: Error) => void): Promise<QuotaStore> {
  // Loaded here: most services count in PostgreSQL, and a start is noticeably shorter without it.
  const { createClient } = await import('redis');
  let connected = false;
  const redis = createClient({
    url,
    // A call is answered now or not at all: one that waited for Redis to come back would count in another minute.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: REDIS_ANSWERS_WITHIN_MS,
      // Lost, it is looked for again and again; not there from the start, it is somebody's mistake.
      reconnectStrategy: (retries) => connected && Math.min(2 ** retries * 50, 2_000),
    },
  });
  redis.on('error', (error: Error) => connected && onError(error));
  await redis.connect().catch((cause: Error) => {
    throw new Error(`REDIS_URL: Redis can't be reached: ${cause.message}`, { cause });
  });
  connected = true;
  return {
    async add(accountId, windowStart, calls) {
      const key = `albaran:quota:${accountId}:${windowStart.epochMilliseconds}`;
      const counted = redis
        .multi()
        .incrBy(key, calls)
        .expire(key, 2 * WINDOW_SECONDS)
        .exec();
      const answered = new AbortController();
      const late = delay(REDIS_ANSWERS_WITHIN_MS, undefined, { signal: answered.signal }).then(() => {
        throw new Error('Redis did not answer in time');
      });
      try {
        const [used] = await Promise.race([counted, late]);
        return Number(used);
      } catch (cause) {
        throw unavailable(cause);
      } finally {
        answered.abort();
      }
    },
    // Nothing is under way any more but what Redis owes an answer to.
    close: async () => redis.destroy(),
  };
}

interface Bucket {
  windowStart: number;
  /** Calls debited and not yet spent by this process. */
  held: number;
  /** What the whole service had left after the last debit. */
  elsewhere: number;
  refill?: Promise<void>;
}

export class Quota {
  readonly #store: QuotaStore;
  readonly #clock: Clock;
  readonly #defaultLimit: number;
  readonly #buckets = new Map<number, Bucket>();

  constructor(store: QuotaStore, clock: Clock, defaultLimit: number) {
    this.#store = store;
    this.#clock = clock;
    this.#defaultLimit = defaultLimit;
  }

  /** Counts one call. 429 with `Retry-After` once the minute's calls are spent. */
  async spend(accountId: number, quotaPerMinute: number | null): Promise<QuotaState> {
    const limit = quotaPerMinute ?? this.#defaultLimit;
    for (;;) {
      const { bucket, resetSeconds } = this.#current(accountId, limit);
      if (bucket.held > 0) {
        bucket.held--;
        return { limit, remaining: bucket.held + bucket.elsewhere, resetSeconds };
      }
      if (bucket.elsewhere <= 0) {
        throw new ApiError('quotaSpent', `La empresa ha gastado su cuota de ${limit} llamadas por minuto`, {
          retryAfterSeconds: resetSeconds,
        });
      }
      bucket.refill ??= this.#refill(accountId, bucket, limit).finally(() => {
        delete bucket.refill;
      });
      await bucket.refill;
    }
  }

  /** What is left, as far as this process knows, without counting a call. */
  peek(accountId: number, quotaPerMinute: number | null): QuotaState {
    const limit = quotaPerMinute ?? this.#defaultLimit;
    const { bucket, resetSeconds } = this.#current(accountId, limit);
    return { limit, remaining: bucket.held + bucket.elsewhere, resetSeconds };
  }

  /** What is left in the whole service, without counting a call; for people, since it asks the store. */
  async look(accountId: number, quotaPerMinute: number | null): Promise<QuotaState> {
    const limit = quotaPerMinute ?? this.#defaultLimit;
    const { bucket, resetSeconds } = this.#current(accountId, limit);
    const debited = await this.#store.add(
      accountId,
      Temporal.Instant.fromEpochMilliseconds(bucket.windowStart * 1000),
      0,
    );
    return { limit, remaining: Math.min(limit, Math.max(0, limit - debited) + bucket.held), resetSeconds };
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #current(accountId: number, limit: number): { bucket: Bucket; resetSeconds: number } {
    const seconds = Math.floor(this.#clock.now().epochMilliseconds / 1000);
    const windowStart = seconds - (seconds % WINDOW_SECONDS);
    let bucket = this.#buckets.get(accountId);
    if (bucket?.windowStart !== windowStart) {
      bucket = { windowStart, held: 0, elsewhere: limit };
      this.#buckets.set(accountId, bucket);
    }
    return { bucket, resetSeconds: windowStart + WINDOW_SECONDS - seconds };
  }

  async #refill(accountId: number, bucket: Bucket, limit: number): Promise<void> {
    const block = Math.max(1, Math.min(LARGEST_BLOCK, Math.floor(bucket.elsewhere / BLOCKS_LEFT)));
    const windowStart = Temporal.Instant.fromEpochMilliseconds(bucket.windowStart * 1000);
    const used = await this.#store.add(accountId, windowStart, block);
    const before = used - block;
    bucket.held += Math.min(block, Math.max(0, limit - before));
    bucket.elsewhere = Math.max(0, limit - used);
  }
}
