import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z') });
afterAll(() => server.stop());

const line = (more: object = {}) => ({ descripcion: 'Cable', cantidad: 3, importe_unitario: 2, ...more });
const note = (id: number, lineas: object[], more: object = {}): FileRecord => ({
  coleccion: 'albaranes',
  ref: `a${id}`,
  id,
  fecha: '2026-02-01',
  cliente: 'nilo',
  lineas,
  ...more,
});
const records: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: false },
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B12345674', tarifa: 2 },
  { coleccion: 'clientes', ref: 'zoe', id: 2, nombre_fiscal: 'Zoe', cif: 'B99999999' },
  { coleccion: 'proyectos', ref: 'nave', id: 21, numero: '1', descripcion: 'Nave' },
  { coleccion: 'proyectos', ref: 'patio', id: 22, numero: '2', descripcion: 'Patio' },
  {
    coleccion: 'articulos',
    ref: 'cable',
    id: 11,
    descripcion: 'Cable',
    iva: 10,
    stock: 50,
    precios: [
      { tarifa: 1, precio: 3 },
      { tarifa: 2, precio: 2 },
    ],
    formatos: [{ ref: 'bobina', id: 74, titulo: 'Bobina', factor: 25, defecto_venta: true }],
  },
  { coleccion: 'articulos', ref: 'andamio', id: 12, descripcion: 'Andamio', modo: 'alquiler', stock: 4 },
  note(31, [line({ articulo: 'cable' }), line({ descripcion: 'Porte', cantidad: 1, iva: 10 })], { proyecto: 'nave' }),
  note(32, [line({ proyecto: 'patio' }), line({ cantidad: -1, descuento: 50, descripcion_ampliada: 'Devuelto' })]),
  note(33, [line()], { cliente: 'zoe' }),
  note(34, []),
  note(35, [line()]),
];
const own = (detalles: object[], more: object = {}) => ({
  cliente: { id: 1 },
  pedido: { obra: 'Obra' },
  detalles,
  ...more,
});
const create = async (company: Company, body: object) => await company.post('/invoices', body);

/** The stored invoices of a company, and the stock of its products by id. */
async function stored({ id }: Company) {
  const rows = async (table: string, more = '') =>
    (
      await server.service.database.pool.query<Record<string, unknown>>(
        `select * from ${table} where account_id = $1 ${more}`,
        [id],
      )
    ).rows;
  const stocks = await rows('product_stocks');
  return {
    invoices: await rows('invoices', 'order by id'),
    lines: await rows('invoice_lines', 'order by id'),
    dueDates: await rows('invoice_due_dates', 'order by id'),
    movements: await rows('stock_movements', 'and not opening order by id'),
    journal: await rows('journal_entries', `and operation = 'crearFactura' and record_table = 'invoices' order by n`),
    stock: Object.fromEntries(stocks.map(({ product_id, quantity }) => [product_id, quantity])),
  };
}

test('[DLV-02] [DLV-03] [DLV-08] of new lines: numbered, of today, due today; goods leave stock', async () => {
  const acme = await server.company(records, { cuenta: { stock_multiformato: true } });
  const { status, body } = await create(acme, {
    cliente: { id: 1 },
    pedido: { obra: 'Instalación', detalles_operacion: '<b>Ojo</b>', promo_code: 'VERANO' },
    detalles: [
      { cantidad: 1, articulo_fk: 11 },
      { cantidad: 2, articulo_fk: 12, importe_unitario: 10 },
      { cantidad: 1, descripcion: 'Porte', importe_unitario: 0.05, iva: 21 },
    ],
  });
  expect(status).toBe(200);
  expect(body.data).toMatch(/^[a-z][\w-]{22}$/);
  const { invoices, lines, dueDates, movements, stock, journal } = await stored(acme);
  expect(invoices).toMatchObject([
    {
      number: 'F2026-0001',
      date: '2026-03-10',
      concept: 'Instalación',
      remarks: '<b>Ojo</b>',
      promo_code: 'VERANO',
      client_id: 1,
      project_id: null,
    },
  ]);
  // The price of the client's list for the 25 of its default format.
  expect(lines).toMatchObject([
    { position: 1, description: 'Cable', unit_price: 50, vat: 10, format_id: 74, from_delivery_note: false },
    { position: 2, description: 'Andamio', amount: 20, vat: 21 },
    { position: 3, description: 'Porte', amount: 0.05, delivery_note_id: null },
  ]);
  expect(movements).toMatchObject([{ product_id: 11, quantity: -25, factor: 25, delivery_note_id: null }]);
  expect(stock).toMatchObject({ 11: 25, 12: 4 });
  // 50 + 5 and 20.05 + 4.21, rate by rate.
  expect(dueDates).toMatchObject([{ position: 1, date: '2026-03-10', amount: 79.26, paid: 0 }]);
  expect(journal).toMatchObject([{ action: 'create', record_id: invoices[0]?.id }]);
  const read = await acme.get(`/invoices/${body.data}`);
  expect(read.body.data).toMatchObject({ numero: 'F2026-0001', base_imponible: 70.05, num_lineas: 3 });
  const [listed] = (await acme.get('/invoices', { busqueda: 'instalacion' })).body.data.facturas;
  expect(listed).toMatchObject({ facturaId: body.data, total_con_iva: 79.26, saldo: 79.26, pagada: false });
  expect((await acme.get('/invoices', { busqueda: 'f2026-0001' })).body.data.facturas).toEqual([listed]);
});

