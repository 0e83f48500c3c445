import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const supplier = (nombre_fiscal: string, more: object = {}): FileRecord => ({
  coleccion: 'proveedores',
  nombre_fiscal,
  ...more,
});
const names = (body: { data: { proveedores: { nombre_fiscal: string }[] } }) =>
  body.data.proveedores.map(({ nombre_fiscal }) => nombre_fiscal);

test('[PIN-01] the block of purchase invoices, in which only movil may be null', async () => {
  const acme = await server.company([
    supplier('Maderas SA', {
      nombre_comercial: 'Maderas',
      cif: 'A1',
      email: 'm@maderas.es',
      telefono: '910000000',
      movil: '600000000',
    }),
    supplier('Zinc SL'),
  ]);
  const { status, body } = await acme.get('/suppliers');
  expect(status).toBe(200);
  expect(body.data).toEqual({
    total_proveedores: 2,
    pagina: 1,
    por_pagina: 100,
    num_paginas: 1,
    cursor: null,
    proveedores: [
      {
        proveedorId: expect.any(String),
        nombre_fiscal: 'Maderas SA',
        nombre_comercial: 'Maderas',
        cif: 'A1',
        email: 'm@maderas.es',
        telefono: '910000000',
        movil: '600000000',
      },
      {
        proveedorId: expect.any(String),
        nombre_fiscal: 'Zinc SL',
        nombre_comercial: '',
        cif: '',
        email: '',
        telefono: '',
        movil: null,
      },
    ],
  });
});

test('[PAG-02] by legal name, then by id, over pages; searched without case or accents', async () => {
  const acme = await server.company([
    supplier('Zócalos SL', { id: 1, cif: 'B77' }),
    supplier('Áridos SA', { id: 2, email: 'Pedidos@aridos.es' }),
    supplier('brocas', { id: 4, nombre_comercial: 'Ñandú' }),
    supplier('brocas', { id: 3 }),
  ]);
  const pages = [1, 2, 3].map(async (pagina) => (await acme.get('/suppliers', { pagina, por_pagina: 2 })).body);
  expect((await Promise.all(pages)).map(names)).toEqual([['Áridos SA', 'brocas'], ['brocas', 'Zócalos SL'], []]);
  const { proveedores } = (await acme.get('/suppliers')).body.data;
  expect(proveedores.map(({ nombre_comercial }: { nombre_comercial: string }) => nombre_comercial)).toEqual([
    '',
    '',
    'Ñandú',
    '',
  ]);
  const search = async (busqueda: string) => names((await acme.get('/suppliers', { busqueda })).body);
  expect(await search('ZOCALO')).toEqual(['Zócalos SL']);
  expect(await search('nandu')).toEqual(['brocas']);
  expect(await search('b77')).toEqual(['Zócalos SL']);
  expect(await search('pedidos@')).toEqual(['Áridos SA']);
  expect(await search('%')).toEqual([]);
});

test('[TEN-01] another company has suppliers of its own', async () => {
  const acme = await server.company([supplier('Maderas SA')]);
  const other = await server.company([supplier('Zinc SL')]);
  expect(names((await other.get('/suppliers')).body)).toEqual(['Zinc SL']);
  const [{ proveedorId }] = (await acme.get('/suppliers')).body.data.proveedores;
  expect((await acme.get('/purchase-invoices', { proveedorId })).status).toBe(200);
  expect((await other.get('/purchase-invoices', { proveedorId })).status).toBe(404);
  expect((await acme.get('/suppliers', { por_pagina: 0 })).body.data).toMatchObject([{ campo: 'por_pagina' }]);
});
