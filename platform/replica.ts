// Reads that their callers allow to be a little old (X-Max-Lag), answered by a streaming replica while it is fresh enough.
// How old it is, no clock of another machine says: this process notes how far the primary's write-ahead log has come at what
// moment, and each transaction on the replica begins with a statement that fails unless all that the primary had
// written so many seconds ago is replayed there. So an answer is never older than was asked for, also where several replicas
// share one address, and an idle primary is no lag.
import { sql } from 'kysely';
import type { Logger } from 'pino';
import {
  type CredentialCheck,
  Database,
  type DatabaseOptions,
  type Db,
  isDatabaseError,
  type Work,
} from './database.ts';
import { ApiError, badField } from './errors.ts';
import type { Metrics } from './metrics.ts';

export interface ReplicaRead<T> {
  value: T;
  /** Everything written until so many seconds before the read is in it. */
  lagSeconds: number;
}

const SAMPLE_EVERY_MS = 250;
const LARGEST_LAG_SECONDS = 3600;
/** A replica that has not shown itself fresh by then is away: the primary answers, and nobody waits for the next one. */
const SHOWS_ITSELF_WITHIN_MS = 1_000;
const TELL_EVERY_MS = 60_000;

const DIVISION_BY_ZERO = '22012';
const STATEMENT_TIMEOUT = '57014';
/** SQLSTATEs of a server that is going, coming or full. */
const AWAY = /^(57P|08|53)/;

const TOLD = {
  away: 'the replica does not answer: the primary does',
  behind: 'the replica is further behind than a caller allows: the primary answers',
};

class Behind extends Error {}

/** The seconds of an `X-Max-Lag` header. 400 for what is none. */
export function maxLagSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= LARGEST_LAG_SECONDS) return seconds;
  throw badField('X-Max-Lag', `se esperaba un número de segundos, de 0 a ${LARGEST_LAG_SECONDS}`);
}

/** A position of the write-ahead log, in bytes since its beginning. */
type Position = number;

/** How far the primary had come at what moment (`performance.now()`), oldest first. */
class Positions {
  #samples: { at: number; position: Position }[] = [];

  /** Everything that was written at `at` stands before `position`. */
  add(at: number, position: Position): void {
    const last = this.#samples.at(-1);
    // A log that is shorter than it was is another one: that of a primary that took over.
    if (last && position < last.position) this.#samples = [];
    if (last?.position === position) last.at = at;
    else this.#samples.push({ at, position });
    const oldest = at - LARGEST_LAG_SECONDS * 1000;
    while (this.#samples[0] && this.#samples[0].at < oldest) this.#samples.shift();
  }

  /** A position before which stands everything that was written at `moment`; undefined where none is known yet. */
  after(moment: number): Position | undefined {
    const index = this.#samples.findLastIndex(({ at }) => at < moment);
    return this.#samples[index + 1]?.position;
  }

  /** The last moment until which everything written stands before `position`. */
  momentOf(position: Position): number {
    return this.#samples.findLast((sample) => sample.position <= position)?.at ?? Number.NEGATIVE_INFINITY;
  }
}

export class Replica {
  readonly #primary: Database;
  readonly #replica: Database;
  readonly #log: Logger;
  readonly #metrics: Metrics | undefined;
  readonly #positions = new Positions();
  readonly #told = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #sampling: Promise<void> | undefined;
  #probing: Promise<void> | undefined;
  #there = false;

