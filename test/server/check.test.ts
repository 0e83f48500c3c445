// `albaran check` as a process: it reports differences and repairs them on request.
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test, vi } from 'vitest';
import { importAccountFile } from '../../account-file/import.ts';
import { createAccount } from '../../account-file/new-account.ts';
import { ownDatabase, tenantsOf } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { run } from './processes.ts';

vi.setConfig({ testTimeout: 60_000 });

const database = await ownDatabase();
const tenants = await tenantsOf(database);
afterAll(async () => {
  await tenants.close();
  await database[Symbol.asyncDispose]();
});

const albaran = (args: string[]) => run(args, { ...databaseEnvironment(database.url), DEMO: 'false' });

const LINES = [{ descripcion: 'Obra', cantidad: 1, importe_unitario: 10 }];

async function company(): Promise<{ id: number; slug: string }> {
  const account = await createAccount(tenants, { slug: `c-${randomUUID()}`, name: 'Cuadra' });
  const at = (hora: string) => ({ fecha: '2026-03-10', hora, metodo: 'app' });
  const records = [
    { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Cuadra' },
    { coleccion: 'empleados', ref: 'ana', nombre: 'Ana' },
    { coleccion: 'articulos', ref: 'gas', id: 7, descripcion: 'Gas', stock: 12.5 },
    { coleccion: 'proyectos', ref: 'p', id: 8, numero: '1', descripcion: 'Obra' },
    { coleccion: 'clientes', ref: 'nilo', nombre_fiscal: 'Café Nilo' },
    { coleccion: 'facturas', ref: 'f-1', id: 5, numero: 'V-1', fecha: '2026-01-02', cliente: 'nilo', lineas: LINES },
    { coleccion: 'albaranes', ref: 'a-1', numero: 'A-1', fecha: '2026-01-02', cliente: 'nilo', lineas: LINES },
    { coleccion: 'fichajes', ref: 'f', empleado: 'ana', entrada: at('00:30'), salida: at('08:30'), proyecto: 'p' },
  ];
  await importAccountFile(
    tenants,
    account.id,
    records.map((record) => JSON.stringify(record)),
  );
  return account;
}

const change = async (statement: string, { id }: { id: number }) =>
  expect((await database.admin.query(statement, [id])).rowCount).toBeGreaterThan(0);

test('[PRO-01] [FIC-01] [PRJ-01] [DLV-03] what differs is told row by row, with exit code 1; --repair writes it', async () => {
  const [right, wrong] = [await company(), await company()];
  await change('update record_counts set products = 3 where account_id = $1', wrong);
  await change('delete from time_entry_days where account_id = $1', wrong);
  await change(`insert into time_entry_days (account_id, day, entries) values ($1, '2026-03-09', 2)`, wrong);
  await change('update product_stocks set quantity = quantity + 1 where account_id = $1', wrong);
  await change('update project_totals set sales = 0.01, seconds = 0 where account_id = $1', wrong);
  const nothing = { purchases: 0, staff: 0, machines: 0 };
  const found = [
    { table: 'record_counts', key: {}, kept: { products: 3, projects: 1 }, computed: { products: 1, projects: 1 } },
    { table: 'time_entry_days', key: { day: '2026-03-09' }, kept: { entries: 2 }, computed: null },
    { table: 'time_entry_days', key: { day: '2026-03-10' }, kept: null, computed: { entries: 1 } },
    { table: 'product_stocks', key: { product_id: 7 }, kept: { quantity: 13.5 }, computed: { quantity: 12.5 } },
    {
      table: 'project_totals',
      key: { project_id: 8 },
      kept: { ...nothing, sales: 0.01, seconds: 0 },
      computed: { ...nothing, sales: 0, seconds: 28_800 },
    },
  ].map((difference) => ({ account: wrong.slug, ...difference }));

  const told = await albaran(['check', '--json']);
  expect(told).toMatchObject({ code: 1, stderr: '' });
  expect(JSON.parse(told.stdout)).toEqual({ differences: found, count: 5, repaired: false, documents: [], sealed: 0 });
  const inWords = await albaran(['check', '--account', wrong.slug]);
  expect(inWords).toMatchObject({ code: 1, stdout: '' });
  expect(inWords.stderr).toMatch(/^COMPANY +TABLE +ROW +KEPT +OF THE RECORDS\n/);
  expect(inWords.stderr).toMatch(/time_entry_days +day 2026-03-10 +none +entries 1\n/);
  expect(inWords.stderr).toContain('5 differ: --repair writes what the records say');
  expect(await albaran(['check', '--account', right.slug])).toMatchObject({
    code: 0,
    stdout: 'Every figure is what the records say, and every document as it was sealed\n',
  });

  const repaired = await albaran(['check', '--repair', '--json']);
  expect(repaired.code).toBe(0);
  expect(JSON.parse(repaired.stdout)).toEqual({
    differences: found,
    count: 5,
    repaired: true,
    documents: [],
    sealed: 0,
  });
  expect(await albaran(['check'])).toMatchObject({ code: 0 });
  const { rows } = await database.admin.query(
    `select (select products from record_counts where account_id = $1) as products,
       (select json_object_agg(day, entries) from time_entry_days where account_id = $1) as days,
       (select seconds::int from project_totals where account_id = $1) as seconds,
       (select quantity::float8 from product_stocks where account_id = $1) as stock,
       (select count(*)::int from journal_entries where account_id = $1 and operation = 'check') as audited`,
    [wrong.id],
  );
  expect(rows).toEqual([{ products: 1, days: { '2026-03-10': 1 }, seconds: 28_800, stock: 12.5, audited: 1 }]);
});

test('[DATE-02] a change of time zone leaves nothing to repair', async () => {
  const { id, slug } = await company();
  expect(await albaran(['account', 'set', '--account', slug, '--time-zone', 'America/New_York'])).toMatchObject({
    code: 0,
  });
  const { rows } = await database.admin.query('select day::text from time_entry_days where account_id = $1', [id]);
  expect(rows).toEqual([{ day: '2026-03-09' }]);
  expect(await albaran(['check', '--account', slug])).toMatchObject({ code: 0 });
});

test('[DOC-01] a document that was changed is named, and nothing repairs it; one without a seal is sealed by --repair', async () => {
  const { id, slug } = await company();
  await change(`delete from seals where account_id = $1 and record_table = 'delivery_notes'`, { id });
  await change(`delete from seal_chains where account_id = $1 and record_table = 'delivery_notes'`, { id });
  expect(await albaran(['check', '--account', slug])).toMatchObject({ code: 0 });
  const repaired = await albaran(['check', '--account', slug, '--repair', '--json']);
  expect(JSON.parse(repaired.stdout)).toMatchObject({ sealed: 1, documents: [] });
  const { rows } = await database.admin.query(
    `select record_table, n::int, action, operation from seals where account_id = $1 order by record_table`,
    [id],
  );
  expect(rows).toEqual([
    { record_table: 'delivery_notes', n: 1, action: 'import', operation: 'check' },
    { record_table: 'invoices', n: 1, action: 'import', operation: 'import' },
  ]);
  await change(`update invoices set date = '2026-01-03' where account_id = $1`, { id });
  const told = await albaran(['check', '--account', slug, '--repair', '--json']);
  const document = { account: slug, table: 'invoices', id: 5, number: 'V-1', fault: 'content' };
  expect([told.code, JSON.parse(told.stdout)]).toMatchObject([1, { sealed: 0, documents: [document] }]);
  const inWords = await albaran(['check', '--account', slug]);
  expect(inWords.stderr).toMatch(/invoices +V-1 +5 +does not say what was sealed\n/);
});
