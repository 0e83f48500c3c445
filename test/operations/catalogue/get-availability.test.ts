import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-01-10T10:00:00Z') });
afterAll(() => server.stop());

interface Availability {
  stock: number;
  minimo_disponible: number;
  disponible: boolean;
  dias: { fecha: string; reservado: number; disponible: number }[];
}

const formatos = [
  { ref: 'lote', id: 71, titulo: 'Lote', factor: 4 },
  { ref: 'peso', id: 72, titulo: 'A peso', factor: 2.5, peso_variable: true },
];
const catalogue: FileRecord[] = [
  { coleccion: 'clientes', ref: 'cli', id: 1, nombre_fiscal: 'Cliente', cif: 'B1' },
  { coleccion: 'articulos', ref: 'silla', id: 10, descripcion: 'Silla', modo: 'alquiler', stock: 100, formatos },
  { coleccion: 'articulos', ref: 'vino', id: 11, descripcion: 'Vino', stock: 50 },
  { coleccion: 'articulos', ref: 'camarero', id: 12, descripcion: 'Camarero', modo: 'servicio', stock: 3 },
  { coleccion: 'articulos', ref: 'mesa', id: 13, descripcion: 'Mesa', modo: 'alquiler', stock: 7.5 },
];
const line = (articulo: string, cantidad: number, startDate?: string, endDate?: string, more: object = {}) => ({
  descripcion: articulo,
  articulo,
  cantidad,
  importe_unitario: 1,
  startDate,
  endDate,
  ...more,
});
let made = 0;
const document = (coleccion: 'albaranes' | 'facturas', lineas: object[]): FileRecord => ({
  coleccion,
  ref: `n${made++}`,
  fecha: '2026-01-05',
  cliente: 'cli',
  lineas,
});

async function availability(company: Company, product: number, fecha_inicio: string, fecha_fin: string, more = {}) {
  const { status, body } = await company.get(`/products/${product}/availability`, { fecha_inicio, fecha_fin, ...more });
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data as Availability;
}
const reserved = ({ dias }: Availability) => Object.fromEntries(dias.map(({ fecha, reservado }) => [fecha, reservado]));

test('[DLV-06] a note’s lines with dates reserve a rental on each day, both ends included', async () => {
  const acme = await server.company(catalogue);
  const query = { fecha_inicio: '2026-01-29', fecha_fin: '2026-02-02' };
  const before = await availability(acme, 10, query.fecha_inicio, query.fecha_fin, { cantidad: 100 });
  expect(before).toMatchObject({ minimo_disponible: 100, disponible: true });
  const note = await acme.post('/delivery-notes', {
    cliente: { id: 1 },
    pedido: { obra: 'Boda' },
    detalles: [
      { cantidad: 30, articulo_fk: 10, importe_unitario: 2, startDate: '2026-01-30', endDate: '2026-02-01' },
      { cantidad: 5, articulo_fk: 10, importe_unitario: 2, startDate: '2026-02-01', endDate: '2026-02-01' },
      { cantidad: 9, articulo_fk: 10, importe_unitario: 2 },
    ],
  });
  expect(note.body.errorMsg).toBe('');
  const { status, body } = await acme.get('/products/10/availability', { ...query, cantidad: 65 });
  expect(status).toBe(200);
  expect(body.data).toEqual({
    articulo: { articuloId: expect.any(String), descripcion: 'Silla' },
    stock: 100,
    minimo_disponible: 65,
    disponible: true,
    dias: [
      { fecha: '2026-01-29', reservado: 0, disponible: 100 },
      { fecha: '2026-01-30', reservado: 30, disponible: 70 },
      { fecha: '2026-01-31', reservado: 30, disponible: 70 },
      { fecha: '2026-02-01', reservado: 35, disponible: 65 },
      { fecha: '2026-02-02', reservado: 0, disponible: 100 },
    ],
  });
  expect((await acme.alias('consultarDisponibilidad', { ...query, articuloId: 10, cantidad: 65 })).body).toEqual(body);
  expect((await availability(acme, 10, '2026-02-01', '2026-02-01', { cantidad: 65.1 })).disponible).toBe(false);
});

test('[DLV-06] what is sold has left the stock and reserves nothing; a service is reserved as a rental is', async () => {
  const acme = await server.company(catalogue);
  const dates = { startDate: '2026-03-01', endDate: '2026-03-02' };
  const note = await acme.post('/delivery-notes', {
    cliente: { id: 1 },
    pedido: { obra: 'Boda' },
    detalles: [
      { cantidad: 20, articulo_fk: 11, importe_unitario: 2, ...dates },
      { cantidad: 4, articulo_fk: 12, importe_unitario: 2, ...dates },
    ],
  });
  expect(note.body.errorMsg).toBe('');
  expect(await availability(acme, 11, '2026-03-01', '2026-03-01')).toMatchObject({
    stock: 30,
    minimo_disponible: 30,
    dias: [{ reservado: 0, disponible: 30 }],
  });
  expect(await availability(acme, 12, '2026-03-01', '2026-03-01')).toMatchObject({
    stock: 3,
    minimo_disponible: -1,
    disponible: false,
    dias: [{ reservado: 4, disponible: -1 }],
  });
});

