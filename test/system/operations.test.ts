// What docs/operations.md tells operators to type, typed: keys rotated, companies carried away and back. And the database
// logins that it says are enough.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { type Environment, run, serve } from '../server/processes.ts';

vi.setConfig({ testTimeout: 60_000 }); // Each command is a process: half a second, on a busy machine several.

const ROOT = resolve(import.meta.dirname, '../..');

// `albaran` as it is here. psql is not on every machine: what it is asked, another client asks.
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

/** The commands of a section, in their order. */
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

test('[ID-02] ID_KEYS in three steps: at each, processes of that step and the one before open each other’s ids', async () => {
  const { key, secret } = await newKey();
  const headers = { 'x-api-key': key, 'x-api-secret': secret };
  await using before = await serve(environment());
  const [steps = ''] = await commandsOf('ID_KEYS');
  const printed = await type(steps, { DATABASE_URL: database.directUrl });
  const lists = [...printed.matchAll(/^ID_KEYS=(\S+)$/gm)].map(([, keys = '']) => keys);
  expect(lists).toHaveLength(3);

  const [first, second, last] = await Promise.all(lists.map((keys) => serve({ ...environment(), ID_KEYS: keys })));
  if (!first || !second || !last) throw new Error('There are three steps');
  await using _first = first;
  await using _second = second;
  await using _last = last;
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

test.each([
  ['owns its database', ''],
  ['may create roles', 'createrole'],
])(
  '[TEN-02] a login that is no superuser and %s makes its schema and keeps companies apart',
  async (_what, attributes) => {
    await using login = await ownerOf(attributes);
    const env = { DATABASE_URL: login.url };
    for (const slug of ['uno', 'dos']) {
      const created = await run(['account', 'create', '--name', slug, '--slug', slug], env);
      expect(created).toMatchObject({ code: 0, stderr: '' });
    }
    const { stdout } = await run(['export', '--account', 'uno'], env);
    expect(stdout).toContain('"nombre":"uno"');
    expect(stdout).not.toContain('"nombre":"dos"');
    const client = new pg.Client({ connectionString: login.url });
    await client.connect();
    const { rows } = await client.query('select count(*)::int as seen from accounts');
    await client.end();
    expect(rows, 'without a company nothing is seen').toEqual([{ seen: 0 }]);
  },
);

/** A login that owns an empty database. One that may create roles has a role `albaran_app` as if it had created it. */
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