  /** `options` are those of the primary, with the replica's URL. It need not be there yet. */
  constructor(primary: Database, options: DatabaseOptions, log: Logger, metrics?: Metrics) {
    this.#primary = primary;
    this.#log = log;
    this.#metrics = metrics;
    this.#replica = new Database({
      ...options,
      connectTimeoutMs: SHOWS_ITSELF_WITHIN_MS,
      onError: (error) => this.#lost(error),
    });
    this.#timer = setInterval(() => this.#tick(), SAMPLE_EVERY_MS).unref();
    this.#tick();
  }

  /**
   * Runs `work` on the replica, if that is at most `maxLagSeconds` behind; undefined when the primary has to answer. The
   * caller's credential is checked on the primary meanwhile: a revoked one is refused whatever the replica still knows
   * (AUTH-03, OAU-06).
   */
  async read<T>(
    accountId: number,
    maxLagSeconds: number,
    credential: CredentialCheck,
    work: Work<T>,
  ): Promise<ReplicaRead<T> | undefined> {
    if (!this.#there) return this.#left('away');
    if (this.#required(maxLagSeconds) === undefined) {
      this.#metrics?.replicaAsked('behind');
      return undefined;
    }
    const live = this.#primary.transaction(accountId, { credential }, async () => {});
    live.catch(() => {});
    try {
      const read = await this.#answer(accountId, maxLagSeconds, work);
      this.#metrics?.replicaAsked('answered');
      return read;
    } catch (error) {
      if (error instanceof ApiError || (isDatabaseError(error) && error.code === STATEMENT_TIMEOUT)) throw error;
      if (error instanceof Behind) return this.#left('behind');
      // A statement may have been in the way of what is being replayed, which says nothing about the next one.
      if (!isDatabaseError(error) || AWAY.test(error.code ?? '')) this.#there = false;
      return this.#left('away', error);
    } finally {
      await live;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#sampling, this.#probing]);
    await this.#replica.close();
  }

  async #answer<T>(accountId: number, maxLagSeconds: number, work: Work<T>): Promise<ReplicaRead<T>> {
    const shown = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => shown.reject(new Error('The replica did not answer in time')),
      SHOWS_ITSELF_WITHIN_MS,
    );
    const answered = this.#replica.transaction(accountId, {}, async (db, later) => {
      const fresh = this.#showFresh(db, maxLagSeconds);
      const value = work(db, later);
      value.catch(() => {});
      const lagSeconds = await fresh;
      shown.resolve();
      return { value: await value, lagSeconds };
    });
    answered.catch(shown.reject);
    try {
      await shown.promise;
    } finally {
      clearTimeout(timer);
    }
    return answered;
  }

  /** The first statement of a transaction: how many seconds the replica is behind at most. Behind when that is too much. */
  async #showFresh(db: Db, maxLagSeconds: number): Promise<number> {
    const now = performance.now();
    const required = this.#required(maxLagSeconds);
    if (required === undefined) throw new Behind();
    // In one statement with its failure, so that a read of a replica that is behind is not begun.
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
      .catch((error: unknown) => this.#tell('warn', 'the primary does not say how far it has come', error))
      .finally(() => {
        this.#sampling = undefined;
      });
    if (this.#there) return;
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

  /** Whether the replica can be asked: it answers, isolates companies, and is one of this primary. */
  async #probe(): Promise<void> {
    const theirs = await clusterOf(this.#replica);
    try {
      if (theirs !== (await clusterOf(this.#primary))) throw new Error('It is no copy of the database of DATABASE_URL');
      await this.#replica.prepareRole();
    } catch (error) {
      return this.#tell('warn', 'the database of DATABASE_REPLICA_URL is not asked', error);
    }
    this.#there = true;
    this.#tell('info', 'the replica is there');
  }

  #lost(error: unknown): void {
    this.#there = false;
    this.#tell('warn', TOLD.away, error);
  }

  #left(why: 'behind' | 'away', error?: unknown): undefined {
    this.#metrics?.replicaAsked(why);
    this.#tell('warn', TOLD[why], error);
  }

  /** Each thing once a minute. */
  #tell(level: 'info' | 'warn', what: string, err?: unknown): void {
    const now = performance.now();
    if (now - (this.#told.get(what) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
    this.#told.set(what, now);
    this.#log[level]({ err }, what);
  }
}

/** Which database this is, and of which cluster: the same on a primary and its replicas. */
async function clusterOf({ service }: Database): Promise<string> {
  const { rows } = await sql<{ cluster: string }>`
    select system_identifier || ' ' || current_database() as cluster from pg_control_system()`.execute(service);
  return rows[0]?.cluster ?? '';
}
