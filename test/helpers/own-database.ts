// A database for one test, if it would disturb tests on the shared one. Dropped when disposed.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { Database } from '../../platform/database.ts';
import { pooledUrl, poolerOptions } from './pgbouncer.ts';

export interface OwnDatabase extends AsyncDisposable {
  /** The URL that the service uses. */
  url: string;
  /** The URL without a pooler. */
  directUrl: string;
  /** A connection of the owner's login. */
  admin: pg.Client;
}

/** An empty database with `migrated: false`. */
export async function ownDatabase({ migrated = true } = {}): Promise<OwnDatabase> {
  const name = `albaran_own_${randomUUID().replaceAll('-', '')}`;
  const server = new pg.Client({ connectionString: inject('adminUrl') });
  await server.connect();
  await server.query(`create database ${name}${migrated ? ` template ${inject('template')}` : ''}`);
  const url = new URL(inject('adminUrl'));
  url.pathname = `/${name}`;
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  return {
    url: pooledUrl(url.href),
    directUrl: url.href,
    admin,
    async [Symbol.asyncDispose]() {
      await admin.end();
      await server.query(`drop database ${name} with (force)`);
      await server.end();
    },
  };
}

/** The service's access to a database; close it before disposing the database. */
export async function tenantsOf({ url }: OwnDatabase): Promise<Database> {
  const tenants = new Database({ url, ...poolerOptions() });
  await tenants.prepareRole();
  return tenants;
}

/** Another connection to it, under this name. */
export async function connect({ directUrl }: OwnDatabase, name?: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: directUrl, application_name: name });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Resolves when `statements` statements of other connections to this database wait for a lock. */
export async function untilWaiting(client: pg.Client, statements = 1): Promise<void> {
  for (;;) {
    // A statement that waits for a transaction has no database in pg_locks; the table it is about to write has.
    const { rowCount } = await client.query(
      `select distinct waiting.pid from pg_locks waiting join pg_locks held on held.pid = waiting.pid
       where not waiting.granted and held.database = (select oid from pg_database where datname = current_database())`,
    );
    if ((rowCount ?? 0) >= statements) return;
  }
}
