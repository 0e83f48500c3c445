import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-03-10T09:00:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const catalogue: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: false },
  { coleccion: 'clientes', ref: 'cli', id: 1, nombre_fiscal: 'Cliente SL', cif: 'B12345674', tarifa: 2 },
  {
    coleccion: 'articulos',
    ref: 'tornillo',
    id: 10,
    descripcion: 'Tornillo',
    iva: 10,
    stock: 1000,
    precios: [
      { tarifa: 1, precio: 0.05 },
      { tarifa: 2, precio: 0.04 },
    ],
    variaciones: [{ ref: 'zincado', id: 61, descripcion: 'Zincado' }],
    formatos: [
      { ref: 'caja', id: 71, titulo: 'Caja de 100', factor: 100, defecto_venta: true },
      { ref: 'palet', id: 72, titulo: 'Palet', factor: 10_000, venta: false },
      { ref: 'kilo', id: 73, titulo: 'Bolsa a peso', factor: 50, peso_variable: true },
    ],
  },
  {
    coleccion: 'articulos',
    ref: 'cable',
    id: 11,
    descripcion: 'Cable',
    stock: 50,
    precios: [{ tarifa: 1, precio: 2 }],
    formatos: [{ ref: 'bobina', id: 74, titulo: 'Bobina', factor: 25 }],
  },
  {
    coleccion: 'articulos',
    ref: 'andamio',
    id: 12,
    descripcion: 'Andamio',
    modo: 'alquiler',
    stock: 4,
    precios: [{ tarifa: 2, precio: 15 }],
  },
  {
    coleccion: 'articulos',
    ref: 'mano',
    id: 13,
    descripcion: 'Mano de obra',
    modo: 'servicio',
    precios: [{ tarifa: 2, precio: 30 }],
  },
];
const note = (detalles: object[], more: object = {}) => ({
  cliente: { id: 1 },
  pedido: { obra: 'Obra' },
  detalles,
  ...more,
});
const create = (company: Company, detalles: object[], more: object = {}) =>
  company.post('/delivery-notes', note(detalles, more));

/** The stored notes of a company, and the stock of its products by id. */
const stored = (company: Company) =>
  server.service.database.transaction(company.id, {}, async (db) => {
    const stocks = await db
      .selectFrom('product_stocks')
      .select(['product_id', 'quantity'])
      .where('account_id', '=', company.id)
      .execute();
    return {
      notes: await db
        .selectFrom('delivery_notes')
        .selectAll()
        .where('account_id', '=', company.id)
        .orderBy('id')
        .execute(),
      lines: await db
        .selectFrom('delivery_note_lines')
        .selectAll()
        .where('account_id', '=', company.id)
        .orderBy('id')
        .execute(),
      movements: await db
        .selectFrom('stock_movements')
        .selectAll()
        .where('account_id', '=', company.id)
        .where('opening', '=', false)
        .orderBy('id')
        .execute(),
      clients: await db.selectFrom('clients').selectAll().where('account_id', '=', company.id).orderBy('id').execute(),
      stock: Object.fromEntries(stocks.map(({ product_id, quantity }) => [product_id, quantity])),
    };
  });

test('[DLV-01] beside `cliente.id` the other fields count for nothing, whatever they hold', async () => {
  const acme = await server.company(catalogue);
  const lines = [{ cantidad: 1, descripcion: 'Portes', importe_unitario: 1 }];
  const valid = { nombre_fiscal: 'Otro', cif: 'B99999999', email: 'otro@x.es' };
  for (const others of [valid, { email: 'no' }, { nombre_fiscal: 5 }, { cif: 'x'.repeat(51) }]) {
    expect(await create(acme, lines, { cliente: { id: 1, ...others } })).toMatchObject({ status: 200 });
  }
  expect((await stored(acme)).clients).toMatchObject([{ legal_name: 'Cliente SL', email: '', version: 1 }]);
  const { body } = await create(acme, lines, { cliente: { id: {}, email: 'no' } });
  expect(body.data, 'the id itself does').toMatchObject([{ campo: 'cliente.id' }]);
});

