// Estimates are converted into delivery notes and invoices, never beyond their quantities.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { exportAccountFile } from '../../../account-file/export.ts';
import { openCompanies } from '../../account-file/companies.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z'), quotaPerMinute: 1_000_000 });
afterAll(() => server.stop());

const catalogue: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B1' },
  { coleccion: 'proyectos', ref: 'nave', id: 21, numero: '1', descripcion: 'Nave' },
  {
    coleccion: 'articulos',
    ref: 'tornillo',
    id: 10,
    descripcion: 'Tornillo',
    stock: 1000,
    precios: [{ tarifa: 1, precio: 9 }],
    variaciones: [{ ref: 'zincado', id: 61, descripcion: 'Zincado' }],
    formatos: [{ ref: 'kilo', id: 73, titulo: 'Bolsa a peso', factor: 50, peso_variable: true }],
  },
  { coleccion: 'articulos', ref: 'andamio', id: 12, descripcion: 'Andamio', modo: 'alquiler', stock: 4 },
];
const estimate = (lineas: object[], more: object = {}): FileRecord => ({
  coleccion: 'presupuestos',
  ref: 'p',
  id: 44,
  fecha: '2026-03-01',
  concepto: 'Reforma',
  cliente: 'nilo',
  lineas: lineas.map((line, index) => ({ ref: `l${index}`, id: 51 + index, descripcion: `Línea ${index}`, ...line })),
  ...more,
});
const two = estimate([
  { cantidad: 10, importe_unitario: 2.5, iva: 10, descuento: 5 },
  { cantidad: -3, importe_unitario: 4 },
]);
const cuenta = { stock_multiformato: true };

const convert = (company: Company, input: object, id: number | string = 44) =>
  company.post(`/estimates/${id}/convert`, input);

async function converted(company: Company, input: { destino: 'albaran' | 'factura'; [field: string]: unknown }) {
  const { status, body } = await convert(company, input);
  expect([status, body.errorMsg]).toEqual([200, '']);
  const path = input.destino === 'albaran' ? '/delivery-notes' : '/invoices';
  return (await company.get(`${path}/${body.data}`)).body.data;
}

interface Line {
  cantidad: number;
  [field: string]: unknown;
}
const quantities = ({ lineas }: { lineas: Line[] }) => lineas.map(({ cantidad }) => cantidad);

