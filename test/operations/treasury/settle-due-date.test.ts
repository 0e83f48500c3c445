import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

// 11 May in Madrid.
const server = await startServer({ clock: new TestClock('2026-05-10T22:30:00Z') });
afterAll(() => server.stop());

const line = (importe_unitario: number) => ({ descripcion: 'Obra', cantidad: 1, importe_unitario });
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo' },
  { coleccion: 'proveedores', ref: 'maderas', id: 2, nombre_fiscal: 'Maderas' },
  {
    coleccion: 'facturas',
    ref: 'f1',
    id: 11,
    numero: 'F-1',
    fecha: '2026-04-01',
    cliente: 'nilo',
    lineas: [line(100)],
    vencimientos: [
      { id: 101, fecha: '2026-05-01', importe: 61 },
      { id: 102, fecha: '2026-06-01', importe: 60, cobrado: 10 },
    ],
  },
  {
    coleccion: 'facturas',
    ref: 'f2',
    id: 12,
    fecha: '2026-04-02',
    cliente: 'nilo',
    lineas: [line(-50)],
    vencimientos: [{ id: 103, fecha: '2026-05-02', importe: -60.5 }],
  },
  {
    coleccion: 'facturas',
    ref: 'f3',
    id: 13,
    fecha: '2026-04-03',
    cliente: 'nilo',
    lineas: [line(1)],
    vencimientos: [
      { id: 104, fecha: '2026-05-02', importe: 1.21 },
      { id: 105, fecha: '2026-05-02', importe: 7 },
    ],
    anulado_el: '2026-05-01 10:00:00',
    motivo_anulacion: 'Duplicada',
  },
  {
    coleccion: 'facturas_compra',
    ref: 'g1',
    id: 21,
    numero: 'X-7',
    fecha: '2026-04-01',
    proveedor: 'maderas',
    lineas: [line(100)],
    vencimientos: [
      { id: 201, fecha: '2026-05-01', importe: 61 },
      { id: 105, fecha: '2026-06-01', importe: 60 },
    ],
  },
  { coleccion: 'cuentas_tesoreria', ref: 'banco', id: 31, titulo: 'Banco', tipo: 'banco', saldo_inicial: 100 },
];
const settle = (company: Company, vencimientoId: unknown, body: object = {}) =>
  company.post(`/treasury/due-dates/${vencimientoId}/settle`, body);
const settled = async (company: Company, vencimientoId: unknown, body: object = {}) => {
  const { status, body: answer } = await settle(company, vencimientoId, body);
  expect([status, answer.errorMsg]).toEqual([200, '']);
  return answer.data;
};
const data = async (company: Company, path: string, query: object = {}) =>
  (await company.get(path, { ...query })).body.data;
const pendingOf = async (company: Company, tipo: 'cobro' | 'pago') =>
  (await data(company, '/treasury/due-dates', { tipo })).vencimientos.map(
    ({ pendiente }: { pendiente: number }) => pendiente,
  );
const movements = async (company: Company) => (await data(company, '/treasury/movements')).movimientos;
const kept = async (company: Company) => {
  const { rows } = await server.service.database.pool.query(
    `select invoice_id, purchase_invoice_id, position, date::text, amount, treasury_movement_id is not null as moved
     from settlements where account_id = $1 order by id`,
    [company.id],
  );
  return rows;
};

