import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z'), quotaPerMinute: 1_000_000 });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: false },
  { coleccion: 'familias', ref: 'clavos', id: 5, titulo: 'Clavos' },
  {
    coleccion: 'articulos',
    ref: 'viejo',
    id: 10,
    descripcion: 'Clavo viejo',
    sku: 'CLV-1',
    codigo_ean: '8410000000017',
  },
];
const create = (company: Company, datos: object, headers?: Record<string, string>) =>
  company.post('/products', { datos }, headers);
const read = async (company: Company, id: string) => (await company.get(`/products/${id}`)).body.data.articulo;
const problemsOf = async (company: Company, datos: object) => {
  const { status, body } = await create(company, datos);
  return [status, body.errorMsg];
};

test('an article is created with all that is sent, and sold by its formats', async () => {
  const acme = await server.company(records, { cuenta: { stock_multiformato: true } });
  const { status, body } = await create(acme, {
    descripcion: 'Clavo de acero',
    referencia: 'C-40',
    sku: 'CLV-40',
    codigo_ean: '8410000000024',
    familiaId: 5,
    iva: 10,
    coste: 0.035,
    precios: [
      { tarifa: 1, precio: 0.15 },
      { tarifa: 2, precio: 0.12 },
    ],
    stock_minimo: 10,
    stock_inicial: 250.5,
    formatos: [
      { titulo: 'Caja de 100', factor: 100, defecto_venta: true },
      { titulo: 'Palet', factor: 10_000, venta: false },
    ],
    variaciones: [{ descripcion: '4 x 40' }, { descripcion: '5 x 40' }],
  });
  expect([status, body.errorMsg]).toEqual([200, '']);
  const sealed = expect.stringMatching(/^[a-z][\w-]{22}$/);
  expect(await read(acme, body.data)).toEqual({
    articuloId: body.data,
    referencia: 'C-40',
    sku: 'CLV-40',
    codigo_ean: '8410000000024',
    descripcion: 'Clavo de acero',
    familia: { familiaId: sealed, titulo: 'Clavos' },
    iva: 10,
    coste: 0.035,
    precios: [
      // 0.165 with VAT, rounded half up.
      { tarifa: 1, precio: 0.15, precio_con_iva: 0.17 },
      { tarifa: 2, precio: 0.12, precio_con_iva: null },
    ],
    stock: 250.5,
    stock_minimo: 10,
    bajo_minimo: false,
    modo: 'venta',
    formatos: [
      expect.objectContaining({ titulo: 'Caja de 100', factor: 100, por_defecto_venta: true, permite_venta: true }),
      expect.objectContaining({ titulo: 'Palet', factor: 10_000, por_defecto_venta: false, permite_venta: false }),
    ],
    variaciones: [
      { variacionId: sealed, descripcion: '4 x 40' },
      { variacionId: sealed, descripcion: '5 x 40' },
    ],
  });
  for (const busqueda of ['acero', 'clv-40', '0000024']) {
    const { articulos } = (await acme.get('/products', { busqueda })).body.data;
    expect(articulos.map(({ articuloId }: { articuloId: string }) => articuloId)).toContain(body.data);
  }
  expect((await acme.get('/products')).body.data.total_articulos).toBe(2);
  const detalles = [{ cantidad: 2, articulo_fk: body.data }];
  const note = await acme.post('/delivery-notes', {
    cliente: { nombre_fiscal: 'Nilo' },
    pedido: { obra: 'Obra' },
    detalles,
  });
  expect((await acme.get(`/delivery-notes/${note.body.data}`)).body.data.base_imponible).toBe(30);
  expect((await read(acme, body.data)).stock).toBe(50.5);
});

test('what is left out has its default, and no stock moves', async () => {
  const acme = await server.company(records);
  const { body } = await create(acme, { descripcion: 'Clavo' });
  expect(await read(acme, body.data)).toMatchObject({
    referencia: '',
    sku: '',
    codigo_ean: '',
    familia: { familiaId: '', titulo: '' },
    iva: 21,
    coste: 0,
    modo: 'venta',
    precios: [
      { tarifa: 1, precio: 0, precio_con_iva: 0 },
      { tarifa: 2, precio: 0, precio_con_iva: null },
    ],
    stock: 0,
    stock_minimo: 0,
    bajo_minimo: true,
  });
  const { rows } = await server.service.database.pool.query(
    'select 1 from stock_movements where account_id = $1 and not (product_id = 10)',
    [acme.id],
  );
  expect(rows).toEqual([]);
});