test('[W-04] a note has all that is left, as the estimate says it; the estimate is accepted, and nothing is left', async () => {
  const line = {
    descripcion: 'Tornillo zincado',
    cantidad: 3,
    importe_unitario: 2.123456789012,
    iva: 10,
    descuento: 5,
    articulo: 'tornillo',
    variacion: 'zincado',
    formato: 'kilo',
    cantidad_base_real: 148.5,
    descripcion_ampliada: 'Bolsa de 3 kg',
  };
  const rented = {
    cantidad: 1,
    importe_unitario: 15,
    articulo: 'andamio',
    startDate: '2026-03-12',
    endDate: '2026-03-14',
  };
  const more = { proyecto: 'nave', observaciones: '<b>Frágil</b>', promo_code: 'MARZO', valido_hasta: '2026-03-02' };
  const acme = await server.company([...catalogue, estimate([line, rented], more)], { cuenta });
  // Neither later prices of the article nor the estimate's client as it was count.
  expect((await acme.put('/clients/1', { datos: { nombre_fiscal: 'Café Nilo e Hijos' } })).status).toBe(200);
  const source = (await acme.get('/estimates/44')).body.data;
  const note = await converted(acme, { destino: 'albaran' });
  expect(note).toMatchObject({
    tipo: 'albaran',
    numero: 'A2026-0001',
    fecha: '2026-03-10',
    concepto: 'Reforma',
    contraparte: { nombre_fiscal: 'Café Nilo e Hijos' },
    base_imponible: source.base_imponible,
    observaciones: '<b>Frágil</b>',
    promo_code: 'MARZO',
    proyectoId: source.proyectoId,
  });
  const own = ({ lineas }: { lineas: { lineaId: string }[] }) => lineas.map(({ lineaId, ...rest }) => rest);
  expect(own(note)).toEqual(own(source));
  expect((await acme.get('/estimates/44')).body.data).toMatchObject({
    estado: 'aceptado',
    contraparte: { nombre_fiscal: 'Café Nilo' },
  });
  // As a note: stock, reservations and sales.
  expect((await acme.get('/products/10')).body.data.articulo.stock).toBe(851.5);
  const { movimientos } = (await acme.get('/products/10/stock-movements', { fecha_fin: '2026-03-10' })).body.data;
  expect(movimientos).toMatchObject([{ cantidad: -148.5, documento: { tipo: 'albaran', numero: 'A2026-0001' } }]);
  const days = { fecha_inicio: '2026-03-12', fecha_fin: '2026-03-12' };
  expect((await acme.get('/products/12/availability', days)).body.data.dias).toMatchObject([{ reservado: 1 }]);
  expect((await acme.get('/projects/21')).body.data.proyecto.economico.ventas).toBe(source.base_imponible);

  const again = await convert(acme, { destino: 'factura' });
  expect([again.status, again.body.errorMsg]).toEqual([
    400,
    'El parámetro presupuestoId no es válido: no queda nada por convertir',
  ]);
  // The note is invoiced as any other, and its line is not counted again.
  const invoice = await acme.post('/invoices', { albaranes: [note.albaranId] });
  expect(invoice.status).toBe(200);
  const { rows } = await server.service.database.pool.query(
    `select n.estimate_line_id as note, i.estimate_line_id as invoice, n.unit_price::text as price from delivery_note_lines n
     join invoice_lines i on i.account_id = $1 and i.delivery_note_id = n.delivery_note_id and i.position = n.position
     where n.account_id = $1 order by n.position`,
    [acme.id],
  );
  expect(rows).toMatchObject([
    { note: 51, invoice: null, price: '2.123456789012' },
    { note: 52, invoice: null },
  ]);
});

test('[W-04] an invoice has what is asked for, and goods leave stock with it; the rest is left', async () => {
  const acme = await server.company([
    ...catalogue,
    estimate([
      { cantidad: 10, importe_unitario: 2.5, articulo: 'tornillo', iva: 10 },
      { cantidad: 4, importe_unitario: 100 },
    ]),
  ]);
  const lineas = [
    { lineaId: 52, cantidad: 1 },
    { lineaId: 51, cantidad: 2.5 },
  ];
  const vencimientos = [
    { fecha: '2026-04-10', importe: 100 },
    { fecha: '2026-05-10', importe: 27.88 },
  ];
  const invoice = await converted(acme, { destino: 'factura', lineas, vencimientos });
  expect(invoice).toMatchObject({ tipo: 'factura', numero: 'F2026-0001', total_con_iva: 127.88, saldo: 127.88 });
  expect(invoice.vencimientos).toMatchObject(vencimientos);
  expect(invoice.lineas).toMatchObject([
    { descripcion: 'Línea 0', cantidad: 2.5, importe: 6.25, proviene_albaranes: 0 },
    { descripcion: 'Línea 1', cantidad: 1, importe: 100, proviene_albaranes: 0 },
  ]);
  expect((await acme.get('/products/10')).body.data.articulo.stock).toBe(997.5);
  const rest = await converted(acme, { destino: 'factura' });
  expect(quantities(rest)).toEqual([7.5, 3]);
  expect(rest.vencimientos).toMatchObject([{ fecha: '2026-03-10', importe: rest.total_con_iva }]);
});

test('[W-04] a weight is carried over in proportion to the quantity, and moves that much stock', async () => {
  const line = { cantidad: 3, importe_unitario: 2, articulo: 'tornillo', formato: 'kilo', cantidad_base_real: 100 };
  const acme = await server.company([...catalogue, estimate([line])], { cuenta });
  const note = await converted(acme, { destino: 'albaran', lineas: [{ lineaId: 51, cantidad: 1 }] });
  expect(note.lineas).toMatchObject([{ cantidad: 1, cantidad_base_real: 33.333333 }]);
  expect((await acme.get('/products/10')).body.data.articulo.stock).toBe(966.666667);
});

