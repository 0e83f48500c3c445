import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const estimate = (id: number, fecha: string, more: object = {}): FileRecord => ({
  coleccion: 'presupuestos',
  ref: `p${id}`,
  id,
  fecha,
  concepto: `Concepto ${id}`,
  cliente: 'nilo',
  lineas: [],
  ...more,
});
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B1', email: 'c@nilo.es' },
  { coleccion: 'clientes', ref: 'zoe', id: 2, nombre_fiscal: 'Zoe' },
  estimate(11, '2026-01-31', {
    numero: 'P-0007',
    concepto: 'Reforma del baño',
    lineas: [
      { descripcion: 'Cable', cantidad: 3, importe_unitario: 1.115 },
      { descripcion: 'Mano de obra', cantidad: 2.5, importe_unitario: 30, descuento: 15, iva: 10 },
    ],
  }),
  estimate(12, '2026-02-01', { cliente: 'zoe' }),
  estimate(14, '2026-02-28'),
  estimate(13, '2026-02-28'),
  estimate(15, '2026-03-01', { concepto: null }),
];

/** The estimates of an answer, by the number at the end of their concept. */
const concepts = (body: { data: { presupuestos: { concepto: string }[] } }) =>
  body.data.presupuestos.map(({ concepto }) => concepto);

test('[EST-01] the header of each, as the estimate itself shows it', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/estimates', { busqueda: 'P-0007' });
  expect(status).toBe(200);
  expect(body.data).toEqual({
    suma_base: 67.1,
    total_presupuestos: 1,
    pagina: 1,
    por_pagina: 100,
    num_paginas: 1,
    cursor: null,
    presupuestos: [
      {
        tipo: 'presupuesto',
        presupuestoId: expect.any(String),
        numero: 'P-0007',
        fecha: '2026-01-31',
        concepto: 'Reforma del baño',
        contraparte: { clienteId: expect.any(String), nombre_fiscal: 'Café Nilo', cif: 'B1', email: 'c@nilo.es' },
        base_imponible: 67.1,
        estado: 'pendiente',
        valido_hasta: null,
        num_lineas: 2,
      },
    ],
  });
  const [header] = body.data.presupuestos;
  expect((await acme.get(`/estimates/${header.presupuestoId}`)).body.data).toMatchObject(header);
});

test('[PAG-02] newest first, then by id; [DATE-01] both ends of the range are in it', async () => {
  const acme = await server.company(records);
  const all = await acme.get('/estimates');
  expect(concepts(all.body)).toEqual(['', 'Concepto 14', 'Concepto 13', 'Concepto 12', 'Reforma del baño']);
  const [newest] = all.body.data.presupuestos;
  expect(newest).toMatchObject({ numero: '', base_imponible: 0, num_lineas: 0 });
  const february = await acme.get('/estimates', { fecha_inicio: '2026-02-01', fecha_fin: '2026-02-28' });
  expect(concepts(february.body)).toEqual(['Concepto 14', 'Concepto 13', 'Concepto 12']);
  expect(concepts((await acme.get('/estimates', { fecha_fin: '2026-01-31' })).body)).toEqual(['Reforma del baño']);
  expect(concepts((await acme.get('/estimates', { fecha_inicio: '2026-03-01' })).body)).toEqual(['']);
  const page = await acme.get('/estimates', { pagina: 2, por_pagina: 2 });
  expect(page.body.data).toMatchObject({ total_presupuestos: 5, num_paginas: 3 });
  expect(concepts(page.body)).toEqual(['Concepto 13', 'Concepto 12']);
});

test('by client, and by text in the number, the concept or the client', async () => {
  const acme = await server.company(records);
  const list = async (query: object) => concepts((await acme.get('/estimates', { ...query })).body);
  expect(await list({ clienteId: 2 })).toEqual(['Concepto 12']);
  expect(await list({ busqueda: 'BANO' })).toEqual(['Reforma del baño']);
  expect(await list({ busqueda: 'p-00' })).toEqual(['Reforma del baño']);
  expect(await list({ busqueda: 'zoe' })).toEqual(['Concepto 12']);
  expect(await list({ busqueda: 'cafe nilo' })).toHaveLength(4);
  expect(await list({ busqueda: 'concepto', clienteId: 1, fecha_inicio: '2026-02-28' })).toEqual([
    'Concepto 14',
    'Concepto 13',
  ]);
  expect(await list({ busqueda: 'nada' })).toEqual([]);
});

test('by its exact number; the sum is of the whole selection, whatever the page', async () => {
  const acme = await server.company([
    ...records,
    estimate(16, '2026-04-01', {
      numero: 'P-00071',
      lineas: [{ descripcion: 'x', cantidad: 1, importe_unitario: 0.05 }],
    }),
  ]);
  const list = async (query: object) => (await acme.get('/estimates', { ...query })).body.data;
  expect(concepts({ data: await list({ numero: 'P-0007' }) })).toEqual(['Reforma del baño']);
  expect(await list({ numero: 'p-0007' })).toMatchObject({ total_presupuestos: 0, suma_base: 0 });
  expect(await list({ por_pagina: 1, pagina: 9 })).toMatchObject({ suma_base: 67.15, presupuestos: [] });
  expect(await list({ clienteId: 1, fecha_inicio: '2026-02-01' })).toMatchObject({ suma_base: 0.05 });
  expect(await list({ busqueda: 'p-0007' })).toMatchObject({ total_presupuestos: 2, suma_base: 67.15 });
});

test('a changed estimate is found by what it says now', async () => {
  const acme = await server.company(records);
  await acme.load([{ ...estimate(12, '2026-02-01'), concepto: 'Pérgola' }]);
  expect(concepts((await acme.get('/estimates', { busqueda: 'pergola' })).body)).toEqual(['Pérgola']);
  expect(concepts((await acme.get('/estimates', { busqueda: 'concepto 12' })).body)).toEqual([]);
});

test('[TEN-01] another company has estimates of its own, and the client is not found', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const [{ contraparte }] = (await acme.get('/estimates')).body.data.presupuestos;
  expect((await other.get('/estimates')).body.data.presupuestos).toEqual([]);
  for (const clienteId of [contraparte.clienteId, 1]) {
    expect((await other.get('/estimates', { clienteId })).status).toBe(404);
  }
  const reversed = await acme.get('/estimates', { fecha_inicio: '2026-02-02', fecha_fin: '2026-02-01' });
  expect(reversed.body.data).toMatchObject([{ campo: 'fecha_fin' }]);
});
