// `albaran account delete` leaves nothing of the company in any table and changes nothing of another company.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { exportAccountFile } from '../../account-file/export.ts';
import { removeCompany, WrittenMeanwhile, writesOf } from '../../lifecycle/removal.ts';
import { systemClock } from '../../platform/clock.ts';
import { companiesOf } from '../../platform/identity/users.ts';
import { postgresQuotaStore, Quota } from '../../platform/quota.ts';
import { SAMPLE } from '../account-file/sample.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { registrable, switchOn, verifactu } from '../helpers/verifactu.ts';
import { type Company, type Server, startServer } from '../helpers/world.ts';
import { callMcp, newApplication } from '../oauth/application.ts';
import { newPerson } from '../oauth/person.ts';
import { run } from '../server/processes.ts';

vi.setConfig({ testTimeout: 120_000 }); // Each command is a process: half a second, several on a busy machine.

let database: OwnDatabase;
let server: Server;
let folder: string;
beforeAll(async () => {
  database = await ownDatabase();
  server = await startServer({ database: { url: database.url }, verifactu });
  folder = await mkdtemp(join(tmpdir(), 'albaran-delete-'));
});
afterAll(async () => {
  await server.stop();
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const environment = () => databaseEnvironment(database.url);
const albaran = (...args: string[]) => run(args, environment());
const exported = ({ id }: Company) => Array.fromAsync(exportAccountFile(server.service.database, id));

const MARK = 'Zurbarán Quixote';

/** A company with rows in every table. */
async function wholeCompany(): Promise<Company> {
  const [{ logo } = { logo: null }, ...others] = SAMPLE;
  const company = await server.company(
    [
      ...others,
      { coleccion: 'clientes', ref: MARK, nombre_fiscal: MARK, email: 'zurbaran@quixote.example' },
      { coleccion: 'webhooks' },
      { coleccion: 'enlaces' },
    ],
    { cuenta: { ...registrable, logo } },
  );
  const note = {
    cliente: { nombre_fiscal: MARK },
    pedido: { obra: MARK },
    detalles: [{ descripcion: MARK, cantidad: 1, importe_unitario: 2 }],
  };
  const made = await company.post('/delivery-notes', note, {
    'x-idempotency-key': MARK.replaceAll(/\W/g, ''),
  });
  expect(made.status).toBe(200);
  await switchOn(server.service, company.id);
  expect((await company.post('/invoices', note)).status).toBe(200);
  await database.admin.query(
    `insert into register_answers (account_id, register_id, state)
     select account_id, id, 'accepted' from invoice_registers where account_id = $1`,
    [company.id],
  );
  const read = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'consultar_clientes', arguments: {} } };
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const asked = { method: 'POST', headers: { ...company.headers, ...json }, body: JSON.stringify(read) };
  expect((await server.request('/mcp', asked)).status).toBe(200);
  await server.service.activity.flush(company.id);
  // Reading the statistics stores the counted calls.
  await server.service.quota.look({ accountId: company.id, quotaPerMinute: null, timeZone: 'Europe/Madrid' });
  return company;
}

/** Rows of the company by table, and every table of companies. */
async function rowsOf(accountId: number): Promise<Record<string, number>> {
  const { rows: tables } = await database.admin.query<{ name: string }>(
    `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'account_id'`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rowCount } = await database.admin.query(`select from ${name} where account_id = $1`, [accountId]);
    counts[name] = rowCount ?? 0;
  }
  counts.accounts = (await database.admin.query('select from accounts where id = $1', [accountId])).rowCount ?? 0;
  return counts;
}

