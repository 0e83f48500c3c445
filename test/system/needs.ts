// What `system` tests need beyond Node and npm. Each function returns a path, or throws with what to install or set.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The path in the variable, or the usual one. Throws with what to install if the program is missing. */
function programAt(variable: string, usual: string, name: string, debianPackage: string): string {
  const path = process.env[variable] ?? usual;
  if (existsSync(path)) return path;
  throw new Error(
    `This test needs ${name}, and there is none at ${path}: install it (apt-get install ${debianPackage}) or say where it is in ${variable}`,
  );
}

/** A Chromium or Chrome: CHROMIUM_PATH, else /usr/bin/chromium. */
export const chromiumPath = () => programAt('CHROMIUM_PATH', '/usr/bin/chromium', 'Chromium', 'chromium');

/** A redis-server: REDIS_SERVER_PATH, else /usr/bin/redis-server. */
export const redisServerPath = () =>
  programAt('REDIS_SERVER_PATH', '/usr/bin/redis-server', 'redis-server', 'redis-server');

/** An openssl: OPENSSL_PATH, else /usr/bin/openssl. */
export const opensslPath = () => programAt('OPENSSL_PATH', '/usr/bin/openssl', 'openssl', 'openssl');

/** A pgbouncer: PGBOUNCER_PATH, else /usr/sbin/pgbouncer. */
export const pgbouncerPath = () => programAt('PGBOUNCER_PATH', '/usr/sbin/pgbouncer', 'PgBouncer', 'pgbouncer');

/** An nginx: NGINX_PATH, else /usr/sbin/nginx. */
export const nginxPath = () => programAt('NGINX_PATH', '/usr/sbin/nginx', 'nginx', 'nginx-light');

/** A Caddy: CADDY_PATH, else /usr/bin/caddy. */
export const caddyPath = () => programAt('CADDY_PATH', '/usr/bin/caddy', 'Caddy', 'caddy');

/** The programs of a PostgreSQL (server and pg_dump of one version): POSTGRES_BIN, else Debian's newest. */
export function postgresFolder(): string {
  const home = '/usr/lib/postgresql';
  const versions = existsSync(home) ? readdirSync(home).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = process.env.POSTGRES_BIN
    ? [process.env.POSTGRES_BIN]
    : versions.map((each) => join(home, each, 'bin'));
  const found = folders.find((folder) => ['initdb', 'pg_dump'].every((name) => existsSync(join(folder, name))));
  if (found) return found;
  throw new Error(
    `This test needs PostgreSQL's programs, and there are none in ${folders.join(', ') || home}: install them (apt-get install postgresql) or say where they are in POSTGRES_BIN`,
  );
}

/** Whether that PostgreSQL has Citus. */
export function citusInstalled(): boolean {
  try {
    const folder = execFileSync(join(postgresFolder(), 'pg_config'), ['--sharedir'], { encoding: 'utf8' }).trim();
    return existsSync(join(folder, 'extension', 'citus.control'));
  } catch {
    return false;
  }
}

/** Arguments for a browser that makes no requests of its own. */
export const CHROMIUM_ARGUMENTS =
  `--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
  --disable-component-update --disable-sync`.split(/\s+/);
