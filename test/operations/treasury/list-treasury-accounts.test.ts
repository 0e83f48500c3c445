import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

// In Madrid it is already the 11th.
const server = await startServer({ clock: new TestClock('2026-05-10T22:30:00Z') });
afterAll(() => server.stop());

const account = (ref: string, more: object = {}): FileRecord => ({
  coleccion: 'cuentas_tesoreria',
  ref,
  titulo: ref,
  tipo: 'banco',
  ...more,
});
const movement = (cuenta: string, fecha: string, importe: number): FileRecord => ({
  coleccion: 'movimientos_tesoreria',
  cuenta,
  fecha,
  concepto: 'x',
  importe,
});

test('[PAG-02] [DATE-02] by title, with the balance at the end of today: the opening one and every movement up to it', async () => {
  const acme = await server.company([
    account('Zamora', { iban: 'ES91 2100 0418 4502 0005 1332', saldo_inicial: 0.1 }),
    account('Álava', { tipo: 'caja' }),
    account('Banco', { iban: 'ES9121000418450200051332', saldo_inicial: -50 }),
    movement('Zamora', '2026-05-10', 0.2),
    movement('Zamora', '2026-05-11', -0.05),
    movement('Zamora', '2026-05-12', 1000),
    movement('Álava', '1999-01-01', 7.25),
  ]);
  const { status, body } = await acme.get('/treasury/accounts');
  expect(status).toBe(200);
  const cuentaId = expect.any(String);
  const iban = 'ES91****************1332';
  expect(body.data).toEqual({
    cuentas: [
      { cuentaId, titulo: 'Álava', tipo: 'caja', iban: '', saldo: 7.25 },
      { cuentaId, titulo: 'Banco', tipo: 'banco', iban, saldo: -50 },
      { cuentaId, titulo: 'Zamora', tipo: 'banco', iban, saldo: 0.25 },
    ],
    saldo_total: -42.5,
  });
});

test('[DATE-02] today is the company’s, in its time zone', async () => {
  const records = [account('Banco'), movement('Banco', '2026-05-11', 5)];
  const canary = await server.company(records, { cuenta: { zona_horaria: 'Atlantic/Canary' } });
  const honolulu = await server.company(records, { cuenta: { zona_horaria: 'Pacific/Honolulu' } });
  const total = async (company: typeof canary) => (await company.get('/treasury/accounts')).body.data.saldo_total;
  expect([await total(canary), await total(honolulu)]).toEqual([0, 0]);
  const tokyo = await server.company(records, { cuenta: { zona_horaria: 'Asia/Tokyo' } });
  expect(await total(tokyo)).toBe(5);
});

test('what is too short to hide anything behind its ends is hidden whole', async () => {
  const acme = await server.company([
    account('a', { iban: '12345678' }),
    account('b', { iban: '123456789' }),
    account('c', { iban: '1' }),
    account('d', { iban: '12\u00a034\u2003\t56 78' }),
  ]);
  const { cuentas } = (await acme.get('/treasury/accounts')).body.data;
  expect(cuentas.map(({ iban }: { iban: string }) => iban)).toEqual(['********', '1234*6789', '*', '********']);
});

test('[TEN-01] another company has accounts of its own, and none is nothing', async () => {
  await server.company([account('Banco', { saldo_inicial: 5 })]);
  const other = await server.company();
  expect((await other.get('/treasury/accounts')).body.data).toEqual({ cuentas: [], saldo_total: 0 });
});