test('[DLV-01] the client is found by tax id and updated, or created', async () => {
  const acme = await server.company(records);
  const detalles = [{ cantidad: 1, descripcion: 'x', importe_unitario: 1 }];
  for (const cliente of [
    { cif: 'es b-12345674', email: 'n@nilo.es' },
    { nombre_fiscal: 'Nuevo SL', cif: 'B1' },
  ]) {
    expect((await create(acme, own(detalles, { cliente }))).status).toBe(200);
  }
  expect((await acme.get('/invoices')).body.data.facturas).toMatchObject([
    { numero: 'F2026-0002', contraparte: { nombre_fiscal: 'Nuevo SL', cif: 'B1' } },
    { numero: 'F2026-0001', contraparte: { nombre_fiscal: 'Café Nilo', email: 'n@nilo.es' } },
  ]);
});

test('[DLV-03] [PRJ-01] of delivery notes: their client and lines, each with its project; stock does not move twice', async () => {
  const acme = await server.company(records);
  const before = await stored(acme);
  const { status, body } = await create(acme, { albaranes: [32, 31] });
  expect(status).toBe(200);
  const { invoices, lines, dueDates, stock, movements } = await stored(acme);
  expect(invoices).toMatchObject([{ number: 'F2026-0001', concept: '', client_id: 1 }]);
  expect(lines).toMatchObject([
    { position: 1, description: 'Cable', amount: 6, vat: 21, project_id: 22, delivery_note_id: 32 },
    { position: 2, quantity: -1, discount: 50, amount: -1, project_id: null, extended_description: 'Devuelto' },
    { position: 3, product_id: 11, amount: 6, vat: 21, project_id: 21, delivery_note_id: 31 },
    { position: 4, description: 'Porte', amount: 2, vat: 10, project_id: 21, delivery_note_id: 31 },
  ]);
  expect(lines.every(({ from_delivery_note }) => from_delivery_note)).toBe(true);
  // 11 + 2.31 and 2 + 0.2.
  expect(dueDates).toMatchObject([{ date: '2026-03-10', amount: 15.51 }]);
  expect({ stock, movements }).toEqual({ stock: before.stock, movements: before.movements });
  const read = (await acme.get(`/invoices/${body.data}`)).body.data;
  expect(read.lineas.map(({ proviene_albaranes }: { proviene_albaranes: number }) => proviene_albaranes)).toEqual([
    1, 1, 1, 1,
  ]);
  const invoiced = (await acme.get('/delivery-notes', { facturado: true })).body.data;
  expect(invoiced.total_albaranes).toBe(2);
  expect((await acme.get('/delivery-notes/31')).body.data.facturado).toBe(true);
});

test('without a concept it is about what its delivery notes are: their concept, or else their numbers', async () => {
  const acme = await server.company(records);
  const deliver = async (obra: string) =>
    (
      await acme.post('/delivery-notes', {
        cliente: { id: 1 },
        pedido: { obra },
        detalles: [{ descripcion: 'Horas', cantidad: 1, importe_unitario: 30 }],
      })
    ).body.data;
  const [roof, roofAgain, yard] = [await deliver('Tejado'), await deliver('Tejado'), await deliver('Patio')];
  await create(acme, { albaranes: [roof] });
  await create(acme, { albaranes: [yard, roofAgain] });
  const { invoices } = await stored(acme);
  expect(invoices).toMatchObject([{ concept: 'Tejado' }, { concept: 'Albaranes A2026-0003, A2026-0002' }]);
});

