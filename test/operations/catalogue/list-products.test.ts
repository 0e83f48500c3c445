import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const product = (descripcion: string, more: object = {}): FileRecord => ({
  coleccion: 'articulos',
  ref: descripcion,
  descripcion,
  ...more,
});
const names = (body: { data: { articulos: { descripcion: string }[] } }) =>
  body.data.articulos.map(({ descripcion }) => descripcion);

test('[PRO-02] one price for each list that exists; with VAT only where the list has it', async () => {
  const acme = await server.company([
    { coleccion: 'tarifas', ref: 't1', tarifa: 1 },
    { coleccion: 'tarifas', ref: 't3', tarifa: 3, con_iva: false },
    { coleccion: 'familias', ref: 'cables', titulo: 'Cables' },
    product('Cable 3x2,5', {
      referencia: 'C-325',
      sku: 'SKU1',
      codigo_ean: '8412345678905',
      familia: 'cables',
      coste: 0.75,
      precios: [
        { tarifa: 1, precio: 1.35 },
        { tarifa: 3, precio: 1.1 },
      ],
      stock: 120.5,
      stock_minimo: 120.5,
    }),
    product('Regleta'),
  ]);
  const { status, body } = await acme.get('/products');
  expect(status).toBe(200);
  expect(body.data).toEqual({
    total_articulos: 2,
    pagina: 1,
    por_pagina: 100,
    num_paginas: 1,
    cursor: null,
    articulos: [
      {
        articuloId: expect.any(String),
        referencia: 'C-325',
        sku: 'SKU1',
        codigo_ean: '8412345678905',
        descripcion: 'Cable 3x2,5',
        familia: { familiaId: expect.any(String), titulo: 'Cables' },
        iva: 21,
        coste: 0.75,
        precios: [
          { tarifa: 1, precio: 1.35, precio_con_iva: 1.63 },
          { tarifa: 3, precio: 1.1, precio_con_iva: null },
        ],
        stock: 120.5,
        stock_minimo: 120.5,
        bajo_minimo: true,
      },
      {
        articuloId: expect.any(String),
        referencia: '',
        sku: '',
        codigo_ean: '',
        descripcion: 'Regleta',
        familia: { familiaId: '', titulo: '' },
        iva: 21,
        coste: 0,
        precios: [
          { tarifa: 1, precio: 0, precio_con_iva: 0 },
          { tarifa: 3, precio: 0, precio_con_iva: null },
        ],
        stock: 0,
        stock_minimo: 0,
        bajo_minimo: true,
      },
    ],
  });
});

test('[PRO-01] searches in description, reference, SKU and EAN, without case or accents', async () => {
  const acme = await server.company([
    product('Válvula de ESFERA 1/2'),
    product('Tubo', { referencia: 'esf-77' }),
    product('Codo', { sku: 'AB_12%' }),
    product('Llave', { codigo_ean: '8400000000017' }),
  ]);
  const search = async (busqueda: string) => names((await acme.get('/products', { busqueda })).body);
  expect(await search('valvula')).toEqual(['Válvula de ESFERA 1/2']);
  expect(await search('ESF')).toEqual(['Tubo', 'Válvula de ESFERA 1/2']);
  expect(await search('b_12%')).toEqual(['Codo']);
  expect(await search('b_1_')).toEqual([]);
  expect(await search('00017')).toEqual(['Llave']);
  expect(await search('')).toHaveLength(4);
  expect(await search('tubo esf')).toEqual([]);
});

test('[PRO-01] filters by family and by low stock; order is the description', async () => {
  const acme = await server.company([
    { coleccion: 'familias', ref: 'f', id: 5, titulo: 'Tubos' },
    product('Zócalo', { familia: 'f', stock: 3, stock_minimo: 5 }),
    product('Ánodo', { familia: 'f', stock: 9, stock_minimo: 5 }),
    product('brida', { stock: 5, stock_minimo: 5 }),
  ]);
  expect(names((await acme.get('/products')).body)).toEqual(['Ánodo', 'brida', 'Zócalo']);
  expect(names((await acme.get('/products', { familiaId: 5 })).body)).toEqual(['Ánodo', 'Zócalo']);
  expect(names((await acme.get('/products', { bajo_minimo: true })).body)).toEqual(['brida', 'Zócalo']);
  expect(names((await acme.get('/products', { bajo_minimo: false })).body)).toHaveLength(3);
  expect(names((await acme.get('/products', { bajo_minimo: 1, familiaId: 5 })).body)).toEqual(['Zócalo']);
});

