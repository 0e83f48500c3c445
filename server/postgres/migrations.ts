// Migrates a database to this version's schema: runs the SQL files of entities/migrations, in order, each once, while the previous
// version keeps working. The first line of a file says how it runs:
//
//   (nothing)               in one transaction. It waits for a lock for half a second at most, because calls queue behind it; then
//                           it rolls back and tries again.
//   -- run: concurrently    statement by statement, without a transaction: for indexes of tables that may be large. The file itself
//                           removes what an interrupted attempt left: `drop index concurrently if exists`.
//   -- run: in batches      one statement, run repeatedly for each company, each time in a transaction. `$1` is where the previous
//                           batch ended, null at first, and `$2` the company, which every table in it names, so that a cluster
//                           runs it on the company's node. It returns one row, `ended`: null after the last batch. An
//                           interrupted run starts again from the beginning.
//
// Statements are sent one by one; each ends with its line. On a database distributed by Citus, a new table goes where it belongs as
// soon as it is made.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isSpread } from '../../platform/spread.ts';
import { makeTenantRole, missingRights } from '../../platform/tenant-role.ts';
import { createDistributed } from './distribution.ts';

const FOLDER = new URL('../../entities/migrations/', import.meta.url);
// An arbitrary number, the same in every process.
const LOCK = 7_203_118_001;
const CONNECT_TIMEOUT_MS = 10_000;
const RETRY_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const REPORT_EVERY_MS = 5_000;

/** Former names of migrations. `0014_earlier_forms` adds what those versions lacked. */
const RENAMED = new Map([
  ['0010_product_cards', '0010_cards_counts_and_searches'],
  ['0010_cards_and_counts', '0010_cards_counts_and_searches'],
]);

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';

/** How to migrate. */
export interface MigrationOptions {
  /** Where the files are. */
  folder?: URL;
  /** Receives messages about slow migrations and locks they wait for. */
  report?: (line: string) => void;
  /** A migration is reported if it takes longer, in milliseconds. */
  reportAfterMs?: number;
  /** Stops it between two statements. */
  stop?: AbortSignal;
  /** How long a statement waits for a lock, in milliseconds. Other work on the table queues behind it. */
  lockTimeoutMs?: number;
  /** How long a migration tries to get its locks before it fails, in milliseconds. */
  patienceMs?: number;
}

/** A migration failed. Its last transaction is rolled back; earlier migrations stay. */
export class MigrationFailed extends Error {}

/** Names of the migrations that the database lacks. Throws if the database is newer than this version. */
export async function pendingMigrations(url: string, { folder = FOLDER }: { folder?: URL } = {}): Promise<string[]> {
  return connected(url, async (client) => missing(client, await available(folder)));
}

/**
 * Runs the missing migrations and returns their names. An advisory lock allows several servers to start at once. Also creates the
 * tenant role if missing and gives it this version's rights. Throws if the database is newer than this version, or if the login may
 * not create the missing role; throws MigrationFailed if a migration fails or gets no lock within `patienceMs`.
 */
export async function migrate(url: string, options: MigrationOptions = {}): Promise<string[]> {
  const { folder = FOLDER, report, reportAfterMs = 1_000, stop } = options;
  const names = await available(folder);
  return connected(url, async (client) => {
    await makeTenantRole(client);
    // Usually there is nothing to do; finding that out needs no lock.
    if ((await missing(client, names)).length === 0 && (await missingRights(client)).length === 0) return [];
    await lock(client, options);
    await client.query(`create table if not exists mikro_orm_migrations (id serial primary key, name varchar(255),
      executed_at timestamptz default current_timestamp)`);
    const pending = await missing(client, names);
    for (const [index, name] of pending.entries()) {
      stop?.throwIfAborted();
      const sql = await readFile(new URL(`${name}.sql`, folder), 'utf8');
      const tell = () => report?.(`migration ${name} (${index + 1} of ${pending.length})`);
      const timer = setTimeout(tell, reportAfterMs);
      await run(client, { ...options, url, name, sql }).finally(() => clearTimeout(timer));
    }
    await giveRights(client);
    return pending;
  });
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'albaran migrations',
  });
  client.on('error', () => {}); // The current statement reports the error.
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Takes the advisory lock by polling: a session waiting in a statement would block concurrent index builds. */
async function lock(client: pg.Client, { report, stop }: MigrationOptions): Promise<void> {
  for (let told = false; ; told = true) {
    const { rows } = await client.query<{ free: boolean }>('select pg_try_advisory_lock($1) as free', [LOCK]);
    if (rows[0]?.free) return;
    if (!told) report?.('another process migrates: waiting for it');
    await delay(RETRY_MS, undefined, { signal: stop });
  }
}

