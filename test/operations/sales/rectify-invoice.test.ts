import { afterAll, expect, test } from 'vitest';
import { ROLLUPS } from '../../../figures/figures.ts';
import { differences } from '../../../figures/rollups.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z') });
const { database } = server.service;
afterAll(() => server.stop());

const motivo = 'Mercancía devuelta';
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B12345674' },
  { coleccion: 'proyectos', ref: 'nave', id: 21, numero: '1', descripcion: 'Nave' },
  { coleccion: 'proyectos', ref: 'patio', id: 22, numero: '2', descripcion: 'Patio' },
  {
    coleccion: 'articulos',
    ref: 'cable',
    id: 11,
    descripcion: 'Cable',
    stock: 500,
    variaciones: [{ ref: 'rojo', id: 71, descripcion: 'Rojo' }],
    formatos: [
      { ref: 'bobina', id: 74, titulo: 'Bobina', factor: 25, peso_variable: true },
      { ref: 'caja', id: 75, titulo: 'Caja', factor: 10 },
    ],
  },
  { coleccion: 'articulos', ref: 'andamio', id: 12, descripcion: 'Andamio', modo: 'alquiler', stock: 4 },
];
const newCompany = (more: FileRecord[] = []) =>
  server.company([...records, ...more], { cuenta: { stock_multiformato: true } });
const sold = [
  { cantidad: 3, articulo_fk: 11, importe_unitario: 3.333, variacion_articulo_fk: 71, iva: 10, descuento: 5 },
  { cantidad: 2, articulo_fk: 11, importe_unitario: 60, formatoId: 74, cantidad_base_real: 49, proyectoId: 22 },
  { cantidad: 1, articulo_fk: 11, importe_unitario: 8, formatoId: 75, descripcion_ampliada: 'Nueva' },
  { cantidad: 1, articulo_fk: 12, importe_unitario: 10, startDate: '2026-03-10', endDate: '2026-03-12' },
];
async function created(company: Company, path: string, body: object): Promise<string> {
  const { status, body: answer } = await company.post(path, body);
  expect([status, answer.errorMsg]).toEqual([200, '']);
  return answer.data;
}
const sale = (detalles: object[] = sold, more: object = {}) => ({
  cliente: { id: 1 },
  pedido: { obra: 'Obra', proyectoId: 21 },
  detalles,
  ...more,
});
const invoice = (company: Company, ...sent: Parameters<typeof sale>) => created(company, '/invoices', sale(...sent));
const deliver = (company: Company, detalles?: object[]) => created(company, '/delivery-notes', sale(detalles));
const rectify = (company: Company, facturaId: string, body: object = {}) =>
  company.post(`/invoices/${facturaId}/rectify`, { motivo, ...body });
const rectified = (company: Company, facturaId: string, body: object = {}) =>
  created(company, `/invoices/${facturaId}/rectify`, { motivo, ...body });
const data = async (company: Company, path: string, query: object = {}) =>
  (await company.get(path, { ...query })).body.data;
const lineIds = async (company: Company, facturaId: string): Promise<string[]> =>
  (await data(company, `/invoices/${facturaId}`)).lineas.map(({ lineaId }: { lineaId: string }) => lineaId);