test('the SKU or EAN code of another article is 400, at the same time too', async () => {
  const acme = await server.company(records);
  expect(await problemsOf(acme, { descripcion: 'Otro', sku: 'CLV-1' })).toEqual([
    400,
    'El parámetro datos.sku no es válido: lo tiene otro artículo: Clavo viejo',
  ]);
  expect(await problemsOf(acme, { descripcion: 'Otro', codigo_ean: '8410000000017' })).toEqual([
    400,
    'El parámetro datos.codigo_ean no es válido: lo tiene otro artículo: Clavo viejo',
  ]);
  expect((await create(acme, { descripcion: 'Otro', sku: 'CLV-10' })).status).toBe(200);
  const atOnce = await Promise.all(
    Array.from({ length: 6 }, () => create(acme, { descripcion: 'A la vez', sku: 'X1', codigo_ean: 'X1' })),
  );
  expect(atOnce.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400]);
  const other = await server.company();
  expect((await create(other, { descripcion: 'De otra empresa', sku: 'CLV-1' })).status).toBe(200);
});

test('what is wrong is named, and nothing is written', async () => {
  const acme = await server.company(records);
  const wrong: [object, string][] = [
    [{ precios: [{ tarifa: 3, precio: 1 }] }, 'datos.precios[0].tarifa no es válido: no existe la tarifa 3'],
    [
      {
        precios: [
          { tarifa: 1, precio: 1 },
          { tarifa: 1, precio: 2 },
        ],
      },
      'datos.precios[1].tarifa no es válido: la tarifa 1 ya tiene precio',
    ],
    [
      { precios: [{ tarifa: 2, precio: 1, precio_con_iva: 1.21 }] },
      'datos.precios[0].precio_con_iva no es válido: la tarifa 2 no tiene precio con IVA',
    ],
    [
      { modo: 'servicio', stock_inicial: 1 },
      'datos.stock_inicial no es válido: solo los artículos de modo venta tienen stock',
    ],
    [{ formatos: [{ titulo: 'Caja', factor: 0 }] }, 'datos.formatos[0].factor no es válido: tiene que ser mayor que 0'],
    [
      {
        formatos: [
          { titulo: 'Caja', factor: 10, defecto_venta: true },
          { titulo: 'Palet', factor: 100, defecto_venta: true },
        ],
      },
      'datos.formatos[1].defecto_venta no es válido: solo uno puede ser el de venta por defecto',
    ],
    [
      { formatos: [{ titulo: 'Palet', factor: 10, venta: false, defecto_venta: true }] },
      'datos.formatos[0].defecto_venta no es válido: ese formato no se puede vender',
    ],
  ];
  for (const [datos, message] of wrong) {
    expect(await problemsOf(acme, { descripcion: 'Malo', ...datos })).toEqual([400, `El parámetro ${message}`]);
  }
  expect((await problemsOf(acme, {}))[0]).toBe(400);
  expect((await acme.get('/products')).body.data.total_articulos).toBe(1);
});

test('[TEN-01] a family of another company is 404; without a key 401; with a key to read 403', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  expect((await create(other, { descripcion: 'Clavo', familiaId: 5 })).status).toBe(404);
  const send = (headers: Record<string, string>) =>
    server.request('/api/v1/products', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ datos: { descripcion: 'Clavo' } }),
    });
  expect((await send({})).status).toBe(401);
  expect((await send(await acme.newKey(true))).status).toBe(403);
});

test('[PRO-02] [W-05] whatever is sent is read back, and the figures of the company agree', async () => {
  const acme = await server.company(records);
  const cents = fc.integer({ min: 0, max: 1_000_000 }).map((value) => value / 100);
  const article = fc.record({
    descripcion: fc.string({ minLength: 1, maxLength: 40 }).filter((value) => value.trim() === value && value !== ''),
    iva: fc.constantFrom(0, 4, 10, 21),
    coste: cents,
    precios: fc.uniqueArray(fc.record({ tarifa: fc.constantFrom(1, 2), precio: cents }), {
      selector: ({ tarifa }) => tarifa,
    }),
    stock_inicial: cents,
  });
  let expected = 1;
  await fc.assert(
    fc.asyncProperty(article, async (datos) => {
      const { status, body } = await create(acme, datos);
      expect([status, body.errorMsg]).toEqual([200, '']);
      expected++;
      const { precios, ...shown } = await read(acme, body.data);
      const { precios: sent, stock_inicial, ...same } = datos;
      expect(shown).toMatchObject({ ...same, stock: stock_inicial });
      expect(precios.map(({ precio }: { precio: number }) => precio)).toEqual(
        [1, 2].map((list) => sent.find(({ tarifa }) => tarifa === list)?.precio ?? 0),
      );
    }),
    { numRuns: 30 },
  );
  expect((await acme.get('/products')).body.data.total_articulos).toBe(expected);
  const { rows } = await server.service.database.pool.query(
    `select s.product_id from product_stocks s
     left join (select product_id, sum(quantity) as moved from stock_movements where account_id = $1 group by 1) m using (product_id)
     where s.account_id = $1 and s.quantity <> coalesce(m.moved, 0)`,
    [acme.id],
  );
  expect(rows).toEqual([]);
});
