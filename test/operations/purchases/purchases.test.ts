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
const bill = (numero: string, fecha: string, lineas: object[], more: object = {}): FileRecord => ({
  coleccion: 'facturas_compra',
  ref: numero,
  numero,
  fecha,
  proveedor: 'luz',
  lineas,
  ...more,
});
const records: FileRecord[] = [
  {
    coleccion: 'proveedores',
    ref: 'luz',
    id: 1,
    nombre_fiscal: 'Luz SA',
    nombre_comercial: 'Luz',
    cif: 'A1',
    email: 'a@luz.es',
    telefono: '91',
    movil: '6',
  },
  { coleccion: 'proveedores', ref: 'agua', id: 2, nombre_fiscal: 'Agua SL' },
  { coleccion: 'subtipos_gasto', ref: 's', subtipo: 'G01', titulo: 'Suministros' },
  bill('L-1', '2026-01-10', [line(100), line(50, { iva: 10 }), line(0.05)], { subtipo: 'G01', pagado: 176.06 }),
  bill('L-2', '2026-02-20', [line(10.01, { cantidad: 3, descuento: 50 })]),
  bill('A-1', '2026-02-20', [line(200)], { proveedor: 'agua', subtipo: 'G02', pagado: 242 }),
  bill('A-2', '2026-04-01', [line(-20)], { proveedor: 'agua' }),
];
const numbers = (body: { data: { facturas: { numero: string }[] } }) => body.data.facturas.map(({ numero }) => numero);
const year = { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' };

test('[PIN-01] base from lines, balance with VAT rounded by rate, paid or not, newest first', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/purchase-invoices');
  expect(status).toBe(200);
  expect(numbers(body)).toEqual(['A-2', 'A-1', 'L-2', 'L-1']);
  expect(body.data.facturas[3]).toEqual({
    facturaCompraId: expect.any(String),
    numero: 'L-1',
    fecha: '2026-01-10',
    proveedor: {
      proveedorId: expect.any(String),
      nombre_fiscal: 'Luz SA',
      nombre_comercial: 'Luz',
      cif: 'A1',
      email: 'a@luz.es',
      telefono: '91',
      movil: '6',
    },
    anulado: false,
    base_imponible: 150.05,
    saldo: 0,
    pagada: true,
    subtipo: 'G01',
  });
  expect(body.data.facturas[2]).toMatchObject({ base_imponible: 15.02, saldo: 18.17, pagada: false, subtipo: '' });
  expect(body.data.facturas[1]).toMatchObject({ saldo: 0, pagada: true, proveedor: { movil: null, telefono: '' } });
  expect(body.data.facturas[0]).toMatchObject({ base_imponible: -20, saldo: -24.2, pagada: true });
});

test('[PIN-01] dates, supplier, paid and subtype filter', async () => {
  const acme = await server.company(records);
  const found = async (query: object) => numbers((await acme.get('/purchase-invoices', { ...query })).body);
  expect(await found({ fecha_inicio: '2026-02-20', fecha_fin: '2026-02-20' })).toEqual(['A-1', 'L-2']);
  expect(await found({ fecha_fin: '2026-01-31' })).toEqual(['L-1']);
  expect(await found({ proveedorId: 2 })).toEqual(['A-2', 'A-1']);
  expect(await found({ pagada: true })).toEqual(['A-2', 'A-1', 'L-1']);
  expect(await found({ pagada: false })).toEqual(['L-2']);
  expect(await found({ subtipo: 'G02' })).toEqual(['A-1']);
  expect(await found({ subtipo: 'nada' })).toEqual([]);
  const page = (await acme.get('/purchase-invoices', { por_pagina: 3, pagina: 2 })).body;
  expect([numbers(page), page.data.total_facturas, page.data.num_paginas]).toEqual([['L-1'], 4, 2]);
});

const PURCHASES = [
  { path: '/purchase-invoices', coleccion: 'facturas_compra', rows: 'facturas', more: { suma_saldo: 1.21 } },
  { path: '/purchase-delivery-notes', coleccion: 'albaranes_compra', rows: 'documentos', more: {} },
];

