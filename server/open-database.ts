// The database that the configuration names, ready for use: reached or started, and migrated. The server and the commands
// open it in the same way, side by side.
import pg from 'pg';
import type { DatabaseOptions } from '../platform/database.ts';
import { migrate } from '../platform/migrations.ts';
import type { Config } from './config.ts';
import { Failure } from './failure.ts';

const CONNECT_TIMEOUT_MS = 10_000;

export interface OpenDatabase extends AsyncDisposable {
  options: DatabaseOptions;
  /** For what takes a session of its own, such as an advisory lock: never behind a pooler. */
  directUrl: string;
  /** Names of the migrations that were run. */
  migrated: string[];
}

/**
 * Disposing it stops the embedded PostgreSQL if it was started here; with `adopt`, also if it was found running (for the
 * process that serves). Throws a Failure of one line when the database can't be used.
 */
export async function openDatabase(
  config: Config,
  { adopt = false, log }: { adopt?: boolean; log?: (line: string) => void } = {},
): Promise<OpenDatabase> {
  const { databaseUrl, databaseDirectUrl } = config;
  if (databaseUrl && databaseDirectUrl) {
    const name = databaseDirectUrl === databaseUrl ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    const migrated = await usable(name, migrate(databaseDirectUrl));
    if (databaseDirectUrl !== databaseUrl) await usable('DATABASE_URL', reach(databaseUrl));
    return {
      options: optionsOf(config, databaseUrl),
      directUrl: databaseDirectUrl,
      migrated,
      async [Symbol.asyncDispose]() {},
    };
  }
  // Loaded here: with a database of its own, a service needs none of it.
  const { startEmbeddedPostgres } = await import('../platform/embedded-postgres.ts');
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, adopt, log }).catch((error: unknown) => {
    throw new Failure(oneLine(error), { cause: error });
  });
  try {
    const migrated = await usable('The embedded PostgreSQL', migrate(postgres.url));
    return {
      options: optionsOf(config, postgres.url),
      directUrl: postgres.url,
      migrated,
      [Symbol.asyncDispose]: () => postgres.stop(),
    };
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

/** What a step on the way to a usable database answers; its failure is one line that names the setting. */
export async function usable<T>(setting: string, step: Promise<T>): Promise<T> {
  return step.catch((error: unknown) => {
    throw error instanceof Failure
      ? error
      : new Failure(`${setting}: the database can't be used: ${oneLine(error)}`, { cause: error });
  });
}

const optionsOf = (config: Config, url: string): DatabaseOptions => ({
  url,
  poolSize: config.databasePool,
  prepare: config.databasePrepare,
  statementTimeoutMs: config.statementTimeoutMs,
});

/** An error as one line. A name with several addresses, none of which answers, gives an error without a message around those that have one. */
export function oneLine(error: unknown): string {
  const first = error instanceof AggregateError && !error.message ? error.errors[0] : error;
  const text = first instanceof Error ? first.message : String(first);
  return text.split('\n')[0] ?? text;
}
