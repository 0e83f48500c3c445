import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { demoCompany } from '../../../account-file/demo/index.ts';
import { arbitraryCompany } from '../../account-file/arbitrary-company.ts';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';
import { expectSalesAsBooks } from '../projects/as-books.ts';
import { booksOf, busyCompany, busyDay } from '../projects/plain-books.ts';

const server = await startServer();
afterAll(() => server.stop());

const line = (importe_unitario: number, more: object = {}) => ({
  descripcion: 'x',
  cantidad: 1,
  importe_unitario,
  ...more,
});
const document = (coleccion: string, ref: string, fecha: string, lineas: object[], cliente = 'bar'): FileRecord => ({
  coleccion,
  ref,
  numero: ref,
  fecha,
  cliente,
  lineas,
});
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'bar', id: 1, nombre_fiscal: 'Bar Pepe SL' },
  { coleccion: 'clientes', ref: 'hotel', id: 2, nombre_fiscal: 'Hotel Sol SA' },
  { coleccion: 'familias', ref: 'muebles', id: 3, titulo: 'Muebles' },
  { coleccion: 'articulos', ref: 'silla', id: 4, descripcion: 'Silla', familia: 'muebles' },
  { coleccion: 'articulos', ref: 'mesa', id: 5, descripcion: 'Mesa', familia: 'muebles' },
  { coleccion: 'articulos', ref: 'flete', id: 6, descripcion: 'Flete' },
  document('albaranes', 'a1', '2026-01-31', [
    line(100, { articulo: 'silla' }),
    line(20, { articulo: 'mesa', descuento: 50 }),
  ]),
  document('albaranes', 'a2', '2026-02-01', [line(0.05, { articulo: 'flete', iva: 0 })], 'hotel'),
  // One of its lines was counted with the first note.
  document('facturas', 'f1', '2026-02-28', [
    line(100, { articulo: 'silla', proviene_albaranes: true, albaran: 'a1' }),
    line(7.5, { articulo: 'mesa' }),
    line(-2),
  ]),
  // All of its lines were counted with notes.
  document('facturas', 'f2', '2026-02-28', [line(10, { proviene_albaranes: true, albaran: 'a1' })]),
  document('facturas', 'f3', '2026-04-02', [line(200)], 'hotel'),
];
const year = { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' };
const report = async (company: Company, query: object) => {
  const { status, body } = await company.get('/reports/sales', { ...query });
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data;
};

test('[PRJ-01] [MON-01] notes, and invoice lines of no note, by header date and without VAT', async () => {
  const acme = await server.company(records);
  expect(await report(acme, year)).toEqual({ ...year, total_ventas: 315.55, num_documentos: 4 });
  const february = { fecha_inicio: '2026-02-01', fecha_fin: '2026-02-28' };
  expect(await report(acme, february)).toEqual({ ...february, total_ventas: 5.55, num_documentos: 2 });
  const empty = { fecha_inicio: '2026-03-01', fecha_fin: '2026-03-31' };
  for (const agrupar of ['cliente', 'familia', 'articulo']) {
    const none = { ...empty, total_ventas: 0, num_documentos: 0, agrupacion: { por: agrupar, grupos: [] } };
    expect(await report(acme, { ...empty, agrupar })).toEqual(none);
  }
});

test('[PRJ-01] by month every month is there', async () => {
  const acme = await server.company(records);
  const { agrupacion } = await report(acme, { fecha_inicio: '2025-12-31', fecha_fin: '2026-04-01', agrupar: 'mes' });
  expect(agrupacion).toEqual({
    por: 'mes',
    grupos: [
      { mes: '2025-12', total: 0, num_documentos: 0 },
      { mes: '2026-01', total: 110, num_documentos: 1 },
      { mes: '2026-02', total: 5.55, num_documentos: 2 },
      { mes: '2026-03', total: 0, num_documentos: 0 },
      { mes: '2026-04', total: 0, num_documentos: 0 },
    ],
  });
});

test('[PRJ-01] by client, family and article, what has none in a group of its own', async () => {
  const acme = await server.company(records);
  const groups = async (agrupar: string) => (await report(acme, { ...year, agrupar })).agrupacion;
  expect(await groups('cliente')).toEqual({
    por: 'cliente',
    grupos: [
      { clienteId: expect.any(String), nombre_fiscal: 'Hotel Sol SA', total: 200.05, num_documentos: 2 },
      { clienteId: expect.any(String), nombre_fiscal: 'Bar Pepe SL', total: 115.5, num_documentos: 2 },
    ],
  });
  expect(await groups('familia')).toEqual({
    por: 'familia',
    grupos: [
      { familiaId: null, titulo: 'Sin clasificar', total: 198.05, num_documentos: 3 },
      { familiaId: expect.any(String), titulo: 'Muebles', total: 117.5, num_documentos: 2 },
    ],
  });
  expect(await groups('articulo')).toEqual({
    por: 'articulo',
    grupos: [
      { articuloId: null, descripcion: 'Sin artículo', total: 198, num_documentos: 2 },
      { articuloId: expect.any(String), descripcion: 'Silla', total: 100, num_documentos: 1 },
      { articuloId: expect.any(String), descripcion: 'Mesa', total: 17.5, num_documentos: 2 },
      { articuloId: expect.any(String), descripcion: 'Flete', total: 0.05, num_documentos: 1 },
    ],
  });
  const [hotel] = (await groups('cliente')).grupos;
  expect((await acme.get(`/clients/${hotel.clienteId}`)).body.data.cliente.nombre_fiscal).toBe('Hotel Sol SA');
  const [, muebles] = (await groups('familia')).grupos;
  expect((await acme.get('/products', { familiaId: muebles.familiaId })).body.data.total_articulos).toBe(2);
});

test('[PRJ-01] [DLV-02] a note issued by the API is a sale of its day', async () => {
  const acme = await server.company(records);
  const before = await report(acme, { fecha_inicio: '2026-01-01', fecha_fin: '9999-12-31' });
  const detalles = [{ cantidad: 3, descripcion: 'Silla', importe_unitario: 1.1, articulo_fk: 4 }];
  const created = await acme.post('/delivery-notes', { cliente: { id: 1 }, pedido: { obra: 'Boda' }, detalles });
  expect(created.status).toBe(200);
  const after = await report(acme, { fecha_inicio: '2026-01-01', fecha_fin: '9999-12-31' });
  expect(after.total_ventas).toBeCloseTo(before.total_ventas + 3.3, 8);
  expect(after.num_documentos).toBe(before.num_documentos + 1);
});

test('the 25 highest, equal ones by name', async () => {
  const clients = Array.from(
    { length: 30 },
    (_, i): FileRecord => ({
      coleccion: 'clientes',
      ref: `c${i}`,
      nombre_fiscal: `C${String(i).padStart(2, '0')}`,
    }),
  );
  const notes = clients.map(({ ref = '' }, i) =>
    document('albaranes', ref, '2026-05-31', [line(Math.floor(i / 2) + 1)], ref),
  );
  const acme = await server.company([...clients, ...notes]);
  const { agrupacion, total_ventas } = await report(acme, { ...year, agrupar: 'cliente' });
  expect(total_ventas).toBe(240);
  expect(agrupacion.grupos.map(({ nombre_fiscal }: { nombre_fiscal: string }) => nombre_fiscal)).toEqual([
    ...Array.from({ length: 12 }, (_, pair) =>
      [`C${28 - 2 * pair}`, `C${29 - 2 * pair}`].map((name) => name.replace(/^C(\d)$/, 'C0$1')),
    ).flat(),
    'C04',
  ]);
});

test('[DATE-01] bad dates and groupings are named; twenty years at most by month', async () => {
  const acme = await server.company();
  const problem = async (query: object) => {
    const { status, body } = await acme.get('/reports/sales', { ...query });
    expect(status).toBe(400);
    return body.data.map(({ campo }: { campo: string }) => campo);
  };
  expect(await problem({ fecha_inicio: '2026-01-01' })).toEqual(['fecha_fin']);
  expect(await problem({ ...year, fecha_inicio: '2026-02-30' })).toEqual(['fecha_inicio']);
  expect(await problem({ ...year, agrupar: 'proveedor' })).toEqual(['agrupar']);
  const long = { fecha_inicio: '2006-01-01', fecha_fin: '2026-01-02' };
  expect(await problem({ ...long, agrupar: 'mes' })).toEqual(['fecha_fin']);
  expect((await report(acme, { ...long, fecha_fin: '2026-01-01', agrupar: 'mes' })).agrupacion.grupos).toHaveLength(
    241,
  );
  expect(await report(acme, { ...long, agrupar: 'articulo' })).toMatchObject({ total_ventas: 0 });
});

test('[TEN-01] another company’s documents are no sales of this one', async () => {
  await server.company(records);
  const other = await server.company();
  expect(await report(other, year)).toEqual({ ...year, total_ventas: 0, num_documentos: 0 });
});

test('[PRJ-01] the same as a slow sum over the records, whatever is sold', async () => {
  await fc.assert(
    fc.asyncProperty(busyCompany, busyDay, busyDay, async (company, one, other) => {
      const [from = '', to = ''] = [one, other].sort();
      const acme = await server.company(company.slice(1));
      await expectSalesAsBooks(acme, booksOf(company), from, to);
    }),
    { numRuns: 12 },
  );
}, 60_000);

test('[PRJ-01] the same as a slow sum over any company that a file can hold', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryCompany, async ([account, ...company]) => {
      // The file's local times are in its own zone.
      const acme = await server.company(company, { cuenta: account });
      await expectSalesAsBooks(acme, booksOf([account as FileRecord, ...company]), '2023-12-01', '2027-04-30');
    }),
    { numRuns: 8, endOnFailure: true },
  );
}, 60_000);

test('[PRJ-01] the same as a slow sum over the demo company', async () => {
  const [, ...demo] = [...demoCompany({ today: Temporal.PlainDate.from('2026-03-10') })] as FileRecord[];
  const acme = await server.company(demo);
  const books = booksOf(demo);
  expect(books.sales.length).toBeGreaterThan(500);
  await expectSalesAsBooks(acme, books, '2025-01-17', '2026-12-31');
}, 60_000);