/** Changes all rights in one transaction, because companies' work goes on meanwhile. */
async function giveRights(client: pg.Client): Promise<void> {
  const statements = await missingRights(client);
  if (statements.length > 0) await inTransaction(client, () => oneByOne(client, statements));
}

const available = async (folder: URL) =>
  (await readdir(folder))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -4))
    .sort();

async function missing(client: pg.Client, names: readonly string[]): Promise<string[]> {
  const done = await executed(client);
  const unknown = done.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new Error(`The database is newer than this version of Albaran: it has ${unknown.join(', ')}`);
  }
  return names.filter((name) => !done.includes(name));
}

async function executed(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('public.mikro_orm_migrations') is not null as there`,
  );
  if (!rows[0]?.there) return [];
  const done = await client.query<{ name: string }>('select name from mikro_orm_migrations order by id');
  return done.rows.map(({ name }) => RENAMED.get(name) ?? name);
}

interface Step extends MigrationOptions {
  url: string;
  name: string;
  sql: string;
}

const NOTE = 'insert into mikro_orm_migrations (name) values ($1)';

async function run(client: pg.Client, step: Step): Promise<void> {
  const { name, sql, lockTimeoutMs = 500 } = step;
  const [, kind] = /^-- run: (.+)/.exec(sql) ?? [];
  // Migrations may take long. Timeouts set for the login or the database are meant for calls.
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0');
  try {
    if (kind === undefined) {
      const spread = await isSpread(client);
      await patiently(client, step, () =>
        inTransaction(client, async () => {
          await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
          if (spread) await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`);
          await oneByOne(client, statementsOf(sql), { spread });
          await client.query(NOTE, [name]);
        }),
      );
    } else if (kind === 'concurrently') {
      // No lock timeout: these statements wait for all open transactions, but block nothing while they wait.
      await client.query('set lock_timeout = 0');
      for (const statement of statementsOf(sql)) {
        step.stop?.throwIfAborted();
        await client.query(statement);
      }
      await client.query(NOTE, [name]);
    } else if (kind === 'in batches') {
      await inBatches(client, step);
      await client.query(NOTE, [name]);
    } else {
      throw new Error(`"-- run: ${kind}" is no way to run it`);
    }
  } catch (error) {
    step.stop?.throwIfAborted();
    if (error instanceof MigrationFailed) throw error;
    throw new MigrationFailed(`The migration ${name} failed: ${messageOf(error)}`, { cause: error });
  }
}

async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // If the connection is lost, the rollback fails too; the first error says why.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** A statement ends with its line, unless it is within `$$`. */
const statementsOf = (sql: string) =>
  (sql.match(/(?:\$\$[\s\S]*?\$\$|[^;$]+|\$|;(?!\s*$))+/gm) ?? [])
    .map((statement) => statement.replace(/^(?:\s*--.*)+/, '').trim())
    .filter((statement) => statement !== '');

/** Each is a message of its own: Citus sends a node the whole text of the message. */
async function oneByOne(client: pg.Client, statements: readonly string[], { spread = false } = {}): Promise<void> {
  for (const statement of statements) {
    const [, table] = /^create table (\w+)/i.exec(statement) ?? [];
    if (spread && table) await createDistributed(client, table, statement);
    else await client.query(statement);
  }
}