test('[DLV-02] [DLV-06] [ID-04] a reviewed note, numbered, of today, with its sealed id', async () => {
  const acme = await server.company(catalogue);
  const { status, body } = await acme.post('/delivery-notes', {
    cliente: { id: 1 },
    pedido: { obra: 'Nave 3', detalles_operacion: '<b>Ojo</b>', promo_code: 'VERANO' },
    detalles: [{ cantidad: 2, descripcion: 'Portes', importe_unitario: 12.345, descuento: 10 }],
  });
  expect(status).toBe(200);
  expect(body.data).toMatch(/^[a-z][\w-]{22}$/);
  const { notes, lines, movements } = await stored(acme);
  expect(notes).toMatchObject([
    {
      number: 'A2026-0001',
      date: '2026-03-10',
      concept: 'Nave 3',
      remarks: '<b>Ojo</b>',
      promo_code: 'VERANO',
      client_id: 1,
      reviewed: true,
    },
  ]);
  expect(lines).toMatchObject([
    { position: 1, description: 'Portes', quantity: 2, unit_price: 12.345, discount: 10, vat: 21, amount: 22.22 },
  ]);
  expect(movements).toEqual([]);
});

test('[DATE-02] today is the company’s', async () => {
  clock.set('2026-12-31T23:30:00Z');
  const madrid = await server.company(catalogue);
  const canarias = await server.company(catalogue, { cuenta: { zona_horaria: 'Atlantic/Canary' } });
  await create(madrid, [{ cantidad: 1, articulo_fk: 13 }]);
  await create(canarias, [{ cantidad: 1, articulo_fk: 13 }]);
  expect((await stored(madrid)).notes).toMatchObject([{ date: '2027-01-01', number: 'A2027-0001' }]);
  expect((await stored(canarias)).notes).toMatchObject([{ date: '2026-12-31', number: 'A2026-0001' }]);
  clock.set('2026-03-10T09:00:00Z');
});

test('[DLV-02] numbers are gapless and unique under concurrent creation and failures', async () => {
  const acme = await server.company(catalogue);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      create(acme, [{ cantidad: 1, articulo_fk: 10, formatoId: i % 4 === 3 ? 72 : undefined }], {}),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(30);
  const { notes } = await stored(acme);
  expect(notes.map(({ number }) => number).sort()).toEqual(
    Array.from({ length: 30 }, (_, i) => `A2026-${String(i + 1).padStart(4, '0')}`),
  );
});

test('[DLV-03] only articles in sale mode move stock, below zero too, and a return brings it back', async () => {
  const acme = await server.company(catalogue);
  await create(acme, [
    { cantidad: 60, articulo_fk: 11 },
    { cantidad: 1, articulo_fk: 12 },
    { cantidad: 3, articulo_fk: 13 },
  ]);
  await create(acme, [{ cantidad: -4, articulo_fk: 11 }]);
  const { stock, movements } = await stored(acme);
  expect(stock).toMatchObject({ 11: -6, 12: 4, 13: 0 });
  expect(movements).toMatchObject([
    { product_id: 11, quantity: -60, factor: null },
    { product_id: 11, quantity: 4, factor: null },
  ]);
  expect((await create(acme, [{ cantidad: 0, articulo_fk: 11 }])).body.data).toMatchObject([
    { campo: 'detalles[0].cantidad' },
  ]);
});

test('[DLV-04] formats: stock moves by quantity x factor, the commercial quantity stays', async () => {
  const acme = await server.company(catalogue, { cuenta: { stock_multiformato: true } });
  await create(acme, [
    { cantidad: 2, articulo_fk: 10 }, // the default format: boxes of 100
    { cantidad: 3, articulo_fk: 11 }, // no default: base units
    { cantidad: 1, articulo_fk: 11, formatoId: 74 },
  ]);
  const { lines, movements, stock } = await stored(acme);
  expect(stock).toMatchObject({ 10: 800, 11: 22 });
  expect(lines).toMatchObject([
    { quantity: 2, format_id: 71 },
    { quantity: 3, format_id: null },
    { quantity: 1, format_id: 74 },
  ]);
  expect(movements).toMatchObject([
    { quantity: -200, factor: 100 },
    { quantity: -3, factor: null },
    { quantity: -25, factor: 25 },
  ]);
});

test('[DLV-04] [ID-05] a format that does not fit is a 400 and nothing is written', async () => {
  const single = await server.company(catalogue);
  const multi = await server.company(catalogue, { cuenta: { stock_multiformato: true } });
  const cases: [Company, object][] = [
    [single, { articulo_fk: 10, formatoId: 71 }],
    [multi, { articulo_fk: 10, formatoId: 72 }],
    [multi, { articulo_fk: 10, formatoId: 74 }],
    [multi, { articulo_fk: 10, formatoId: 999 }],
    [multi, { articulo_fk: 10, formatoId: 'forjado' }],
    [multi, { descripcion: 'x', importe_unitario: 1, formatoId: 71 }],
  ];
  for (const [company, line] of cases) {
    const { status, body } = await create(company, [
      { cantidad: 1, articulo_fk: 11 },
      { cantidad: 1, ...line },
    ]);
    expect([line, status]).toEqual([line, 400]);
    expect(body.data).toMatchObject([{ campo: 'detalles[1].formatoId' }]);
  }
  for (const company of [single, multi]) {
    const { notes, stock, lines } = await stored(company);
    expect([notes, lines]).toEqual([[], []]);
    expect(stock).toMatchObject({ 10: 1000, 11: 50 });
  }
});