/** Sales, by report and by project, stock and what is free. */
async function counted(company: Company) {
  const year = { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' };
  const [report, projects, dated, products, available] = await Promise.all([
    data(company, '/reports/sales', { ...year, agrupar: 'articulo' }),
    data(company, '/projects'),
    data(company, '/projects', year),
    data(company, '/products'),
    data(company, '/products/12/availability', { fecha_inicio: '2026-03-10', fecha_fin: '2026-03-13' }),
  ]);
  const kept = await database.transaction(company.id, {}, (db) =>
    Promise.all(ROLLUPS.map((figure) => differences(db, company.id, figure))),
  );
  expect(kept.flat()).toEqual([]);
  const sales = (of: { proyectos: { economico: { ventas: number } }[] }) =>
    of.proyectos.map(({ economico }) => economico.ventas);
  expect(sales(dated)).toEqual(sales(projects));
  const stock = products.articulos.map((article: { stock: number }) => article.stock);
  return { total: report.total_ventas, sales: sales(projects), stock, free: available.minimo_disponible };
}

test('[DLV-02] [W-02] the whole of an invoice: series R, negative lines of the same prices, set off, each names the other', async () => {
  const acme = await newCompany();
  const before = await counted(acme);
  const facturaId = await invoice(acme);
  const original = await data(acme, `/invoices/${facturaId}`);
  const id = await rectified(acme, facturaId);
  const doc = { tipo: 'factura', id, numero: 'R2026-0001' };
  const read = await data(acme, `/invoices/${id}`);
  expect(read).toMatchObject({
    numero: 'R2026-0001',
    fecha: '2026-03-10',
    concepto: 'Obra',
    base_imponible: -original.base_imponible,
    total_con_iva: -original.total_con_iva,
    saldo: 0,
    pagada: true,
    vencimientos: [{ fecha: '2026-03-10', importe: -original.total_con_iva, pendiente: 0 }],
    motivo_rectificacion: motivo,
    rectifica: { tipo: 'factura', id: facturaId, numero: 'F2026-0001' },
    rectificada_por: [],
  });
  expect(read.lineas).toEqual(
    original.lineas.map(({ cantidad, importe, ...line }: { cantidad: number; importe: number }) => ({
      ...line,
      lineaId: expect.any(String),
      cantidad: -cantidad,
      importe: -importe,
    })),
  );
  expect(await data(acme, `/invoices/${facturaId}`)).toMatchObject({
    ...{ saldo: 0, pagada: true, rectifica: null, rectificada_por: [doc] },
    lineas: original.lineas,
  });
  expect((await data(acme, '/invoices')).facturas).toMatchObject([
    { numero: 'R2026-0001', saldo: 0, rectifica: { numero: 'F2026-0001' }, rectificada_por: [] },
    { numero: 'F2026-0001', saldo: 0, rectifica: null, rectificada_por: [doc] },
  ]);
  // The goods stay away.
  expect(await counted(acme)).toEqual({ ...before, stock: [before.stock[0], before.stock[1] - 62] });
  const { rows } = await database.pool.query(
    `select i.number, s.amount, s.treasury_movement_id from settlements s join invoices i on i.account_id = s.account_id and i.id = s.invoice_id
     where s.account_id = $1 order by i.number`,
    [acme.id],
  );
  expect(rows).toEqual([
    { number: 'F2026-0001', amount: original.total_con_iva, treasury_movement_id: null },
    { number: 'R2026-0001', amount: -original.total_con_iva, treasury_movement_id: null },
  ]);
  await invoice(acme);
  expect((await data(acme, '/invoices')).facturas[0].numero).toBe('F2026-0002');
});

test('[W-04] [DLV-03] [DLV-05] parts of lines, with their part of the weight; the goods come back as they left', async () => {
  const acme = await newCompany();
  const before = await counted(acme);
  const facturaId = await invoice(acme);
  const [single = '', weighed = '', boxed = ''] = await lineIds(acme, facturaId);
  // A box of ten becomes one of twelve: ten come back.
  await acme.load(
    records
      .map((record) =>
        record.ref === 'cable'
          ? {
              ...record,
              formatos: [
                ...(record.formatos as object[]).slice(0, 1),
                { ref: 'caja', id: 75, titulo: 'Caja', factor: 12 },
              ],
            }
          : record,
      )
      .filter(({ ref }) => ref === 'cable')
      .map((record) => ({ ...record, stock: 438 })),
  );
  const part = await rectified(acme, facturaId, {
    lineas: [
      { lineaId: weighed, cantidad: 0.5 },
      { lineaId: boxed, cantidad: 1 },
    ],
    devolver_stock: true,
  });
  expect((await data(acme, `/invoices/${part}`)).lineas).toMatchObject([
    { cantidad: -0.5, cantidad_base_real: 12.25, importe: -30 },
    { cantidad: -1, importe: -8 },
  ]);
  const { movimientos } = await data(acme, '/products/11/stock-movements', { fecha_fin: '2026-03-10' });
  expect(movimientos.slice(0, 2)).toMatchObject([
    { cantidad: 10, documento: { tipo: 'factura', numero: 'R2026-0001' } },
    { cantidad: 12.25, documento: { tipo: 'factura', numero: 'R2026-0001' } },
  ]);
  for (const [lineaId, cantidad, left] of [
    [boxed, 1, '0'],
    [weighed, 1.6, '1.5'],
    [single, 3.1, '3'],
    [single, -1, '3'],
  ] as const) {
    const { status, body } = await rectify(acme, facturaId, { lineas: [{ lineaId, cantidad }] });
    expect([status, body.data]).toEqual([
      400,
      [{ campo: 'lineas[0].cantidad', mensaje: `queda por rectificar ${left}` }],
    ]);
  }
  const rest = await rectified(acme, facturaId, { devolver_stock: true });
  expect((await data(acme, `/invoices/${rest}`)).lineas).toMatchObject([
    { cantidad: -3 },
    { cantidad: -1.5, cantidad_base_real: 36.75 },
    { articuloId: expect.any(String), startDate: '2026-03-10' },
  ]);
  expect(await counted(acme)).toEqual(before);
  const again = await rectify(acme, facturaId);
  expect([again.status, again.body.data]).toEqual([
    400,
    [{ campo: 'facturaId', mensaje: 'no queda nada por rectificar' }],
  ]);
});

test('[W-04] of any who rectify at once, no more than was invoiced is rectified', async () => {
  const acme = await newCompany();
  const facturaId = await invoice(acme, [{ cantidad: 5, descripcion: 'Hora', importe_unitario: 40 }]);
  const [lineaId] = await lineIds(acme, facturaId);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => rectify(acme, facturaId, { lineas: [{ lineaId, cantidad: 2 }] })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400, 400, 400, 400, 400]);
  const whole = await Promise.all([rectify(acme, facturaId), rectify(acme, facturaId)]);
  expect(whole.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect(await counted(acme)).toMatchObject({ total: 0, sales: [0, 0] });
  expect(await data(acme, `/invoices/${facturaId}`)).toMatchObject({ saldo: 0 });
});