test('[W-04] never more than is left of a line, nor in the other direction: 400, and nothing is written', async () => {
  const acme = await server.company([
    ...catalogue,
    two,
    { ...two, ref: 'q', id: 45, lineas: [{ ref: 'l', id: 61, descripcion: 'x', cantidad: 1, importe_unitario: 1 }] },
  ]);
  await converted(acme, { destino: 'albaran', lineas: [{ lineaId: 51, cantidad: 9.5 }] });
  for (const [lineas, problems] of [
    [[{ lineaId: 51, cantidad: 0.500001 }], ['lineas[0].cantidad de esa línea queda 0.5']],
    [[{ lineaId: 51, cantidad: -0.5 }], ['lineas[0].cantidad de esa línea queda 0.5']],
    [[{ lineaId: 52, cantidad: 1 }], ['lineas[0].cantidad de esa línea queda -3']],
    [[{ lineaId: 52, cantidad: -3.000001 }], ['lineas[0].cantidad de esa línea queda -3']],
    [
      [
        { lineaId: 52, cantidad: -1 },
        { lineaId: 52, cantidad: -1 },
      ],
      ['lineas[1].lineaId está repetida'],
    ],
    [[{ lineaId: 61, cantidad: 1 }], ['lineas[0].lineaId no es una línea de ese presupuesto']],
    [[{ lineaId: 51, cantidad: 0 }], ['lineas[0].cantidad no puede ser 0']],
  ] as const) {
    const { status, body } = await convert(acme, { destino: 'factura', lineas });
    const told = body.data.map(({ campo, mensaje }: Record<string, string>) => `${campo} ${mensaje}`);
    expect([status, told]).toEqual([400, problems]);
  }
  for (const [input, status, campo] of [
    [{ destino: 'albaran', lineas: [{ lineaId: 999, cantidad: 1 }] }, 404, 'lineas[0].lineaId'],
    [{ destino: 'albaran', lineas: [] }, 400, 'lineas'],
    [{ destino: 'pedido' }, 400, 'destino'],
    [{}, 400, 'destino'],
    [{ destino: 'albaran', vencimientos: [{ fecha: '2026-04-10', importe: 1 }] }, 400, 'vencimientos'],
    [{ destino: 'factura', vencimientos: [{ fecha: '2026-04-10', importe: 1 }] }, 400, 'vencimientos'],
  ] as const) {
    const refused = await convert(acme, input);
    expect([refused.status, refused.body.errorMsg], campo).toEqual([status, expect.stringContaining(campo)]);
  }
  expect((await acme.get('/invoices')).body.data.total_facturas).toBe(0);
  const rest = await converted(acme, { destino: 'factura' });
  expect(rest).toMatchObject({ numero: 'F2026-0001' });
  expect(quantities(rest)).toEqual([0.5, -3]);
  // A line of an import without a quantity is text: there is nothing of it to carry over.
  const text = { ref: 'l', descripcion: 'Título', cantidad: 0, importe_unitario: 5 };
  await acme.load([{ ...two, ref: 'texto', id: 46, lineas: [text] }]);
  expect((await convert(acme, { destino: 'factura' }, 46)).status).toBe(400);
});

test('[W-04] a rejected estimate may be converted, which accepts it; one that is refused stays as it was', async () => {
  const acme = await server.company([...catalogue, two]);
  expect((await acme.put('/estimates/44/state', { estado: 'rechazado' })).status).toBe(200);
  expect((await convert(acme, { destino: 'albaran', lineas: [{ lineaId: 51, cantidad: 11 }] })).status).toBe(400);
  expect((await acme.get('/estimates/44')).body.data.estado).toBe('rechazado');
  await converted(acme, { destino: 'albaran', lineas: [{ lineaId: 51, cantidad: 1 }] });
  expect((await acme.get('/estimates/44')).body.data.estado).toBe('aceptado');
});

