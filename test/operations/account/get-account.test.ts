import { afterAll, expect, test } from 'vitest';
import { type Company, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T10:00:15Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

test('[TEN-01] the company of the key, and what the key may do', async () => {
  const cuenta = { nombre: 'Acme, S.L.', cif: 'B12345674', zona_horaria: 'Atlantic/Canary', stock_multiformato: true };
  const acme = await server.company([], { cuenta });
  const { status, body } = await acme.get('/account');
  expect(status).toBe(200);
  expect(body.data).toEqual({
    ...cuenta,
    hoy: '2026-05-10',
    emision_automatica: false,
    permisos: ['svc.read', 'svc.write'],
    cuota: { limite: 1200, restante: 1199, reinicio: 45 },
  });
  const other = await server.company([], { readOnly: true });
  expect((await other.get('/account')).body.data).toMatchObject({
    nombre: 'Prueba',
    cif: '',
    zona_horaria: 'Europe/Madrid',
    stock_multiformato: false,
    permisos: ['svc.read'],
  });
});

test('[DATE-02] today is the company’s, which may not be the one of another', async () => {
  const today = async (zona_horaria: string) => {
    const acme = await server.company([], { cuenta: { zona_horaria } });
    return (await acme.get('/account')).body.data.hoy;
  };
  expect(await today('Pacific/Kiritimati')).toBe('2026-05-11');
  expect(await today('Pacific/Niue')).toBe('2026-05-09');
});

test('[ISS-01] whether renewals are issued by themselves is off until the company says so', async () => {
  const shown = async (acme: Company) => (await acme.get('/account')).body.data.emision_automatica;
  expect(await shown(await server.company([], { cuenta: { emision_automatica: null } }))).toBe(false);
  expect(await shown(await server.company([], { cuenta: { emision_automatica: true } }))).toBe(true);
});

test('[LIM-01] the quota is what this very call left, as the headers say', async () => {
  const acme = await server.company([], { cuenta: { cuota_por_minuto: 3 } });
  for (const restante of [2, 1, 0]) {
    const { headers, body } = await acme.get('/account');
    expect(body.data.cuota).toEqual({ limite: 3, restante, reinicio: 45 });
    expect(headers.get('ratelimit')).toBe(`"empresa";r=${restante};t=45`);
  }
  expect((await acme.get('/account')).status).toBe(429);
});

test('[LIM-01] each call of a batch has its own', async () => {
  const acme = await server.company();
  const { text } = await server.request('/trpc/account.get,account.get?batch=1', { headers: acme.headers });
  const left = JSON.parse(text).map(
    (answer: { result: { data: { json: { cuota: { restante: number } } } } }) => answer.result.data.json.cuota.restante,
  );
  expect(left.toSorted()).toEqual([1198, 1199]);
});

test('[AUTH-01] without a key there is no company', async () => {
  const { status, body } = await server.request('/api/v1/account');
  expect([status, body.errorMsg]).toEqual([401, 'Error on service call: API key authentication required']);
});