test.each(PURCHASES)('$path by number, project and text', async ({ path, coleccion, rows, more }) => {
  const record = (numero: string, proveedor: string, fields: object = {}): FileRecord => ({
    coleccion,
    ref: numero,
    numero,
    fecha: '2026-01-10',
    proveedor,
    lineas: [line(1)],
    ...fields,
  });
  const annulled = { anulado_el: '2026-03-05 10:00:00', motivo_anulacion: 'Error' };
  const acme = await server.company([
    ...records.slice(0, 2),
    { coleccion: 'proyectos', ref: 'nave', id: 21, numero: '1', descripcion: 'Nave' },
    { coleccion: 'proyectos', ref: 'patio', id: 22, numero: '2', descripcion: 'Patio' },
    record('Ñ-1', 'luz', { proyecto: 'nave' }),
    record('Ñ-12', 'agua', { lineas: [line(2, { proyecto: 'nave' }), line(3, { proyecto: 'patio' })] }),
    record('X', 'agua', annulled),
  ]);
  const list = async (query: object) => (await acme.get(path, { ...query })).body.data;
  const found = async (query: object) =>
    (await list(query))[rows].map(({ numero }: { numero: string }) => numero).toSorted();
  expect(await found({ numero: 'Ñ-1' })).toEqual(['Ñ-1']);
  expect(await found({ numero: 'ñ-1' })).toEqual([]);
  expect(await found({ busqueda: 'n-1' })).toEqual(['Ñ-1', 'Ñ-12']);
  expect(await found({ busqueda: 'LUZ SA' })).toEqual(['Ñ-1']);
  expect(await found({ busqueda: 'agua', proyectoId: 22 })).toEqual(['Ñ-12']);
  expect(await found({ proyectoId: 21 })).toEqual(['Ñ-1', 'Ñ-12']);
  // [W-02] What was annulled is in the list alone, and the sums are of the whole selection.
  expect(await list({ por_pagina: 1, pagina: 9 })).toMatchObject({ suma_base: 6, [rows]: [] });
  expect(await list({ numero: 'Ñ-1' })).toMatchObject({ suma_base: 1, ...more });
  expect(await list({ numero: 'X' })).toMatchObject({ suma_base: 0, [rows]: [{ anulado: true, base_imponible: 1 }] });
  expect((await acme.get(path, { busqueda: 'x'.repeat(201) })).body.data).toMatchObject([{ campo: 'busqueda' }]);
  const other = await server.company();
  expect((await other.get(path, { proyectoId: 21 })).status).toBe(404);
});

test('[PIN-01] the sums of purchase invoices are what these say, VAT rounded in each', async () => {
  const acme = await server.company(records);
  const list = async (query: object) => (await acme.get('/purchase-invoices', { ...query })).body.data;
  expect(await list({})).toMatchObject({ suma_base: 345.07, suma_saldo: -6.03 });
  expect(await list({ pagada: false })).toMatchObject({ suma_base: 15.02, suma_saldo: 18.17 });
  expect(await list({ numero: 'nada' })).toMatchObject({ suma_base: 0, suma_saldo: 0 });
});

test('[PDN-01] purchase delivery notes: inclusive dates, supplier, base from lines', async () => {
  const received = (ref: string, fecha: string, proveedor: string, more: object = {}): FileRecord => ({
    coleccion: 'albaranes_compra',
    ref,
    fecha,
    proveedor,
    lineas: [line(12.5, { cantidad: 3 }), line(1)],
    ...more,
  });
  const acme = await server.company([
    ...records.slice(0, 2),
    received('a', '2026-01-31', 'luz', { numero: 'R-9' }),
    received('b', '2026-02-01', 'agua'),
  ]);
  const { body } = await acme.get('/purchase-delivery-notes');
  expect(body.data).toMatchObject({ total_albaranes: 2, documentos: [{ numero: '', fecha: '2026-02-01' }, {}] });
  expect(body.data.documentos[1]).toEqual({
    albaranCompraId: expect.any(String),
    numero: 'R-9',
    fecha: '2026-01-31',
    proveedor: expect.objectContaining({ nombre_fiscal: 'Luz SA' }),
    base_imponible: 38.5,
    anulado: false,
  });
  const dates = async (query: object) =>
    (await acme.get('/purchase-delivery-notes', { ...query })).body.data.documentos.map(
      ({ fecha }: { fecha: string }) => fecha,
    );
  expect(await dates({ fecha_inicio: '2026-01-31', fecha_fin: '2026-01-31' })).toEqual(['2026-01-31']);
  expect(await dates({ fecha_inicio: '2026-02-01' })).toEqual(['2026-02-01']);
  expect(await dates({ proveedorId: body.data.documentos[1].proveedor.proveedorId })).toEqual(['2026-01-31']);
});

