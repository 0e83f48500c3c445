// The company's quota: one bucket a minute, shared by every door and every process (LIM-01).
// A process debits a block of calls beforehand and spends it alone, so that the limit is never passed and a call
// rarely writes; blocks shrink as the bucket empties, down to one call at a time.
import { createClient } from 'redis';
import type { Clock } from './clock.ts';
import type { Database } from './database.ts';
import { ApiError } from './errors.ts';

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
          conflict.column('account_id').doUpdateSet((eb) => ({
            used: eb
              .case()
              .when('quota_windows.starts_at', '=', eb.ref('excluded.starts_at'))
              .then(eb('quota_windows.used', '+', eb.ref('excluded.used')))
              .else(eb.ref('excluded.used'))
              .end(),
            starts_at: eb.ref('excluded.starts_at'),
          })),
        )
        .returning('used')
        .executeTakeFirstOrThrow();
      return used;
    }),
  close: async () => {},
});

/** The same in Redis, for services whose PostgreSQL has better things to do. */
export async function redisQuotaStore(url: string, onError: (error: Error) => void): Promise<QuotaStore> {
  const redis = createClient({ url });
  redis.on('error', onError);
  await redis.connect();
  return {
    async add(accountId, windowStart, calls) {
      const key = `albaran:quota:${accountId}:${windowStart.epochMilliseconds}`;
      const [used] = await redis
        .multi()
        .incrBy(key, calls)
        .expire(key, 2 * WINDOW_SECONDS)
        .exec();
      return Number(used);
    },
    close: async () => {
      await redis.close();
    },
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
