// Consumers of the OpenAPI document: a program compiled with types of openapi-typescript calls the service with openapi-fetch; and
// four other generators make clients that compile.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from '../helpers/world.ts';
import { type Consumer, installConsumer, run } from './consumer.ts';

let consumer: Consumer;
let generators: Consumer;
let server: Server;

beforeAll(async () => {
  server = await startServer();
  const { text } = await server.request('/api/v1/openapi.json');
  const document = (folder: string) => writeFile(join(folder, 'openapi.json'), text);
  consumer = await installConsumer('openapi', document);
  generators = await installConsumer('generators', document);
}, 420_000);
afterAll(async () => {
  await consumer?.[Symbol.asyncDispose]();
  await generators?.[Symbol.asyncDispose]();
  await server?.stop();
});

test('[IDEM-01] types made from the document compile strictly, refuse what is wrong, and are true of a live server', {
  timeout: 120_000,
}, async () => {
  const script = (name: string) => run('npm', ['run', name], { cwd: consumer.folder });
  await script('generate');
  await script('build');
  const company = await server.company([
    { coleccion: 'articulos', descripcion: 'Tornillo M4' },
    { coleccion: 'articulos', descripcion: 'Tornillo M6' },
    { coleccion: 'articulos', descripcion: 'Tuerca M6' },
    { coleccion: 'empleados', nombre: 'Ana' },
    { coleccion: 'funnels', ref: 'f', id: 1, titulo: 'Ventas', etapas: [{ ref: 'e', id: 2, titulo: 'Nuevo' }] },
  ]);
  const { 'x-api-key': key, 'x-api-secret': secret } = company.headers;
  const { written, ...seen } = JSON.parse(await consumer.node(['out/main.js', server.url, key, secret]));
  expect(seen).toEqual({
    listed: ['Tornillo M4', 'Tornillo M6'],
    employee: 'Ana',
    pages: [['Tornillo M4', 'Tornillo M6'], ['Tuerca M6']],
    replayed: 'true',
    leads: 1,
    wrong: { status: 400, code: 400, field: 'fecha_inicio' },
    unknown: { status: 404, data: null },
  });
  expect(written[0]).toBeTypeOf('number');
  expect(written[1]).toBe(written[0]);
});

test('hey-api, kubb, oazapfts and orval make clients of the document that compile strictly, and refuse what is wrong', {
  timeout: 240_000,
}, async () => {
  for (const name of ['hey-api', 'kubb', 'oazapfts', 'orval', 'build']) {
    await run('npm', ['run', name], { cwd: generators.folder, timeout: 120_000 });
  }
});
