// Servers that a proof can end at any moment: a PostgreSQL, and the service as a process that is restarted whenever it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { Database } from '../../platform/database.ts';
import { startEmbeddedPostgres } from '../../server/postgres/embedded-postgres.ts';
import { isAlive, placeOfCluster } from '../../server/postgres/embedded-postgres-user.ts';
import { migrate } from '../../server/postgres/migrations.ts';
import { ID_KEY, type Stand } from './stand.ts';

export const MAIN = join(import.meta.dirname, '../../server/main.js');
const AGAIN_AFTER_MS = 50;

/** `fast` ends sessions and writes a checkpoint; `immediate` is a crash, from which the next start recovers. */
export type Shutdown = 'fast' | 'immediate';

export interface OwnPostgres extends AsyncDisposable {
  url: string;
  /** Resolves when it has ended. */
  end(how: Shutdown): Promise<void>;
  /** Starts it again at the same address; resolves when it accepts connections. Throws if it does not start. */
  start(): Promise<void>;
  /** Whether its process exists, even starting or ending. */
  runs(): Promise<boolean>;
}

/**
 * A migrated database on a PostgreSQL of its own with full durability: commits survive a crash. `folder`: where its data folder is
 * made.
 */
export async function startOwnPostgres(folder = tmpdir()): Promise<OwnPostgres> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(folder, 'albaran-once-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  await chmod(dataDir, 0o755); // So that PostgreSQL's user can enter, where this runs as root.
  let running = await startEmbeddedPostgres({ dataDir });
  stack.defer(() => running.stop());
  const { url } = running;
  await migrate(url);
  const owned = stack.move();
  return {
    url,
    async end(how) {
      const pid = await pidOf(dataDir);
      if (pid === undefined) throw new Error('There is no PostgreSQL to end');
      process.kill(pid, how === 'fast' ? 'SIGINT' : 'SIGQUIT');
      while (isAlive(pid)) await wait(5);
    },
    async start() {
      running = await startEmbeddedPostgres({ dataDir, port: Number(new URL(url).port) });
    },
    async runs() {
      const pid = await pidOf(dataDir);
      return pid !== undefined && isAlive(pid);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The postmaster of a data folder, or the former one after a forced end. */
async function pidOf(dataDir: string): Promise<number | undefined> {
  const lock = await readFile(join(placeOfCluster(dataDir).folder, 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(lock.split('\n')[0]) || undefined;
}

/** A pool whose server may end at any time. */
export async function standOn(url: string): Promise<Stand> {
  const admin = new pg.Client({ connectionString: url });
  // The server may end under an idle connection.
  admin.on('error', () => {});
  await admin.connect();
  const database = new Database({ url, poolSize: 4 });
  await database.prepareRole();
  return {
    url,
    admin,
    database,
    async [Symbol.asyncDispose]() {
      await admin.end();
      await database.close();
    },
  };
}

/**
 * Runs a proof, and stops everything it started, however it ends: done, failed, by Ctrl-C or SIGTERM. The process exits with 1
 * unless the proof succeeds.
 */
export async function runProof(proof: (started: AsyncDisposableStack) => Promise<boolean>): Promise<void> {
  const started = new AsyncDisposableStack();
  let ending: Promise<never> | undefined;
  const end = (reason: unknown) => {
    console.error(reason);
    ending ??= started
      .disposeAsync()
      .catch((error: unknown) => console.error(error))
      .then(() => process.exit(1));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  process.on('uncaughtException', end);
  try {
    process.exitCode = (await proof(started)) ? 0 : 1;
  } catch (error) {
    end(error);
  }
  await (ending ?? started.disposeAsync());
  process.off('SIGINT', end).off('SIGTERM', end);
}

export interface Supervised extends AsyncDisposable {
  /** Of the current run. */
  pid(): number | undefined;
  /** Its current address; that of the last run while it is down. */
  url(): string;
  /** SIGKILL, whether it is serving or starting. */
  kill(): void;
  /** Resolves when it listens. */
  up(): Promise<void>;
  /** Ends after listening that were not kills, with the end of the log. */
  endedByItself: string[];
  starts: number;
}

/** The environment of a service that accepts everything a proof sends. */
export const proofEnvironment = (databaseUrl: string) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  HOST: '127.0.0.1',
  PORT: '0',
  DEMO: 'false',
  RENEWALS: 'off',
  DATABASE_URL: databaseUrl,
  ID_KEYS: ID_KEY,
  LOG_LEVEL: 'warn',
  QUOTA_PER_MINUTE: '10000000',
});

/** `albaran serve`, restarted whenever it ends: the database may not be there yet. */
export async function supervise(databaseUrl: string, more: Record<string, string> = {}): Promise<Supervised> {
  let stopping = false;
  let killed = false;
  let url = '';
  let child: ReturnType<typeof run> | undefined;
  const endedByItself: string[] = [];

  function run() {
    killed = false;
    const env = { ...proofEnvironment(databaseUrl), LOG_LEVEL: 'info', ...more };
    const service = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const last: string[] = [];
    const listening = Promise.withResolvers<boolean>();
    for (const output of [service.stdout, service.stderr]) {
      createInterface({ input: output }).on('line', (line) => {
        const address = /listening at (http:\/\/[\d.]+:\d+)/.exec(line)?.[1];
        if (address) {
          url = address;
          listening.resolve(true);
        }
        last.push(line);
        if (last.length > 5) last.shift();
      });
    }
    const gone = once(service, 'exit').then(() => listening.resolve(false));
    return { service, last, listening: listening.promise, gone };
  }

  const supervised: Supervised = {
    url: () => url,
    pid: () => child?.service.pid,
    endedByItself,
    starts: 0,
    kill() {
      killed = true;
      child?.service.kill('SIGKILL');
    },
    async up() {
      while (!(await child?.listening)) await wait(AGAIN_AFTER_MS);
    },
    async [Symbol.asyncDispose]() {
      stopping = true;
      child?.service.kill('SIGTERM');
      await over;
    },
  };

  async function keepUp() {
    while (!stopping) {
      child = run();
      supervised.starts++;
      const listened = await child.listening;
      await child.gone;
      if (stopping) return;
      // It ended since it had no database at its start, as it should.
      if (listened && !killed) endedByItself.push(child.last.join('\n'));
      await wait(AGAIN_AFTER_MS);
    }
  }
  const over = keepUp();
  await supervised.up();
  return supervised;
}
