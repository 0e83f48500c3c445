// The commands as processes on a separate database, beside running servers.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeProgram } from '../../server/cli.ts';
import { png } from '../documents/pictures.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { run, serve } from '../server/processes.ts';

vi.setConfig({ testTimeout: 60_000 }); // Each command is a process: half a second, several on a busy machine.

let database: OwnDatabase;
let folder: string;
beforeAll(async () => {
  database = await ownDatabase();
  folder = await mkdtemp(join(tmpdir(), 'albaran-commands-'));
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const albaran = (args: string[], input?: string) => run(args, databaseEnvironment(database.url), input);

/** The output of a command with --json. */
async function json(args: string[], input?: string) {
  const { stdout, stderr } = await albaran([...args, '--json'], input);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);

test('every command says what it does and takes --json', () => {
  const { signal } = new AbortController();
  const commands = leaves(makeProgram({ stop: signal, hurry: signal }));
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) {
    expect(command.description(), command.name()).toMatch(/^[a-z].{15,}[^.]$/);
    expect(command.helpInformation()).toContain('--json');
    for (const { description } of command.options) expect(description).not.toBe('');
  }
});

test('help is 0, and what was asked for in a wrong way is 2, with a line that says what is wrong', async () => {
  const results = await Promise.all([
    albaran(['--help']),
    albaran(['key', 'create', '--help']),
    albaran(['nonsense']),
    albaran(['key']),
    albaran(['key', 'create']),
    albaran(['account', 'create', '--name', 'X', '--slug', 'Not A Slug']),
    albaran(['account', 'set', '--account', 'x']),
    albaran(['account', 'set', '--account', 'x', '--quota', '0']),
  ]);
  expect(results.map(({ code }) => code)).toEqual([0, 0, 2, 2, 2, 2, 2, 2]);
  const [help, keyHelp, nonsense, , noAccount, slug, , quota] = results;
  expect(help?.stdout).toContain('export');
  expect(keyHelp?.stdout).toContain('--expires <date>');
  expect(nonsense?.stderr).toContain("unknown command 'nonsense'");
  expect(noAccount?.stderr).toContain('--account <slug>');
  expect(slug?.stderr).toContain('--slug');
  expect(quota?.stderr).toContain('--quota');
});

test('what does not exist is one line, exit 1', async () => {
  const [list, revoke, listJson] = await Promise.all([
    albaran(['key', 'list', '--account', 'nobody']),
    albaran(['key', 'revoke', 'ak_nothing']),
    albaran(['key', 'list', '--account', 'nobody', '--json']),
  ]);
  expect(list).toEqual({ code: 1, stdout: '', stderr: 'There is no company with the slug "nobody"\n' });
  expect(revoke).toEqual({ code: 1, stdout: '', stderr: 'There is no key "ak_nothing"\n' });
  expect(listJson.code).toBe(1);
  expect(JSON.parse(listJson.stdout)).toEqual({ error: 'There is no company with the slug "nobody"' });
});

test('[DOC-03] a company gets a logo and a colour, and loses them', async () => {
  const { id } = await json(['account', 'create', '--name', 'Lienzo', '--slug', 'lienzo']);
  const path = join(folder, 'logo.png');
  await writeFile(path, png());
  const set = (...options: string[]) => albaran(['account', 'set', '--account', 'lienzo', ...options]);
  const stored = async () =>
    (await database.admin.query('select logo is not null as logo, color from accounts where id = $1', [id])).rows[0];
  expect((await set('--logo', path, '--color', '#0F766E')).code).toBe(0);
  expect(await stored()).toEqual({ logo: true, color: '#0f766e' });
  await writeFile(path, '<svg/>');
  const wrong = [await set('--logo', path), await set('--logo', join(folder, 'none.png')), await set('--color', 'red')];
  expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2]);
  for (const [index, text] of ['expected a whole PNG or JPEG', 'no such file', '#rrggbb'].entries()) {
    expect(wrong[index]?.stderr).toContain(text);
  }
  expect(await stored()).toEqual({ logo: true, color: '#0f766e' });
  expect((await set('--logo', '', '--color', '')).code).toBe(0);
  expect(await stored()).toEqual({ logo: false, color: null });
});

