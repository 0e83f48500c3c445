// Reads whose callers allow a lag (X-Max-Lag) are answered by a streaming replica while it is fresh enough.
// The lag is measured without the clocks of other machines: this process samples the position of the primary's write-ahead log,
// and each transaction on the replica sends ahead a statement that fails unless the replica has replayed the position of that many
// seconds ago. So an answer is never older than the caller allows, even if several replicas share one address, and an idle primary
// causes no lag.
import { sql } from 'kysely';
import type { Logger } from 'pino';
import {
  Database,
  type DatabaseOptions,
  type Db,
  isDatabaseError,
  type TransactionOptions,
  type Work,
} from './database.ts';
import { ApiError, badField } from './errors.ts';
import type { Metrics } from './metrics.ts';

/** A read answered by the replica. */
export interface ReplicaRead<T> {
  value: T;
  /** The answer includes everything written up to this many seconds before the read. */
  lagSeconds: number;
}

const SAMPLE_EVERY_MS = 250;
const LARGEST_LAG_SECONDS = 3600;
/** If the freshness check takes longer, the primary answers, and later reads go there too until the replica responds again. */
const FRESHNESS_TIMEOUT_MS = 1_000;
const LOG_EVERY_MS = 60_000;

const DIVISION_BY_ZERO = '22012';
const STATEMENT_TIMEOUT = '57014';
/** SQLSTATEs of a server that is stopping, starting or out of resources. */
const AWAY = /^(57P|08|53)/;

const MESSAGES = {
  away: 'the replica does not answer: the primary does',
  behind: 'the replica is further behind than a caller allows: the primary answers',
};

class Behind extends Error {}

/** The seconds of an `X-Max-Lag` header. Throws 400 for an invalid one. */
export function maxLagSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= LARGEST_LAG_SECONDS) return seconds;
  throw badField('X-Max-Lag', `se esperaba un número de segundos, de 0 a ${LARGEST_LAG_SECONDS}`);
}

/** A position in the write-ahead log, in bytes from its beginning. */
type Position = number;

/** Sampled positions of the primary's log with their times (`performance.now()`), oldest first. */
class Positions {
  #samples: { at: number; position: Position }[] = [];

  /** Everything written by the time `at` is before `position`. */
  add(at: number, position: Position): void {
    const last = this.#samples.at(-1);
    // A log that became shorter belongs to a new primary after a failover.
    if (last && position < last.position) this.#samples = [];
    if (last?.position === position) last.at = at;
    else this.#samples.push({ at, position });
    const oldest = at - LARGEST_LAG_SECONDS * 1000;
    while (this.#samples[0] && this.#samples[0].at < oldest) this.#samples.shift();
  }

  /** A position after everything written by `moment`; undefined if there is no sample yet. */
  after(moment: number): Position | undefined {
    const index = this.#samples.findLastIndex(({ at }) => at < moment);
    return this.#samples[index + 1]?.position;
  }

  /** The latest known moment by which everything written is before `position`. */
  momentOf(position: Position): number {
    return this.#samples.findLast((sample) => sample.position <= position)?.at ?? Number.NEGATIVE_INFINITY;
  }
}

/** Sends reads to the replica. */
export class Replica {
  readonly #primary: Database;
  readonly #replica: Database;
  readonly #log: Logger;
  readonly #metrics: Metrics | undefined;
  readonly #positions = new Positions();
  readonly #loggedAt = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #sampling: Promise<void> | undefined;
  #probing: Promise<void> | undefined;
  #available = false;

