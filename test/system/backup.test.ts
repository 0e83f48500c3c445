// What docs/operations.md says of the database's login, of backup and of restore, typed on a PostgreSQL of the system, whose
// pg_dump is of the server's own version.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Environment, run } from '../server/processes.ts';
import { postgresFolder } from './needs.ts';

vi.setConfig({ testTimeout: 120_000 }); // A dozen processes, on a PostgreSQL that is made first.

const ROOT = resolve(import.meta.dirname, '../..');
const execute = promisify(execFile);

let folder: string;
let address: string;
let stop = async () => {};

beforeAll(async () => {
  const bin = postgresFolder();
  folder = await mkdtemp(join(tmpdir(), 'albaran-backup-'));
  const user = await unprivileged();
  if (user) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  await execute(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '-N'],
    {
      ...user,
      cwd: '/',
    },
  );
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
  const flags = settings.flatMap((setting) => ['-c', setting]);
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { ...user, cwd: '/', stdio: 'ignore' });
  const gone = once(server, 'exit');
  stop = async () => {
    server.kill('SIGINT');
    await gone;
  };
  address = `127.0.0.1:${port}`;
  const answers = () =>
    query('postgres', 'select 1').then(
      () => true,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 30_000, interval: 100 });
});
afterAll(async () => {
  await stop();
  if (folder) await rm(folder, { recursive: true });
});

/** Who PostgreSQL runs as, where that may not be us. */
async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid = 0, gid = 0] = await Promise.all(
    ['-u', '-g'].map(async (option) => Number((await execute('id', [option, 'postgres'])).stdout)),
  );
  return { uid, gid };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const found = server.address();
  server.close();
  if (found === null || typeof found === 'string') throw new Error('A TCP server has a port');
  return found.port;
}

const urlOf = (login: string, database: string) => `postgres://${login}@${address}/${database}`;

async function query(database: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: urlOf('postgres', database) });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The commands of a section of the page, as one script. */
async function commandsOf(section: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
  const text = page.split(/\n##+ /).find((part) => part.startsWith(`${section}\n`)) ?? '';
  const commands = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  expect(commands, section).not.toEqual([]);
  return commands.join('');
}

async function type(commands: string, env: Environment): Promise<string> {
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${postgresFolder()}:${process.env.PATH}`;
  const prelude = `albaran() { node ${ROOT}/server/main.js "$@"; }\n`;
  const { stdout } = await execute('bash', ['-euo', 'pipefail', '-c', prelude + commands], {
    cwd: folder,
    env: { ...env, PATH },
  });
  return stdout;
}

test('[TEN-02] the login of the page is enough; a backup holds every company, and restored all is as it was', async () => {
  const ADMIN = urlOf('postgres', '').replace(/\/$/, '');
  await type(await commandsOf('The database login'), { ADMIN });
  const service = { DATABASE_URL: urlOf('albaran', 'albaran') };
  for (const slug of ['demo', 'ruiz']) {
    const made = await run(['account', 'create', '--name', slug, '--slug', slug], service);
    expect(made).toMatchObject({ code: 0, stderr: '' });
  }
  const records = [
    { coleccion: 'cuenta', ref: 'demo', nombre: 'Montalt' },
    { coleccion: 'empleados', ref: 'ana', nombre: 'Ana', apellidos: 'Núñez' },
    { coleccion: 'articulos', ref: 'cable', descripcion: 'Cable', stock: 12.5 },
  ];
  const file = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  expect(await run(['import', '-', '--account', 'demo'], service, file)).toMatchObject({ code: 0 });
  expect(await run(['key', 'create', '--account', 'demo'], service)).toMatchObject({ code: 0 });
  await query('albaran', `insert into service_secrets (name, value) values ('id_key', 'of the first start')`);

  await expect(execute(join(postgresFolder(), 'pg_dump'), [service.DATABASE_URL])).rejects.toThrow(
    'query would be affected by row-level security policy',
  );
  const restored = { DATABASE_URL: urlOf('albaran', 'albaran_restored') };
  const env = { ADMIN, BACKUP_URL: urlOf('albaran_backup', 'albaran'), RESTORED_URL: restored.DATABASE_URL };
  const said = await type(await commandsOf('The whole database'), env);
  expect(said).toMatch(/^1 +demo .*\n2 +ruiz /m);

  for (const args of [
    ['export', '--account', 'demo'],
    ['key', 'list', '--account', 'demo'],
    ['migrate', '--json'],
  ]) {
    const [before, after] = await Promise.all([run(args, service), run(args, restored)]);
    expect(after, args.join(' ')).toEqual(before);
    expect(before).toMatchObject({ code: 0, stderr: '' });
  }
  const [kept] = await query('albaran_restored', 'select value from service_secrets');
  expect(kept).toEqual({ value: 'of the first start' });
  const state = `select (select proleakproof from pg_proc where oid = 'pg_catalog.textlike(text,text)'::regprocedure) as leakproof,
    (select count(*)::int from pg_class where relforcerowsecurity and relrowsecurity) as isolated,
    (select count(*)::int from information_schema.role_table_grants where grantee = 'albaran_app') as granted,
    has_table_privilege('albaran_app', 'service_secrets', 'select') as secrets`;
  const [found] = await query('albaran_restored', state);
  expect([found]).toEqual(await query('albaran', state));
  expect(found).toMatchObject({ leakproof: true, secrets: false });
});