test('[DOC-03] a company gets a VAT scheme, and loses it', async () => {
  const { id } = await json(['account', 'create', '--name', 'Cobra', '--slug', 'cobra']);
  const set = (...options: string[]) => albaran(['account', 'set', '--account', 'cobra', ...options]);
  const schemes: unknown[] = [];
  for (const options of [
    ['--vat-scheme', 'caja'],
    ['--city', 'Lugo'],
    ['--vat-scheme', 'general'],
  ]) {
    expect((await set(...options)).code).toBe(0);
    const { rows } = await database.admin.query('select vat_scheme from accounts where id = $1', [id]);
    schemes.push(rows[0]?.vat_scheme);
  }
  expect(schemes).toEqual(['caja', 'caja', null]);
  const wrong = await set('--vat-scheme', 'cash');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Expected general or caja')]);
});

test('[DLV-02] a company gets other series, and the usual ones again', async () => {
  const { id } = await json(['account', 'create', '--name', 'Serie', '--slug', 'serie']);
  const set = (...options: string[]) => albaran(['account', 'set', '--account', 'serie', ...options]);
  const stored = async () =>
    (await database.admin.query('select invoice_series, estimate_series from accounts where id = $1', [id])).rows[0];
  const file = join(folder, 'serie.ndjson');
  const lines = [
    { coleccion: 'cuenta', ref: 'serie', nombre: 'Serie' },
    { coleccion: 'clientes', ref: 'c', nombre_fiscal: 'Café Nilo' },
    { coleccion: 'facturas', ref: 'f', numero: 'FAC-2026-0009', fecha: '2026-01-02', cliente: 'c', lineas: [] },
  ];
  await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  await json(['import', '--account', 'serie', file]);
  const counters = 'select document, year, last_number from document_counters where account_id = $1';
  expect((await database.admin.query(counters, [id])).rows).toEqual([]);
  expect((await set('--invoice-series', 'FAC-', '--estimate-series', '1/')).code).toBe(0);
  expect((await database.admin.query(counters, [id])).rows).toEqual([
    { document: 'invoice', year: 2026, last_number: 9 },
  ]);
  expect(await stored()).toEqual({ invoice_series: 'FAC-', estimate_series: '1/' });
  const wrong = await set('--invoice-series', 'F1');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('no digit at the end')]);
  const taken = await set('--city', 'Lugo', '--rectification-series', 'FAC-');
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('--rectification-series: ')]);
  expect(taken.stderr).toContain('--invoice-series');
  expect(await stored()).toEqual({ invoice_series: 'FAC-', estimate_series: '1/' });
  expect((await set('--invoice-series', '', '--estimate-series', 'P')).code).toBe(0);
  expect(await stored()).toEqual({ invoice_series: null, estimate_series: null });
});

test('a company is created, changed and listed, and the audit tells so', async () => {
  const { id, slug } = await json(['account', 'create', '--name', 'Ruiz', '--slug', 'ruiz', '--quota', '50']);
  expect(slug).toBe('ruiz');
  const again = await albaran(['account', 'create', '--name', 'Otra', '--slug', 'ruiz']);
  expect(again).toMatchObject({ code: 1, stderr: 'There is a company with the slug "ruiz" already\n' });
  await json(['account', 'set', '--account', 'ruiz', '--quota', 'none', '--time-zone', 'Atlantic/Canary']);
  await json(['account', 'set', '--account', 'ruiz', '--automatic-issuing', 'on']);

  const { accounts } = await json(['account', 'list']);
  const today = Temporal.Now.plainDateISO('Atlantic/Canary').toString();
  const settings = { timeZone: 'Atlantic/Canary', quotaPerMinute: null, automaticIssuingSince: today };
  expect(accounts).toContainEqual({ id, slug, name: 'Ruiz', ...settings });
  expect((await albaran(['account', 'list'])).stdout).toMatch(/^ID +SLUG +NAME .*\n(.*\n)*\d+ +ruiz +Ruiz/);
  expect(await journalOf(id)).toEqual([
    { actor: 'command', door: 'command', operation: 'account create', action: 'create' },
    { actor: 'command', door: 'command', operation: 'account set', action: 'modify' },
    { actor: 'command', door: 'command', operation: 'account set', action: 'modify' },
  ]);
});

