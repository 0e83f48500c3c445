// Puts the parts of a running service together, for the server, the commands and the tests alike.
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { type Clock, systemClock } from './clock.ts';
import type { Service } from './context.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { Ids } from './ids.ts';
import { Keys } from './principal.ts';
import { postgresQuotaStore, Quota, redisQuotaStore } from './quota.ts';
import { Replica } from './replica.ts';
import { SignedLinks } from './signed-links.ts';

export interface ServiceOptions {
  database: DatabaseOptions;
  /** A streaming replica of the database, for the reads whose callers allow a lag. */
  replicaUrl?: string | undefined;
  log: Logger;
  clock?: Clock;
  /** Newest first; without any, one is made and kept in the database. */
  idKeys?: string[];
  /** The address from outside; the server fills in where it listens when there is none. */
  baseUrl?: string;
  redisUrl?: string;
  quotaPerMinute?: number;
  failedKeysPerMinute?: number;
  checkOutputs?: boolean;
  /** Count for Prometheus. */
  metrics?: boolean;
  idempotencyWaitMs?: number;
}

/** A service on a migrated database. `close` waits for what is under way. */
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
    const keys = new Keys(database, clock, options.failedKeysPerMinute ?? 20);
    const quota = new Quota(store, clock, options.quotaPerMinute ?? 1200);
    const secrets = options.idKeys ?? [await keptIdKey(database)];
    const metrics = options.metrics ? new (await import('./metrics.ts')).Metrics(database.pool) : undefined;
    const { replicaUrl } = options;
    const replica = replicaUrl
      ? new Replica(database, { ...options.database, url: replicaUrl }, log, metrics)
      : undefined;
    return {
      database,
      replica,
      ids: new Ids(secrets),
      keys,
      quota,
      links: new SignedLinks(secrets),
      baseUrl: options.baseUrl ?? '',
      clock,
      log,
      metrics,
      checkOutputs: options.checkOutputs ?? false,
      idempotencyWaitMs: options.idempotencyWaitMs ?? 10_000,
      async close() {
        await replica?.close();
        await keys.close();
        await quota.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The id key that lives in the database, so that every process and every backup has the same. */
export async function keptIdKey(database: Database): Promise<string> {
  const name = 'id_key';
  await database.service
    .insertInto('service_secrets')
    .values({ name, value: randomBytes(32).toString('base64url') })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { value } = await database.service
    .selectFrom('service_secrets')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return value;
}
