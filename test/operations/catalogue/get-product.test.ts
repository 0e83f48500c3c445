import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: false },
  { coleccion: 'familias', ref: 'aridos', titulo: 'Áridos' },
  {
    coleccion: 'articulos',
    ref: 'arena',
    id: 11,
    referencia: 'AR-1',
    sku: 'SKU-1',
    codigo_ean: '8412345678905',
    descripcion: 'Arena',
    familia: 'aridos',
    iva: 10,
    coste: 0.2,
    precios: [
      { tarifa: 1, precio: 0.5 },
      { tarifa: 2, precio: 0.45 },
    ],
    stock: 20.5,
    stock_minimo: 100,
    variaciones: [
      { ref: 'l', descripcion: 'Lavada' },
      { ref: 'f', descripcion: 'Fina' },
    ],
    formatos: [
      { ref: 's', titulo: 'Saco', factor: 25, defecto_venta: true, compra: false },
      { ref: 'g', titulo: 'Granel', factor: 1.5, peso_variable: true },
      { ref: 'p', titulo: 'Palé', factor: 1000, venta: false },
    ],
  },
  { coleccion: 'articulos', ref: 'carpa', id: 12, descripcion: 'Carpa', modo: 'alquiler', stock: 3 },
  { coleccion: 'articulos', ref: 'montaje', id: 13, descripcion: 'Montaje', modo: 'servicio' },
];

test('[PRO-02] a product as the list shows it, with its mode, formats by title and variations in their order', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/products/11');
  expect(status).toBe(200);
  const usual = { peso_variable: false, permite_venta: true, permite_compra: true, por_defecto_venta: false };
  expect(body.data).toEqual({
    articulo: {
      articuloId: expect.any(String),
      referencia: 'AR-1',
      sku: 'SKU-1',
      codigo_ean: '8412345678905',
      descripcion: 'Arena',
      familia: { familiaId: expect.any(String), titulo: 'Áridos' },
      iva: 10,
      coste: 0.2,
      precios: [
        { tarifa: 1, precio: 0.5, precio_con_iva: 0.55 },
        { tarifa: 2, precio: 0.45, precio_con_iva: null },
      ],
      stock: 20.5,
      stock_minimo: 100,
      bajo_minimo: true,
      modo: 'venta',
      formatos: [
        { ...usual, formatoId: expect.any(String), titulo: 'Granel', factor: 1.5, peso_variable: true },
        { ...usual, formatoId: expect.any(String), titulo: 'Palé', factor: 1000, permite_venta: false },
        {
          ...usual,
          formatoId: expect.any(String),
          titulo: 'Saco',
          factor: 25,
          permite_compra: false,
          por_defecto_venta: true,
        },
      ],
      variaciones: [
        { variacionId: expect.any(String), descripcion: 'Lavada' },
        { variacionId: expect.any(String), descripcion: 'Fina' },
      ],
    },
  });
});

test('[PRO-02] what the list and the formats say of a product, this says too; its ids work in document lines', async () => {
  const acme = await server.company(
    [...records, { coleccion: 'clientes', ref: 'c', id: 1, nombre_fiscal: 'Bar', cif: 'B1' }],
    { cuenta: { stock_multiformato: true } },
  );
  for (const listed of (await acme.get('/products')).body.data.articulos) {
    const { articulo } = (await acme.get(`/products/${listed.articuloId}`)).body.data;
    const { formatos } = (await acme.get(`/products/${listed.articuloId}/formats`)).body.data;
    expect(articulo).toMatchObject({ ...listed, formatos });
  }
  const { articulo } = (await acme.alias('obtenerProducto', { articuloId: 11 })).body.data;
  const sold = await acme.post('/delivery-notes', {
    cliente: { id: 1 },
    pedido: { obra: 'Obra' },
    detalles: [
      {
        cantidad: 2,
        articulo_fk: articulo.articuloId,
        variacion_articulo_fk: articulo.variaciones[1].variacionId,
        formatoId: articulo.formatos[2].formatoId,
      },
    ],
  });
  expect([sold.status, sold.body.errorMsg]).toEqual([200, '']);
  expect((await acme.get('/products/11')).body.data.articulo).toMatchObject({ stock: -29.5 });
});

test('a rental, and a service that has nothing else', async () => {
  const acme = await server.company(records);
  expect((await acme.get('/products/12')).body.data.articulo).toMatchObject({ modo: 'alquiler', stock: 3 });
  expect((await acme.get('/products/13')).body.data.articulo).toMatchObject({
    familia: { familiaId: '', titulo: '' },
    stock: 0,
    bajo_minimo: true,
    modo: 'servicio',
    formatos: [],
    variaciones: [],
  });
});

test('[TEN-01] another company’s product is not found', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const { articuloId } = (await acme.get('/products/12')).body.data.articulo;
  for (const id of [articuloId, 12, 999]) {
    const { status, body } = await other.get(`/products/${id}`);
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('articuloId')]);
  }
});