test('[ISS-02] importing issues nothing and moves no stock; it says how many renewals are due, and where to look', async () => {
  const { id } = await json(['account', 'create', '--name', 'Viene de fuera', '--slug', 'fuera']);
  const importing = (...services: object[]) => {
    const file = lines(
      { coleccion: 'cuenta', ref: 'fuera', nombre: 'Viene de fuera', emision_automatica: true },
      { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL' },
      { coleccion: 'articulos', ref: 'gas', id: 7, descripcion: 'Gas', stock: 50 },
      ...services.map((more, index) => ({
        coleccion: 'recurrentes',
        ref: `r${index}`,
        descripcion: 'Cuota',
        cliente: 'cli',
        periodicidad: 'anual',
        fecha_creacion: '2015-03-01',
        ...more,
        lineas: [{ descripcion: 'Gas', cantidad: 1, importe_unitario: 20, articulo: 'gas' }],
      })),
    );
    return albaran(['import', '-', '--account', 'fuera'], file);
  };
  expect((await importing()).stdout).toBe('3 records: 2 new, 1 changed\nNo renewal of a recurring service is due\n');
  const ended = { fecha_caducidad: '2019-12-31' };
  expect((await importing(ended, { ...ended, fecha_creacion: '2014-05-06' })).stdout).toBe(
    '5 records: 2 new, 0 changed\n11 renewals are due, of 2 recurring services, the first of 2014-05-06; ' +
      'importing issued none. To look at them: albaran renew --account fuera --dry-run\n',
  );
  const out = join(folder, 'fuera.ndjson');
  const { records } = await json(['export', '--account', 'fuera', '--out', out]);
  expect(await json(['import', out, '--account', 'fuera'])).toMatchObject({
    records,
    changed: 0,
    due: { renewals: 11, recurrings: 2, first: '2014-05-06' },
  });
  const { rows } = await database.admin.query(
    `select (select count(*)::int from delivery_notes where account_id = $1) as notes,
       (select quantity::int from product_stocks where account_id = $1 and product_id = 7) as stock`,
    [id],
  );
  expect(rows).toEqual([{ notes: 0, stock: 50 }]);
});

test('[AUTH-03] a key works on every server until it is revoked, and stops at once on all', async () => {
  const { id: accountId } = await json(['account', 'create', '--name', 'Claves', '--slug', 'claves']);
  const made = await json(['key', 'create', '--account', 'claves', '--name', 'web', '--read-only']);
  await using one = await serve({ ...databaseEnvironment(database.url), DEMO: 'false' });
  await using other = await serve({ ...databaseEnvironment(database.url), DEMO: 'false' });
  const statuses = () => Promise.all([one, other].map(async ({ url }) => (await call(url, made)).status));

  expect(await statuses()).toEqual([200, 200]);
  expect(await json(['key', 'revoke', made.key])).toMatchObject({ id: made.id, revoked: true, already: false });
  expect(await statuses()).toEqual([401, 401]);
  expect(await json(['key', 'revoke', made.key])).toMatchObject({ already: true });

  const { keys } = await json(['key', 'list', '--account', 'claves']);
  expect(keys).toEqual([
    expect.objectContaining({
      id: made.id,
      name: 'web',
      readOnly: true,
      lastUsedAt: expect.any(String),
      revokedAt: expect.any(String),
    }),
  ]);
  expect(JSON.stringify(keys)).not.toContain(made.secret);
  expect((await auditOf(accountId)).map(({ operation }) => operation)).toEqual(['key create', 'key revoke']);
});

test('[AUTH-03] a key works through its last day in the company’s time zone', async () => {
  await json(['account', 'create', '--name', 'Plazo', '--slug', 'plazo', '--time-zone', 'Atlantic/Canary']);
  const create = ['key', 'create', '--account', 'plazo', '--expires'];
  await json([...create, '2999-01-31']);
  const { keys } = await json(['key', 'list', '--account', 'plazo']);
  expect(keys).toEqual([expect.objectContaining({ expiresAt: '2999-02-01T00:00:00Z', readOnly: false })]);
  const [past, none] = await Promise.all([albaran([...create, '2020-01-31']), albaran([...create, '2999-02-29'])]);
  expect(past).toMatchObject({ code: 2, stderr: '--expires: 2020-01-31 is over\n' });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('YYYY-MM-DD') });
});

test('a file that is imported is what is exported', async () => {
  await json(['account', 'create', '--name', 'Ida', '--slug', 'ida']);
  await json(['account', 'create', '--name', 'Vuelta', '--slug', 'vuelta']);
  const file = lines(
    { coleccion: 'cuenta', ref: 'ida', nombre: 'Ida', cuota_por_minuto: 5 },
    { coleccion: 'empleados', ref: 'ana', nombre: 'Ana', apellidos: 'Núñez' },
  );
  const notice = 'cuota_por_minuto (5) is left aside: no file sets a quota, `albaran account set --quota 5` does';
  const imported = await json(['import', '-', '--account', 'ida'], file);
  expect(imported).toMatchObject({ records: 2, created: 1, notices: [notice] });
  const said = await albaran(['import', '-', '--account', 'ida'], file);
  expect(said.stdout).toBe(`${notice}\n2 records: 0 new, 0 changed\nNo renewal of a recurring service is due\n`);

  const out = join(folder, 'ida.ndjson');
  // Company data: unreadable to others while the file is written and afterwards, even if the old file was readable.
  await writeFile(out, 'of before', { mode: 0o644 });
  const { records } = await json(['export', '--account', 'ida', '--out', out]);
  expect((await stat(out)).mode & 0o777).toBe(0o600);
  const exported = await readFile(out, 'utf8');
  expect(exported).toContain('Núñez');
  expect(exported.trimEnd().split('\n').length).toBe(records);
  expect(await json(['import', out, '--account', 'vuelta'])).toMatchObject({ records });
  expect((await albaran(['export', '--account', 'vuelta'])).stdout).toBe(exported);
});

