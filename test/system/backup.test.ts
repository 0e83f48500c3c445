// Runs the commands of docs/operations.md about the database's login, backup and restore, on a PostgreSQL of the system with its own
// pg_dump.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SystemPostgres, startSystemPostgres } from '../helpers/system-postgres.ts';
import { type Environment, run } from '../server/processes.ts';
import { postgresFolder } from './needs.ts';

vi.setConfig({ testTimeout: 120_000 }); // A dozen processes, on a new PostgreSQL.

const ROOT = resolve(import.meta.dirname, '../..');
const execute = promisify(execFile);

let postgres: SystemPostgres;
let folder: string;
const urlOf = (login: string, database: string) => postgres.urlOf(login, database);
const query = (database: string, sql: string) => postgres.query(database, sql);

beforeAll(async () => {
  postgres = await startSystemPostgres();
  folder = await mkdtemp(join(tmpdir(), 'albaran-backup-'));
});
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true });
});

/** The commands of a section of the page, one text per block. */
async function commandsOf(section: string): Promise<string[]> {
  const page = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
  const text = page.split(/\n##+ /).find((part) => part.startsWith(`${section}\n`)) ?? '';
  const commands = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  expect(commands, section).not.toEqual([]);
  return commands;
}

async function type(commands: string, env: Environment): Promise<string> {
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${postgresFolder()}:${process.env.PATH}`;
  // As in a container: PostgreSQL's programs, which find the server without an address, and the service's folder.
  const prelude = `albaran() { node ${ROOT}/server/main.js "$@"; }
docker() {
  [ "$1 $2" = 'compose exec' ] || return 0
  [ "$3" = -T ] && shift
  if [ "$3" = albaran ]; then (cd ${ROOT}; "\${@:4}"); else "\${@:4}"; fi
}
`;
  const { stdout } = await execute('bash', ['-euo', 'pipefail', '-c', prelude + commands], {
    cwd: folder,
    env: { PGHOST: '127.0.0.1', PGPORT: String(postgres.port), ...env, PATH },
  });
  return stdout;
}

test('[TEN-02] what compose.yaml runs with a new volume makes a login that is no superuser, and leaves nobody else one', async () => {
  await newVolume();
  const logins = `select rolname, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as more, rolpassword is not null as password,
    pg_has_role(rolname, 'albaran_app', 'member') as tenant, (select pg_get_userbyid(datdba) = rolname from pg_database where datname = 'albaran') as owns
    from pg_authid where rolcanlogin order by 1`;
  expect(await query('albaran', logins)).toEqual([
    { rolname: 'albaran', more: false, password: true, tenant: true, owns: true },
    { rolname: 'albaran_backup', more: true, password: false, tenant: false, owns: false },
    { rolname: 'postgres', more: true, password: false, tenant: true, owns: false },
  ]);
  const service = { DATABASE_URL: urlOf('albaran', 'albaran') };
  const made = await run(['account', 'create', '--name', 'Ruiz', '--slug', 'ruiz'], service);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const [role] = await query(
    'albaran',
    `select has_table_privilege('albaran_app', 'service_secrets', 'select') as secrets`,
  );
  expect(role).toEqual({ secrets: false });

  const [dump = '', restore = '', elsewhere = ''] = await commandsOf('With compose.yaml');
  await type(dump, service);
  expect((await stat(join(folder, 'albaran.dump'))).mode & 0o777).toBe(0o600);
  expect(await type(restore, service)).toMatch(/^1 +ruiz /m);
  const leakproof = `select proleakproof from pg_proc where oid = 'pg_catalog.textlike(text,text)'::regprocedure`;
  expect(await query('albaran', leakproof)).toEqual([{ proleakproof: true }]);
  await noVolume('albaran_before');
  await newVolume();
  expect(await type(elsewhere, service)).toMatch(/^1 +ruiz /m);
  await noVolume();
});

/** What the image of PostgreSQL does with compose.yaml and a new volume. */
async function newVolume(): Promise<void> {
  await query('postgres', 'create database albaran');
  const arguments_ = ['--no-psqlrc', '--set=ON_ERROR_STOP=1', `--file=${join(ROOT, 'scripts/compose-database.sql')}`];
  // The superuser's, set by the image.
  await query('postgres', `alter role postgres password 'of the volume'`);
  await execute(join(postgresFolder(), 'psql'), [...arguments_, urlOf('postgres', 'albaran')], {
    env: { ...process.env, POSTGRES_PASSWORD: `it's "of the volume"` },
  });
}

async function noVolume(...more: string[]): Promise<void> {
  for (const database of ['albaran', ...more]) await query('postgres', `drop database ${database}`);
  for (const role of ['albaran', 'albaran_app', 'albaran_backup']) await query('postgres', `drop role ${role}`);
}

test('[TEN-02] the login of the page is enough; a backup holds every company, and restored all is as it was', async () => {
  const ADMIN = urlOf('postgres', '').replace(/\/$/, '');
  await type((await commandsOf('The database login')).join(''), { ADMIN });
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
  const said = await type((await commandsOf('The whole database')).join(''), env);
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
