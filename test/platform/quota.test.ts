// The company's quota, as callers meet it on one process and on several.
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../platform/errors.ts';
import { Quota } from '../../platform/quota.ts';
import { recordStatements } from '../helpers/statements.ts';
import { type Answer, type Company, type Server, startServer, TestClock } from '../helpers/world.ts';

const START = '2026-03-01T10:00:20Z';

/** A company with this many calls a minute. */
const companyWith = (server: Server, cuota_por_minuto: number) => server.company([], { cuenta: { cuota_por_minuto } });

const read = (company: Company) => company.get('/crm/funnels');

/** The same company at another server's door. */
const readAt = (server: Server, { headers }: Company) => server.request('/api/v1/crm/funnels', { headers });

const quotaHeaders = ({ headers }: Answer) => ({
  policy: headers.get('ratelimit-policy'),
  state: headers.get('ratelimit'),
  retryAfter: headers.get('retry-after'),
});

const statuses = (answers: Answer[]) => answers.map(({ status }) => status);

test('[LIM-01] 1200 calls a minute, unless set otherwise for the company; every answer tells what is left', async () => {
  await using server = await startServer({ clock: new TestClock(START) });
  const usual = await server.company();
  expect(quotaHeaders(await read(usual))).toEqual({
    policy: '"empresa";q=1200;w=60',
    state: '"empresa";r=1199;t=40',
    retryAfter: null,
  });
  const small = await companyWith(server, 3);
  expect(quotaHeaders(await read(small))).toMatchObject({ policy: '"empresa";q=3;w=60', state: '"empresa";r=2;t=40' });
});

test('[LIM-01] [ENV-04] a spent quota is 429 with the wait until the minute is over, and then there is a new one', async () => {
  const clock = new TestClock(START);
  await using server = await startServer({ clock });
  const acme = await companyWith(server, 3);
  const other = await companyWith(server, 3);
  expect(statuses([await read(acme), await read(acme), await read(acme)])).toEqual([200, 200, 200]);

  const spent = await read(acme);
  expect(spent.status).toBe(429);
  expect(spent.body).toEqual({
    errorCode: 429,
    errorMsg: 'La empresa ha gastado su cuota de 3 llamadas por minuto',
    data: null,
  });
  expect(quotaHeaders(spent)).toEqual({ policy: '"empresa";q=3;w=60', state: '"empresa";r=0;t=40', retryAfter: '40' });
  // By whatever door and key.
  expect((await acme.alias('consultarProductos')).status).toBe(429);
  expect((await server.request('/api/v1/products', { headers: await acme.newKey() })).status).toBe(429);
  // Another company does not notice.
  expect((await read(other)).status).toBe(200);

  clock.advance({ seconds: 39 });
  expect(quotaHeaders(await read(acme)).retryAfter).toBe('1');
  clock.advance({ seconds: 1 });
  expect(quotaHeaders(await read(acme))).toMatchObject({ state: '"empresa";r=2;t=60', retryAfter: null });
});

test('[LIM-01] what is answered counts, mistakes of the input included; who may not call, and what is no operation, does not', async () => {
  await using server = await startServer({ clock: new TestClock(START) });
  const acme = await companyWith(server, 100);
  const left = ({ headers }: Answer) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  const readOnly = await acme.newKey(true);
  const before = left(await read(acme));

  const { request } = server;
  expect(
    statuses([
      await request('/api/v1/crm/funnels', { headers: { ...acme.headers, 'x-api-secret': 'wrong' } }),
      await request('/crearOportunidad', { method: 'POST', headers: readOnly }),
      await request('/api/v1/nothing', { headers: acme.headers }),
      await request('/api/v1/crm/funnels', { method: 'DELETE', headers: acme.headers }),
      await request('/api/v1/crm/funnels', { method: 'OPTIONS', headers: acme.headers }),
      await request('/health/ready', { headers: acme.headers }),
    ]),
  ).toEqual([401, 403, 404, 405, 200, 200]);
  expect(left(await read(acme))).toBe(before - 1);

  expect(
    statuses([
      await acme.get('/employees/times'),
      await acme.get('/employees/999'),
      await request('/consultarProductos', {
        method: 'POST',
        headers: { ...acme.headers, 'content-type': 'application/json' },
        body: '{',
      }),
      await request('/consultarProductos', {
        method: 'POST',
        headers: { ...acme.headers, 'content-type': 'text/plain' },
        body: 'x',
      }),
      await request('/api/v1/crm/funnels', { method: 'HEAD', headers: acme.headers }),
    ]),
  ).toEqual([400, 404, 400, 415, 200]);
  expect(left(await read(acme))).toBe(before - 7);
});