test('[PRP-01] [MON-01] the total from lines, and by subtype with what is not classified', async () => {
  const acme = await server.company(records);
  const total = await acme.get('/reports/purchases', year);
  expect(total.body.data).toEqual({ ...year, total_compras: 345.07, num_documentos: 4 });
  const { body } = await acme.get('/reports/purchases', { ...year, agrupar: 'subtipo' });
  expect(body.data.agrupacion).toEqual({
    por: 'subtipo',
    grupos: [
      { subtipo: 'G02', titulo: 'G02', total: 200, num_documentos: 1 },
      { subtipo: 'G01', titulo: 'Suministros', total: 150.05, num_documentos: 1 },
      { subtipo: null, titulo: 'Sin clasificar', total: -4.98, num_documentos: 2 },
    ],
  });
});

test('[PRP-01] by month every month is there; by supplier the 25 highest', async () => {
  const many = Array.from({ length: 30 }, (_, i): FileRecord[] => [
    { coleccion: 'proveedores', ref: `p${i}`, nombre_fiscal: `P${i}` },
    {
      coleccion: 'facturas_compra',
      ref: `f${i}`,
      numero: `${i}`,
      fecha: '2026-05-31',
      proveedor: `p${i}`,
      lineas: [line(i + 1)],
    },
  ]).flat();
  const acme = await server.company([
    ...records,
    ...many.filter(({ coleccion }) => coleccion === 'proveedores'),
    ...many.filter(({ coleccion }) => coleccion !== 'proveedores'),
  ]);
  const months = await acme.get('/reports/purchases', {
    fecha_inicio: '2025-12-15',
    fecha_fin: '2026-05-31',
    agrupar: 'mes',
  });
  expect(months.body.data.agrupacion).toEqual({
    por: 'mes',
    grupos: [
      { mes: '2025-12', total: 0, num_documentos: 0 },
      { mes: '2026-01', total: 150.05, num_documentos: 1 },
      { mes: '2026-02', total: 215.02, num_documentos: 2 },
      { mes: '2026-03', total: 0, num_documentos: 0 },
      { mes: '2026-04', total: -20, num_documentos: 1 },
      { mes: '2026-05', total: 465, num_documentos: 30 },
    ],
  });
  const { grupos } = (await acme.get('/reports/purchases', { ...year, agrupar: 'proveedor' })).body.data.agrupacion;
  expect(grupos).toHaveLength(25);
  expect(grupos.slice(0, 3)).toMatchObject([
    { nombre_fiscal: 'Agua SL', total: 180, num_documentos: 2 },
    { nombre_fiscal: 'Luz SA', total: 165.07 },
    { nombre_fiscal: 'P29', total: 30 },
  ]);
});

test('[PRP-01] bad dates and groupings are named; twenty years at most by month', async () => {
  const acme = await server.company();
  expect((await acme.get('/reports/purchases', { fecha_inicio: '2026-01-01' })).body.data).toMatchObject([
    { campo: 'fecha_fin' },
  ]);
  expect((await acme.get('/reports/purchases', { ...year, fecha_inicio: '2026-13-01' })).body.data).toMatchObject([
    { campo: 'fecha_inicio' },
  ]);
  expect((await acme.get('/reports/purchases', { ...year, agrupar: 'semana' })).body.data).toMatchObject([
    { campo: 'agrupar' },
  ]);
  const long = { fecha_inicio: '2006-01-01', fecha_fin: '2026-01-02' };
  expect((await acme.get('/reports/purchases', { ...long, agrupar: 'mes' })).status).toBe(400);
  expect((await acme.get('/reports/purchases', { ...long, fecha_fin: '2026-01-01', agrupar: 'mes' })).status).toBe(200);
  expect((await acme.get('/reports/purchases', long)).status).toBe(200);
});

test('[TEN-01] another company’s suppliers are not found, nor its documents', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const { proveedorId } = (await acme.get('/purchase-invoices')).body.data.facturas[0].proveedor;
  for (const path of ['/purchase-invoices', '/purchase-delivery-notes']) {
    expect((await other.get(path, { proveedorId })).status).toBe(404);
    expect((await other.get(path, { proveedorId: 1 })).status).toBe(404);
  }
  expect((await other.get('/reports/purchases', year)).body.data).toMatchObject({
    total_compras: 0,
    num_documentos: 0,
  });
});
