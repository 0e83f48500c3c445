import { afterAll, expect, test } from 'vitest';
import { ROLLUPS } from '../../../figures/figures.ts';
import { differences } from '../../../figures/rollups.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z'), quotaPerMinute: 1_000_000 });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: false },
  { coleccion: 'tarifas', ref: 't3', tarifa: 3 },
  { coleccion: 'familias', ref: 'clavos', id: 5, titulo: 'Clavos' },
  { coleccion: 'familias', ref: 'tacos', id: 6, titulo: 'Tacos' },
  {
    ...{
      coleccion: 'articulos',
      ref: 'clavo',
      id: 10,
      descripcion: 'Clavo',
      referencia: 'C',
      sku: 'CLV',
      familia: 'clavos',
    },
    ...{ codigo_ean: '8410000000017', stock: 12.5, stock_minimo: 3, coste: 0.02 },
    precios: [
      { tarifa: 1, precio: 10, precio_con_iva: 12 },
      { tarifa: 2, precio: 8 },
    ],
    formatos: [
      { ref: 'caja', id: 21, titulo: 'Caja', factor: 100, defecto_venta: true },
      { ref: 'saco', id: 22, titulo: 'Saco', factor: 500 },
    ],
    variaciones: [
      { ref: 'a', id: 31, descripcion: 'Largo' },
      { ref: 'b', id: 32, descripcion: 'Corto' },
    ],
  },
  { coleccion: 'articulos', ref: 'taco', id: 11, descripcion: 'Taco', sku: 'TAC', codigo_ean: '8410000000024' },
  {
    ...{ coleccion: 'articulos', ref: 'grua', id: 12, descripcion: 'Grúa', modo: 'alquiler', stock: 3 },
    formatos: [{ ref: 'x', id: 23, titulo: 'X', factor: 2 }],
    variaciones: [{ ref: 'x', id: 33, descripcion: 'X' }],
  },
];
const update = (company: Company, datos: object, id: string | number = 10) => company.put(`/products/${id}`, { datos });
const read = async (company: Company, id: string | number = 10) =>
  (await company.get(`/products/${id}`)).body.data.articulo;
const problemsOf = async (company: Company, datos: object) => {
  const { status, body } = await update(company, datos);
  return [status, body.data?.map?.(({ campo }: { campo: string }) => campo)];
};
const versions = async (company: Company) =>
  (
    await server.service.database.pool.query(
      `select 'p' || id as row, version from products where account_id = $1
       union all select 'f' || id, version from product_formats where account_id = $1
       union all select 'v' || id, version from product_variations where account_id = $1 order by 1`,
      [company.id],
    )
  ).rows;

test('[W-01] what is sent changes, the rest stays, and the answer is the read; "" empties', async () => {
  const acme = await server.company(records);
  const before = await read(acme);
  const { status, body } = await update(acme, { descripcion: 'Clavo largo', coste: 0.035, familiaId: 6 });
  expect([status, body.errorMsg]).toEqual([200, '']);
  const familia = { familiaId: expect.any(String), titulo: 'Tacos' };
  expect(body.data.articulo).toEqual({ ...before, descripcion: 'Clavo largo', coste: 0.035, familia });
  expect(await read(acme)).toEqual(body.data.articulo);
  const emptied = await update(acme, { referencia: '', sku: '', codigo_ean: '', familiaId: '' });
  const none = { referencia: '', sku: '', codigo_ean: '', familia: { familiaId: '', titulo: '' } };
  expect(emptied.body.data.articulo).toMatchObject(none);
  const { familias } = (await acme.get('/product-families')).body.data;
  expect(familias.map(({ num_articulos }: { num_articulos: number }) => num_articulos)).toEqual([0, 0]);
  const found = async (busqueda: string) => (await acme.get('/products', { busqueda })).body.data.total_articulos;
  expect([await found('clavo largo'), await found('CLV')]).toEqual([1, 0]);
});

