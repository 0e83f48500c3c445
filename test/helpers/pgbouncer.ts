// PgBouncer in transaction mode in front of a PostgreSQL: the service's connections share backends, a transaction each.
// TEST_POOLER=pgbouncer puts one between the service and all databases of the tests (see database-server.ts).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { DatabaseOptions } from '../../platform/database.ts';
import { pgbouncerPath } from '../system/needs.ts';

export interface PgBouncer extends AsyncDisposable {
  port: number;
  /** The URL of this database through PgBouncer, for the login of `target`. */
  through(url: string): string;
}

/** The user `nobody`: PgBouncer refuses to run as root. */
const NOBODY = 65_534;

/** Starts one in front of the server of `target`, for its login only. `poolSize`: maximum backends for each database. */
export async function startPgBouncer(target: string, { poolSize = 20 } = {}): Promise<PgBouncer> {
  const path = pgbouncerPath();
  const { hostname, port: targetPort, username, password } = new URL(target);
  const folder = await mkdtemp(join(tmpdir(), 'albaran-pgbouncer-'));
  await chmod(folder, 0o755);
  const users = join(folder, 'users.txt');
  const settings = join(folder, 'pgbouncer.ini');
  const port = await freePort();
  await writeFile(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`);
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${targetPort || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 1000
log_connections = 0
log_disconnections = 0
`,
  );
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(path, [settings], { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = once(child, 'exit');
  let said = '';
  child.stderr.setEncoding('utf8');
  for await (const text of child.stderr.iterator({ destroyOnReturn: false })) {
    said += text;
    if (said.includes('process up')) break;
  }
  child.stderr.resume();
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill('SIGKILL');
      await gone;
    }
    await rm(folder, { recursive: true });
  };
  if (!said.includes('process up')) {
    await stop();
    throw new Error(`PgBouncer did not start: ${said}`);
  }
  return { port, through: (url) => withAddress(url, '127.0.0.1', port), [Symbol.asyncDispose]: stop };
}

function withAddress(url: string, hostname: string, port: number | string): string {
  const changed = new URL(url);
  changed.hostname = hostname;
  changed.port = String(port);
  return changed.href;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return address.port;
}

/** The URL by which the service connects to a database of the tests' server, given its direct URL. */
export function pooledUrl(directUrl: string): string {
  const port = inject('poolerPort');
  return port ? withAddress(directUrl, '127.0.0.1', port) : directUrl;
}

/** Settings of the service for a database of the tests' server, beside its URL. */
export const poolerOptions = (): Partial<DatabaseOptions> => (inject('poolerPort') ? { prepare: false } : {});

/** The environment of a service process on the database with this URL, direct or through the pooler. */
export function databaseEnvironment(url: string): Record<string, string> {
  if (!inject('poolerPort')) return { DATABASE_URL: url };
  const { hostname, port } = new URL(inject('adminUrl'));
  return { DATABASE_URL: url, DATABASE_DIRECT_URL: withAddress(url, hostname, port), DATABASE_PREPARE: 'false' };
}
