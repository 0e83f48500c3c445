// Assembles a running service, for the server and the tests.
import type { Logger } from 'pino';
import { Activity } from './activity.ts';
import { AnonymousCalls } from './anonymous.ts';
import { thisBuild } from './build.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Service } from './context.ts';
import { Cursors } from './cursors.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { Guesses } from './guesses.ts';
import { readyIdKeys } from './id-keys.ts';
import { Ids } from './ids.ts';
import { JournalWatch } from './journal-watch.ts';
import { KeptAnswers } from './kept-answers.ts';
import { KnownBrowsers } from './known-browsers.ts';
import { NewIds } from './new-ids.ts';
import { Keys } from './principal.ts';
import { postgresQuotaStore, Quota, redisQuotaStore } from './quota.ts';
import { Readiness } from './readiness.ts';
import { Replica } from './replica.ts';
import { SignedLinks } from './signed-links.ts';
import { Threads } from './threads.ts';
import { companyTurns } from './turns.ts';
import type { VerifactuSettings } from './verifactu-settings.ts';
import { Webhooks, type WebhooksOptions } from './webhooks.ts';

/** Settings of a service. */
export interface ServiceOptions {
  database: DatabaseOptions;
  /** A streaming replica of the database, for reads whose callers allow a lag. */
  replicaUrl?: string | undefined;
  log: Logger;
  clock?: Clock;
  /** Newest first. Default: one is generated and stored in the database. */
  idKeys?: string[];
  /** The public address. By default the server sets it to where it listens. */
  baseUrl?: string;
  redisUrl?: string;
  quotaPerMinute?: number;
  failedKeysPerMinute?: number;
  /** Requests without credentials that a network may send in a minute. */
  anonymousPerMinute?: number;
  checkOutputs?: boolean;
  /** Collects metrics for Prometheus. */
  metrics?: boolean;
  idempotencyWaitMs?: number;
  webhooks?: WebhooksOptions | undefined;
  /** Space for answers of reads, in bytes; default none. JRN-04 */
  cacheBytes?: number;
  verifactu?: VerifactuSettings | undefined;
}

/** Opens a service on a migrated database. `close` waits for work in progress. */
export async function openService(options: ServiceOptions): Promise<Service & { close(): Promise<void> }> {
  const { log, clock = systemClock } = options;
  const database = new Database({
    onError: (error) => log.warn({ err: error }, 'a database connection was lost'),
    ...options.database,
  });
  try {
    await database.prepareRole();
    const store = options.redisUrl
      ? await redisQuotaStore(options.redisUrl, (error) => log.warn({ err: error }, 'Redis connection'))
      : postgresQuotaStore(database);
    const guesses = new Guesses(database, clock, options.failedKeysPerMinute ?? 20);
    const keys = new Keys(database, clock, guesses);
    const quota = new Quota(store, clock, options.quotaPerMinute ?? 1200);
    const secrets = await readyIdKeys(database, options.idKeys);
    const metrics = options.metrics ? new (await import('./metrics.ts')).Metrics(database.pool) : undefined;
    const { replicaUrl } = options;
    const replica = replicaUrl
      ? new Replica(database, { ...options.database, url: replicaUrl }, log, metrics)
      : undefined;
    const readiness = new Readiness(options.database.url, store);
    const { companyQueue } = options.database;
    const ids = new Ids(secrets);
    const journal = new JournalWatch(database);
    const activity = new Activity(database, clock, log);
    const threads = new Threads();
    return {
      database,
      journal,
      reports: companyTurns(1, companyQueue),
      batches: companyTurns(1, companyQueue),
      replica,
      readiness,
      ids,
      cursors: new Cursors(secrets),
      answers: new KeptAnswers(options.cacheBytes ?? 0, `${await thisBuild()} ${ids.seal(1, 'client', 1)}`),
      keys,
      guesses,
      quota,
      anonymous: new AnonymousCalls(clock, options.anonymousPerMinute ?? 600),
      links: new SignedLinks(secrets),
      threads,
      verifactu: options.verifactu,
      newIds: new NewIds(),
      activity,
      webhooks: new Webhooks(secrets, database, clock, options.webhooks),
      knownBrowsers: new KnownBrowsers(secrets),
      baseUrl: options.baseUrl ?? '',
      clock,
      log,
      metrics,
      checkOutputs: options.checkOutputs ?? false,
      idempotencyWaitMs: options.idempotencyWaitMs ?? 10_000,
      async close() {
        journal.close();
        await threads.close();
        await replica?.close();
        await keys.close();
        await activity.close();
        await quota.close();
        await readiness.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