test('a file with errors is refused whole, each error on a line of its own', async () => {
  await json(['account', 'create', '--name', 'Malo', '--slug', 'malo']);
  const file = lines(
    { coleccion: 'cuenta', ref: 'malo', nombre: 'Malo' },
    { coleccion: 'turnos', ref: 'tarde', titulo: 'Tarde', color: 'rojo' },
    { coleccion: 'empleados', ref: 'ana', nombre: 'Ana', departamento: 'nadie' },
  );
  const refused = await albaran(['import', '-', '--account', 'malo'], file);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toBe('');
  expect(refused.stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/2.*turnos.*tarde.*color/),
    expect.stringMatching(/3.*empleados.*ana.*departamento/),
    'Nothing was imported: 2 problems',
  ]);
  const { problems } = await json(['import', '-', '--account', 'malo'], file);
  expect(problems).toEqual([
    expect.objectContaining({ line: 2, coleccion: 'turnos', ref: 'tarde', campo: 'color' }),
    expect.objectContaining({ line: 3, coleccion: 'empleados', ref: 'ana', campo: 'departamento' }),
  ]);
  expect((await albaran(['export', '--account', 'malo'])).stdout).not.toContain('tarde');
});

test('[W-10] a line that is not UTF-8 is named, and nothing is imported; a byte-order mark is skipped', async () => {
  await json(['account', 'create', '--name', 'Latín', '--slug', 'latin']);
  const file = lines(
    { coleccion: 'cuenta', ref: 'latin', nombre: 'Latín' },
    { coleccion: 'turnos', ref: 'manana', titulo: 'Mañana' },
  );
  const path = join(folder, 'latin.ndjson');
  await writeFile(
    path,
    Buffer.concat([Buffer.from(file), Buffer.from('{"coleccion":"turnos","titulo":"Mañana"}', 'latin1')]),
  );
  const refused = await albaran(['import', path, '--account', 'latin']);
  expect([refused.code, refused.stderr]).toEqual([1, `${path} can't be read: line 3 is not UTF-8\n`]);
  expect((await albaran(['export', '--account', 'latin'])).stdout).not.toContain('manana');
  await writeFile(path, `\uFEFF${file}`);
  expect(await json(['import', path, '--account', 'latin'])).toMatchObject({ records: 2, created: 1 });
});

test('what can’t be read or written is one line, and leaves nothing behind', async () => {
  await json(['account', 'create', '--name', 'Nada', '--slug', 'nada']);
  const missing = join(folder, 'missing', 'file');
  const [read, binary, write, device] = await Promise.all([
    albaran(['import', missing, '--account', 'nada']),
    albaran(['import', process.execPath, '--account', 'nada']),
    albaran(['export', '--account', 'nada', '--out', missing]),
    albaran(['export', '--account', 'nada', '--out', '/dev/null']),
  ]);
  for (const { code, stderr } of [read, binary, write, device]) {
    expect(code).toBe(1);
    expect(stderr).toMatch(/^.*(can't be read|can't be written|is not a file).*\n$/);
  }
  expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
});

const lines = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

const call = (url: string, { key, secret }: { key: string; secret: string }) =>
  fetch(`${url}/api/v1/products`, { headers: { 'X-API-KEY': key, 'X-API-SECRET': secret } });

async function journalOf(accountId: number) {
  const { rows } = await database.admin.query<{ actor: string; door: string; operation: string; action: string }>(
    'select actor, door, operation, action from journal_entries where account_id = $1 order by n',
    [accountId],
  );
  return rows;
}

async function auditOf(accountId: number) {
  const { rows } = await database.admin.query<{ actor: string; door: string; operation: string }>(
    'select actor, door, operation from audit_records where account_id = $1 order by id',
    [accountId],
  );
  return rows;
}