test('[W-04] eight callers at once never convert more than there is, whatever they ask for', async () => {
  const call = fc.record({
    destino: fc.constantFrom('albaran', 'factura'),
    lineas: fc.option(
      fc
        .record({
          first: fc.option(fc.integer({ min: 1, max: 60 })),
          second: fc.option(fc.integer({ min: 1, max: 30 })),
        })
        .filter(({ first, second }) => first !== null || second !== null),
      { nil: undefined },
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 8, maxLength: 24 }), async (calls) => {
      const acme = await server.company([...catalogue, two]);
      const queue = calls.map(({ destino, lineas }) => ({
        destino,
        lineas: lineas && [
          ...(lineas.first === null ? [] : [{ lineaId: 51, cantidad: lineas.first / 10 }]),
          ...(lineas.second === null ? [] : [{ lineaId: 52, cantidad: -lineas.second / 10 }]),
        ],
      }));
      const tenths = [0, 0];
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let input = queue.shift(); input; input = queue.shift()) {
            const { status, body } = await convert(acme, input);
            expect([200, 400], body.errorMsg).toContain(status);
            if (status !== 200) continue;
            const path = input.destino === 'albaran' ? '/delivery-notes' : '/invoices';
            const { lineas } = (await acme.get(`${path}/${body.data}`)).body.data;
            for (const { descripcion, cantidad } of lineas) {
              const index = descripcion === 'Línea 0' ? 0 : 1;
              tenths[index] = (tenths[index] ?? 0) + Math.round(cantidad * 10);
            }
          }
        }),
      );
      const [first = 0, second = 0] = tenths;
      expect([first <= 100, second >= -30]).toEqual([true, true]);
      const rest = await convert(acme, { destino: 'albaran' });
      const left = rest.status === 200 ? (await acme.get(`/delivery-notes/${rest.body.data}`)).body.data.lineas : [];
      const sum = left.reduce((total: number, { cantidad }: Line) => total + Math.round(cantidad * 10), first + second);
      expect(sum).toBe(70);
    }),
    { numRuns: 6 },
  );
});

test('[W-04] what was converted is in the account file: after an import as much is left', async () => {
  const acme = await server.company([...catalogue, two]);
  await converted(acme, { destino: 'albaran', lineas: [{ lineaId: 51, cantidad: 4 }] });
  await converted(acme, { destino: 'factura', lineas: [{ lineaId: 52, cantidad: -1 }] });
  await using companies = await openCompanies();
  const lines = await Array.fromAsync(exportAccountFile(server.service.database, acme.id));
  const moved = await companies.company();
  await moved.importLines(lines);
  expect(await moved.export()).toEqual(lines);
  const [note] = await moved.exported('albaranes');
  expect(note?.lineas).toMatchObject([{ presupuesto: 'p', linea_presupuesto: 'l0' }]);
  const [kept] = await moved.exported('presupuestos');
  expect(kept).toMatchObject({ estado: 'aceptado', valido_hasta: null, observaciones: null, promo_code: null });

  const records = lines.map((line): FileRecord => JSON.parse(line));
  const other = await server.company(records.filter(({ coleccion }) => coleccion !== 'cuenta'));
  expect(quantities(await converted(other, { destino: 'albaran' }))).toEqual([6, -2]);

  const wrong = [
    { presupuesto: 'p' },
    { linea_presupuesto: 'l0' },
    { presupuesto: 'p', linea_presupuesto: 'otra' },
    { presupuesto: 'otro', linea_presupuesto: 'l0' },
  ].map((line, index) => ({
    coleccion: 'albaranes',
    ref: `mal${index}`,
    fecha: '2026-03-01',
    cliente: 'nilo',
    lineas: [{ descripcion: 'x', cantidad: 1, importe_unitario: 1, ...line }],
  }));
  const problems = await moved.problems(wrong);
  expect(new Set(problems.map(({ ref }) => ref))).toEqual(new Set(wrong.map(({ ref }) => ref)));
});