test('with delivery notes the client may be left out, or be theirs', async () => {
  const acme = await server.company(records);
  const refused = async (cliente: object) => {
    const { status, body } = await create(acme, { albaranes: [31], cliente });
    expect([cliente, status, body.data]).toMatchObject([cliente, 400, [{ campo: 'cliente' }]]);
  };
  await refused({ id: 2 });
  await refused({ cif: 'B99999999' });
  await refused({ nombre_fiscal: 'Café Nilo' });
  expect((await acme.get('/clients')).body.data.total_clientes).toBe(2);
  expect((await create(acme, { albaranes: [31], cliente: { cif: 'b-12345674' } })).status).toBe(200);
  const pedido = { obra: 'Febrero' };
  expect((await create(acme, { albaranes: [32], cliente: { id: 1 }, pedido })).status).toBe(200);
  expect((await stored(acme)).invoices).toMatchObject([{ concept: '' }, { concept: 'Febrero' }]);
});

test('a delivery note that can’t be invoiced is a 400 that names it, and nothing is written', async () => {
  const acme = await server.company(records);
  expect((await create(acme, { albaranes: [35] })).status).toBe(200);
  const before = await stored(acme);
  for (const [albaranes, campo, words] of [
    [[31, 35], 'albaranes[1]', 'ya está facturado'],
    [[31, 32, 33], 'albaranes[2]', 'otro cliente'],
    [[31, 32, 31], 'albaranes[2]', 'repetido'],
    [[34], 'albaranes[0]', 'líneas'],
    [[], 'albaranes', 'vacío'],
  ] as const) {
    const { status, body } = await create(acme, { albaranes });
    expect([albaranes, status, body.data]).toMatchObject([
      albaranes,
      400,
      [{ campo, mensaje: expect.stringContaining(words) }],
    ]);
  }
  expect(await stored(acme)).toEqual(before);
});

test('[DLV-07] new lines or delivery notes, one of the two; and of new lines what a delivery note needs', async () => {
  const acme = await server.company(records);
  const detalles = [{ cantidad: 1, articulo_fk: 11 }];
  const cases: [object, string[]][] = [
    [{}, ['detalles']],
    [{ cliente: { id: 1 }, pedido: { obra: 'x' } }, ['detalles']],
    [own(detalles, { albaranes: [31] }), ['detalles', 'albaranes']],
    [{ detalles }, ['cliente', 'pedido']],
    [{ cliente: { id: 1 }, pedido: {}, detalles }, ['pedido.obra']],
    [own([]), ['detalles']],
    [own([{ articulo_fk: 11 }]), ['detalles[0].cantidad']],
    [own([{ cantidad: 1, descripcion: 'Sin precio' }]), ['detalles[0].importe_unitario']],
    [own([{ cantidad: 1, articulo_fk: 11, formatoId: 74 }]), ['detalles[0].formatoId']],
  ];
  for (const [body, campos] of cases) {
    const answer = await create(acme, body);
    expect([body, answer.status]).toEqual([body, 400]);
    expect(answer.body.data.map(({ campo }: { campo: string }) => campo)).toEqual(campos);
    expect(answer.body.errorMsg).toContain(campos[0]);
  }
  expect((await stored(acme)).invoices).toEqual([]);
});