test('[W-01] nothing to change is 400; values that are there change nothing', async () => {
  const acme = await server.company(records);
  expect(await problemsOf(acme, {})).toEqual([400, ['datos']]);
  const before = await versions(acme);
  const article = await read(acme);
  const same = await update(acme, {
    ...{ descripcion: 'Clavo', referencia: 'C', sku: 'CLV', codigo_ean: '8410000000017', familiaId: 5, iva: 21 },
    ...{ coste: 0.02, modo: 'venta', stock_minimo: 3 },
    precios: [
      { tarifa: 1, precio: 10, precio_con_iva: 12 },
      { tarifa: 2, precio: 8 },
    ],
    formatos: [{ formatoId: 21, titulo: 'Caja', factor: 100, defecto_venta: true }, { formatoId: 22 }],
    variaciones: [{ variacionId: 31, descripcion: 'Largo' }],
  });
  expect([same.status, same.body.data.articulo]).toEqual([200, article]);
  expect(await versions(acme)).toEqual(before);
  for (const datos of [{ descripcion: ' ' }, { iva: -1 }, { precios: [{ tarifa: 1 }] }, { coste: -1 }, 'x']) {
    expect((await acme.put('/products/10', { datos })).status, JSON.stringify(datos)).toBe(400);
  }
});

test('[W-01] prices replace the lists that they name; another VAT works out what is not sent', async () => {
  const acme = await server.company(records);
  const prices = async (datos: object) => (await update(acme, datos)).body.data.articulo.precios;
  const [one, two] = [
    { tarifa: 1, precio: 10, precio_con_iva: 12 },
    { tarifa: 2, precio: 8, precio_con_iva: null },
  ];
  expect(await prices({ precios: [{ tarifa: 3, precio: 0.15 }] })).toEqual([
    one,
    two,
    { tarifa: 3, precio: 0.15, precio_con_iva: 0.18 },
  ]);
  expect(await prices({ iva: 10, precios: [{ tarifa: 3, precio: 1, precio_con_iva: 2 }] })).toEqual([
    { tarifa: 1, precio: 10, precio_con_iva: 11 },
    two,
    { tarifa: 3, precio: 1, precio_con_iva: 2 },
  ]);
  expect(await prices({ precios: [{ tarifa: 1, precio: 20 }] })).toMatchObject([
    { precio: 20, precio_con_iva: 22 },
    two,
    {},
  ]);
  expect((await acme.get('/products', { busqueda: 'clavo' })).body.data.articulos[0].precios).toEqual(
    (await read(acme)).precios,
  );
  const wrong = [
    { tarifa: 9, precio: 1 },
    { tarifa: 1, precio: 1 },
    { tarifa: 1, precio: 2 },
    { tarifa: 2, precio: 1, precio_con_iva: 1 },
  ];
  const fields = ['datos.precios[0].tarifa', 'datos.precios[2].tarifa', 'datos.precios[3].precio_con_iva'];
  expect(await problemsOf(acme, { precios: wrong })).toEqual([400, fields]);
});

test('[W-01] [DLV-04] formats and variations with an id change, those without one are added', async () => {
  const acme = await server.company(records, { cuenta: { stock_multiformato: true } });
  const { status, body } = await update(acme, {
    formatos: [
      { formatoId: 21, defecto_venta: false },
      { formatoId: 22, titulo: 'Saco grande', factor: 600 },
      { titulo: 'Palet', factor: 9000, defecto_venta: true },
    ],
    variaciones: [{ descripcion: 'Mediano' }, { variacionId: 32, descripcion: 'Muy corto' }],
  });
  expect([status, body.errorMsg]).toEqual([200, '']);
  expect(body.data.articulo.formatos).toMatchObject([
    { titulo: 'Caja', factor: 100, por_defecto_venta: false, permite_compra: true },
    { titulo: 'Palet', factor: 9000, por_defecto_venta: true, permite_venta: true },
    { titulo: 'Saco grande', factor: 600, por_defecto_venta: false },
  ]);
  expect(body.data.articulo.variaciones.map(({ descripcion }: { descripcion: string }) => descripcion)).toEqual([
    'Largo',
    'Muy corto',
    'Mediano',
  ]);
  expect(await problemsOf(acme, { formatos: [{ factor: 2 }, { titulo: 'x' }] })).toEqual([
    400,
    ['datos.formatos[0].titulo', 'datos.formatos[1].factor'],
  ]);
  const others = {
    formatos: [{ formatoId: 23 }, { formatoId: 21 }, { formatoId: 21 }],
    variaciones: [{ variacionId: 33, descripcion: 'x' }],
  };
  expect(await problemsOf(acme, others)).toEqual([
    400,
    ['datos.formatos[0].formatoId', 'datos.formatos[2].formatoId', 'datos.variaciones[0].variacionId'],
  ]);
  // The one that is there stays the default.
  expect(await problemsOf(acme, { formatos: [{ formatoId: 21, defecto_venta: true }] })).toEqual([
    400,
    ['datos.formatos[0].defecto_venta'],
  ]);
  const palet = body.data.articulo.formatos[1].formatoId;
  expect(await problemsOf(acme, { formatos: [{ formatoId: palet, venta: false }] })).toEqual([
    400,
    ['datos.formatos[0].defecto_venta'],
  ]);
  expect((await read(acme)).formatos).toEqual(body.data.articulo.formatos);
});

