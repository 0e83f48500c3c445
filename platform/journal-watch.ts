// Calls that wait for a company's journal to go on. They hold no connection: one statement in a while asks for all companies of this
// process whose calls wait, whichever process writes.
import { type Database, queries } from './database.ts';

/** How often the database is asked while calls wait. */
const ASK_EVERY_MS = 300;
/** Calls of a company that may wait at a time in this process; further ones are answered at once. FAIR-01 */
const MOST_WAITING = 20;

interface Waiter {
  after: number;
  enough: (n: number | undefined) => void;
}

export class JournalWatch {
  readonly #database: Database;
  readonly #waiting = new Map<number, Set<Waiter>>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The number of the company's newest change once it is more than `after`; undefined when that did not come within `ms`, or the
   * service stops.
   */
  async beyond(accountId: number, after: number, ms: number): Promise<number | undefined> {
    const waiters = this.#waiting.get(accountId) ?? new Set();
    if (ms <= 0 || this.#closed || waiters.size >= MOST_WAITING) return undefined;
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const waiter: Waiter = { after, enough: resolve };
    this.#waiting.set(accountId, waiters.add(waiter));
    this.#timer ??= setTimeout(() => void this.#ask(), 0);
    const limit = setTimeout(() => resolve(undefined), ms);
    try {
      return await promise;
    } finally {
      clearTimeout(limit);
      waiters.delete(waiter);
      if (waiters.size === 0) this.#waiting.delete(accountId);
    }
  }

  /** Nobody waits any more. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const waiters of this.#waiting.values()) for (const { enough } of waiters) enough(undefined);
  }

  async #ask(): Promise<void> {
    // A database that is away is asked again: the calls' own reads say so.
    const heads = await this.#database
      .inEach([...this.#waiting.keys()], (accountId) =>
        queries.selectFrom('journals').select(['account_id', 'n']).where('account_id', '=', accountId).compile(),
      )
      .catch(() => []);
    for (const { account_id, n } of heads) {
      for (const { after, enough } of this.#waiting.get(account_id) ?? []) if (n > after) enough(n);
    }
    this.#timer =
      this.#closed || this.#waiting.size === 0 ? undefined : setTimeout(() => void this.#ask(), ASK_EVERY_MS);
  }
}
