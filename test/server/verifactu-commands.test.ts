// `albaran verifactu ...` as a process, beside a service that registers invoices.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createUser, grantCompany, leaveCompany } from '../../platform/identity/users.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { textIn } from '../helpers/second-hash.ts';
import { registrable, verifactu } from '../helpers/verifactu.ts';
import { startServer } from '../helpers/world.ts';
import { type Environment, run } from './processes.ts';

vi.setConfig({ testTimeout: 60_000 });

const database = await ownDatabase();
const server = await startServer({ database: { url: database.url }, verifactu });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'albaran-verifactu-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await server.stop();
  await database[Symbol.asyncDispose]();
});

const SETTINGS = {
  VERIFACTU_PRODUCER_NAME: 'Productora de Prueba, S.L.',
  VERIFACTU_PRODUCER_NIF: 'A00000000',
  VERIFACTU_SYSTEM_NAME: 'Albaran',
  VERIFACTU_SYSTEM_ID: 'AL',
  VERIFACTU_SYSTEM_VERSION: '1.0',
};
const environment = (settings: Environment = SETTINGS) => ({
  ...databaseEnvironment(database.url),
  DEMO: 'false',
  ...settings,
});
const albaran = (args: string[], settings?: Environment) => run(['verifactu', ...args], environment(settings));
const newCompany = () =>
  server.company([{ coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'A28015865' }], {
    cuenta: registrable,
  });
type Company = Awaited<ReturnType<typeof newCompany>>;
async function registerOf(company: Company) {
  const { body } = await company.post('/invoices', {
    cliente: { id: 1 },
    pedido: { obra: 'Reforma' },
    detalles: [{ cantidad: 1, descripcion: 'Hora', importe_unitario: 100 }],
  });
  const { registros } = (await company.get(`/invoices/${body.data}/register`)).body.data;
  return registros[0] && (await (await fetch(registros[0].xml)).text());
}

test('[DOC-02] a company is switched on and off; its registers are counted, exported and verified', async () => {
  const acme = await newCompany();
  const on = await albaran(['switch', '--account', acme.slug, '--mode', 'pruebas']);
  expect(on).toEqual({
    code: 0,
    stdout: `Invoices of ${acme.slug} are registered from now on: pruebas\n`,
    stderr: '',
  });
  expect(await registerOf(acme)).toContain('RegistroAlta');
  expect(await registerOf(acme)).toContain('RegistroAnterior');
  const { stdout } = await albaran(['status', '--account', acme.slug]);
  expect(stdout).toMatch(new RegExp(`^${acme.slug} +pruebas +on +2 +2 +0 +0 +never$`, 'm'));
  for (const [file, ...form] of [['registers.ndjson'], ['registers.xml', '--xml']]) {
    const out = join(folder, file ?? '');
    expect((await albaran(['export', '--account', acme.slug, '--out', out, ...form])).stdout).toBe(
      `2 registers in ${out}\n`,
    );
    expect((await run(['verify', out], {})).stdout).toBe('2 registros, cadena íntegra\n');
  }
  expect((await albaran(['correct', '--account', acme.slug])).stdout).toBe('Nothing to correct\n');

  expect((await albaran(['switch', '--account', acme.slug, '--mode', 'off'])).stdout).toBe(
    `Invoices of ${acme.slug} are no longer registered\n`,
  );
  expect(await registerOf(acme)).toBeUndefined();
  const journal = (await acme.get('/audit', { por_pagina: 100 })).body.data.registros;
  expect(journal.map(({ operacion }: { operacion: string }) => operacion)).toContain('verifactu switch');
});

test('[DOC-02] the commands of docs/verifactu.md do what it says', async () => {
  const acme = await newCompany();
  const text = await readFile(join(import.meta.dirname, '../../docs/verifactu.md'), 'utf8');
  const lines = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.trim().split('\n'));
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const words = line.replaceAll('acme', acme.slug).replaceAll('registers.ndjson', join(folder, 'manual.ndjson'));
    const [program, ...args] = words.split(' ');
    expect(program).toBe('albaran');
    expect([line, await run(args, environment())]).toEqual([line, expect.objectContaining({ code: 0, stderr: '' })]);
    if (line.includes('switch')) await registerOf(acme);
  }
});

test('[DOC-02] what is missing is told before: the producer, the declaration, the company’s tax id', async () => {
  const acme = await newCompany();
  const refused = async (mode: string, slug: string, settings?: Environment) => {
    const { code, stderr } = await albaran(['switch', '--account', slug, '--mode', mode], settings);
    return [code, stderr.split(/[:,]| and /)[0]];
  };
  expect(await refused('pruebas', acme.slug, {})).toEqual([1, 'VERIFACTU_PRODUCER_NAME']);
  expect(await refused('produccion', acme.slug)).toEqual([1, 'VERIFACTU_DECLARATION_URL']);
  expect(await refused('verdad', acme.slug)).toEqual([2, 'error']);
  const { VERIFACTU_SYSTEM_ID: _, ...incomplete } = SETTINGS;
  expect(await refused('pruebas', acme.slug, incomplete)).toEqual([1, 'VERIFACTU_SYSTEM_ID']);
  const unnamed = await server.company([], { cuenta: { ...registrable, cif: 'B12345678' } });
  expect(await refused('pruebas', unnamed.slug)).toEqual([1, `${unnamed.slug} has the tax id B12345678`]);
  const declared = { ...SETTINGS, VERIFACTU_DECLARATION_URL: 'https://albaran.example/declaracion' };
  expect((await albaran(['switch', '--account', acme.slug, '--mode', 'produccion'], declared)).code).toBe(0);
});

test('[DOC-02] the service does not start with a certificate that can’t be used', async () => {
  const file = join(folder, 'certificate.pem');
  await writeFile(file, 'no certificate');
  const { code, stderr } = await run(['serve'], {
    ...environment(),
    PORT: '0',
    HOST: '127.0.0.1',
    VERIFACTU_CERTIFICATE: file,
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`VERIFACTU_CERTIFICATE: ${file} can't be used`)]);
});

test('[DOC-02] registers say whether the company’s people work with another one too', async () => {
  const { database: data } = server.service;
  const author = { actor: 'command', door: 'command', requestId: 'x' } as const;
  const [acme, other] = [await newCompany(), await newCompany()];
  const several = async () => textIn((await registerOf(acme)) ?? '', 'IndicadorMultiplesOT');
  await albaran(['switch', '--account', acme.slug, '--mode', 'pruebas']);
  const { id: userId } = await createUser(data, {
    email: `ana-${acme.slug}@example.com`,
    name: 'Ana',
    password: 'una clave larga',
  });
  await grantCompany(data, { userId, accountId: acme.id, role: 'admin' }, author);
  expect(await several()).toBe('N');
  await grantCompany(data, { userId, accountId: other.id, role: 'member' }, author);
  expect(await several()).toBe('S');
  await leaveCompany(data, { userId, accountId: other.id }, author);
  expect(await several()).toBe('N');
});