test('[W-01] the SKU or EAN code of another article is 400, also at the same time; its own is not', async () => {
  const acme = await server.company(records);
  expect(await problemsOf(acme, { sku: 'TAC', codigo_ean: '8410000000024' })).toEqual([
    400,
    ['datos.sku', 'datos.codigo_ean'],
  ]);
  expect((await update(acme, { sku: 'CLV', codigo_ean: '8410000000017' })).status).toBe(200);
  const both = await Promise.all([10, 11].map((id) => update(acme, { sku: 'NEW' }, id)));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  // Imported ones may share a code.
  await acme.load([{ coleccion: 'articulos', ref: 'otro', id: 13, descripcion: 'Otro', codigo_ean: '8410000000017' }]);
  expect((await update(acme, { codigo_ean: '8410000000017', coste: 1 })).status).toBe(200);
});

test('[DLV-03] an article that comes to be sold has its stock explained, and kept figures hold', async () => {
  const acme = await server.company(records);
  const kept = () =>
    server.service.database.transaction(acme.id, {}, async (db) =>
      (await Promise.all(ROLLUPS.map((figure) => differences(db, acme.id, figure)))).flat(),
    );
  expect((await update(acme, { modo: 'venta' }, 12)).body.data.articulo).toMatchObject({ modo: 'venta', stock: 3 });
  expect(await kept()).toEqual([]);
  const { movimientos } = (await acme.get('/products/12/stock-movements')).body.data;
  expect(movimientos).toMatchObject([{ cantidad: 3, motivo: 'Existencias iniciales' }]);
  for (const modo of ['alquiler', 'venta', 'servicio']) expect((await update(acme, { modo })).status).toBe(200);
  expect(await read(acme)).toMatchObject({ modo: 'servicio', stock: 12.5 });
  expect(await kept()).toEqual([]);
});

test('[AUTH-04] [TEN-01] only with a key that may write; another company’s article, family, format or variation is as none', async () => {
  const acme = await server.company(records);
  const other = await server.company(
    records.filter(({ coleccion }) => coleccion !== 'articulos' && coleccion !== 'familias'),
  );
  const path = '/api/v1/products/10';
  const init = { method: 'PUT', body: '{"datos":{"coste":1}}' };
  const json = { 'content-type': 'application/json' };
  expect((await server.request(path, { ...init, headers: json })).status).toBe(401);
  expect((await server.request(path, { ...init, headers: { ...json, ...(await acme.newKey(true)) } })).status).toBe(
    403,
  );
  const { articuloId, familia } = await read(acme);
  for (const id of [articuloId, 10, 99]) expect((await update(other, { coste: 1 }, id)).status).toBe(404);
  const mine = (await other.post('/products', { datos: { descripcion: 'Mío' } })).body.data;
  const [{ formatoId }] = (await read(acme)).formatos;
  const [{ variacionId }] = (await read(acme)).variaciones;
  expect((await update(other, { familiaId: familia.familiaId }, mine)).status).toBe(404);
  expect((await update(other, { formatos: [{ formatoId }] }, mine)).status).toBe(400);
  expect((await update(other, { variaciones: [{ variacionId, descripcion: 'x' }] }, mine)).status).toBe(404);
});
