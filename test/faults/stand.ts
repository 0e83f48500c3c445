// The setting of the proofs: a database, companies in it, and the service as a listening process.
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { importAccountFile } from '../../account-file/import.ts';
import { createAccount } from '../../account-file/new-account.ts';
import { Database } from '../../platform/database.ts';
import { hashSecret, newKey } from '../../platform/principal.ts';
import { startEmbeddedPostgres } from '../../server/postgres/embedded-postgres.ts';
import { migrate } from '../../server/postgres/migrations.ts';
import { addApart, isApart } from '../helpers/apart.ts';
import { EXAMPLE_NOW } from '../helpers/examples.ts';
import type { FileRecord } from '../helpers/world.ts';
import { newApplication } from '../oauth/application.ts';
import type { Caller } from './doors.ts';
import type { Memory, Question, Statements } from './inside.ts';

const MAIN = join(import.meta.dirname, '../../server/main.js');
const INSIDE = join(import.meta.dirname, 'inside.ts');

/** The key that seals a stand's ids. */
export const ID_KEY = 'a key of the proofs for the ids that they seal';

export interface Stand extends AsyncDisposable {
  url: string;
  database: Database;
  /** A connection of the owner, which bypasses row-level security. */
  admin: pg.Client;
}

/** A migrated database on TEST_DATABASE_URL, else on a temporary embedded PostgreSQL. */
export async function openStand(): Promise<Stand> {
  await using stack = new AsyncDisposableStack();
  const given = process.env.TEST_DATABASE_URL;
  let serverUrl = given ?? '';
  if (!given) {
    const dataDir = await mkdtemp(join(tmpdir(), 'albaran-faults-'));
    stack.defer(() => rm(dataDir, { recursive: true, force: true }));
    const embedded = await startEmbeddedPostgres({ dataDir, ephemeral: true });
    stack.defer(() => embedded.stop());
    serverUrl = embedded.url;
  }
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  stack.defer(() => server.end());
  const name = `albaran_faults_${randomUUID().replaceAll('-', '')}`;
  await server.query(`create database ${name}`);
  stack.defer(async () => void (await server.query(`drop database ${name} with (force)`)));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(url.href);
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  stack.defer(() => admin.end());
  const database = new Database({ url: url.href, poolSize: 4 });
  await database.prepareRole();
  stack.defer(() => database.close());
  const owned = stack.move();
  return { url: url.href, database, admin, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Creates a company with these records; returns its id. */
export async function newCompany(
  { database }: Stand,
  records: readonly FileRecord[],
  cuenta: Record<string, unknown> = {},
): Promise<number> {
  const { id } = await createAccount(database, { slug: `f-${randomUUID()}`, name: 'Prueba' });
  const own = { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Prueba', ...cuenta };
  const filed = records.filter((record) => !isApart(record));
  const all = filed[0]?.coleccion === 'cuenta' ? filed : [own, ...filed];
  const lines = all.map((record, index) => JSON.stringify({ ref: `r${index}`, ...record }));
  await importAccountFile(database, id, lines);
  await addApart(database, id, records.filter(isApart));
  return id;
}

/** The two headers of a new read-write key. */
export async function newApiKey({ database }: Stand, accountId: number): Promise<Record<string, string>> {
  const { key, secret } = newKey();
  const row = { account_id: accountId, key, secret_hash: hashSecret(secret), name: 'proof', can_write: true };
  await database.transaction(accountId, { write: true }, (db) => db.insertInto('api_keys').values(row).execute());
  return { 'x-api-key': key, 'x-api-secret': secret };
}

export interface ServiceProcess extends AsyncDisposable {
  url: string;
  /** The lines of its log so far. */
  log: string[];
  memory(): Promise<Memory>;
  statements(): Promise<Statements>;
  /** Whether the process is running. */
  alive(): boolean;
  /** Credentials of every kind for a company. */
  caller(accountId: number): Promise<Caller>;
  /** Ends it as an operator would, and waits for the end of its log. */
  stop(): Promise<void>;
}

/** `albaran serve` on the stand's database, with the clock at the examples' time. */
export async function startService(stand: Stand, { filters = true } = {}): Promise<ServiceProcess> {
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    HOST: '127.0.0.1',
    PORT: '0',
    DEMO: 'false',
    RENEWALS: 'off',
    DATABASE_URL: stand.url,
    ID_KEYS: ID_KEY,
    LOG_LEVEL: 'info',
    CHECK_OUTPUTS: 'true',
    QUOTA_PER_MINUTE: '10000000',
    FAILED_KEYS_PER_MINUTE: '1000000',
    OAUTH_REGISTRATIONS_PER_HOUR: '1000000',
    OAUTH_REGISTRATIONS_TOTAL_PER_HOUR: '1000000',
    ANONYMOUS_PER_MINUTE: '1000000',
    FAULTS_NOW: EXAMPLE_NOW,
    FAULTS_FILTERS: filters ? 'on' : 'off',
  };
  const child = spawn(process.execPath, ['--expose-gc', '--import', INSIDE, MAIN, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const { stdout } = child;
  if (!stdout) throw new Error('A process without its output');
  const gone = once(child, 'exit');
  const log: string[] = [];
  // Unread output would keep the process from ending.
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (line) => {
      log.push(line);
      const address = /listening at (http:\/\/[\d.]+:\d+)/.exec(line)?.[1];
      if (address) resolve(address);
    });
    child.on('exit', () => reject(new Error(`The service did not start:\n${log.join('\n')}`)));
  });
  const alive = () => child.exitCode === null && child.signalCode === null;
  async function ask<Told>(question: Question): Promise<Told> {
    child.send(question);
    const [told] = await once(child, 'message');
    return told;
  }
  const stop = async () => {
    if (alive()) child.kill('SIGTERM');
    await gone;
  };
  return {
    url,
    log,
    alive,
    stop,
    memory: () => ask<Memory>('memory'),
    statements: () => ask<Statements>('statements'),
    async caller(accountId) {
      const running = { url, service: { database: stand.database } };
      const application = await newApplication(running, { id: accountId });
      const { access } = await application.connect({ write: true });
      return { key: await newApiKey(stand, accountId), token: access };
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Unique random texts. */
export const newMarker = () => `zq${randomBytes(8).toString('hex')}`;

/** Runs the jobs, this many at a time. */
export async function inParallel(width: number, jobs: Iterable<() => Promise<void>>): Promise<void> {
  const left = jobs[Symbol.iterator]();
  const worker = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await next.value();
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** A text table of rows, the first of them its head; numbers are right-aligned. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)));
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const lines = texts.map((row, index) =>
    row
      .map((text, column) => {
        const width = widths[column] ?? 0;
        return typeof rows[index]?.[column] === 'number' ? text.padStart(width) : text.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
  const [head = '', ...body] = lines;
  return [head, '-'.repeat(Math.max(...lines.map((line) => line.length))), ...body].join('\n');
}
