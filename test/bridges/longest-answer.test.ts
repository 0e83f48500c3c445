// FAIR-03: no answer is over 8 MB, through any interface; a longer one is a 400 that says how to ask for less.
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { AlbaranError, createClient } from '../../client/src/index.ts';
import { startServer } from '../helpers/world.ts';

const server = await startServer({ checkOutputs: false });
afterAll(() => server.stop());

const LONGEST = 8_000_000;

/** A company with records whose titles have this many characters. */
async function withTitles(table: 'tasks' | 'product_families', count: number, title: string, length: number) {
  const acme = await server.company();
  await server.service.database.transaction(acme.id, { write: true }, (db) =>
    sql`insert into ${sql.table(table)} (account_id, title)
      select ${acme.id}, repeat(${title}, ${length}::int) from generate_series(1, ${count}::int)`.execute(db),
  );
  return acme;
}

const MESSAGE = 'La respuesta pasaría de 8 MB, lo máximo';
const WITH_PAGES = `${MESSAGE}: pide páginas más pequeñas (por_pagina) o pide menos días (fecha_fin)`;
const FIELDS = [
  { campo: 'por_pagina', mensaje: 'pide páginas más pequeñas' },
  { campo: 'fecha_fin', mensaje: 'pide menos días' },
];

test('[FAIR-03] by every door the same 400, with what to ask less of; smaller pages are answered', async () => {
  const acme = await withTitles('tasks', 20, 'x', 410_000);
  const call = { por_pagina: 20 };
  for (const answer of [await acme.get('/tasks', call), await acme.alias('consultarTareas', call)]) {
    expect([answer.status, answer.body]).toEqual([400, { errorCode: 400, errorMsg: WITH_PAGES, data: FIELDS }]);
  }
  const { 'x-api-key': apiKey, 'x-api-secret': apiSecret } = acme.headers;
  const client = createClient({ baseUrl: server.url, apiKey, apiSecret });
  const refused = await client.tasks.list(call).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(AlbaranError);
  expect(refused).toMatchObject({ code: 400, message: WITH_PAGES, fields: FIELDS });
  // The connector's default page has twenty.
  const tool = await fetch(`${server.url}/mcp/`, {
    method: 'POST',
    headers: { ...acme.headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'consultar_tareas', arguments: {} },
    }),
  });
  expect(await tool.json()).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringContaining(WITH_PAGES) }] },
  });

  const page = await acme.get('/tasks', { por_pagina: 19 });
  expect(page.body.data.tareas).toHaveLength(19);
  const { tareas } = await client.tasks.list({ por_pagina: 19, pagina: 2 });
  expect(tareas).toHaveLength(1);
});

test('[FAIR-03] a page that is longer by far is refused the same, and a part of it answered', async () => {
  const acme = await withTitles('tasks', 20, 'x', 2_000_000);
  const { status, body } = await acme.get('/tasks', { por_pagina: 20 });
  expect([status, body.errorMsg]).toEqual([400, WITH_PAGES]);
  expect((await acme.get('/tasks', { por_pagina: 3 })).status).toBe(200);
});

test('[FAIR-03] it is bytes that count; where nothing makes it shorter, nothing is asked', async () => {
  const fits = await withTitles('product_families', 100, 'x', 79_000);
  const answer = await fits.get('/product-families');
  expect(answer.status).toBe(200);
  expect(answer.text.length).toBeLessThan(LONGEST);
  const acme = await withTitles('product_families', 100, 'ñ', 79_000);
  const { status, body } = await acme.get('/product-families');
  expect([status, body]).toEqual([400, { errorCode: 400, errorMsg: MESSAGE, data: null }]);
});

test('[FAIR-03] what a batch is answered together is bounded too: the calls that go beyond are told to come alone', async () => {
  const acme = await withTitles('product_families', 100, 'x', 79_000);
  const TOGETHER = 'Las respuestas del lote serían demasiado largas juntas: pide esta aparte';
  const three = Array(3).fill('productFamilies.list').join();
  const batch = await server.request(`/trpc/${three}?batch=1&input={}`, { headers: acme.headers });
  const answers: { result?: object; error?: { json: { message: string; data: object } } }[] = JSON.parse(batch.text);
  expect(answers.filter(({ result }) => result)).toHaveLength(1);
  const tooMuch = { message: TOGETHER, data: { errorCode: 400 } };
  expect(answers.flatMap(({ error }) => (error ? [error.json] : []))).toMatchObject([tooMuch, tooMuch]);
});

test('[FAIR-02] [FAIR-03] a long list of objects is written as a short one is', async () => {
  const acme = await withTitles('product_families', 3500, 'ñ"', 2);
  const { familias } = (await acme.get('/product-families')).body.data;
  expect(new Set(familias.map(({ familiaId }: { familiaId: string }) => familiaId)).size).toBe(3500);
  for (const familia of familias) {
    expect(familia).toEqual({ familiaId: expect.stringMatching(/^[a-z][\w-]{22}$/), titulo: 'ñ"ñ"', num_articulos: 0 });
  }
});
