// A PostgreSQL of the system's programs, for features that the embedded one lacks: pg_dump, TLS, a process that tests may stop.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { postgresFolder } from '../system/needs.ts';

const execute = promisify(execFile);

export interface SystemPostgres extends AsyncDisposable {
  /** Its folder, removed with it. PostgreSQL's user can read the files that `provide` puts there. */
  folder: string;
  port: number;
  /** `127.0.0.1:<port>` */
  address: string;
  /** The URL for the superuser `postgres` or another login; no login has a password. */
  urlOf(login: string, database: string): string;
  /** Runs a query as the superuser. */
  query(database: string, sql: string): Promise<Record<string, unknown>[]>;
  /** The log so far. */
  log(): string;
  start(settings?: readonly string[]): Promise<void>;
  /** By default connections end and nothing is lost; with SIGQUIT it ends at once, as in a crash. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Stops all its processes with SIGSTOP; the returned function continues them. */
  freeze(): Promise<() => void>;
}

/** Starts one on 127.0.0.1. `provide` puts files into its folder and returns settings of PostgreSQL; `hba` controls logins. */
export async function startSystemPostgres({
  provide = async () => [],
  hba,
}: {
  provide?: (folder: string) => Promise<readonly string[]>;
  hba?: string;
} = {}): Promise<SystemPostgres> {
  const bin = postgresFolder();
  const folder = await mkdtemp(join(tmpdir(), 'albaran-postgres-'));
  const user = await unprivileged();
  const settings = await provide(folder);
  if (user) await execute('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '-N'];
  await execute(join(bin, 'initdb'), initdb, { ...user, cwd: '/' });
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const urlOf = (login: string, database: string) => `postgres://${login}@${address}/${database}`;
  // The superuser connects without TLS, whatever the other logins need.
  if (hba !== undefined) await writeFile(join(data, 'pg_hba.conf'), `host all postgres 127.0.0.1/32 trust\n${hba}`);
  let said = '';
  let server: ReturnType<typeof spawn> | undefined;

  async function query(database: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: urlOf('postgres', database) });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }
  async function start(more: readonly string[] = []): Promise<void> {
    const own = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
    const flags = [...own, ...settings, ...more].flatMap((setting) => ['-c', setting]);
    const started = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { ...user, cwd: '/' });
    server = started;
    await new Promise<void>((done, fail) => {
      const before = said.length;
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said.includes('ready to accept connections', before)) done();
      });
      started.once('exit', () => fail(new Error(`PostgreSQL did not start:\n${said}`)));
    });
  }
  async function stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    if (!server || server.exitCode !== null) return;
    const gone = once(server, 'exit');
    server.kill(signal);
    await gone;
  }
  await start();
  return {
    folder,
    port,
    address,
    urlOf,
    query,
    log: () => said,
    start,
    stop,
    async freeze() {
      const rows = await query('postgres', 'select pid from pg_stat_activity where pid <> pg_backend_pid()');
      const pids = [Number(server?.pid), ...rows.map(({ pid }) => Number(pid))];
      // The postmaster first, since it starts the others, and last to continue.
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      return () => {
        for (const pid of pids.reverse()) process.kill(pid, 'SIGCONT');
      };
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The user that PostgreSQL runs as, if it can't be ours. */
async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid = 0, gid = 0] = await Promise.all(
    ['-u', '-g'].map(async (option) => Number((await execute('id', [option, 'postgres'])).stdout)),
  );
  return { uid, gid };
}

/** A free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const found = server.address();
  server.close();
  if (found === null || typeof found === 'string') throw new Error('A TCP server has a port');
  return found.port;
}
