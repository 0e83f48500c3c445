// What keys and connections called: counts by day, and each call of assistants. A call only notes it in memory; it is written soon
// after, for many calls at once, so that no call waits for it. A process that dies loses what was not written yet.
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { type Clock, dateIn } from './clock.ts';
import { type Database, type Db, isDatabaseAway } from './database.ts';
import type { Principal } from './principal.ts';

/** How soon calls of assistants are written, and what else there is of the company with them. */
const CALLS_WITHIN_MS = 1_000;
/** How soon counts are written where there are no such calls. */
const COUNTS_WITHIN_MS = 15_000;
/** What may wait to be written, of all companies: further calls and counts are lost while the database is away. */
const MOST_CALLS = 20_000;
const MOST_COUNTS = 50_000;
const UNAUTHORIZED = 401;

/** A call of an assistant: `rows` of the answer, null for a write. */
export interface AssistantCall {
  operation: string;
  requestId: string;
  rows: Promise<number> | null;
}

interface Call {
  actor: string;
  operation: string;
  requestId: string;
  rows: number | null;
  moment: string;
}

interface Count {
  actor: string;
  day: string;
  operation: string;
  status: number;
  calls: number;
}

/** What is to be written of a company. */
interface Waiting {
  calls: Call[];
  counts: Map<string, Count>;
  /** When it is to be written, by `performance.now()`. */
  due: number;
}

export class Activity {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  #waiting = new Map<number, Waiting>();
  readonly #counting = new Set<Promise<void>>();
  readonly #writing = new Map<number, Promise<void>>();
  #numberOfCalls = 0;
  #numberOfCounts = 0;
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(database: Database, clock: Clock, log: Logger) {
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
  }