test('[MON-01] due dates add up to the total with VAT, to the cent; else a 400 that says it', async () => {
  const acme = await server.company(records);
  // 100.05 + 21.01 at 21, and 0.05 + 0.01 at 10.
  const detalles = [
    { cantidad: 1, descripcion: 'x', importe_unitario: 100.05 },
    { cantidad: 1, descripcion: 'y', importe_unitario: 0.05, iva: 10 },
  ];
  const due = (...importes: number[]) => importes.map((importe, day) => ({ fecha: `2026-04-0${day + 1}`, importe }));
  for (const vencimientos of [due(100), due(60, 61.11), due(60, 61.13), due(-121.12)]) {
    const { status, body } = await create(acme, own(detalles, { vencimientos }));
    expect([status, body.data]).toEqual([
      400,
      [{ campo: 'vencimientos', mensaje: 'tienen que sumar el total con IVA, 121.12' }],
    ]);
  }
  for (const [vencimientos, campo] of [
    [[], 'vencimientos'],
    [due(121.12, 0.001), 'vencimientos[1].importe'],
    [[{ importe: 121.12 }], 'vencimientos[0].fecha'],
    [[{ fecha: '2026-02-30', importe: 121.12 }], 'vencimientos[0].fecha'],
  ] as const) {
    expect((await create(acme, own(detalles, { vencimientos }))).body.data).toMatchObject([{ campo }]);
  }
  const { invoices, stock } = await stored(acme);
  expect([invoices, stock[11]]).toEqual([[], 50]);
  expect((await create(acme, own(detalles, { vencimientos: due(60, 71.12, -10) }))).status).toBe(200);
  expect((await stored(acme)).dueDates).toMatchObject([
    { position: 1, date: '2026-04-01', amount: 60 },
    { position: 2, date: '2026-04-02', amount: 71.12 },
    { position: 3, date: '2026-04-03', amount: -10 },
  ]);
  // The numbers of refused invoices went to the one that succeeded.
  expect((await stored(acme)).invoices).toMatchObject([{ number: 'F2026-0001' }]);
});

test('[DLV-03] a credit: a negative total, and goods that come back', async () => {
  const acme = await server.company(records);
  const vencimientos = [{ fecha: '2026-03-10', importe: -6.6 }];
  expect((await create(acme, own([{ cantidad: -3, articulo_fk: 11 }], { vencimientos }))).status).toBe(200);
  expect((await stored(acme)).stock[11]).toBe(53);
  const [credit] = (await acme.get('/invoices')).body.data.facturas;
  expect(credit).toMatchObject({ base_imponible: -6, total_con_iva: -6.6, saldo: -6.6, pagada: true });
});

test('[PRJ-01] of parallel invoices of one delivery note exactly one is created, whatever order they name them in', async () => {
  const acme = await server.company(records);
  const orders = [
    [31, 32, 35],
    [35, 31, 32],
    [32, 35],
    [35, 32, 31],
    [31, 35],
  ];
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => create(acme, { albaranes: orders[i % orders.length] })),
  );
  const created = answers.filter(({ status }) => status === 200);
  expect(created).toHaveLength(1);
  for (const { status, body } of answers.filter((answer) => !created.includes(answer))) {
    expect([status, body.errorMsg]).toEqual([400, expect.stringContaining('ya está facturado')]);
  }
  const { invoices, lines } = await stored(acme);
  expect(invoices).toMatchObject([{ number: 'F2026-0001' }]);
  const origins = lines.map(
    ({ delivery_note_id, description, quantity }) => `${delivery_note_id} ${description} ${quantity}`,
  );
  expect(new Set(origins).size).toBe(lines.length);
});

test('[IDEM-01] one key, one invoice', async () => {
  const acme = await server.company(records);
  const ask = () => acme.post('/invoices', { albaranes: [31] }, { 'x-idempotency-key': 'marzo' });
  const [one, other] = await Promise.all([ask(), ask()]);
  expect([one.status, other.body]).toEqual([200, one.body]);
  expect((await stored(acme)).invoices).toHaveLength(1);
});

test('[TEN-01] another company’s delivery notes, client and articles are not found', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const foreign = (await acme.get('/delivery-notes')).body.data.documentos[0].albaranId;
  for (const id of [foreign, 31]) {
    const { status, body } = await create(other, { albaranes: [id] });
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('albaranes[0]')]);
  }
  expect((await create(other, own([{ cantidad: 1, descripcion: 'x', importe_unitario: 1 }]))).status).toBe(404);
  const mixed = own([{ cantidad: 1, articulo_fk: 11 }], { cliente: { nombre_fiscal: 'N' } });
  expect((await create(other, mixed)).status).toBe(404);
  expect((await acme.get('/delivery-notes/31')).body.data.facturado).toBe(false);
  // Even if other fields are wrong.
  expect((await create(acme, own([{ cantidad: 1, articulo_fk: 11 }], { albaranes: [99] }))).status).toBe(404);
});

test('[AUTH-04] a read-only key writes nothing', async () => {
  const acme = await server.company(records, { readOnly: true });
  expect((await create(acme, { albaranes: [31] })).status).toBe(403);
});
