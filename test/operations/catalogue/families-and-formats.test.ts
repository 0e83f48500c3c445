import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'familias', ref: 't', titulo: 'Tubos' },
  { coleccion: 'familias', ref: 'a', titulo: 'Áridos' },
  { coleccion: 'familias', ref: 'c', titulo: 'cables' },
  { coleccion: 'articulos', ref: '1', id: 11, descripcion: 'Tubo', familia: 't' },
  { coleccion: 'articulos', ref: '2', id: 12, descripcion: 'Tubo largo', familia: 't' },
  { coleccion: 'articulos', ref: '3', id: 13, descripcion: 'Sin familia' },
  {
    coleccion: 'articulos',
    ref: '4',
    id: 14,
    descripcion: 'Arena',
    familia: 'a',
    formatos: [
      { ref: 's', titulo: 'Saco', factor: 25, defecto_venta: true, compra: false },
      { ref: 'g', titulo: 'Granel', factor: 1.5, peso_variable: true },
      { ref: 'p', titulo: 'Palé', factor: 1000, venta: false },
    ],
  },
];

test('[PAG-02] families come by title, each with the number of its articles', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/product-families');
  expect(status).toBe(200);
  expect(body.data).toEqual({
    familias: [
      { familiaId: expect.any(String), titulo: 'Áridos', num_articulos: 1 },
      { familiaId: expect.any(String), titulo: 'cables', num_articulos: 0 },
      { familiaId: expect.any(String), titulo: 'Tubos', num_articulos: 2 },
    ],
  });
  const [, , { familiaId }] = body.data.familias;
  expect((await acme.get('/products', { familiaId })).body.data.total_articulos).toBe(2);
});

test('formats of an article by title, with what each is for', async () => {
  const acme = await server.company(records, { cuenta: { stock_multiformato: true } });
  const { status, body } = await acme.get('/products/14/formats');
  expect(status).toBe(200);
  const usual = { peso_variable: false, permite_venta: true, permite_compra: true, por_defecto_venta: false };
  expect(body.data).toEqual({
    multiformato: true,
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
  });
  expect((await acme.get('/products/11/formats')).body.data).toEqual({ multiformato: true, formatos: [] });
});

test('[DLV-04] a formatoId works as is in a document line, and multiformato says whether it may stand there', async () => {
  const deliver = async (stock_multiformato: boolean) => {
    const acme = await server.company(records, { cuenta: { stock_multiformato } });
    const { multiformato, formatos } = (await acme.get('/products/14/formats')).body.data;
    expect(multiformato).toBe(stock_multiformato);
    const [{ formatoId }] = formatos;
    const answer = await acme.post('/delivery-notes', {
      cliente: { nombre_fiscal: 'Bar' },
      pedido: { obra: 'Obra' },
      detalles: [{ cantidad: 1, articulo_fk: 14, formatoId }],
    });
    return answer.status;
  };
  expect(await deliver(true)).toBe(200);
  expect(await deliver(false)).toBe(400);
});

test('[TEN-01] another company has families of its own, and the article is not found', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const [{ articuloId }] = (await acme.get('/products')).body.data.articulos;
  for (const id of [articuloId, 14, 99]) expect((await other.get(`/products/${id}/formats`)).status).toBe(404);
  expect((await other.alias('consultarFormatos')).body.data).toMatchObject([{ campo: 'articuloId' }]);
  expect((await other.get('/product-families')).body.data).toEqual({ familias: [] });
});