  /** Counts a call by what it was answered, the status of HTTP. One that nobody was known to make is not counted. */
  answered({ accountId, timeZone, actor }: Principal, operation: string, status: number): void {
    if (status === UNAUTHORIZED) return;
    const day = dateIn(timeZone, this.#clock.now()).toString();
    this.#add(accountId, { actor, day, operation, status, calls: 1 });
  }

  /** Notes a call of an assistant that was answered. */
  assistantCalled({ accountId, actor }: Principal, { operation, requestId, rows }: AssistantCall): void {
    const moment = this.#clock.now().toString();
    if (this.#numberOfCalls >= MOST_CALLS) {
      this.#lost++;
      return;
    }
    this.#numberOfCalls++;
    const noted = Promise.resolve(rows).then((rows) => {
      const waiting = this.#waitingOf(accountId, CALLS_WITHIN_MS);
      waiting.calls.push({ actor, operation, requestId, rows, moment });
      this.#counting.delete(noted);
    });
    this.#counting.add(noted);
  }

  /** Writes what this process knows of a company. */
  async flush(accountId: number): Promise<void> {
    await Promise.all(this.#counting);
    const earlier = this.#writing.get(accountId);
    const written = Promise.resolve(earlier).then(() => this.#write(accountId));
    this.#writing.set(accountId, written);
    await written;
    if (this.#writing.get(accountId) === written) this.#writing.delete(accountId);
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#counting);
    for (const accountId of [...this.#waiting.keys()]) await this.flush(accountId);
  }

  #waitingOf(accountId: number, withinMs: number): Waiting {
    const due = performance.now() + withinMs;
    const waiting = this.#waiting.get(accountId) ?? { calls: [], counts: new Map(), due };
    waiting.due = Math.min(waiting.due, due);
    this.#waiting.set(accountId, waiting);
    if (!this.#closed) this.#timer ??= setTimeout(() => void this.#writeDue(), CALLS_WITHIN_MS).unref();
    return waiting;
  }

  #add(accountId: number, count: Count): void {
    const { actor, day, operation, status, calls } = count;
    const { counts } = this.#waitingOf(accountId, COUNTS_WITHIN_MS);
    const key = `${actor} ${day} ${operation} ${status}`;
    const known = counts.get(key);
    if (known) known.calls += calls;
    else if (this.#numberOfCounts >= MOST_COUNTS) this.#lost += calls;
    else {
      counts.set(key, count);
      this.#numberOfCounts++;
    }
  }

  async #writeDue(): Promise<void> {
    const now = performance.now();
    for (const [accountId, { due }] of [...this.#waiting]) if (due <= now) await this.flush(accountId);
    if (this.#lost > 0) this.#log.warn({ calls: this.#lost }, 'calls were not counted: the database was away');
    this.#lost = 0;
    this.#timer =
      this.#closed || this.#waiting.size === 0
        ? undefined
        : setTimeout(() => void this.#writeDue(), CALLS_WITHIN_MS).unref();
  }

  /** Never throws. */
  async #write(accountId: number): Promise<void> {
    const waiting = this.#waiting.get(accountId);
    if (!waiting) return;
    this.#waiting.delete(accountId);
    const counts = [...waiting.counts.values()];
    const { calls } = waiting;
    this.#numberOfCounts -= counts.length;
    this.#numberOfCalls -= calls.length;
    try {
      await this.#database.transaction(accountId, { write: true, durable: false }, async (db) => {
        // A process may have cached the key of a deleted company, of which nothing is kept.
        const account = db.selectFrom('accounts').select('id').where('id', '=', accountId).executeTakeFirst();
        const [there] = await Promise.all([
          account,
          ...(counts.length > 0 ? [writeCounts(db, accountId, counts)] : []),
          ...(calls.length > 0 ? [writeCalls(db, accountId, calls)] : []),
        ]);
        if (!there) throw new Gone();
      });
    } catch (error) {
      if (error instanceof Gone) return;
      if (!isDatabaseAway(error)) {
        this.#log.error({ err: error, account: accountId }, 'what was called could not be written');
        return;
      }
      for (const count of counts) this.#add(accountId, count);
      const room = Math.max(0, MOST_CALLS - this.#numberOfCalls);
      const kept = calls.slice(0, room);
      this.#lost += calls.length - kept.length;
      this.#numberOfCalls += kept.length;
      const again = this.#waitingOf(accountId, COUNTS_WITHIN_MS);
      again.calls = [...kept, ...again.calls];
    }
  }
}

/** The company was deleted. */
class Gone extends Error {}

/** In one order, so that processes that count the same don't wait for each other in a circle. */
const writeCounts = (db: Db, accountId: number, counts: readonly Count[]) =>
  sql`insert into call_counts (account_id, actor, day, operation, status, calls)
    select ${accountId}::bigint, u.actor, u.day, u.operation, u.status, u.calls
    from unnest(${counts.map(({ actor }) => actor)}::text[], ${counts.map(({ day }) => day)}::date[],
      ${counts.map(({ operation }) => operation)}::text[], ${counts.map(({ status }) => status)}::int[],
      ${counts.map(({ calls }) => calls)}::bigint[]) as u (actor, day, operation, status, calls)
    order by u.actor, u.day, u.operation, u.status
    on conflict (account_id, actor, day, operation, status) do update set calls = call_counts.calls + excluded.calls
    returning 1`.execute(db);

const writeCalls = (db: Db, accountId: number, calls: readonly Call[]) =>
  sql`insert into assistant_calls (account_id, actor, operation, request_id, answered_rows, created_at)
    select ${accountId}::bigint, u.actor, u.operation, u.request_id, u.answered_rows, u.moment
    from unnest(${calls.map(({ actor }) => actor)}::text[], ${calls.map(({ operation }) => operation)}::text[],
      ${calls.map(({ requestId }) => requestId)}::text[], ${calls.map(({ rows }) => rows)}::int[],
      ${calls.map(({ moment }) => moment)}::timestamptz[]) as u (actor, operation, request_id, answered_rows, moment)
    returning 1`.execute(db);
