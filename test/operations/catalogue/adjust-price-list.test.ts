import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z'), quotaPerMinute: 1_000_000 });
afterAll(() => server.stop());

const article = (id: number, precio: number, more: object = {}, withVat: object = {}): FileRecord => ({
  ...{ coleccion: 'articulos', ref: `a${id}`, id, descripcion: `Artículo ${id}`, ...more },
  precios: [
    { tarifa: 1, precio, ...withVat },
    { tarifa: 2, precio: 4 },
  ],
});
const records: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: false },
  { coleccion: 'familias', ref: 'clavos', id: 5, titulo: 'Clavos' },
  article(10, 1.005, { familia: 'clavos', iva: 10 }, { precio_con_iva: 2 }),
  article(11, 20.02, { familia: 'clavos' }),
  article(12, 0),
  article(13, 33.33),
];
const adjust = (company: Company, input: object, tarifa: string | number = 1) =>
  company.post(`/price-lists/${tarifa}/adjust`, input);
/** Price and price with VAT of each article on a list. */
const prices = async (company: Company, tarifa = 1): Promise<[number, number | null][]> =>
  (await company.get('/products')).body.data.articulos.map(
    ({ precios }: { precios: { tarifa: number; precio: number; precio_con_iva: number | null }[] }) => {
      const found = precios.find((one) => one.tarifa === tarifa);
      return [found?.precio, found?.precio_con_iva];
    },
  );

test('[PRO-02] each price by the percentage, rounded half up, with VAT worked out anew; 0 stays and is not counted', async () => {
  const acme = await server.company(records);
  const { status, body } = await adjust(acme, { porcentaje: 10 });
  expect([status, body.data]).toEqual([200, { tarifa: 1, num_articulos: 3 }]);
  expect(await prices(acme)).toEqual([
    // 1.1055, 22.022 and 36.663.
    [1.11, 1.22],
    [22.02, 26.64],
    [0, 0],
    [36.66, 44.36],
  ]);
  expect(await prices(acme, 2)).toEqual(Array.from({ length: 4 }, () => [4, null]));
  expect((await adjust(acme, { porcentaje: -12.5 }, 2)).body.data.num_articulos).toBe(4);
  expect(await prices(acme, 2)).toEqual(Array.from({ length: 4 }, () => [3.5, null]));
  const { articulo } = (await acme.get('/products/10')).body.data;
  expect(articulo.precios).toEqual([
    { tarifa: 1, precio: 1.11, precio_con_iva: 1.22 },
    { tarifa: 2, precio: 3.5, precio_con_iva: null },
  ]);
});

test('[PRO-02] of one family alone, and rounded to another step', async () => {
  const acme = await server.company(records);
  expect((await adjust(acme, { porcentaje: 2, familiaId: 5, redondeo: 0.05 })).body.data.num_articulos).toBe(2);
  // 1.0251 and 20.4204.
  expect((await prices(acme)).map(([price]) => price)).toEqual([1.05, 20.4, 0, 33.33]);
  await adjust(acme, { porcentaje: 0, redondeo: 0.1 });
  expect((await prices(acme)).map(([price]) => price)).toEqual([1.1, 20.4, 0, 33.3]);
  await adjust(acme, { porcentaje: 0, redondeo: 1 });
  expect((await prices(acme)).map(([price]) => price)).toEqual([1, 20, 0, 33]);
  // 20.25 is half of the step above.
  await acme.load([article(11, 20.25, { familia: 'clavos' })]);
  await adjust(acme, { porcentaje: 0, redondeo: 0.1 });
  expect((await prices(acme))[1]?.[0]).toBe(20.3);
});

test('[PRO-02] two at the same time both count; a price that would not fit is 400', async () => {
  const acme = await server.company(records);
  const both = await Promise.all([
    adjust(acme, { porcentaje: 100 }),
    adjust(acme, { porcentaje: 100 }, 2),
    adjust(acme, { porcentaje: 100 }),
  ]);
  expect(both.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect([(await prices(acme))[1], (await prices(acme, 2))[1]]).toEqual([
    [80.08, 96.9],
    [8, null],
  ]);
  await acme.load([article(14, 9e11)]);
  const { status, body } = await adjust(acme, { porcentaje: 50 });
  expect([status, body.data[0].campo]).toEqual([400, 'porcentaje']);
  expect((await prices(acme))[1]).toEqual([80.08, 96.9]);
});

test('[ENV-04] an unknown list is 404, what does not fit 400', async () => {
  const acme = await server.company(records);
  for (const tarifa of [3, 2_147_483_647]) {
    const { status, body } = await adjust(acme, { porcentaje: 1 }, tarifa);
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('tarifa')]);
  }
  for (const input of [{}, { porcentaje: -91 }, { porcentaje: 901 }, { porcentaje: 1, redondeo: 0.02 }]) {
    expect((await adjust(acme, input)).status, JSON.stringify(input)).toBe(400);
  }
  expect((await adjust(acme, { porcentaje: 1 }, 'x')).status).toBe(400);
  expect((await adjust(acme, { porcentaje: 1, tarifa: 2 })).status).toBe(400);
  expect((await acme.post('/price-lists/1/adjust?porcentaje=1&redondeo=0.05', { tarifa: 1 })).status).toBe(200);
});

test('[AUTH-04] [TEN-01] only with a key that may write; of another company nothing changes', async () => {
  const acme = await server.company(records);
  const other = await server.company(records.map(({ id, ...record }) => record));
  const init = { method: 'POST', body: '{"porcentaje":10}' };
  const json = { 'content-type': 'application/json' };
  const path = '/api/v1/price-lists/1/adjust';
  expect((await server.request(path, { ...init, headers: json })).status).toBe(401);
  expect((await server.request(path, { ...init, headers: { ...json, ...(await acme.newKey(true)) } })).status).toBe(
    403,
  );
  const before = await prices(acme);
  const { familias } = (await acme.get('/product-families')).body.data;
  expect((await adjust(other, { porcentaje: 10, familiaId: familias[0].familiaId })).status).toBe(404);
  expect((await adjust(other, { porcentaje: 10 })).body.data.num_articulos).toBe(3);
  expect(await prices(acme)).toEqual(before);
});
