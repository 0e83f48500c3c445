import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const client = (nombre_fiscal: string, more: object = {}): FileRecord => ({
  coleccion: 'clientes',
  nombre_fiscal,
  ...more,
});
const lists: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't2', tarifa: 2 },
  { coleccion: 'tarifas', ref: 't3', tarifa: 3 },
];
const names = (body: { data: { clientes: { nombre_fiscal: string }[] } }) =>
  body.data.clientes.map(({ nombre_fiscal }) => nombre_fiscal);

const whole = {
  nombre_comercial: 'El Bar',
  cif: 'ES-B 1234.5678',
  email: 'Bar@Example.com',
  telefono: '910000000',
  movil: '600000000',
  direccion: 'Calle Mayor, 1',
  cp: '28013',
  poblacion: 'Madrid',
  provincia: 'Madrid',
  pais: 'España',
  tarifa: 2,
  rgpd: { comunicaciones_email: true, comunicaciones_whatsapp: false },
};
const shown = {
  clienteId: expect.any(String),
  nombre_fiscal: 'Bar Nilo, S.L.',
  nombre_comercial: 'El Bar',
  cif: 'ES-B 1234.5678',
  email: 'Bar@Example.com',
  telefono: '910000000',
  movil: '600000000',
  rgpd: {
    comunicaciones_email: true,
    comunicaciones_whatsapp: false,
    comunicaciones_sms: null,
    tratamiento_imagenes: null,
  },
  tarifa: 2,
};

test('clients with their price list; one of them with its address', async () => {
  const acme = await server.company([...lists, client('Bar Nilo, S.L.', { id: 7, ...whole }), client('Zoe')]);
  const { status, body } = await acme.get('/clients');
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ total_clientes: 2, pagina: 1, por_pagina: 100, num_paginas: 1 });
  expect(body.data.clientes[0]).toEqual(shown);
  expect(body.data.clientes[1]).toMatchObject({ nombre_fiscal: 'Zoe', cif: '', email: '', movil: '', tarifa: 1 });

  const one = await acme.get('/clients/7');
  expect(one.body.data).toEqual({
    cliente: {
      ...shown,
      direccion: 'Calle Mayor, 1',
      cp: '28013',
      poblacion: 'Madrid',
      provincia: 'Madrid',
      pais: 'España',
    },
  });
  expect((await acme.get(`/clients/${body.data.clientes[0].clienteId}`)).body).toEqual(one.body);
  const zoe = await acme.get(`/clients/${body.data.clientes[1].clienteId}`);
  expect(zoe.body.data.cliente).toMatchObject({ direccion: '', cp: '', poblacion: '', provincia: '', pais: '' });
});

test('[DLV-01] a tax id is found however it is written, and an e-mail in any case, both whole', async () => {
  const acme = await server.company([
    ...lists,
    client('Bar Nilo, S.L.', whole),
    client('Otro', { cif: 'B123', email: 'otro.bar@example.com' }),
    client('Sin datos'),
  ]);
  const list = async (query: object) => names((await acme.get('/clients', { ...query })).body);
  for (const cif of ['B12345678', 'esb12345678', 'b-1234 5678', 'ES-B 1234.5678']) {
    expect(await list({ cif }), cif).toEqual(['Bar Nilo, S.L.']);
  }
  expect(await list({ cif: 'B1234567' })).toEqual([]);
  expect(await list({ cif: '-' })).toEqual([]);
  expect(await list({ email: 'BAR@example.com' })).toEqual(['Bar Nilo, S.L.']);
  expect(await list({ email: 'bar@example' })).toEqual([]);
  expect(await list({ email: 'b%@example.com' })).toEqual([]);
  expect(await list({ cif: 'B123', email: 'bar@example.com' })).toEqual([]);
  expect(await list({ cif: '', email: '' })).toHaveLength(3);
});

test('[TAR-01] those without a price list are on list 1', async () => {
  const acme = await server.company([
    ...lists,
    client('En la 2', { tarifa: 2 }),
    client('En la 1', { tarifa: 1 }),
    client('En ninguna'),
  ]);
  const list = async (tarifa: unknown) => names((await acme.get('/clients', { tarifa })).body);
  expect(await list(1)).toEqual(['En la 1', 'En ninguna']);
  expect(await list(2)).toEqual(['En la 2']);
  expect(await list(3)).toEqual([]);
  expect(await list(4_000_000_000)).toEqual([]);
  const { tarifas } = (await acme.get('/price-lists')).body.data;
  for (const { tarifa, num_clientes } of tarifas) expect(await list(tarifa)).toHaveLength(num_clientes);
  for (const bad of [0, -1, 'uno', 1.5]) {
    expect((await acme.get('/clients', { tarifa: bad })).body.data).toMatchObject([{ campo: 'tarifa' }]);
  }
});

test('[PAG-02] by legal name, then by id, over pages; searched in names, tax id and e-mail', async () => {
  const acme = await server.company([
    client('Zócalos', { id: 1, nombre_comercial: 'Pisadas' }),
    client('Áridos', { id: 2, cif: 'A77' }),
    client('brocas', { id: 4, email: 'dos@x.es' }),
    client('brocas', { id: 3, email: 'uno@x.es' }),
  ]);
  const page = async (pagina: number) => (await acme.get('/clients', { pagina, por_pagina: 3 })).body;
  expect([names(await page(1)), names(await page(2)), names(await page(3))]).toEqual([
    ['Áridos', 'brocas', 'brocas'],
    ['Zócalos'],
    [],
  ]);
  const { clientes } = (await page(1)).data;
  expect(clientes.map(({ email }: { email: string }) => email)).toEqual(['', 'uno@x.es', 'dos@x.es']);
  const search = async (busqueda: string) => names((await acme.get('/clients', { busqueda })).body);
  expect(await search('arido')).toEqual(['Áridos']);
  expect(await search('PISADAS')).toEqual(['Zócalos']);
  expect(await search('a77')).toEqual(['Áridos']);
  expect(await search('@x.es')).toEqual(['brocas', 'brocas']);
});

test('[TEN-01] another company’s client is a 404', async () => {
  const acme = await server.company([client('Bar', { id: 7 })]);
  const other = await server.company([client('Otro')]);
  const { clienteId } = (await acme.get('/clients/7')).body.data.cliente;
  for (const id of [clienteId, 7, 99, 'x']) expect((await other.get(`/clients/${id}`)).status).toBe(404);
  expect(names((await other.get('/clients')).body)).toEqual(['Otro']);
});