/** The tables of the database with the text anywhere in a row. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await database.admin.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await database.admin.query(
      `select from ${name} t where strpos(lower(t::text), lower($1)) > 0`,
      [text],
    );
    if (rowCount) found.push(name);
  }
  return found;
}

test('[TEN-01] no row and no trace of it is left, another company is as it was, and the file makes it anew', async () => {
  const [acme, other] = [await wholeCompany(), await wholeCompany()];
  const application = await newApplication(server, acme);
  const { access } = await application.connect();
  const both = await newPerson(server, acme, other);
  expect(Object.entries(await rowsOf(acme.id)).filter(([, rows]) => rows === 0)).toEqual([]);
  const otherBefore = [await exported(other), await rowsOf(other.id)];
  const acmeBefore = await exported(acme);
  // Two processes have cached its key by now.
  await using second = await startServer({ database: { url: database.url } });
  const calls = () =>
    Promise.all(
      [server, second].map(
        async ({ request }) => (await request('/api/v1/crm/funnels', { headers: acme.headers })).status,
      ),
    );
  expect(await calls()).toEqual([200, 200]);

  const file = join(folder, 'acme.jsonl');
  const { code, stdout } = await albaran('account', 'delete', '--account', acme.slug, '--out', file, '--yes', '--json');
  expect(code).toBe(0);
  const answer = JSON.parse(stdout);
  expect(answer).toMatchObject({ slug: acme.slug, file, records: acmeBefore.length, people: 1 });
  expect(Object.keys(answer.rows).sort()).toEqual(Object.keys(await rowsOf(acme.id)).sort());

  expect(await calls()).toEqual([401, 401]);
  expect((await callMcp(server, access)).status).toBe(401);
  expect(Object.entries(await rowsOf(acme.id)).filter(([, rows]) => rows > 0)).toEqual([]);
  for (const trace of [acme.slug, application.person.email]) expect(await tablesWith(trace)).toEqual([]);
  // A person of both companies stays in the other one, signed in.
  expect(await companiesOf(server.service.database, both.userId)).toMatchObject([{ slug: other.slug }]);
  const sessions = 'select from user_sessions where user_id = $1';
  expect((await database.admin.query(sessions, [both.userId])).rowCount).toBe(1);

  expect([await exported(other), await rowsOf(other.id)]).toEqual(otherBefore);
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  expect(lines).toEqual(acmeBefore);
  const anew = await server.company();
  expect((await albaran('import', file, '--account', anew.slug)).code).toBe(0);
  expect(await exported(anew)).toEqual(acmeBefore);

  expect(
    (await albaran('account', 'delete', '--account', other.slug, '--out', join(folder, 'other'), '--yes')).code,
  ).toBe(0);
  await albaran('account', 'delete', '--account', anew.slug, '--out', join(folder, 'anew'), '--yes');
  expect(await tablesWith(MARK)).toEqual([]);
  expect(await tablesWith('@')).toEqual([]);
});

test('without a terminal and --yes, into no file, or for nobody, nothing is done', async () => {
  const acme = await server.company();
  const [silent, noFile, output, folderOut, nobody] = await Promise.all([
    albaran('account', 'delete', '--account', acme.slug, '--out', join(folder, 'silent')),
    albaran('account', 'delete', '--account', acme.slug, '--yes'),
    albaran('account', 'delete', '--account', acme.slug, '--out', '-', '--yes'),
    albaran('account', 'delete', '--account', acme.slug, '--out', join(folder, 'no', 'such', 'folder'), '--yes'),
    albaran('account', 'delete', '--account', 'nobody', '--out', join(folder, 'nobody'), '--yes'),
  ]);
  expect([silent, noFile, output, folderOut, nobody].map(({ code }) => code)).toEqual([2, 2, 2, 1, 1]);
  expect(silent.stderr).toBe('Nobody can be asked without a terminal: give --yes\n');
  expect(folderOut.stderr).toContain("can't be written");
  expect((await acme.get('/crm/funnels')).status).toBe(200);
});

test.skipIf(spawnSync('script', ['--version']).status !== 0)('on a terminal it asks for the slug', async () => {
  const acme = await server.company();
  const file = join(folder, 'terminal');
  const main = resolve(import.meta.dirname, '../../server/main.js');
  async function answering(answer: string) {
    const command = `${process.execPath} ${main} account delete --account ${acme.slug} --out ${file}`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment() },
      timeout: 30_000,
    });
    let shown = '';
    child.stdout.on('data', (text) => {
      if (!shown.includes('to go on') && `${shown}${text}`.includes('to go on')) child.stdin.write(`${answer}\n`);
      shown += text;
    });
    const [code] = await once(child, 'close');
    return { code, shown };
  }
  const wrong = await answering('acme');
  expect(wrong).toMatchObject({ code: 2, shown: expect.stringContaining('Nothing was deleted') });
  expect((await acme.get('/crm/funnels')).status).toBe(200);
  const right = await answering(acme.slug);
  expect(right).toMatchObject({ code: 0, shown: expect.stringContaining(`Type ${acme.slug} to go on:`) });
  expect((await acme.get('/crm/funnels')).status).toBe(401);
});

test('a company that was written to since it was exported stays', async () => {
  const acme = await server.company([
    { coleccion: 'funnels', ref: 'f', titulo: 'F', etapas: [{ ref: 'e', titulo: 'E' }] },
  ]);
  const writes = await writesOf(database.admin, acme.id);
  expect((await acme.post('/crm/contacts', { datos: { nombre: 'Ana Pons', email: 'ana@example.com' } })).status).toBe(
    200,
  );
  await expect(removeCompany(database.admin, acme.id, { writes })).rejects.toThrow(WrittenMeanwhile);
  expect((await acme.get('/crm/contacts')).body.data.contactos).toHaveLength(1);
});

test('what a call under way writes after all is removed too; a company without it counts nothing any more', async () => {
  const acme = await server.company();
  const { database: tenants } = server.service;
  const { promise: gone, resolve: goOn } = Promise.withResolvers<void>();
  const late = tenants.transaction(acme.id, { write: true }, async (db) => {
    await db.selectFrom('clients').select('id').where('account_id', '=', acme.id).execute();
    await gone;
    await db.insertInto('channels').values({ account_id: acme.id, title: 'Tarde' }).execute();
  });
  const removing = removeCompany(database.admin, acme.id);
  await vi.waitUntil(async () => (await acme.get('/crm/funnels')).status === 401);
  goOn();
  await late;
  expect((await removing).rows).toMatchObject({ accounts: 1, channels: 1 });
  const quota = new Quota(postgresQuotaStore(tenants), systemClock, 10);
  await expect(quota.spend({ accountId: acme.id, quotaPerMinute: 1, timeZone: 'Europe/Madrid' })).rejects.toMatchObject(
    {
      kind: 'unauthorized',
    },
  );
  expect(Object.values(await rowsOf(acme.id)).reduce((sum, rows) => sum + rows, 0)).toBe(0);
});
