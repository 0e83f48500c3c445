// What a proof can end at any moment and finds again: a PostgreSQL of its own, and the service as a process that somebody
// starts again whenever it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { Database } from '../../platform/database.ts';
import { startEmbeddedPostgres } from '../../platform/embedded-postgres.ts';
import { isAlive, placeOfCluster } from '../../platform/embedded-postgres-user.ts';
import { migrate } from '../../platform/migrations.ts';
import { ID_KEY, type Stand } from './stand.ts';

export const MAIN = join(import.meta.dirname, '../../server/main.js');
const AGAIN_AFTER_MS = 50;

/** Fast ends sessions and writes a checkpoint; immediate is a crash, which the next start recovers from. */
export type Shutdown = 'fast' | 'immediate';

export interface OwnPostgres extends AsyncDisposable {
  url: string;
  /** Resolves once it is gone. */
  end(how: Shutdown): Promise<void>;
  /** Starts it again at the same address; resolves once it takes connections. Throws when it does not start. */
  start(): Promise<void>;
  /** Whether its process is there, be it starting or ending. */
  runs(): Promise<boolean>;
}

/**
 * A migrated database on a PostgreSQL of its own, as safe as a company's: what was committed outlives a crash. `folder`: where
 * its data folder is made.
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

/** The process of the PostgreSQL that a data folder belongs to, or belonged to when it was last ended by force. */
async function pidOf(dataDir: string): Promise<number | undefined> {
  const lock = await readFile(join(placeOfCluster(dataDir).folder, 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(lock.split('\n')[0]) || undefined;
}

/** Connections to a database, for as long as nobody ends its server. */
export async function standOn(url: string): Promise<Stand> {
  const admin = new pg.Client({ connectionString: url });
  // Its server may be ended under it.
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
 * Runs a proof, and ends what it has started, in whatever way it ends itself: done, failed, by Ctrl-C or SIGTERM. The process
 * exits with 1 unless it is proved.
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
  /** Where it listens now; of the last run, while it is down. */
  url(): string;
  /** SIGKILL, whatever it is doing: serving or starting. */
  kill(): void;
  /** Resolves once it listens. */
  up(): Promise<void>;
  /** How it ended, each time that nobody had killed it after it listened, with the end of its log. */
  endedByItself: string[];
  starts: number;
}

/** The environment of a service that takes all that a proof sends. */
export const proofEnvironment = (databaseUrl: string) => ({
  ...{ PATH: process.env.PATH, HOME: process.env.HOME, HOST: '127.0.0.1', PORT: '0', DEMO: 'false', RENEWALS: 'off' },
  ...{ DATABASE_URL: databaseUrl, ID_KEYS: ID_KEY, LOG_LEVEL: 'warn', QUOTA_PER_MINUTE: '10000000' },
});

/** `albaran serve`, started again whenever it ends: the database may not be there yet. */
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
      // One that found no database at its start has said so and gone: that is what it should do.
      if (listened && !killed) endedByItself.push(child.last.join('\n'));
      await wait(AGAIN_AFTER_MS);
    }
  }
  const over = keepUp();
  await supervised.up();
  return supervised;
}
