// Checks whether the service could answer a call now. The database is checked on a separate connection, so that a full pool does
// not make the process look broken. Concurrent requests share one check.
import pg from 'pg';
import { connectionTo } from './connection.ts';
import type { QuotaStore } from './quota.ts';

/** A dependency that must answer before calls can be served. */
export type Part = 'database' | 'Redis';

/** Timeout for the connection, and again for the answer. Together they are shorter than the timeouts of health checks. */
const ANSWERS_WITHIN_MS = 900;

/** The readiness check of a process. */
export class Readiness {
  readonly #pool: pg.Pool;
  readonly #store: QuotaStore;
  #check: Promise<Part | undefined> | undefined;

  constructor(databaseUrl: string, store: QuotaStore) {
    this.#store = store;
    this.#pool = new pg.Pool({
      ...connectionTo(databaseUrl),
      max: 1,
      pipeline: true,
      connectionTimeoutMillis: ANSWERS_WITHIN_MS,
      query_timeout: ANSWERS_WITHIN_MS,
      keepAlive: true,
    });
    // Ignore lost connections: the next check fails and reports it.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** The part that does not answer; undefined if all do. Resolves within 2 s. */
  away(): Promise<Part | undefined> {
    this.#check ??= this.#ask().finally(() => {
      this.#check = undefined;
    });
    return this.#check;
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #ask(): Promise<Part | undefined> {
    const [database, store] = await Promise.allSettled([
      this.#pool.query('select 1'),
      this.#store.ping(ANSWERS_WITHIN_MS),
    ]);
    if (database.status === 'rejected') return 'database';
    return store.status === 'rejected' ? 'Redis' : undefined;
  }
}