  /** `options` are those of the primary, with the replica's URL. The replica may still be down. */
  constructor(primary: Database, options: DatabaseOptions, log: Logger, metrics?: Metrics) {
    this.#primary = primary;
    this.#log = log;
    this.#metrics = metrics;
    this.#replica = new Database({
      ...options,
      connectTimeoutMs: FRESHNESS_TIMEOUT_MS,
      onError: (error) => this.#lost(error),
    });
    this.#timer = setInterval(() => this.#tick(), SAMPLE_EVERY_MS).unref();
    this.#tick();
  }

  /**
   * Runs `work` on the replica if it is at most `maxLagSeconds` behind; returns undefined if the primary has to answer. The
   * credential is checked on the primary at the same time, because the replica may not have the revocation yet (AUTH-03, OAU-06).
   */
  async read<T>(
    accountId: number,
    maxLagSeconds: number,
    { credential, state }: Pick<TransactionOptions, 'credential' | 'state'>,
    work: Work<T>,
  ): Promise<ReplicaRead<T> | undefined> {
    if (!this.#available) return this.#usePrimary('away');
    if (this.#required(maxLagSeconds) === undefined) {
      this.#metrics?.replicaAsked('behind');
      return undefined;
    }
    const live = this.#primary.transaction(accountId, { credential }, async () => {});
    live.catch(() => {});
    try {
      const read = await this.#answer(accountId, maxLagSeconds, state, work);
      this.#metrics?.replicaAsked('answered');
      return read;
    } catch (error) {
      if (error instanceof ApiError || (isDatabaseError(error) && error.code === STATEMENT_TIMEOUT)) throw error;
      if (error instanceof Behind) return this.#usePrimary('behind');
      // A statement cancelled by a conflict with replay does not mean that the replica is unavailable.
      if (!isDatabaseError(error) || AWAY.test(error.code ?? '')) this.#available = false;
      return this.#usePrimary('away', error);
    } finally {
      await live;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#sampling, this.#probing]);
    await this.#replica.close();
  }

  async #answer<T>(
    accountId: number,
    maxLagSeconds: number,
    state: boolean | undefined,
    work: Work<T>,
  ): Promise<ReplicaRead<T>> {
    const checked = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => checked.reject(new Error('The replica did not answer in time')),
      FRESHNESS_TIMEOUT_MS,
    );
    const answered = this.#replica.transaction(accountId, { state }, async (db, transaction) => {
      const fresh = this.#checkFresh(db, maxLagSeconds);
      const value = work(db, transaction);
      value.catch(() => {});
      const lagSeconds = await fresh;
      checked.resolve();
      return { value: await value, lagSeconds };
    });
    answered.catch(checked.reject);
    try {
      await checked.promise;
    } finally {
      clearTimeout(timer);
    }
    return answered;
  }

  /** Sent ahead of the work's statements. Returns how many seconds the replica is behind at most; throws Behind if too many. */
  async #checkFresh(db: Db, maxLagSeconds: number): Promise<number> {
    const now = performance.now();
    const required = this.#required(maxLagSeconds);
    if (required === undefined) throw new Behind();
    // The statement itself fails if the replica is behind, so that the statements sent after it do not run.
    const { rows } = await sql<{ replayed: Position }>`
      select replayed, 1 / coalesce(pg_is_in_recovery() and replayed >= ${required}, false)::int
      from (select pg_last_wal_replay_lsn() - '0/0'::pg_lsn as replayed) as replica`
      .execute(db)
      .catch((error: unknown) => {
        throw isDatabaseError(error) && error.code === DIVISION_BY_ZERO ? new Behind() : error;
      });
    return (now - this.#positions.momentOf(rows[0]?.replayed ?? 0)) / 1000;
  }

  #required(maxLagSeconds: number): Position | undefined {
    return this.#positions.after(performance.now() - maxLagSeconds * 1000);
  }

  #tick(): void {
    this.#sampling ??= this.#sample()
      .catch((error: unknown) => this.#report('warn', 'the primary does not say how far it has come', error))
      .finally(() => {
        this.#sampling = undefined;
      });
    if (this.#available) return;
    this.#probing ??= this.#probe()
      .catch((error: unknown) => this.#lost(error))
      .finally(() => {
        this.#probing = undefined;
      });
  }

  async #sample(): Promise<void> {
    const now = performance.now();
    const { rows } = await sql<{ position: Position }>`
      select pg_current_wal_flush_lsn() - '0/0'::pg_lsn as position`.execute(this.#primary.service);
    if (rows[0]) this.#positions.add(now, rows[0].position);
  }

  /** Checks that the replica answers, has the tenant role, and is a replica of this primary. */
  async #probe(): Promise<void> {
    const theirs = await clusterOf(this.#replica);
    try {
      if (theirs !== (await clusterOf(this.#primary))) throw new Error('It is no copy of the database of DATABASE_URL');
      await this.#replica.prepareRole();
    } catch (error) {
      return this.#report('warn', 'the database of DATABASE_REPLICA_URL is not asked', error);
    }
    this.#available = true;
    this.#report('info', 'the replica is there');
  }

  #lost(error: unknown): void {
    this.#available = false;
    this.#report('warn', MESSAGES.away, error);
  }

  #usePrimary(why: 'behind' | 'away', error?: unknown): undefined {
    this.#metrics?.replicaAsked(why);
    this.#report('warn', MESSAGES[why], error);
  }

  /** Logs each message at most once a minute. */
  #report(level: 'info' | 'warn', message: string, err?: unknown): void {
    const now = performance.now();
    if (now - (this.#loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return;
    this.#loggedAt.set(message, now);
    this.#log[level]({ err }, message);
  }
}

/** Identifies the database and its cluster; the same on a primary and its replicas. */
async function clusterOf({ service }: Database): Promise<string> {
  const { rows } = await sql<{ cluster: string }>`
    select system_identifier || ' ' || current_database() as cluster from pg_control_system()`.execute(service);
  return rows[0]?.cluster ?? '';
}
