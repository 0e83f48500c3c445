// The company's quota: one bucket a minute, shared by every door and every process (LIM-01).
// A process debits a block of calls beforehand and spends it alone, so that the limit is never passed and a call
// rarely writes; blocks shrink as the bucket empties, down to one call at a time. What was spent of them is counted by the
// company's own days, which people look at: the count travels with a debit and costs no round trip.
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Clock } from './clock.ts';
import type { Database } from './database.ts';
import { ApiError, unauthorized, unavailable } from './errors.ts';
import type { Principal } from './principal.ts';

/** The company whose calls are counted, in its time zone. */
export type QuotaHolder = Pick<Principal, 'accountId' | 'quotaPerMinute' | 'timeZone'>;

export interface QuotaState {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

/** The calls of one day of the company, from midnight to midnight in its time zone. */
export interface DayOfCalls {
  day: Temporal.PlainDate;
  calls: number;
}

export interface QuotaUse extends QuotaState {
  /** The last seven days, today last. */
  days: DayOfCalls[];
}

/** Calls by day, `YYYY-MM-DD`. */
export type CallsByDay = ReadonlyMap<string, number>;

export interface QuotaStore {
  /**
   * Adds `calls` to a company's use in the window that starts at `windowStart`, and `made` to the counts of its days, in
   * one round trip and all or nothing. Answers the use of the window so far. 401 when the company is known to be no more.
   */
  add(accountId: number, windowStart: Temporal.Instant, calls: number, made: CallsByDay): Promise<number>;
  /** The calls that were counted on these days; a day without any may be missing. */
  callsOn(accountId: number, days: readonly string[]): Promise<CallsByDay>;
  close(): Promise<void>;
}

const WINDOW_SECONDS = 60;
const LARGEST_BLOCK = 50;
const BLOCKS_LEFT = 20;
/** The days that people see, today included. */
const DAYS_SHOWN = 7;

export const postgresQuotaStore = (database: Database): QuotaStore => ({
  add: (accountId, windowStart, calls, made) =>
    database.transaction(accountId, { write: true }, async (db, later) => {
      // A process may remember the key of a company that was deleted: nothing is counted for one.
      const account = db.selectFrom('accounts').select('id').where('id', '=', accountId).executeTakeFirst();
      const counted = db
        .insertInto('quota_windows')
        .values({ account_id: accountId, starts_at: windowStart.toString(), used: calls })
        .onConflict((conflict) =>
          conflict.column('account_id').doUpdateSet((eb) => {
            // Clocks differ at the turn of a minute: the row only goes forward, and who is behind counts in the newer one.
            const stored = eb.ref('quota_windows.starts_at');
            const current = sql<boolean>`${stored} between excluded.starts_at and excluded.starts_at + interval '1 minute'`;
            const use = eb('quota_windows.used', '+', eb.ref('excluded.used'));
            return {
              used: eb.case().when(current).then(use).else(eb.ref('excluded.used')).end(),
              starts_at: eb.case().when(current).then(stored).else(eb.ref('excluded.starts_at')).end(),
            };
          }),
        )
        .returning('used')
        .executeTakeFirstOrThrow();
      if (made.size > 0) {
        const rows = [...made].map(([day, calls]) => ({ account_id: accountId, day, calls }));
        later(
          db
            .insertInto('quota_days')
            .values(rows)
            .onConflict((conflict) =>
              conflict
                .columns(['account_id', 'day'])
                .doUpdateSet((eb) => ({ calls: eb('quota_days.calls', '+', eb.ref('excluded.calls')) })),
            )
            .execute(),
        );
      }
      const [there, { used }] = await Promise.all([account, counted]);
      if (!there) throw unauthorized();
      return used;
    }),
  callsOn: (accountId, days) =>
    database.transaction(accountId, {}, async (db) => {
      const rows = await db
        .selectFrom('quota_days')
        .select(['day', 'calls'])
        .where('account_id', '=', accountId)
        .where('day', 'in', days)
        .execute();
      return new Map(rows.map(({ day, calls }) => [day, calls]));
    }),
  close: async () => {},
});

const REDIS_ANSWERS_WITHIN_MS = 2_000;
/** Until after the last moment at which any company still shows the day. */
const DAY_KEPT_SECONDS = (DAYS_SHOWN + 2) * 24 * 3600;

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
  const dayKey = (accountId: number, day: string) => `albaran:calls:${accountId}:${day}`;
  async function answered<T>(command: Promise<T>): Promise<T> {
    const timer = new AbortController();
    const late = delay(REDIS_ANSWERS_WITHIN_MS, undefined, { signal: timer.signal }).then(() => {
      throw new Error('Redis did not answer in time');
    });
    try {
      return await Promise.race([command, late]);
    } catch (cause) {
      throw unavailable(cause);
    } finally {
      timer.abort();
    }
  }
  return {
    async add(accountId, windowStart, calls, made) {
      const key = `albaran:quota:${accountId}:${windowStart.epochMilliseconds}`;
      const commands = redis
        .multi()
        .incrBy(key, calls)
        .expire(key, 2 * WINDOW_SECONDS);
      for (const [day, count] of made) {
        commands.incrBy(dayKey(accountId, day), count).expire(dayKey(accountId, day), DAY_KEPT_SECONDS);
      }
      const [used] = await answered(commands.exec());
      return Number(used);
    },
    async callsOn(accountId, days) {
      const counts = await answered(redis.mGet(days.map((day) => dayKey(accountId, day))));
      return new Map(days.map((day, index) => [day, Number(counts[index] ?? 0)]));
    },
    // Nothing is under way any more but what Redis owes an answer to.
    close: async () => redis.destroy(),
  };
}

