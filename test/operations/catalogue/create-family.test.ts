import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const family = (id: number, titulo: string): FileRecord => ({ coleccion: 'familias', ref: `f${id}`, id, titulo });
const create = (company: Company, titulo: unknown, headers?: Record<string, string>) =>
  company.post('/product-families', { datos: { titulo } }, headers);
const families = async (company: Company): Promise<{ familiaId: string; titulo: string }[]> =>
  (await company.get('/product-families')).body.data.familias;
const titles = async (company: Company) => (await families(company)).map(({ titulo }) => titulo);

test('a family is created, listed, and filters products by its id', async () => {
  const acme = await server.company([family(1, 'Zinc')]);
  const { status, headers, body } = await create(acme, '  Jardín ');
  expect([status, headers.get('x-existing')]).toEqual([200, null]);
  expect(body).toEqual({ errorCode: 200, errorMsg: '', data: expect.stringMatching(/^[\w-]{23}$/) });
  expect((await families(acme))[0]).toEqual({ familiaId: body.data, titulo: 'Jardín', num_articulos: 0 });
  expect((await acme.get('/products', { familiaId: body.data })).body.data).toMatchObject({ total_articulos: 0 });
});

test('[W-03] one with a title that is known, whatever its case, accents or spaces, is answered as it is', async () => {
  const acme = await server.company([family(8, 'Jardín y  Ñandúes'), family(9, 'JARDIN Y NANDUES'), family(7, 'Otra')]);
  const { familiaId } = (await families(acme)).find(({ titulo }) => titulo === 'Jardín y  Ñandúes') ?? {};
  for (const titulo of [
    'Jardín y  Ñandúes',
    'jardin y nandues',
    'JARDÍN Y ÑANDÚES',
    'Jardín y Ñandúes'.normalize('NFD'),
    ' jardín\ty\u00a0ñandúes ',
  ]) {
    const { status, headers, body } = await create(acme, titulo);
    expect([titulo, status, headers.get('x-existing'), body.data]).toEqual([titulo, 200, 'true', familiaId]);
  }
  for (const titulo of ['Jardín-y-Ñandúes', 'Jardín y Ñandú', 'Jardínyñandúes', 'Jardín y Ñandúes.*', '%']) {
    expect((await create(acme, titulo)).headers.get('x-existing'), titulo).toBeNull();
  }
  expect(await titles(acme)).toHaveLength(8);
});

test('[W-03] parallel calls with one title create one family', async () => {
  const acme = await server.company();
  const forms = ['Iluminación', 'ILUMINACION'];
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => create(acme, forms[index % 2])));
  expect(new Set(answers.map(({ body }) => body.data)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get('x-existing') === null)).toHaveLength(1);
  expect(await titles(acme)).toHaveLength(1);
});

test('[IDEM-01] a replay answers all of the first answer, X-Existing included', async () => {
  const acme = await server.company([family(1, 'Zinc')]);
  for (const [titulo, existing] of [
    ['zinc', 'true'],
    ['Cobre', null],
  ]) {
    const key = { 'x-idempotency-key': `key-${titulo}` };
    const [first, second] = [await create(acme, titulo, key), await create(acme, titulo, key)];
    expect(second.body).toEqual(first.body);
    expect([first, second].map(({ headers }) => headers.get('x-existing'))).toEqual([existing, existing]);
  }
  expect(await titles(acme)).toEqual(['Cobre', 'Zinc']);
});

test('a title that is missing, empty, too long or no text is 400', async () => {
  const acme = await server.company();
  for (const titulo of [undefined, null, '', ' ', 7, 'x'.repeat(201)]) {
    const { status, body } = await create(acme, titulo);
    expect([status, body.data]).toMatchObject([400, [{ campo: 'datos.titulo' }]]);
  }
  expect(await titles(acme)).toEqual([]);
});

test('[AUTH-04] [AUTH-01] [TEN-01] a read-only key creates none, nobody does without one, and another company’s title is free', async () => {
  const acme = await server.company([family(1, 'Zinc')]);
  const body = JSON.stringify({ datos: { titulo: 'Cobre' } });
  const json = { 'content-type': 'application/json' };
  const key = { ...(await acme.newKey(true)), ...json };
  expect((await server.request('/crearFamilia', { method: 'POST', headers: key, body })).status).toBe(403);
  expect((await server.request('/crearFamilia', { method: 'POST', headers: json, body })).status).toBe(401);
  const other = await server.company();
  expect((await create(other, 'Zinc')).headers.get('x-existing')).toBeNull();
  const [{ familiaId } = { familiaId: '' }] = await families(other);
  expect((await acme.get('/products', { familiaId })).status).toBe(404);
  expect([await titles(acme), await titles(other)]).toEqual([['Zinc'], ['Zinc']]);
});
