import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const line = (importe_unitario: number, more: object = {}) => ({
  descripcion: 'x',
  cantidad: 1,
  importe_unitario,
  ...more,
});
const bill = (id: number, fecha: string, lineas: object[], more: object = {}): FileRecord => ({
  coleccion: 'facturas',
  ref: `f${id}`,
  id,
  numero: `F-${id}`,
  fecha,
  cliente: 'nilo',
  lineas,
  ...more,
});
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B1', email: 'c@nilo.es' },
  { coleccion: 'clientes', ref: 'zoe', id: 2, nombre_fiscal: 'Zoe' },
  // VAT by rate: 0.05 x 3 is rounded once, 0.03, and not three times.
  bill(11, '2026-01-31', [line(0.05), line(0.05), line(0.05), line(100, { iva: 10 })], {
    concepto: 'Reforma del baño',
    vencimientos: [
      { fecha: '2026-02-28', importe: 60, cobrado: 60 },
      { fecha: '2026-03-31', importe: 50.18, cobrado: 0.18 },
    ],
  }),
  bill(12, '2026-02-01', [line(10)], {
    cliente: 'zoe',
    vencimientos: [{ fecha: '2026-02-01', importe: 12.1, cobrado: 12.1 }],
  }),
  bill(14, '2026-02-28', [line(-20)]),
  bill(13, '2026-02-28', [line(20)], { vencimientos: [{ fecha: '2026-02-28', importe: 24.2, cobrado: 30 }] }),
  bill(15, '2026-03-01', [], { numero: null, vencimientos: [] }),
];
const numbers = (body: { data: { facturas: { numero: string }[] } }) => body.data.facturas.map(({ numero }) => numero);

test('[MON-01] base without VAT; total with it, rounded by rate; balance and paid from what was collected', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/invoices', { busqueda: 'bano' });
  expect(status).toBe(200);
  expect(body.data).toEqual({
    suma_base: 100.15,
    suma_con_iva: 110.18,
    suma_saldo: 50,
    total_facturas: 1,
    pagina: 1,
    por_pagina: 100,
    num_paginas: 1,
    cursor: null,
    facturas: [
      {
        facturaId: expect.stringMatching(/^[a-z][\w-]{22}$/),
        numero: 'F-11',
        fecha: '2026-01-31',
        concepto: 'Reforma del baño',
        contraparte: { clienteId: expect.any(String), nombre_fiscal: 'Café Nilo', cif: 'B1', email: 'c@nilo.es' },
        base_imponible: 100.15,
        total_con_iva: 110.18,
        saldo: 50,
        pagada: false,
        anulada: false,
        rectifica: null,
        rectificada_por: [],
      },
    ],
  });
  const all = (await acme.get('/invoices')).body.data.facturas;
  expect(all).toMatchObject([
    { numero: '', base_imponible: 0, total_con_iva: 0, saldo: 0, pagada: true },
    { numero: 'F-14', base_imponible: -20, total_con_iva: -24.2, saldo: -24.2, pagada: true },
    { numero: 'F-13', total_con_iva: 24.2, saldo: -5.8, pagada: true },
    { numero: 'F-12', total_con_iva: 12.1, saldo: 0, pagada: true },
    { numero: 'F-11', saldo: 50, pagada: false },
  ]);
});

test('[PAG-02] newest first, then by id; [DATE-01] both ends of the range are in it', async () => {
  const acme = await server.company(records);
  const list = async (query: object) => numbers((await acme.get('/invoices', { ...query })).body);
  expect(await list({ fecha_inicio: '2026-02-01', fecha_fin: '2026-02-28' })).toEqual(['F-14', 'F-13', 'F-12']);
  expect(await list({ fecha_fin: '2026-01-31' })).toEqual(['F-11']);
  const page = await acme.get('/invoices', { pagina: 2, por_pagina: 2 });
  expect(page.body.data).toMatchObject({ total_facturas: 5, num_paginas: 3 });
  expect(numbers(page.body)).toEqual(['F-13', 'F-12']);
});

test('by client, by what is paid, and by text in the number, the concept or the client', async () => {
  const acme = await server.company(records);
  const list = async (query: object) => numbers((await acme.get('/invoices', { ...query })).body);
  expect(await list({ clienteId: 2 })).toEqual(['F-12']);
  expect(await list({ pagada: false })).toEqual(['F-11']);
  expect(await list({ pagada: true })).toEqual(['', 'F-14', 'F-13', 'F-12']);
  const paid = await acme.get('/invoices', { pagada: true, clienteId: 1, por_pagina: 2 });
  expect(paid.body.data).toMatchObject({ total_facturas: 3, num_paginas: 2 });
  expect(await list({ busqueda: 'f-1' })).toHaveLength(4);
  expect(await list({ busqueda: 'ZOE' })).toEqual(['F-12']);
  expect(await list({ busqueda: 'del baño' })).toEqual(['F-11']);
  expect(await list({ busqueda: '%' })).toEqual([]);
});

