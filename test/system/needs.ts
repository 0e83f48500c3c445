// What the tests of `system` need beyond Node and npm. Each function answers where it is, or throws what to install or set.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A Chromium or Chrome: CHROMIUM_PATH, else /usr/bin/chromium. */
export function chromiumPath(): string {
  const path = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  if (!existsSync(path)) {
    throw new Error(
      `This test needs Chromium, and there is none at ${path}: install it (apt-get install chromium) or say where it is in CHROMIUM_PATH`,
    );
  }
  return path;
}

/** A redis-server: REDIS_SERVER_PATH, else /usr/bin/redis-server. */
export function redisServerPath(): string {
  const path = process.env.REDIS_SERVER_PATH ?? '/usr/bin/redis-server';
  if (!existsSync(path)) {
    throw new Error(
      `This test needs redis-server, and there is none at ${path}: install it (apt-get install redis-server) or say where it is in REDIS_SERVER_PATH`,
    );
  }
  return path;
}

/** A pgbouncer: PGBOUNCER_PATH, else /usr/sbin/pgbouncer. */
export function pgbouncerPath(): string {
  const path = process.env.PGBOUNCER_PATH ?? '/usr/sbin/pgbouncer';
  if (!existsSync(path)) {
    throw new Error(
      `This test needs PgBouncer, and there is none at ${path}: install it (apt-get install pgbouncer) or say where it is in PGBOUNCER_PATH`,
    );
  }
  return path;
}

/** The programs of a PostgreSQL, server and pg_dump of one version: POSTGRES_BIN, else Debian's newest. */
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

/** A browser that asks nothing of anybody but the page it is shown. */
export const CHROMIUM_ARGUMENTS =
  `--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
  --disable-component-update --disable-sync`.split(/\s+/);