interface Bucket {
  windowStart: number;
  /** The company's day. Zones are whole minutes apart, so that a window lies in one day. */
  day: string;
  /** Calls debited and not yet spent by this process. */
  held: number;
  /** What the whole service had left after the last debit. */
  elsewhere: number;
  /** Calls spent by this process and not yet in the store, by day; one map goes from bucket to bucket. */
  made: Map<string, number>;
  refill?: Promise<void>;
}

export class Quota {
  readonly #store: QuotaStore;
  readonly #clock: Clock;
  readonly #defaultLimit: number;
  readonly #buckets = new Map<number, Bucket>();
  #sweptAt = 0;
  #handingOver: Promise<void> = Promise.resolve();

  constructor(store: QuotaStore, clock: Clock, defaultLimit: number) {
    this.#store = store;
    this.#clock = clock;
    this.#defaultLimit = defaultLimit;
  }

  /** Counts one call. 429 with `Retry-After` once the minute's calls are spent; such a call is in no count. */
  async spend(holder: QuotaHolder): Promise<QuotaState> {
    for (;;) {
      const { bucket, limit, resetSeconds } = this.#current(holder);
      if (bucket.held > 0) {
        bucket.held--;
        bucket.made.set(bucket.day, (bucket.made.get(bucket.day) ?? 0) + 1);
        return { limit, remaining: bucket.held + bucket.elsewhere, resetSeconds };
      }
      if (bucket.elsewhere <= 0) {
        throw new ApiError('quotaSpent', `La empresa ha gastado su cuota de ${limit} llamadas por minuto`, {
          retryAfterSeconds: resetSeconds,
        });
      }
      bucket.refill ??= this.#refill(holder.accountId, bucket, limit).finally(() => {
        delete bucket.refill;
      });
      await bucket.refill;
    }
  }

  /** What is left, as far as this process knows, without counting a call. */
  peek(holder: QuotaHolder): QuotaState {
    const { bucket, limit, resetSeconds } = this.#current(holder);
    return { limit, remaining: bucket.held + bucket.elsewhere, resetSeconds };
  }

  /**
   * What is left in the whole service, and the calls of the company's last seven days, today's last; without counting a
   * call. For people, since it asks the store. A day's calls are those made: unlike the debits of the minute they hold no
   * block that a process has yet to spend. No call is in them twice. What another process spent last comes in with one of
   * its next debits, that of a new minute at the latest, or when it forgets the company or closes: at most one block (50 calls). As much is lost
   * when a process is killed, or when the store fails while it counts.
   */
  async look(holder: QuotaHolder): Promise<QuotaUse> {
    const { accountId } = holder;
    const { bucket, limit, resetSeconds } = this.#current(holder);
    const debited = await this.#add(accountId, bucket, 0);
    const today = Temporal.PlainDate.from(bucket.day);
    const days = Array.from({ length: DAYS_SHOWN }, (_, index) => today.subtract({ days: DAYS_SHOWN - 1 - index }));
    const counts = await this.#store.callsOn(accountId, days.map(String));
    return {
      limit,
      remaining: Math.min(limit, Math.max(0, limit - debited) + bucket.held),
      resetSeconds,
      days: days.map((day) => ({ day, calls: counts.get(day.toString()) ?? 0 })),
    };
  }

  /** Counts what was still to be counted, where the store can be reached, and closes the store. */
  async close(): Promise<void> {
    await this.#handingOver;
    const { windowStart } = this.#minute();
    const uncounted = [...this.#buckets].filter(([, { made }]) => made.size > 0);
    const counts = uncounted.map(([accountId, { made }]) => this.#add(accountId, { windowStart, made }, 0));
    await Promise.allSettled(counts);
    await this.#store.close();
  }

  #current({ accountId, quotaPerMinute, timeZone }: QuotaHolder) {
    const limit = quotaPerMinute ?? this.#defaultLimit;
    const { windowStart, resetSeconds } = this.#minute();
    this.#dropIdle(windowStart);
    let bucket = this.#buckets.get(accountId);
    if (bucket?.windowStart !== windowStart) {
      const day = instant(windowStart).toZonedDateTimeISO(timeZone).toPlainDate().toString();
      bucket = { windowStart, day, held: 0, elsewhere: limit, made: bucket?.made ?? new Map() };
      this.#buckets.set(accountId, bucket);
    }
    return { bucket, limit, resetSeconds };
  }

  /** Once a minute: companies that let a whole minute pass without a call are handed over, one by one, and forgotten. */
  #dropIdle(windowStart: number): void {
    if (windowStart <= this.#sweptAt) return;
    this.#sweptAt = windowStart;
    const idle = [...this.#buckets].filter(
      ([, bucket]) => bucket.windowStart < windowStart - WINDOW_SECONDS && !bucket.refill,
    );
    for (const [accountId] of idle) this.#buckets.delete(accountId);
    const uncounted = idle.filter(([, { made }]) => made.size > 0);
    if (uncounted.length === 0) return;
    this.#handingOver = this.#handingOver.then(async () => {
      for (const [accountId, { made }] of uncounted) {
        await this.#add(accountId, { windowStart, made }, 0).catch(() => {});
      }
    });
  }

  #minute() {
    const seconds = Math.floor(this.#clock.now().epochMilliseconds / 1000);
    const resetSeconds = WINDOW_SECONDS - (seconds % WINDOW_SECONDS);
    return { windowStart: seconds + resetSeconds - WINDOW_SECONDS, resetSeconds };
  }

  async #refill(accountId: number, bucket: Bucket, limit: number): Promise<void> {
    const block = Math.max(1, Math.min(LARGEST_BLOCK, Math.floor(bucket.elsewhere / BLOCKS_LEFT)));
    // Not with every debit, of which a small or nearly spent quota needs one a call; and never more than a block waits.
    const waiting = bucket.made.values().reduce((sum, calls) => sum + calls, block);
    const due = bucket.elsewhere === limit || waiting > LARGEST_BLOCK;
    const used = await this.#add(accountId, bucket, block, due);
    const before = used - block;
    bucket.held += Math.min(block, Math.max(0, limit - before));
    bucket.elsewhere = Math.max(0, limit - used);
  }

  /** Debits a block. What was spent goes with it at once and for good: a failure does not tell what was counted. */
  #add(accountId: number, { windowStart, made }: Pick<Bucket, 'windowStart' | 'made'>, block: number, due = true) {
    const spent = new Map(due ? made : []);
    if (due) made.clear();
    return this.#store.add(accountId, instant(windowStart), block, spent);
  }
}

const instant = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000);