test('by its exact number, and by project of the invoice or of a line', async () => {
  const acme = await server.company([
    ...records,
    { coleccion: 'proyectos', ref: 'nave', id: 21, numero: '1', descripcion: 'Nave' },
    { coleccion: 'proyectos', ref: 'patio', id: 22, numero: '2', descripcion: 'Patio' },
    bill(16, '2026-03-02', [line(1)], { proyecto: 'nave' }),
    bill(17, '2026-03-02', [line(2, { proyecto: 'nave' }), line(3, { proyecto: 'patio' })], { numero: 'F-1' }),
  ]);
  const list = async (query: object) => numbers((await acme.get('/invoices', { ...query })).body);
  expect(await list({ numero: 'F-1' })).toEqual(['F-1']);
  expect(await list({ numero: 'f-1' })).toEqual([]);
  expect(await list({ proyectoId: 21 })).toEqual(['F-1', 'F-16']);
  expect(await list({ proyectoId: 22 })).toEqual(['F-1']);
  expect(await list({ proyectoId: 21, busqueda: 'f-16' })).toEqual(['F-16']);
});

test('[MON-01] the sums are of the whole selection, whatever the page, as its invoices say', async () => {
  const acme = await server.company(records);
  const list = async (query: object) => (await acme.get('/invoices', { ...query })).body.data;
  const all = { suma_base: 110.15, suma_con_iva: 122.28, suma_saldo: 20 };
  expect(await list({})).toMatchObject(all);
  expect(await list({ por_pagina: 1, pagina: 9 })).toMatchObject({ ...all, total_facturas: 5, facturas: [] });
  expect(await list({ pagada: false })).toMatchObject({ suma_base: 100.15, suma_con_iva: 110.18, suma_saldo: 50 });
  expect(await list({ pagada: true, clienteId: 1 })).toMatchObject({ suma_base: 0, suma_con_iva: 0, suma_saldo: -30 });
  expect(await list({ busqueda: 'zoe' })).toMatchObject({ suma_base: 10, suma_con_iva: 12.1, suma_saldo: 0 });
  expect(await list({ numero: 'nada' })).toMatchObject({ suma_base: 0, suma_con_iva: 0, suma_saldo: 0 });
  // VAT is rounded in each invoice: one rate of both together would be 0.01 more.
  const cents = await server.company([
    ...records.slice(0, 2),
    bill(18, '2026-03-03', [line(0.02)]),
    bill(19, '2026-03-03', [line(0.02)]),
  ]);
  expect((await cents.get('/invoices')).body.data).toMatchObject({ suma_base: 0.04, suma_con_iva: 0.04 });
});

test('[W-02] what was annulled is in the list and not in its sums', async () => {
  const acme = await server.company([
    ...records,
    bill(20, '2026-03-04', [line(7)], { anulado_el: '2026-03-05 10:00:00', motivo_anulacion: 'Error' }),
  ]);
  expect((await acme.get('/invoices', { fecha_inicio: '2026-03-01' })).body.data).toMatchObject({
    total_facturas: 2,
    suma_base: 0,
    suma_con_iva: 0,
    suma_saldo: 0,
  });
});

test('a changed invoice is found by what it says now', async () => {
  const acme = await server.company(records);
  await acme.load([bill(12, '2026-02-01', [line(10)], { concepto: 'Pérgola' })]);
  expect(numbers((await acme.get('/invoices', { busqueda: 'pergola' })).body)).toEqual(['F-12']);
});

test('what is not a filter’s value is a 400 that names it', async () => {
  const acme = await server.company(records);
  for (const [campo, value] of [
    ['pagada', 'quizá'],
    ['fecha_inicio', '2026-02-30'],
    ['por_pagina', 0],
  ]) {
    const { status, body } = await acme.get('/invoices', { [String(campo)]: value });
    expect([status, body.data]).toMatchObject([400, [{ campo }]]);
  }
});

test('[TEN-01] another company has invoices of its own, and the client is not found', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const [{ contraparte }] = (await acme.get('/invoices', { clienteId: 1 })).body.data.facturas;
  expect((await other.get('/invoices')).body.data.facturas).toEqual([]);
  for (const clienteId of [contraparte.clienteId, 1]) {
    expect((await other.get('/invoices', { clienteId })).status).toBe(404);
  }
  expect((await other.get('/invoices', { proyectoId: 21 })).status).toBe(404);
  expect((await other.get('/invoices')).body.data).toMatchObject({ suma_base: 0, suma_con_iva: 0, suma_saldo: 0 });
});
