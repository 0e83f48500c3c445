import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

// 11 May in Madrid.
const server = await startServer({ clock: new TestClock('2026-05-10T22:30:00Z') });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'cuentas_tesoreria', ref: 'banco', id: 1, titulo: 'Banco', tipo: 'banco', saldo_inicial: 100 },
  { coleccion: 'cuentas_tesoreria', ref: 'caja', id: 2, titulo: 'Caja', tipo: 'caja' },
];
const create = (company: Company, movement: object, headers?: Record<string, string>) =>
  company.post('/treasury/movements', movement, headers);
const movements = async (company: Company, query: object = {}) =>
  (await company.get('/treasury/movements', { ...query })).body.data.movimientos;
const balances = async (company: Company) => {
  const { cuentas, saldo_total } = (await company.get('/treasury/accounts')).body.data;
  return [...cuentas.map(({ saldo }: { saldo: number }) => saldo), saldo_total];
};

test('[DATE-02] a movement is listed and moves the balance of its account, today unless it says when', async () => {
  const acme = await server.company(records);
  const [{ cuentaId }] = (await acme.get('/treasury/accounts')).body.data.cuentas;
  const { status, body } = await create(acme, { cuentaId, concepto: ' Comisión ', importe: -12.34 });
  expect([status, body]).toEqual([200, { errorCode: 200, errorMsg: '', data: expect.stringMatching(/^[\w-]{23}$/) }]);
  expect(await movements(acme)).toEqual([
    { movimientoId: body.data, cuentaId, fecha: '2026-05-11', concepto: 'Comisión', importe: -12.34 },
  ]);
  await create(acme, { cuentaId: 1, concepto: 'Antes', importe: 0.1, fecha: '2026-01-01' });
  await create(acme, { cuentaId: 2, concepto: 'Antes', importe: 0.2, fecha: '2026-05-11' });
  await create(acme, { cuentaId: 2, concepto: 'Después', importe: 7, fecha: '2026-05-12' });
  expect(await balances(acme)).toEqual([87.76, 0.2, 87.96]);
  expect(await movements(acme, { fecha_fin: '2026-01-31' })).toHaveLength(1);
});

test('[IDEM-01] a replay answers the first answer and creates nothing; without it each call creates one', async () => {
  const acme = await server.company(records);
  const key = { 'x-idempotency-key': 'una' };
  const movement = { cuentaId: 1, concepto: 'Cuota', importe: -1 };
  const [first, second] = [await create(acme, movement, key), await create(acme, movement, key)];
  expect([second.body, second.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
  await create(acme, movement);
  expect(await movements(acme)).toHaveLength(2);
});

test('what is missing or wrong is 400 and named; nothing is written', async () => {
  const acme = await server.company(records);
  const right = { cuentaId: 1, concepto: 'Cuota', importe: 1, fecha: '2026-05-01' };
  for (const [field, values] of Object.entries({
    cuentaId: [undefined, true],
    concepto: [undefined, ' ', 7],
    importe: [undefined, 0, 1e12, 0.0000001],
    fecha: ['2026-02-30', '11/05/2026'],
  })) {
    for (const value of values) {
      const { status, body } = await create(acme, { ...right, [field]: value });
      expect([field, value, status, body.data]).toMatchObject([field, value, 400, [{ campo: field }]]);
    }
  }
  expect(await movements(acme)).toEqual([]);
});

test('[AUTH-04] [AUTH-01] [TEN-01] a read-only key creates none, nobody does without one, another company’s account is a 404', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const movement = { cuentaId: 1, concepto: 'Cuota', importe: 1 };
  const body = JSON.stringify(movement);
  const json = { 'content-type': 'application/json' };
  const key = { ...(await acme.newKey(true)), ...json };
  expect((await server.request('/crearMovimientoTesoreria', { method: 'POST', headers: key, body })).status).toBe(403);
  expect((await server.request('/crearMovimientoTesoreria', { method: 'POST', headers: json, body })).status).toBe(401);
  const [{ cuentaId }] = (await acme.get('/treasury/accounts')).body.data.cuentas;
  for (const id of [cuentaId, 1, 99, 'x']) {
    const { status, body } = await create(other, { ...movement, cuentaId: id });
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('cuentaId')]);
  }
  expect([await movements(acme), await movements(other)]).toEqual([[], []]);
});