test('[DLV-04] [DLV-05] formats reserve base units: quantity x factor, or the real quantity; a return gives back', async () => {
  const acme = await server.company([
    ...catalogue,
    document('albaranes', [
      line('silla', 3, '2026-03-01', '2026-03-06', { formato: 'lote' }),
      line('silla', 2, '2026-03-02', '2026-03-06', { formato: 'peso' }),
      line('silla', 2, '2026-03-03', '2026-03-06', { formato: 'peso', cantidad_base_real: 4.75 }),
      line('silla', -1, '2026-03-04', '2026-03-06', { formato: 'lote' }),
      line('silla', -2, '2026-03-05', '2026-03-06', { formato: 'peso', cantidad_base_real: 4.5 }),
      line('silla', -0.25, '2026-03-06', '2026-03-06'),
    ]),
  ]);
  const found = await availability(acme, 10, '2026-03-01', '2026-03-07');
  expect(Object.values(reserved(found))).toEqual([12, 17, 21.75, 17.75, 13.25, 13, 0]);
  expect(found.minimo_disponible).toBe(78.25);
});

test('[DLV-06] an invoice’s own lines reserve too; those that come from a note were counted with it', async () => {
  const acme = await server.company([
    ...catalogue,
    document('albaranes', [line('mesa', 2, '2026-03-01', '2026-03-02')]),
    document('facturas', [
      line('mesa', 2, '2026-03-01', '2026-03-02', { proviene_albaranes: true }),
      line('mesa', 1.5, '2026-03-02', '2026-03-03'),
    ]),
  ]);
  expect(reserved(await availability(acme, 13, '2026-03-01', '2026-03-04'))).toEqual({
    '2026-03-01': 2,
    '2026-03-02': 3.5,
    '2026-03-03': 1.5,
    '2026-03-04': 0,
  });
  expect((await availability(acme, 10, '2026-03-01', '2026-03-04')).minimo_disponible).toBe(100);
});

test('[DLV-06] a note reserves no more once it is invoiced; an invoice written by itself reserves', async () => {
  const acme = await server.company(catalogue);
  const dates = { startDate: '2026-03-01', endDate: '2026-03-02' };
  const detalles = [{ cantidad: 2, articulo_fk: 13, importe_unitario: 9, ...dates }];
  const note = await acme.post('/delivery-notes', { cliente: { id: 1 }, pedido: { obra: 'Boda' }, detalles });
  const invoiced = await acme.post('/invoices', { albaranes: [note.body.data] });
  expect(invoiced.body.errorMsg).toBe('');
  expect(await availability(acme, 13, '2026-03-02', '2026-03-02')).toMatchObject({ minimo_disponible: 5.5 });
  const own = await acme.post('/invoices', { cliente: { id: 1 }, pedido: { obra: 'Feria' }, detalles });
  expect(own.body.errorMsg).toBe('');
  expect(await availability(acme, 13, '2026-03-02', '2026-03-03')).toMatchObject({
    stock: 7.5,
    dias: [{ reservado: 4 }, { reservado: 0 }],
  });
});

test('one unit unless told how many; a quantity is more than 0, and its fractions count exactly', async () => {
  const acme = await server.company([
    ...catalogue,
    document('albaranes', [
      line('mesa', 0.1, '2026-03-01', '2026-03-01'),
      line('mesa', 0.2, '2026-03-01', '2026-03-01'),
      line('mesa', 6.5, '2026-03-02', '2026-03-02'),
      line('mesa', 6.75, '2026-03-03', '2026-03-03'),
    ]),
  ]);
  expect(await availability(acme, 13, '2026-03-01', '2026-03-01', { cantidad: 7.2 })).toMatchObject({
    minimo_disponible: 7.2,
    disponible: true,
  });
  expect((await availability(acme, 13, '2026-03-01', '2026-03-02')).disponible).toBe(true);
  expect((await availability(acme, 13, '2026-03-01', '2026-03-03')).disponible).toBe(false);
  for (const cantidad of [0, -1, 'x', 0.0000001]) {
    const query = { fecha_inicio: '2026-03-01', fecha_fin: '2026-03-01', cantidad };
    const { status, body } = await acme.get('/products/13/availability', query);
    expect([status, body.data?.[0].campo], String(cantidad)).toEqual([400, 'cantidad']);
  }
});

