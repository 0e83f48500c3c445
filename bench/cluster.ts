// The PostgreSQL under test: the system's PostgreSQL 15 if installed, else the embedded one, with a cluster that is kept between
// runs; or that of BENCH_DATABASE_URL, which must run on this machine.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  handOver,
  packagedBinaries,
  placeOfCluster,
  processOptions,
  runnableBinaries,
  SUPERUSER,
  versionOf,
} from '../server/postgres/embedded-postgres-user.ts';

const SYSTEM_POSTGRES = '/usr/lib/postgresql/15';
const START_MS = 60_000;

/** Settings for a server with a few gigabytes; the others are PostgreSQL's defaults. */
export const SETTINGS = {
  shared_buffers: '1GB',
  work_mem: '32MB',
  random_page_cost: '1.1',
  jit: 'off',
  synchronous_commit: 'on',
  max_wal_size: '4GB',
  max_connections: '100',
};

export interface Cluster extends AsyncDisposable {
  /** The superuser's URL of a database from which others are created. */
  url: string;
  /** `15.18`. */
  version: string;
  /** The postmaster, whose descendants do its work; undefined if this process can't see it. */
  pid: number | undefined;
}

/** Starts or finds the server; disposing restores its former state. `folder`: where our own cluster is kept. */
export async function openCluster(folder: string): Promise<Cluster> {
  const given = process.env.BENCH_DATABASE_URL;
  if (given) return await described(given, async () => {});
  const port = await freePort();
  const server = launch(folder, port);
  endedWith(server);
  const url = `postgres://${SUPERUSER}@127.0.0.1:${port}/postgres`;
  const gone = new Promise<void>((done) => server.once('exit', () => done()));
  try {
    await untilReady(url, server);
    return await described(url, async () => {
      server.kill('SIGINT');
      await gone;
    });
  } catch (error) {
    server.kill('SIGINT');
    throw error;
  }
}

function launch(folder: string, port: number) {
  const system = existsSync(join(SYSTEM_POSTGRES, 'bin/postgres'));
  mkdirSync(folder, { recursive: true });
  const { folder: data, user } = placeOfCluster(folder);
  const home = system ? SYSTEM_POSTGRES : runnableBinaries(packagedBinaries(), user).home;
  if (versionOf(data) === undefined) {
    mkdirSync(data, { recursive: true });
    handOver(data, user);
    // It listens on loopback only, during a run, and has only generated data.
    const options = ['-D', data, '-U', SUPERUSER, '--auth=trust', '--encoding=UTF8', '--locale=C'];
    execFileSync(join(home, 'bin/initdb'), [...options, '--no-instructions'], {
      ...processOptions(user),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const own = { ...SETTINGS, listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) };
  const flags = Object.entries(own).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openSync(join(folder, 'postgres.log'), 'w');
  return spawn(join(home, 'bin/postgres'), ['-D', data, ...flags], {
    ...processOptions(user),
    // Ctrl-C reaches this process, which stops the server itself.
    detached: true,
    stdio: ['ignore', log, log],
  });
}

async function untilReady(url: string, server: { exitCode: number | null }): Promise<void> {
  for (const giveUpAt = Date.now() + START_MS; ; await sleep(50)) {
    try {
      return await onDatabase(url, async () => {});
    } catch (error) {
      if (server.exitCode !== null || Date.now() > giveUpAt) {
        throw new Error(
          'PostgreSQL did not start: another run may have its data, or postgres.log beside them says why',
          {
            cause: error,
          },
        );
      }
    }
  }
}

async function described(url: string, stop: () => Promise<void>): Promise<Cluster> {
  return await onDatabase(url, async (client) => {
    const { rows } = await client.query<{ version: string; backend: number }>(
      `select current_setting('server_version') as version, pg_backend_pid() as backend`,
    );
    const [{ version, backend } = { version: '', backend: 0 }] = rows;
    return { url, version, pid: parentOf(backend), [Symbol.asyncDispose]: stop };
  });
}

function parentOf(backend: number): number | undefined {
  try {
    const command = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(backend)], { encoding: 'utf8' }).trim();
    const [, parent, name] = /^(\d+) +(\S+)/.exec(command) ?? [];
    return name === 'postgres' ? Number(parent) : undefined;
  } catch {
    return undefined; // It may be in a container.
  }
}

/** Runs `work` on a new connection. */
export async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // connect and query reject with the same error.
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Ends the child when this process exits, however it exits. */
export function endedWith(child: ChildProcess): void {
  const end = () => child.kill('SIGINT');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
}

/** A free port of this machine. */
export async function freePort(): Promise<number> {
  return await new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? done(address.port) : fail(new Error('No free port')),
      );
    });
  });
}