test('[PAG-02] [PRO-01] pages of any size show what one usual page does, whichever filters there are', async () => {
  const acme = await server.company([
    { coleccion: 'familias', ref: 'f', id: 801, titulo: 'Cables' },
    { coleccion: 'tarifas', ref: 't', tarifa: 1 },
    ...Array.from({ length: 9 }, (_, number) =>
      product(`${number % 2 ? 'Cable' : 'Tubo'} ${number}`, {
        ...(number % 3 && { familia: 'f' }),
        stock: number,
        stock_minimo: 4,
      }),
    ),
  ]);
  const filters = { busqueda: 'cable', familiaId: 801, bajo_minimo: true, modificado_desde: '2020-01-01' };
  const choices = Object.entries(filters).reduce<Record<string, unknown>[]>(
    (chosen, [name, value]) => chosen.flatMap((one) => [one, { ...one, [name]: value }]),
    [{}],
  );
  for (const choice of choices) {
    const { body } = await acme.get('/products', choice);
    const { articulos, total_articulos } = body.data;
    expect(articulos.length, JSON.stringify(choice)).toBe(total_articulos);
    const pages: unknown[] = [];
    const behind: unknown[] = [];
    let cursor = '';
    for (let pagina = 1; pagina <= Math.max(1, Math.ceil(total_articulos / 2)); pagina++) {
      pages.push(...(await acme.get('/products', { ...choice, por_pagina: 2, pagina })).body.data.articulos);
      const { data } = (await acme.get('/products', { ...choice, por_pagina: 2, cursor })).body;
      behind.push(...data.articulos);
      cursor = data.cursor;
    }
    expect([pages, behind], JSON.stringify(choice)).toEqual([articulos, articulos]);
  }
});

test('[TEN-01] another company has its own products, and its families are not found', async () => {
  const acme = await server.company([
    { coleccion: 'familias', ref: 'f', id: 5, titulo: 'Tubos' },
    product('Codo', { familia: 'f' }),
  ]);
  const other = await server.company([product('Otro')]);
  const [codo] = (await acme.get('/products')).body.data.articulos;
  expect(names((await other.get('/products')).body)).toEqual(['Otro']);
  expect((await other.get('/products', { familiaId: codo.familia.familiaId })).status).toBe(404);
  expect((await acme.get('/products', { familiaId: codo.articuloId })).status).toBe(404);
});

test('[TAR-01] price lists with their clients, and a product on them', async () => {
  const acme = await server.company([
    { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: false },
    { coleccion: 'clientes', ref: 'a', nombre_fiscal: 'A', tarifa: 2 },
    { coleccion: 'clientes', ref: 'b', nombre_fiscal: 'B', tarifa: 1 },
    { coleccion: 'clientes', ref: 'c', nombre_fiscal: 'C' },
    product('Codo', { id: 9, precios: [{ tarifa: 2, precio: 4.2 }] }),
  ]);
  const list = await acme.get('/price-lists');
  expect(list.body.data).toEqual({
    total_tarifas: 2,
    tarifas: [
      { tarifa: 1, por_defecto: true, campo_precio: 'pvp1', campo_precio_con_iva: 'pvp1_iva', num_clientes: 2 },
      { tarifa: 2, por_defecto: false, campo_precio: 'pvp2', campo_precio_con_iva: '', num_clientes: 1 },
    ],
  });
  const withProduct = await acme.get('/price-lists', { articuloId: 9 });
  expect(withProduct.body.data.articulo).toEqual({
    articuloId: expect.any(String),
    descripcion: 'Codo',
    precios: [
      { tarifa: 1, precio: 0, precio_con_iva: 0 },
      { tarifa: 2, precio: 4.2, precio_con_iva: null },
    ],
  });
  expect((await acme.get('/price-lists', { articuloId: 10 })).status).toBe(404);
  const other = await server.company();
  expect((await other.get('/price-lists', { articuloId: withProduct.body.data.articulo.articuloId })).status).toBe(404);
  expect((await other.get('/price-lists')).body.data).toMatchObject({
    total_tarifas: 1,
    tarifas: [{ num_clientes: 0 }],
  });
});