test('[W-04] all that is pending today, or a part of it another day; the invoice, its due dates and the forecast follow', async () => {
  const acme = await server.company(records);
  const forecast = async () =>
    (await data(acme, '/treasury/forecast', { fecha_inicio: '2026-05-11', fecha_fin: '2026-06-30' })).periodos;
  const before = await forecast();
  const { vencimientos } = await data(acme, '/invoices/11');
  const [{ vencimientoId }] = vencimientos;
  expect(await settled(acme, vencimientoId, { importe: 20.5, fecha: '2026-05-09' })).toEqual({
    ...{ vencimientoId, importe: 20.5, pendiente: 40.5, movimientoId: null },
  });
  expect(await settled(acme, 101)).toEqual({ vencimientoId, importe: 40.5, pendiente: 0, movimientoId: null });
  expect(await data(acme, '/invoices/11')).toMatchObject({
    saldo: 50,
    pagada: false,
    vencimientos: [{ pendiente: 0 }, { pendiente: 50 }],
  });
  expect((await forecast())[0].cobros).toBe(before[0].cobros - 61);
  await settled(acme, 102);
  expect(await data(acme, '/invoices/11')).toMatchObject({ saldo: 0, pagada: true });
  expect(await data(acme, '/invoices', { pagada: false, busqueda: 'F-1' })).toMatchObject({ total_facturas: 0 });
  expect(await kept(acme)).toMatchObject([
    { invoice_id: 11, purchase_invoice_id: null, position: 1, date: '2026-05-09', amount: 20.5, moved: false },
    { position: 1, date: '2026-05-11', amount: 40.5 },
    { position: 2, date: '2026-05-11', amount: 50 },
  ]);
  expect(await movements(acme)).toEqual([]);
});

test('[W-04] payments too, and what has to go back; with an account each makes its movement', async () => {
  const acme = await server.company(records);
  const { cuentaId } = (await data(acme, '/treasury/accounts')).cuentas[0];
  const paid = (await data(acme, '/treasury/due-dates', { tipo: 'pago' })).vencimientos[0];
  const payment = await settled(acme, paid.vencimientoId, { importe: 21, cuentaId, fecha: '2026-05-10' });
  expect(payment).toEqual({
    ...{ vencimientoId: paid.vencimientoId, importe: 21, pendiente: 40 },
    movimientoId: expect.stringMatching(/^[\w-]{23}$/),
  });
  expect(await data(acme, '/purchase-invoices')).toMatchObject({ facturas: [{ saldo: 100, pagada: false }] });
  expect(await pendingOf(acme, 'pago')).toEqual([40, 60]);
  const collection = await settled(acme, 101, { cuentaId });
  const refund = await settled(acme, 103, { importe: -60, cuentaId });
  expect(refund).toMatchObject({ importe: -60, pendiente: -0.5 });
  expect(await movements(acme)).toEqual([
    { movimientoId: refund.movimientoId, cuentaId, fecha: '2026-05-11', concepto: 'Cobro', importe: -60 },
    { movimientoId: collection.movimientoId, cuentaId, fecha: '2026-05-11', concepto: 'Cobro F-1', importe: 61 },
    { movimientoId: payment.movimientoId, cuentaId, fecha: '2026-05-10', concepto: 'Pago X-7', importe: -21 },
  ]);
  expect(await data(acme, '/treasury/accounts')).toMatchObject({ saldo_total: 80 });
  expect(await kept(acme)).toMatchObject([
    { purchase_invoice_id: 21, invoice_id: null, position: 1, amount: 21, moved: true },
    { invoice_id: 11, moved: true },
    { invoice_id: 12, amount: -60 },
  ]);
});