test('[DLV-05] the real quantity of a variable-weight format moves instead; the factor stays as a snapshot', async () => {
  const acme = await server.company(catalogue, { cuenta: { stock_multiformato: true } });
  await create(acme, [{ cantidad: 2, articulo_fk: 10, formatoId: 73, cantidad_base_real: 93.5 }]);
  await create(acme, [{ cantidad: -1, articulo_fk: 10, formatoId: 73, cantidad_base_real: 40 }]);
  const { movements, stock } = await stored(acme);
  expect(movements).toMatchObject([
    { quantity: -93.5, factor: 50 },
    { quantity: 40, factor: 50 },
  ]);
  expect(stock[10]).toBe(946.5);
  const refused = await create(acme, [{ cantidad: 2, articulo_fk: 10, formatoId: 71, cantidad_base_real: 93.5 }]);
  expect(refused.body.data).toMatchObject([{ campo: 'detalles[0].cantidad_base_real' }]);
});

test('[DLV-06] reservation dates go together and in order', async () => {
  const acme = await server.company(catalogue);
  const rent = (dates: object) => create(acme, [{ cantidad: 1, articulo_fk: 12, ...dates }]);
  expect((await rent({ startDate: '2026-04-01', endDate: '2026-04-03' })).status).toBe(200);
  expect((await rent({ startDate: '2026-04-01' })).body.data).toMatchObject([{ campo: 'detalles[0].endDate' }]);
  expect((await rent({ endDate: '2026-04-01' })).body.data).toMatchObject([{ campo: 'detalles[0].startDate' }]);
  expect((await rent({ startDate: '2026-04-03', endDate: '2026-04-01' })).status).toBe(400);
  expect((await stored(acme)).lines).toMatchObject([{ start_date: '2026-04-01', end_date: '2026-04-03' }]);
});

test('[DLV-07] what is required, named', async () => {
  const acme = await server.company(catalogue);
  const line = { cantidad: 1, articulo_fk: 11 };
  const cases: [object, string][] = [
    [{ pedido: { obra: 'x' }, detalles: [line] }, 'cliente'],
    [{ cliente: { id: 1 }, detalles: [line] }, 'pedido'],
    [{ cliente: { id: 1 }, pedido: {}, detalles: [line] }, 'pedido.obra'],
    [{ cliente: { id: 1 }, pedido: { obra: 'x' } }, 'detalles'],
    [note([]), 'detalles'],
    [note([{ articulo_fk: 11 }]), 'detalles[0].cantidad'],
    [note([{ cantidad: 1, importe_unitario: 3 }]), 'detalles[0].descripcion'],
    [note([{ cantidad: 1, descripcion: 'Sin precio' }]), 'detalles[0].importe_unitario'],
    [note([{ ...line, variacion_articulo_fk: 61 }]), 'detalles[0].variacion_articulo_fk'],
  ];
  for (const [body, campo] of cases) {
    const answer = await acme.post('/delivery-notes', body);
    expect([campo, answer.status]).toEqual([campo, 400]);
    expect(answer.body.data).toMatchObject([{ campo }]);
  }
  expect((await create(acme, [{ cantidad: 1, articulo_fk: 999 }])).status).toBe(404);
  expect((await stored(acme)).notes).toEqual([]);
});

test('[DLV-08] price, VAT and description come from the article, the price from the client’s list and format', async () => {
  const acme = await server.company(catalogue, { cuenta: { stock_multiformato: true } });
  await create(acme, [
    { cantidad: 3, articulo_fk: 10, variacion_articulo_fk: 61 },
    { cantidad: 1, articulo_fk: 10, formatoId: 73, iva: 4, descripcion: 'A peso', importe_unitario: 1.5 },
    { cantidad: 1, articulo_fk: 11 },
  ]);
  await create(acme, [{ cantidad: 1, articulo_fk: 10 }], { cliente: { nombre_fiscal: 'Nuevo' } });
  expect((await stored(acme)).lines).toMatchObject([
    { description: 'Tornillo', unit_price: 4, vat: 10, amount: 12, variation_id: 61 },
    { description: 'A peso', unit_price: 1.5, vat: 4, amount: 1.5 },
    { description: 'Cable', unit_price: 0, vat: 21 },
    { description: 'Tornillo', unit_price: 5, vat: 10 },
  ]);
});