test('[PRJ-01] [W-04] lines of delivery notes: the sale is undone, goods and all, and the notes stay invoiced', async () => {
  const acme = await newCompany();
  const before = await counted(acme);
  const albaran = await deliver(acme);
  const facturaId = await created(acme, '/invoices', { albaranes: [albaran] });
  await rectified(acme, facturaId, { devolver_stock: true });
  expect(await counted(acme)).toEqual(before);
  expect(await data(acme, `/delivery-notes/${albaran}`)).toMatchObject({ facturado: true });
  expect((await acme.post('/invoices', { albaranes: [albaran] })).status).toBe(400);
});

test('[PRJ-01] [W-04] freed notes go on counting themselves, and are to be invoiced again', async () => {
  const acme = await newCompany();
  const [one, other] = [await deliver(acme), await deliver(acme)];
  const facturaId = await created(acme, '/invoices', { albaranes: [one, other] });
  const before = await counted(acme);
  const ids = await lineIds(acme, facturaId);
  const part = await rectify(acme, facturaId, {
    lineas: ids.slice(0, 2).map((lineaId) => ({ lineaId, cantidad: 1 })),
    liberar_albaranes: true,
  });
  expect([part.status, part.body.data]).toEqual([
    400,
    [{ campo: 'liberar_albaranes', mensaje: expect.stringContaining('entero') }],
  ]);
  // All of the first note.
  const { lineas } = await data(acme, `/invoices/${facturaId}`);
  const first = lineas
    .slice(0, sold.length)
    .map(({ lineaId, cantidad }: { lineaId: string; cantidad: number }) => ({ lineaId, cantidad }));
  const id = await rectified(acme, facturaId, { lineas: first, liberar_albaranes: true, devolver_stock: true });
  expect(await counted(acme)).toEqual(before);
  expect((await data(acme, `/invoices/${id}`)).albaranes).toMatchObject([{ id: one }]);
  expect(await data(acme, '/delivery-notes', { facturado: false })).toMatchObject({ documentos: [{ albaranId: one }] });
  expect(await data(acme, `/delivery-notes/${one}`)).toMatchObject({ facturado: false });
  const again = await created(acme, '/invoices', { albaranes: [one] });
  expect(await counted(acme)).toEqual(before);
  expect(await data(acme, `/delivery-notes/${one}`)).toMatchObject({ facturado: true });
  // Freed again, it may be annulled.
  await rectified(acme, again, { liberar_albaranes: true });
  expect((await acme.post(`/delivery-notes/${one}/annul`, { motivo })).status).toBe(200);
  await rectified(acme, facturaId, { devolver_stock: true });
  expect(await counted(acme)).toMatchObject({ total: 0, sales: [0, 0], stock: [4, 500] });
});

test('it is set off against what is pending, in the order of the due dates, and no further; or not at all', async () => {
  const acme = await newCompany();
  const hours = [{ cantidad: 10, descripcion: 'Hora', importe_unitario: 10, iva: 0 }];
  const vencimientos = [
    { fecha: '2026-04-01', importe: 40 },
    { fecha: '2026-05-01', importe: 60 },
  ];
  const facturaId = await invoice(acme, hours, { vencimientos });
  const [lineaId] = await lineIds(acme, facturaId);
  const { vencimientos: due } = await data(acme, `/invoices/${facturaId}`);
  await created(acme, `/treasury/due-dates/${due[0].vencimientoId}/settle`, { importe: 30 });
  await rectified(acme, facturaId, { lineas: [{ lineaId, cantidad: 2 }] });
  const pending = async (of: string) =>
    (await data(acme, `/invoices/${of}`)).vencimientos.map(({ pendiente }: { pendiente: number }) => pendiente);
  expect(await pending(facturaId)).toEqual([0, 50]);
  const alone = await rectified(acme, facturaId, { lineas: [{ lineaId, cantidad: 1 }], compensar: false });
  expect([await pending(facturaId), await pending(alone)]).toEqual([[0, 50], [-10]]);
  const more = await rectified(acme, facturaId);
  expect([await pending(facturaId), await pending(more)]).toEqual([[0, 0], [-20]]);
  expect(await data(acme, '/treasury/due-dates', { pendiente: true })).toMatchObject({
    vencimientos: [{ pendiente: -10 }, { pendiente: -20 }],
  });
});