test('[DATE-01] 366 days are the longest range: one more is 400 and names the end', async () => {
  const acme = await server.company(catalogue);
  const { dias } = await availability(acme, 10, '2024-01-01', '2024-12-31');
  expect(dias).toHaveLength(366);
  const query = { fecha_inicio: '2024-01-01', fecha_fin: '2025-01-01' };
  const { status, body } = await acme.get('/products/10/availability', query);
  expect([status, body.data]).toEqual([400, [{ campo: 'fecha_fin', mensaje: 'el rango máximo es de 366 días' }]]);
});

test('[TEN-01] another company’s product is not found, and its reservations are its own', async () => {
  const acme = await server.company([
    ...catalogue,
    document('albaranes', [line('silla', 9, '2026-03-01', '2026-03-01')]),
  ]);
  const withoutIds = JSON.parse(JSON.stringify(catalogue, (name, value) => (name === 'id' ? undefined : value)));
  const other = await server.company(withoutIds);
  const range = { fecha_inicio: '2026-03-01', fecha_fin: '2026-03-01' };
  const { articuloId } = (await acme.get('/products/10/availability', range)).body.data.articulo;
  for (const id of [articuloId, 10]) {
    const { status, body } = await other.get(`/products/${id}/availability`, range);
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('articuloId')]);
  }
  const [{ articuloId: own }] = (await other.get('/products', { busqueda: 'silla' })).body.data.articulos;
  expect((await other.get(`/products/${own}/availability`, range)).body.data.minimo_disponible).toBe(100);
});

// The same computed naively: every line for every day, in whole hundredths.
test('[DLV-06] [DLV-04] [DLV-05] every day of generated documents is what a look at each line finds', async () => {
  const date = (offset: number) => Temporal.PlainDate.from('2026-01-20').add({ days: offset }).toString();
  const span = fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 50 })))
    .map(([start, days]) => ({ start: date(start), end: date(start + days) }));
  const booking = fc.record({
    on: fc.constantFrom('note', 'note', 'invoice', 'invoiced note'),
    product: fc.constantFrom('silla', 'silla', 'silla', 'vino', 'mesa'),
    tenths: fc.integer({ min: -60, max: 90 }).filter((value) => value !== 0),
    format: fc.constantFrom(null, 'lote', 'peso'),
    real: fc.option(fc.integer({ min: 1, max: 2000 })),
    span: fc.option(span, { freq: 8 }),
  });
  const generated = fc.record({
    bookings: fc.array(booking, { minLength: 5, maxLength: 30 }),
    ranges: fc.array(span, { minLength: 3, maxLength: 3 }),
    cantidad: fc.integer({ min: 1, max: 12_000 }),
  });
  const FACTOR_TENTHS = { lote: 40, peso: 25 };

  await fc.assert(
    fc.asyncProperty(generated, async ({ bookings, ranges, cantidad }) => {
      const rows = bookings.map((each) => ({ ...each, format: each.product === 'silla' ? each.format : null }));
      const linesOn = (on: string, more: object = {}) =>
        rows
          .filter((each) => each.on === on)
          .map((each) =>
            line(each.product, each.tenths / 10, each.span?.start, each.span?.end, {
              formato: each.format,
              cantidad_base_real: each.format === 'peso' && each.real ? each.real / 100 : null,
              ...more,
            }),
          );
      const documents = [
        document('albaranes', linesOn('note')),
        document('facturas', [...linesOn('invoice'), ...linesOn('invoiced note', { proviene_albaranes: true })]),
      ];
      const acme = await server.company([...catalogue, ...documents.filter(({ lineas }) => Object(lineas).length > 0)]);

      for (const [number, product, stock] of [
        [10, 'silla', 10_000],
        [11, 'vino', 5000],
        [13, 'mesa', 750],
      ] as const) {
        for (const { start, end } of ranges) {
          const dias = [];
          for (let at = Temporal.PlainDate.from(start); at.toString() <= end; at = at.add({ days: 1 })) {
            const fecha = at.toString();
            let units = 0;
            for (const each of rows) {
              if (each.product !== product || product === 'vino' || each.on === 'invoiced note') continue;
              if (!each.span || fecha < each.span.start || fecha > each.span.end) continue;
              if (each.format === 'peso' && each.real) units += Math.sign(each.tenths) * each.real;
              else units += each.format ? each.tenths * FACTOR_TENTHS[each.format] : each.tenths * 10;
            }
            dias.push({ fecha, reservado: units / 100, disponible: (stock - units) / 100 });
          }
          const least = Math.min(...dias.map(({ disponible }) => disponible));
          expect(await availability(acme, number, start, end, { cantidad: cantidad / 100 })).toMatchObject({
            stock: stock / 100,
            minimo_disponible: least,
            disponible: least >= cantidad / 100,
            dias,
          });
        }
      }
    }),
    { numRuns: 20 },
  );
}, 60_000);
