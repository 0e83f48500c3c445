// The company's quota: one bucket per minute, shared by all doors and processes (LIM-01).
// A process debits blocks of calls in advance and spends them locally, so that the limit is never exceeded and most calls write
// nothing. Blocks shrink as the bucket empties, down to single calls. Calls made are also counted by the company's local day, for
// people to see; these counts are written together with a debit, without an extra round trip.
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Clock, dateIn } from './clock.ts';
import type { Database } from './database.ts';
import { ApiError, unauthorized, unavailable } from './errors.ts';
import type { Principal } from './principal.ts';

/** The company whose calls are counted, with its time zone. */
export type QuotaHolder = Pick<Principal, 'accountId' | 'quotaPerMinute' | 'timeZone'>;

/** What is left in the current minute. */
export interface QuotaState {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

/** The calls of one local day of the company. */
export interface DayOfCalls {
  day: Temporal.PlainDate;
  calls: number;
}

/** The quota with the calls of the last days. */
export interface QuotaUse extends QuotaState {
  /** The last seven days, today last. */
  days: DayOfCalls[];
}

/** Calls by day, `YYYY-MM-DD`. */
export type CallsByDay = ReadonlyMap<string, number>;

/** Where calls are counted for all processes. */
export interface QuotaStore {
  /**
   * Adds `calls` to the company's window that starts at `windowStart`, and `made` to its daily counts, atomically and in one round
   * trip. Returns the calls of the window so far. Throws 401 if the company is known to be deleted.
   */
  add(accountId: number, windowStart: Temporal.Instant, calls: number, made: CallsByDay): Promise<number>;
  /** The calls counted on these days. A day without calls may be missing. */
  callsOn(accountId: number, days: readonly string[]): Promise<CallsByDay>;
  /** Rejects if the store does not answer in time. The PostgreSQL store never rejects: the database is checked separately. */
  ping(withinMs: number): Promise<void>;
  close(): Promise<void>;
}

const WINDOW_SECONDS = 60;
const LARGEST_BLOCK = 50;
const BLOCKS_LEFT = 20;
/** How many days people see, including today. */
const DAYS_SHOWN = 7;

/** Counts in PostgreSQL. */
export const postgresQuotaStore = (database: Database): QuotaStore => ({
  // Every company's first call of a minute waits for this: not for the disk too, for counts that a crash may lose.
  add: (accountId, windowStart, calls, made) =>
    database.transaction(accountId, { write: true, durable: false }, async (db, { beforeCommit }) => {
      // A process may have cached the key of a deleted company, for which nothing is counted.
      const account = db.selectFrom('accounts').select('id').where('id', '=', accountId).executeTakeFirst();
      const counted = db
        .insertInto('quota_windows')
        .values({ account_id: accountId, starts_at: windowStart.toString(), used: calls })
        .onConflict((conflict) =>
          conflict.column('account_id').doUpdateSet((eb) => {
            // Clocks differ slightly. The window only moves forward; a process that is behind counts in the newer one.
            const stored = eb.ref('quota_windows.starts_at');
            const current = sql<boolean>`${stored} between excluded.starts_at and ${windowStart.add({ minutes: 1 }).toString()}::timestamptz`;
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
        beforeCommit(
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
  ping: async () => {},
  close: async () => {},
});

const REDIS_ANSWERS_WITHIN_MS = 2_000;
/** A connection without traffic for this long is closed and reopened. Pings keep an idle one alive. */
const REDIS_SILENT_FOR_MS = 10_000;
/** Longer than any company, in any time zone, still shows the day. */
const DAY_KEPT_SECONDS = (DAYS_SHOWN + 2) * 24 * 3600;

/** Counts in Redis, to relieve PostgreSQL. Rejects if Redis can't be reached at the start. */
export async function redisQuotaStore(url: string, onError: (error: Error) => void): Promise<QuotaStore> {
  // Imported only when needed: it makes the start noticeably slower.
  const { createClient } = await import('redis');
  let connected = false;
  const redis = createClient({
    url,
    // Fail at once while disconnected: a queued command would count in a later minute.
    disableOfflineQueue: true,
    pingInterval: REDIS_SILENT_FOR_MS / 2,
    socket: {
      connectTimeout: REDIS_ANSWERS_WITHIN_MS,
      socketTimeout: REDIS_SILENT_FOR_MS,
      // Reconnect to a Redis that was there. If the first connection fails, the configuration is probably wrong.
      reconnectStrategy: (retries) => connected && Math.min(2 ** retries * 50, 2_000),
    },
  });
  redis.on('error', (error: Error) => connected && onError(error));
  await redis.connect().catch((cause: Error) => {
    throw new Error(`REDIS_URL: Redis can't be reached: ${cause.message}`, { cause });
  });
  connected = true;
  const dayKey = (accountId: number, day: string) => `albaran:calls:${accountId}:${day}`;
  // Commands that timed out without an answer. While there are any, no more are sent: they would pile up here, and count calls that
  // were refused.
  let late = 0;
  async function answered<T>(send: () => Promise<T>, withinMs = REDIS_ANSWERS_WITHIN_MS): Promise<T> {
    if (late > 0) throw unavailable(new Error('Redis owes an answer'));
    const command = send();
    const timer = new AbortController();
    const tooLate = delay(withinMs, undefined, { signal: timer.signal }).then(() => {
      late++;
      const settled = () => {
        late--;
      };
      command.then(settled, settled);
      throw new Error('Redis did not answer in time');
    });
    try {
      return await Promise.race([command, tooLate]);
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
      const [used] = await answered(() => commands.exec());
      return Number(used);
    },
    async callsOn(accountId, days) {
      const counts = await answered(() => redis.mGet(days.map((day) => dayKey(accountId, day))));
      return new Map(days.map((day, index) => [day, Number(counts[index] ?? 0)]));
    },
    ping: async (withinMs) => void (await answered(() => redis.ping(), withinMs)),
    // Only commands that already timed out can still be pending.
    close: async () => redis.destroy(),
  };
}

interface Bucket {
  windowStart: number;
  /** The company's local day. Time zone offsets are whole minutes, so a window is within one day. */
  day: string;
  /** Calls that this process has debited and not yet spent. */
  held: number;
  /** Calls debited by the whole service at this process's last debit, at most the limit. */
  used: number;
  /** Calls spent by this process and not yet stored, by day. The next window's bucket reuses the map. */
  made: Map<string, number>;
  refill?: Promise<void>;
}

/** Counts calls against the companies' quotas. */
export class Quota {
  readonly #store: QuotaStore;
  readonly #clock: Clock;
  readonly #defaultLimit: number;
  readonly #buckets = new Map<number, Bucket>();
  #sweptAt = 0;
  #handingOver: Promise<void> = Promise.resolve();
  /** Idle companies whose last calls are being stored. */
  readonly #leaving = new Set<number>();

  constructor(store: QuotaStore, clock: Clock, defaultLimit: number) {
    this.#store = store;
    this.#clock = clock;
    this.#defaultLimit = defaultLimit;
  }

  /** Counts a call. Throws 429 with `Retry-After` if the minute's quota is spent; a refused call is not counted. */
  async spend(holder: QuotaHolder): Promise<QuotaState> {
    for (;;) {
      const { bucket, limit, resetSeconds } = this.#current(holder);
      const left = remaining(bucket, limit);
      if (left > 0 && bucket.held > 0) {
        bucket.held--;
        bucket.made.set(bucket.day, (bucket.made.get(bucket.day) ?? 0) + 1);
        return { limit, remaining: left - 1, resetSeconds };
      }
      if (left <= 0) {
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

  /** What is left as far as this process knows. Counts no call. */
  peek(holder: QuotaHolder): QuotaState {
    const { bucket, limit, resetSeconds } = this.#current(holder);
    return { limit, remaining: remaining(bucket, limit), resetSeconds };
  }

  /**
   * What is left in the whole service, and the calls of the last seven days, today last. Counts no call. It queries the store, so it
   * is only for pages. Daily counts include only calls made, not debited blocks, and count each call once. Another process's latest
   * calls, at most one block (50), are missing until one of its next debits (in its next minute with calls at the latest), or until
   * it drops the company or closes. The same number can be lost if a process is killed or the store fails while counting.
   */
  async look(holder: QuotaHolder): Promise<QuotaUse> {
    const { accountId } = holder;
    const { bucket, limit, resetSeconds } = this.#current(holder);
    // The company was idle, and its earlier calls are still being stored.
    if (this.#leaving.has(accountId)) await this.#handingOver;
    const debited = await this.#add(accountId, bucket, 0);
    const today = Temporal.PlainDate.from(bucket.day);
    const days = Array.from({ length: DAYS_SHOWN }, (_, index) => today.subtract({ days: DAYS_SHOWN - 1 - index }));
    const counts = await this.#store.callsOn(accountId, days.map(String));
    return {
      limit,
      remaining: remaining({ used: Math.max(bucket.used, Math.min(debited, limit)), held: bucket.held }, limit),
      resetSeconds,
      days: days.map((day) => ({ day, calls: counts.get(day.toString()) ?? 0 })),
    };
  }

  /** Stores the calls not yet counted, if possible, and closes the store. */
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
      const day = dateIn(timeZone, instant(windowStart)).toString();
      bucket = { windowStart, day, held: 0, used: 0, made: bucket?.made ?? new Map() };
      this.#buckets.set(accountId, bucket);
    }
    return { bucket, limit, resetSeconds };
  }

  /** Once a minute, stores the calls of companies that were idle for a whole minute, one by one, and drops their buckets. */
  #dropIdle(windowStart: number): void {
    if (windowStart <= this.#sweptAt) return;
    this.#sweptAt = windowStart;
    const idle = [...this.#buckets].filter(
      ([, bucket]) => bucket.windowStart < windowStart - WINDOW_SECONDS && !bucket.refill,
    );
    for (const [accountId] of idle) this.#buckets.delete(accountId);
    const uncounted = idle.filter(([, { made }]) => made.size > 0);
    if (uncounted.length === 0) return;
    for (const [accountId] of uncounted) this.#leaving.add(accountId);
    this.#handingOver = this.#handingOver.then(async () => {
      for (const [accountId, { made }] of uncounted) {
        await this.#add(accountId, { windowStart, made }, 0).catch(() => {});
        this.#leaving.delete(accountId);
      }
    });
  }

  #minute() {
    const seconds = Math.floor(this.#clock.now().epochMilliseconds / 1000);
    const resetSeconds = WINDOW_SECONDS - (seconds % WINDOW_SECONDS);
    return { windowStart: seconds + resetSeconds - WINDOW_SECONDS, resetSeconds };
  }

  async #refill(accountId: number, bucket: Bucket, limit: number): Promise<void> {
    const block = Math.max(1, Math.min(LARGEST_BLOCK, Math.floor((limit - bucket.used) / BLOCKS_LEFT)));
    // Daily counts are stored with a window's first debit and before more than a block is waiting. A small or nearly spent quota
    // debits on every call, which would be too often.
    const waiting = bucket.made.values().reduce((sum, calls) => sum + calls, block);
    const due = bucket.used === 0 || waiting > LARGEST_BLOCK;
    const used = await this.#add(accountId, bucket, block, due);
    const before = used - block;
    bucket.held += Math.min(block, Math.max(0, limit - before));
    bucket.used = Math.min(limit, used);
  }

  /** Debits a block and sends the daily counts with it. They are cleared even if it fails: the store may have counted them. */
  #add(accountId: number, { windowStart, made }: Pick<Bucket, 'windowStart' | 'made'>, block: number, due = true) {
    const spent = new Map(due ? made : []);
    if (due) made.clear();
    return this.#store.add(accountId, instant(windowStart), block, spent);
  }
}

/** What is left of the limit, between 0 and the limit. The limit may have been lowered since calls were debited. */
const remaining = ({ used, held }: Pick<Bucket, 'used' | 'held'>, limit: number) =>
  Math.min(limit, Math.max(0, limit - used + held));

const instant = (seconds: number) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000);