test('[W-02] an annulled invoice, a rectifying one, a line of another or named twice, and a reason too short are 400', async () => {
  const acme = await newCompany([
    {
      coleccion: 'facturas',
      ref: 'f9',
      id: 91,
      fecha: '2026-01-01',
      cliente: 'nilo',
      lineas: [{ descripcion: 'x', cantidad: 1, importe_unitario: 1 }],
      anulado_el: '2026-01-02 10:00:00',
      motivo_anulacion: motivo,
    },
  ]);
  const [facturaId, other] = [await invoice(acme), await invoice(acme)];
  const id = await rectified(acme, other);
  const [lineaId] = await lineIds(acme, facturaId);
  const [theirs] = await lineIds(acme, other);
  const before = await counted(acme);
  for (const [of, body, campo] of [
    ['91', {}, 'facturaId'],
    [id, {}, 'facturaId'],
    [facturaId, { motivo: 'x' }, 'motivo'],
    [facturaId, { motivo: undefined }, 'motivo'],
    [facturaId, { lineas: [] }, 'lineas'],
    [facturaId, { lineas: [{ lineaId: theirs, cantidad: 1 }] }, 'lineas[0].lineaId'],
    [facturaId, { lineas: [{ lineaId, cantidad: 0 }] }, 'lineas[0].cantidad'],
    [
      facturaId,
      {
        lineas: [
          { lineaId, cantidad: 1 },
          { lineaId, cantidad: 1 },
        ],
      },
      'lineas[1].lineaId',
    ],
  ] as const) {
    const answer = await rectify(acme, of, body);
    expect([body, answer.status, answer.body.data]).toMatchObject([body, 400, [{ campo }]]);
  }
  expect(await counted(acme)).toEqual(before);
  expect((await data(acme, '/invoices')).total_facturas).toBe(4);
});

test('[W-04] in the account file a rectifying invoice may name one of the lines before it', async () => {
  const acme = await newCompany();
  const line = { descripcion: 'x', cantidad: 2, importe_unitario: 5, iva: 0 };
  const sales = { coleccion: 'facturas', fecha: '2026-01-01', cliente: 'nilo' };
  const rectifying = {
    ...{ ...sales, ref: 'r', id: 92, numero: 'R2026-0007', rectifica: 'f', motivo_rectificacion: motivo },
    lineas: [{ ...line, cantidad: -2, linea_rectificada: 1 }],
  };
  await acme.load([{ ...sales, ref: 'f', id: 91, lineas: [line, line] }, rectifying]);
  expect(await data(acme, '/invoices/91')).toMatchObject({ rectificada_por: [{ numero: 'R2026-0007' }] });
  const id = await rectified(acme, '91');
  expect(await data(acme, `/invoices/${id}`)).toMatchObject({ numero: 'R2026-0008', lineas: [{ cantidad: -2 }] });
  await expect(acme.load([{ ...rectifying, rectifica: 'r' }])).rejects.toThrow();
});

test('[AUTH-01] [AUTH-04] [TEN-01] a read-only key rectifies none, nobody does without one, another company’s invoice is a 404', async () => {
  const [acme, other] = [await newCompany(), await newCompany()];
  const facturaId = await invoice(acme);
  const [lineaId] = await lineIds(acme, facturaId);
  const path = `/api/v1/invoices/${facturaId}/rectify`;
  const body = JSON.stringify({ motivo });
  const json = { 'content-type': 'application/json' };
  expect((await server.request(path, { method: 'POST', headers: json, body })).status).toBe(401);
  const readOnly = { ...(await acme.newKey(true)), ...json };
  expect((await server.request(path, { method: 'POST', headers: readOnly, body })).status).toBe(403);
  for (const id of [facturaId, '999', 'x']) {
    const { status, body } = await rectify(other, id);
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('facturaId')]);
  }
  const own = await invoice(other);
  const theirs = await rectify(other, own, { lineas: [{ lineaId, cantidad: 1 }] });
  expect([theirs.status, theirs.body.errorMsg]).toEqual([404, expect.stringContaining('lineas[0].lineaId')]);
  expect((await data(acme, '/invoices')).total_facturas).toBe(1);
});
