// Opens the configured database: connects to it or starts the embedded one, and migrates it. Used by the server and the commands,
// which may run at the same time.
import pg from 'pg';
import { connectionTo } from '../platform/connection.ts';
import type { DatabaseOptions } from '../platform/database.ts';
import type { Config } from './config.ts';
import { Failure } from './failure.ts';
import { MigrationFailed, migrate, pendingMigrations } from './postgres/migrations.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** A database ready for use. */
export interface OpenDatabase extends AsyncDisposable {
  options: DatabaseOptions;
  /** For sessions, such as those with advisory locks: not behind a pooler. */
  directUrl: string;
  /** Names of the migrations that were run. */
  migrated: string[];
  /** Names of the missing migrations; empty unless `asItIs`. */
  pending: string[];
}

/** How to open it. */
export interface OpenOptions {
  /** Stops the embedded PostgreSQL at the end even if it was already running: for the server. */
  adopt?: boolean;
  /** Does not migrate. */
  asItIs?: boolean;
  /** Receives messages about the start of the embedded PostgreSQL. */
  log?: (line: string) => void;
  /** Receives messages about slow migrations. */
  report?: (line: string) => void;
  /** Stops migrating between two statements. */
  stop?: AbortSignal;
}

/**
 * Opens the database. Disposing it stops the embedded PostgreSQL if it was started here. Throws a Failure with one line if the
 * database can't be used.
 */
export async function openDatabase(
  config: Config,
  { adopt = false, asItIs = false, log, report, stop }: OpenOptions = {},
): Promise<OpenDatabase> {
  const { databaseUrl, databaseDirectUrl, databaseReplicaUrl } = config;
  const broughtForward = async (url: string) =>
    asItIs
      ? { migrated: [], pending: await pendingMigrations(url) }
      : { migrated: await migrate(url, { report, stop }), pending: [] };
  if (databaseUrl && databaseDirectUrl) {
    const name = databaseDirectUrl === databaseUrl ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    const schema = await usable(name, broughtForward(databaseDirectUrl));
    if (databaseDirectUrl !== databaseUrl) await usable('DATABASE_URL', reach(databaseUrl));
    // The replica may be down, but the files that its URL names must exist.
    if (databaseReplicaUrl) await usable('DATABASE_REPLICA_URL', Promise.try(connectionTo, databaseReplicaUrl));
    return { ...databaseOf(config, databaseUrl), ...schema };
  }
  // Imported here, because only the embedded database needs it.
  const { startEmbeddedPostgres } = await import('./postgres/embedded-postgres.ts');
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, adopt, log }).catch((error: unknown) => {
    throw new Failure(oneLine(error), { cause: error });
  });
  try {
    const schema = await usable('The embedded PostgreSQL', broughtForward(postgres.url));
    return { ...databaseOf(config, postgres.url), ...schema, [Symbol.asyncDispose]: () => postgres.stop() };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

async function reach(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  await client.end();
}

/** Awaits a step of opening the database. Its failure becomes one line that names the setting. */
export async function usable<T>(setting: string, step: Promise<T>): Promise<T> {
  return step.catch((error: unknown) => {
    if (error instanceof Failure) throw error;
    if (error instanceof MigrationFailed) throw new Failure(oneLine(error), { cause: error });
    throw new Failure(`${setting}: the database can't be used: ${oneLine(error)}`, { cause: error });
  });
}

/** The database at this address, unchecked: for a worker, whose primary has opened it. */
export const databaseOf = (config: Config, url: string): OpenDatabase => ({
  options: {
    url,
    poolSize: config.databasePool,
    companyConnections: config.companyConnections,
    companyQueue: Math.ceil(config.databaseQueue / 2),
    prepare: config.databasePrepare,
    statementTimeoutMs: config.statementTimeoutMs,
  },
  directUrl: config.databaseDirectUrl ?? url,
  migrated: [],
  pending: [],
  async [Symbol.asyncDispose]() {},
});

/** An error as one line. A host with several unreachable addresses gives an AggregateError without a message: use its first error. */
export function oneLine(error: unknown): string {
  const first = error instanceof AggregateError && !error.message ? error.errors[0] : error;
  const text = first instanceof Error ? first.message : String(first);
  return text.split('\n')[0] ?? text;
}
