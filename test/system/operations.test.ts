// Runs the commands of docs/operations.md: rotating keys, moving companies. And checks the rights of the database logins that it
// describes.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { Database } from '../../platform/database.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { type Environment, run, serve } from '../server/processes.ts';

vi.setConfig({ testTimeout: 60_000 }); // Each command is a process: half a second, several on a busy machine.

const ROOT = resolve(import.meta.dirname, '../..');

// `albaran` of this project. psql is not on every machine: another client runs its queries.
const PRELUDE = `albaran() { node ${ROOT}/server/main.js "$@"; }
psql() { node -e "$PSQL" "$1" "\${@: -1}"; }
`;
const PSQL = `const [url, query] = process.argv.slice(-2);
  const client = new (require('${ROOT}/node_modules/pg').Client)(url);
  client.connect().then(() => client.query({ text: query, rowMode: 'array' }))
    .then(({ rows }) => { console.log(rows.join('\\n')); return client.end(); });`;

let database: OwnDatabase;
let folder: string;
beforeAll(async () => {
  database = await ownDatabase();
  folder = await mkdtemp(join(tmpdir(), 'albaran-operations-'));
  await run(['account', 'create', '--name', 'Montalt', '--slug', 'demo'], environment());
  const records = [
    { coleccion: 'cuenta', ref: 'demo', nombre: 'Montalt' },
    { coleccion: 'articulos', ref: 'cable', descripcion: 'Cable' },
  ];
  const file = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  expect(await run(['import', '-', '--account', 'demo'], environment(), file)).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const environment = (): Environment => ({ ...databaseEnvironment(database.url), DEMO: 'false' });

/** The commands of a section, in order. */
async function commandsOf(section: string): Promise<string[]> {
  const page = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
  const text = page.split(/\n##+ /).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands);
}

async function type(commands: string, more: Environment = {}): Promise<string> {
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', PRELUDE + commands], {
    cwd: folder,
    env: { ...environment(), PSQL, ...more, PATH },
  });
  return stdout;
}

async function newKey(): Promise<{ key: string; secret: string }> {
  const { stdout } = await run(['key', 'create', '--account', 'demo', '--json'], environment());
  return JSON.parse(stdout);
}

test('[AUTH-03] an API key is replaced by another, and ends; companies go into files, and one comes back as a copy', async () => {
  const old = await newKey();
  const [rotation = ''] = await commandsOf('API keys');
  const said = await type(rotation, { OLD_KEY: old.key });
  const key = /^key +(ak_\S+)$/m.exec(said)?.[1] ?? '';
  const secret = /^secret +(sk_\S+)$/m.exec(said)?.[1] ?? '';
  expect(said).toMatch(new RegExp(`${old.key} .* live\n.*${key} +web, from 2027 .* live\n${old.key} is revoked\n$`));
  await using server = await serve(environment());
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${server.url}/api/v1/products`, { headers })).status;
  expect(await status({ 'x-api-key': old.key, 'x-api-secret': old.secret })).toBe(401);
  expect(await status({ 'x-api-key': key, 'x-api-secret': secret })).toBe(200);

  const [away = '', back = ''] = await commandsOf('One company');
  await type(away + back);
  const copy = await run(['export', '--account', 'copia'], environment());
  expect(copy.stdout).toBe(await readFile(join(folder, 'demo.ndjson'), 'utf8'));
});

test('[ID-02] ID_KEYS in three steps: at each, processes of that step and the one before open each other’s ids; none starts without a key that has sealed, until it is given up', async () => {
  const { key, secret } = await newKey();
  const headers = { 'x-api-key': key, 'x-api-secret': secret };
  await using before = await serve(environment());
  const [steps = '', givingUp = ''] = await commandsOf('ID_KEYS');
  const printed = await type(steps, { DATABASE_URL: database.directUrl });
  const lists = [...printed.matchAll(/^ID_KEYS=(\S+)$/gm)].map(([, keys = '']) => keys);
  expect(lists).toHaveLength(3);

  const [KEPT_NEW = '', NEW_KEPT = '', NEW = ''] = lists;
  const start = (ID_KEYS: string) => serve({ ...environment(), ID_KEYS });
  await using first = await start(KEPT_NEW);
  await using again = await serve(environment());
  await using second = await start(NEW_KEPT);
  await using late = await start(KEPT_NEW);
  expect([again.url, late.url], 'processes of the step before may start again').not.toContain('');

  const keysOf = async (ID_KEYS: string): Promise<{ fingerprint: string; here: string; usedSince: string | null }[]> =>
    JSON.parse((await run(['id-key', 'list', '--json'], { ...environment(), ID_KEYS })).stdout).keys;
  const [fresh, OLD] = (await keysOf(NEW_KEPT)).map(({ fingerprint }) => fingerprint);
  const refusal = (fingerprint = '') =>
    `ID_KEYS: the key with the fingerprint ${fingerprint} is missing, and ids that callers hold were sealed with it: ` +
    `add it at the end, or give it up with "albaran id-key forget ${fingerprint}"\n`;
  const refused = (args: string[], more: Environment) => run(args, { ...environment(), PORT: '0', ...more });
  const anonymise = ['person', 'anonymise', '--account', 'demo', '--client', '1', '--dry-run'];
  for (const args of [['serve'], anonymise]) {
    expect(await refused(args, { ID_KEYS: NEW })).toEqual({ code: 1, stdout: '', stderr: refusal(OLD) });
    expect(await refused(args, {}), 'ID_KEYS is unset').toEqual({ code: 1, stdout: '', stderr: refusal(fresh) });
  }
  const sealing = await refused(['id-key', 'forget', fresh ?? ''], { ID_KEYS: NEW_KEPT });
  expect(sealing).toMatchObject({ code: 1, stderr: expect.stringContaining('put another first in ID_KEYS') });
  expect(await type(givingUp, { ID_KEYS: NEW_KEPT, OLD: OLD ?? '' })).toMatch(
    new RegExp(`\n${fresh} +seals and opens .*\n${OLD} +opens .*\n${OLD} is given up`),
  );
  expect(await keysOf(NEW)).toEqual([{ fingerprint: fresh, here: 'seals and opens', usedSince: expect.any(String) }]);
  await using last = await start(NEW);
  const made = async ({ url }: { url: string }) => {
    const text = await (await fetch(`${url}/api/v1/products`, { headers })).text();
    return /"articuloId":"([^"]+)"/.exec(text)?.[1] ?? '';
  };
  const open = async ({ url }: { url: string }, id: string) =>
    (await fetch(`${url}/api/v1/products/${id}`, { headers })).status;
  const old = await made(before);
  const renewed = await made(second);
  expect([await made(first), await made(last)], 'the first step makes the old ids').toEqual([old, renewed]);
  expect(renewed).not.toBe(old);
  expect([await open(first, renewed), await open(second, old)], 'each opens the other’s').toEqual([200, 200]);
  expect([await open(last, renewed), await open(last, old)], 'in the end the old are gone').toEqual([200, 404]);
});

test('[TEN-02] a login that is no superuser and may create roles makes its schema and keeps companies apart', async () => {
  await using login = await ownerOf('createrole');
  await keepsApart(login.url);
});

test('[TEN-02] one that owns its database alone is refused with what an administrator has to run, and works after that', async () => {
  await using login = await ownerOf('');
  const { code, stderr, stdout } = await run(['migrate'], { DATABASE_URL: login.url });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const [, advice = ''] = /^DATABASE_URL: .* As an administrator of the server: (.*;)\n$/.exec(stderr) ?? [];
  expect(advice).toMatch(/^grant albaran_app to albaran_owner_\w+;$/);
  const administrator = new pg.Client({ connectionString: inject('adminUrl') });
  await administrator.connect();
  await administrator.query(advice);
  await administrator.end();
  await keepsApart(login.url);
});

/** Two companies on a login: isolated from each other, without access to the service's secrets, and unable to change the audit. */
async function keepsApart(url: string): Promise<void> {
  const env = { DATABASE_URL: url };
  // Slow migrations are told.
  expect(await run(['migrate'], env)).toMatchObject({ code: 0 });
  for (const slug of ['uno', 'dos']) {
    const created = await run(['account', 'create', '--name', slug, '--slug', slug], env);
    expect(created).toMatchObject({ code: 0, stderr: '' });
  }
  const { stdout } = await run(['export', '--account', 'uno'], env);
  expect(stdout).toContain('"nombre":"uno"');
  expect(stdout).not.toContain('"nombre":"dos"');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select count(*)::int as seen from accounts');
  expect(rows, 'without a company nothing is seen').toEqual([{ seen: 0 }]);
  await client.end();
  const database = new Database({ url });
  await database.prepareRole();
  for (const statement of ['select from service_secrets', 'delete from invoices', 'delete from mikro_orm_migrations']) {
    const work = database.transaction(1, { write: true }, (db) => sql.raw(statement).execute(db));
    await expect(work, statement).rejects.toThrow('permission denied');
  }
  await database.close();
}

/** A login that owns an empty database. One with CREATEROLE has a role `albaran_app` as if it had created it. */
async function ownerOf(attributes: string): Promise<AsyncDisposable & { url: string }> {
  const name = `albaran_owner_${randomUUID().replaceAll('-', '')}`;
  const server = new pg.Client({ connectionString: inject('adminUrl') });
  await server.connect();
  await server.query(`create role ${name} login password 'secret' nosuperuser ${attributes}`);
  if (attributes) {
    const { rows } = await server.query(`select current_setting('server_version_num')::int >= 160000 as options`);
    await server.query(
      `grant albaran_app to ${name} ${rows[0].options ? 'with admin true, inherit false, set false' : ''}`,
    );
  }
  await server.query(`create database ${name} owner ${name}`);
  const url = new URL(inject('adminUrl'));
  Object.assign(url, { username: name, password: 'secret', pathname: `/${name}` });
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await server.query(`drop database ${name} with (force)`);
      await server.query(`drop owned by ${name}`);
      await server.query(`drop role ${name}`);
      await server.end();
    },
  };
}