test('[W-04] of any who settle at once, no more than is pending is settled', async () => {
  const acme = await server.company(records);
  const answers = await Promise.all(Array.from({ length: 8 }, () => settle(acme, 201, { importe: 20, cuentaId: 31 })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 400, 400, 400, 400, 400]);
  expect(await pendingOf(acme, 'pago')).toEqual([1, 60]);
  expect(await movements(acme)).toHaveLength(3);
  const all = await Promise.all(Array.from({ length: 4 }, () => settle(acme, 101)));
  expect(all.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
});

test('[ID-03] a number that a collection and a payment have is 400; their identifiers are not', async () => {
  const acme = await server.company(records.filter(({ ref }) => ref !== 'f3'));
  await acme.load([
    { ...records.find(({ ref }) => ref === 'f3'), coleccion: 'facturas', anulado_el: null, motivo_anulacion: null },
  ]);
  const { status, body } = await settle(acme, 105);
  expect([status, body.data]).toEqual([
    400,
    [{ campo: 'vencimientoId', mensaje: expect.stringContaining('un cobro y de un pago') }],
  ]);
  const { vencimientos } = await data(acme, '/treasury/due-dates');
  const named = vencimientos.filter(({ importe }: { importe: number }) => importe === 60 || importe === 7);
  expect(named).toHaveLength(3);
  for (const { vencimientoId } of named) await settled(acme, vencimientoId, { importe: 1 });
});

test('[W-04] [W-02] too much, the other sign, nothing pending, an annulled invoice or a day to come is 400 and writes nothing', async () => {
  const acme = await server.company(records);
  const before = await data(acme, '/treasury/due-dates');
  for (const [id, body, campo] of [
    [101, { importe: 61.01 }, 'importe'],
    [102, { importe: 50.01 }, 'importe'],
    [103, { importe: 60.5 }, 'importe'],
    [103, { importe: -60.51 }, 'importe'],
    [101, { importe: -1 }, 'importe'],
    [101, { importe: 0 }, 'importe'],
    [101, { importe: 1.001 }, 'importe'],
    [101, { fecha: '2026-05-12' }, 'fecha'],
    [101, { fecha: '2026-02-30' }, 'fecha'],
    [104, {}, 'vencimientoId'],
  ] as const) {
    const answer = await settle(acme, id, { ...body, cuentaId: 31 });
    expect([id, body, answer.status, answer.body.data]).toMatchObject([id, body, 400, [{ campo }]]);
  }
  await settled(acme, 101);
  const again = await settle(acme, 101);
  expect([again.status, again.body.data]).toEqual([
    400,
    [{ campo: 'vencimientoId', mensaje: 'no queda nada pendiente' }],
  ]);
  expect(await kept(acme)).toHaveLength(1);
  expect(await movements(acme)).toEqual([]);
  expect((await data(acme, '/treasury/due-dates')).total_vencimientos).toBe(before.total_vencimientos);
});

test('[IDEM-01] a replay settles once', async () => {
  const acme = await server.company(records);
  const key = { 'x-idempotency-key': 'una' };
  const pay = () => acme.post('/treasury/due-dates/201/settle', { importe: 40, cuentaId: 31 }, key);
  const [first, second] = [await pay(), await pay()];
  expect([second.body, second.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
  expect(await pendingOf(acme, 'pago')).toEqual([21, 60]);
});

test('[AUTH-01] [AUTH-04] [TEN-01] a read-only key settles nothing, nobody does without one, another company’s due date is a 404', async () => {
  const [acme, other] = [await server.company(records), await server.company()];
  const body = '{}';
  const json = { 'content-type': 'application/json' };
  const path = '/api/v1/treasury/due-dates/101/settle';
  expect((await server.request(path, { method: 'POST', headers: json, body })).status).toBe(401);
  const readOnly = { ...(await acme.newKey(true)), ...json };
  expect((await server.request(path, { method: 'POST', headers: readOnly, body })).status).toBe(403);
  const [collection] = (await data(acme, '/treasury/due-dates', { tipo: 'cobro' })).vencimientos;
  const [payment] = (await data(acme, '/treasury/due-dates', { tipo: 'pago' })).vencimientos;
  for (const id of [collection.vencimientoId, payment.vencimientoId, 101, 105, 201, 999, 'x']) {
    const { status, body } = await settle(other, id);
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('vencimientoId')]);
  }
  const theirs = await settle(acme, 101, { cuentaId: 99 });
  expect([theirs.status, theirs.body.errorMsg]).toEqual([404, expect.stringContaining('cuentaId')]);
  expect(await kept(acme)).toEqual([]);
});