test('[DLV-08] a line that names its article as answers do is told which field takes it', async () => {
  const acme = await server.company(catalogue);
  const { status, body } = await create(acme, [{ cantidad: 1, articuloId: 10 }]);
  expect([status, body.data]).toEqual([
    400,
    [
      { campo: 'detalles[0].descripcion', mensaje: 'es obligatoria en una línea sin articulo_fk' },
      { campo: 'detalles[0].importe_unitario', mensaje: 'es obligatorio en una línea sin articulo_fk' },
    ],
  ]);
});

test('[DLV-01] the client: used as it is by id, found by tax id and updated, or created', async () => {
  const acme = await server.company(catalogue);
  const line = [{ cantidad: 1, articulo_fk: 13 }];
  await create(acme, line, { cliente: { id: 1, nombre_fiscal: 'No cuenta', cif: 'X' } });
  expect((await stored(acme)).clients).toMatchObject([{ legal_name: 'Cliente SL', tax_id: 'B12345674' }]);
  await create(acme, line, {
    cliente: { cif: 'es b-12.345.674', email: 'nuevo@cliente.es', poblacion: '', nombre_fiscal: 'Cliente Nuevo SL' },
  });
  expect((await stored(acme)).clients).toMatchObject([
    { id: 1, legal_name: 'Cliente Nuevo SL', email: 'nuevo@cliente.es', price_list: 2 },
  ]);
  await create(acme, line, { cliente: { cif: 'B99999999', nombre_fiscal: 'Otro SL', provincia: 'Soria' } });
  await create(acme, line, { cliente: { nombre_fiscal: 'Sin CIF' } });
  const { clients, notes } = await stored(acme);
  expect(clients.slice(1)).toMatchObject([
    { legal_name: 'Otro SL', province: 'Soria' },
    { legal_name: 'Sin CIF', tax_key: null },
  ]);
  expect(notes.map(({ client_id }) => client_id)).toEqual([1, 1, clients[1]?.id, clients[2]?.id]);
  const nameless = await create(acme, line, { cliente: { cif: 'B00000000' } });
  expect(nameless.body.data).toMatchObject([{ campo: 'cliente.nombre_fiscal' }]);
  expect((await create(acme, line, { cliente: { id: 999 } })).status).toBe(404);
});

test('[DLV-01] parallel calls with one new tax id create one client', async () => {
  const acme = await server.company(catalogue);
  await Promise.all(
    Array.from({ length: 12 }, () =>
      create(acme, [{ cantidad: 1, articulo_fk: 13 }], { cliente: { cif: 'A58818501', nombre_fiscal: 'Uno SA' } }),
    ),
  );
  const { clients, notes } = await stored(acme);
  expect(clients).toHaveLength(2);
  expect(notes).toHaveLength(12);
});

test('[TEN-01] another company’s client and articles are not found', async () => {
  const acme = await server.company(catalogue);
  const other = await server.company();
  expect((await other.post('/delivery-notes', note([{ cantidad: 1, articulo_fk: 13 }]))).status).toBe(404);
  const foreign = (await acme.get('/products')).body.data.articulos[0].articuloId;
  const mixed = await other.post(
    '/delivery-notes',
    note([{ cantidad: 1, articulo_fk: foreign }], { cliente: { nombre_fiscal: 'N' } }),
  );
  expect(mixed.status).toBe(404);
  expect((await stored(other)).clients).toEqual([]);
});

test('[AUTH-04] a read-only key writes nothing', async () => {
  const acme = await server.company(catalogue, { readOnly: true });
  expect((await create(acme, [{ cantidad: 1, articulo_fk: 13 }])).status).toBe(403);
});

test('[DLV-03] stock is what it was less what every line took, for any sequence of notes', async () => {
  const acme = await server.company(catalogue, { cuenta: { stock_multiformato: true } });
  const line = fc.record({
    articulo_fk: fc.constantFrom(10, 11, 12),
    cantidad: fc.integer({ min: -5, max: 5 }).filter((n) => n !== 0),
  });
  const factor: Record<number, number> = { 10: 100, 11: 1, 12: 0 };
  const expected: Record<number, number> = { 10: 1000, 11: 50, 12: 4 };
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
      expect((await create(acme, lines)).status).toBe(200);
      for (const { articulo_fk, cantidad } of lines)
        expected[articulo_fk] = (expected[articulo_fk] ?? 0) - cantidad * (factor[articulo_fk] ?? 0);
      expect((await stored(acme)).stock).toMatchObject(expected);
    }),
    { numRuns: 15 },
  );
});