async function inBatches(client: pg.Client, step: Step): Promise<void> {
  const { name, sql, report, stop, lockTimeoutMs = 500 } = step;
  const namesCompany = sql.includes('$2');
  const { rows } = await client.query<{ last: string | null }>(
    `select last_value as last from pg_sequences where schemaname = 'public' and sequencename = 'accounts_id_seq'`,
  );
  const last = Number(rows[0]?.last ?? 0);
  let reportedAt = Date.now();
  for (let account = 1; account <= last; account++) {
    let from: string | null = null;
    do {
      stop?.throwIfAborted();
      if (Date.now() - reportedAt >= REPORT_EVERY_MS) {
        reportedAt = Date.now();
        report?.(`migration ${name}: company ${account} of ${last}`);
      }
      from = await patiently(client, step, () =>
        inTransaction(client, async () => {
          await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
          await client.query(`set local app.account_id = '${account}'`);
          const { rows } = await client.query<{ ended: string | null }>(sql, namesCompany ? [from, account] : [from]);
          return rows[0]?.ended ?? null;
        }),
      );
    } while (from !== null);
  }
}

/** Retries while other sessions hold the locks that the work needs. */
async function patiently<T>(client: pg.Client, step: Step, work: () => Promise<T>): Promise<T> {
  const { url, name, report, stop, lockTimeoutMs = 500, patienceMs = 600_000 } = step;
  const since = Date.now();
  for (let attempt = 1; ; attempt++) {
    const watch = attempt > 1 ? await watchOver(client, url, lockTimeoutMs / 5) : undefined;
    try {
      return await work();
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined;
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK) throw error;
      const others = (await watch?.ended()) || 'other sessions';
      if (Date.now() - since >= patienceMs) {
        throw new MigrationFailed(
          `The migration ${name} got no lock in ${attempt} attempts: held by ${others}. When that has ended, start again`,
          { cause: error },
        );
      }
      if (attempt > 1) report?.(`migration ${name} waits for a lock: held by ${others}`);
      await delay(Math.min(attempt * lockTimeoutMs, LONGEST_PAUSE_MS), undefined, { signal: stop });
    } finally {
      await watch?.ended();
    }
  }
}

interface Watch {
  /** Stops watching. Returns the sessions last seen blocking the client, `session 4711 (pg_dump, for 12 s)`; empty if none. */
  ended(): Promise<string>;
}

/** Watches which sessions block the client's session. Undefined if no connection is available for it. */
async function watchOver(client: pg.Client, url: string, everyMs: number): Promise<Watch | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const over = new AbortController();
  const { promise: ready, resolve } = Promise.withResolvers<boolean>();
  const watching = connected(url, async (watcher) => {
    let seen = '';
    while (!over.signal.aborted) {
      seen = (await holders(watcher, rows[0]?.pid)) || seen;
      resolve(true);
      await delay(everyMs, undefined, { signal: over.signal }).catch(() => {});
    }
    return seen;
  }).catch(() => '');
  watching.finally(() => resolve(false));
  if (!(await ready)) return undefined;
  return {
    ended() {
      over.abort();
      return watching;
    },
  };
}

async function holders(watcher: pg.Client, pid: number | undefined): Promise<string> {
  // Of other logins' sessions only the name is visible.
  const { rows } = await watcher.query<{ pid: number; application: string; seconds: number | null }>(
    `select a.pid, coalesce(nullif(a.application_name, ''), 'unnamed') as application,
       extract(epoch from clock_timestamp() - a.xact_start)::int as seconds
     from unnest(pg_blocking_pids($1)) blocker join pg_stat_activity a on a.pid = blocker order by a.xact_start limit 3`,
    [pid],
  );
  const sessions = rows.map(({ pid: session, application, seconds }) => {
    const details = seconds === null ? application : `${application}, for ${seconds} s`;
    return `session ${session} (${details})`;
  });
  return sessions.join(', ');
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