describe('[LIM-01] several processes are one service:', () => {
  test('they share the minute’s calls to the last one, and never give one more', async () => {
    const clock = new TestClock(START);
    await using one = await startServer({ clock });
    await using other = await startServer({ clock });
    for (const limit of [1, 7, 60]) {
      const acme = await companyWith(one, limit);
      const answers = await Promise.all(
        Array.from({ length: limit + 30 }, (_, index) => readAt(index % 2 ? one : other, acme)),
      );
      expect(statuses(answers).filter((status) => status === 200)).toHaveLength(limit);
      expect(statuses(answers).filter((status) => status === 429)).toHaveLength(30);
    }
  });

  test('when their clocks differ at the turn of the minute, no minute is counted anew', async () => {
    const late = new TestClock('2026-03-01T10:00:59.900Z');
    const early = new TestClock('2026-03-01T10:01:00.100Z');
    await using behind = await startServer({ clock: late });
    await using ahead = await startServer({ clock: early });
    const acme = await companyWith(behind, 4);
    expect((await readAt(behind, acme)).status).toBe(200);
    for (let call = 0; call < 4; call++) expect((await readAt(ahead, acme)).status).toBe(200);
    // The new minute's calls are spent, also for whoever still thinks it is the old one, and for whoever comes now.
    expect((await readAt(behind, acme)).status).toBe(429);
    await using third = await startServer({ clock: early });
    expect((await readAt(third, acme)).status).toBe(429);
    expect((await readAt(ahead, acme)).status).toBe(429);
  });
});

test('[LIM-01] calls are debited in blocks: twelve hundred of them write the count rarely', async () => {
  await using server = await startServer({ clock: new TestClock(START) });
  const acme = await server.company();
  const { quota } = server.service;
  const statements = recordStatements(server.service);
  for (let call = 0; call < 1200; call++) await quota.spend(acme.id, null);
  await expect(quota.spend(acme.id, null)).rejects.toThrow(ApiError);
  const writes = statements.take().filter(({ text }) => /quota_windows/.test(text));
  expect(writes.length).toBeGreaterThan(0);
  expect(writes.length).toBeLessThan(120);

  // All at once they wait for one block together, instead of each asking for its own.
  const busy = await companyWith(server, 1_000_000);
  await Promise.all(Array.from({ length: 500 }, () => quota.spend(busy.id, 1_000_000)));
  expect(statements.take().filter(({ text }) => /quota_windows/.test(text)).length).toBeLessThanOrEqual(10);
});

test('[LIM-01] the count stands in the database: a process that starts anew does not begin at zero', async () => {
  const clock = new TestClock(START);
  const first = await startServer({ clock });
  const acme = await companyWith(first, 4);
  for (let call = 0; call < 4; call++) expect((await read(acme)).status).toBe(200);
  await using second = await startServer({ clock });
  expect((await readAt(second, acme)).status).toBe(429);
  await first.stop();
});

test('[LIM-01] [ENV-04] while the count can’t be asked for, calls are 503 and nothing is given away', async () => {
  const clock = new TestClock(START);
  await using server = await startServer({ clock });
  const acme = await companyWith(server, 2);
  const fails = {
    add: () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' })),
    close: async () => {},
  };
  await using broken = await startServer({ clock });
  broken.service.quota = new Quota(fails, clock, 1200);
  const answer = await readAt(broken, acme);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await read(acme)).status).toBe(200);
});
