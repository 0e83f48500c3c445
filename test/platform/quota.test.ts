// The company's quota as callers see it, on one process and on several.
import { describe, expect, test, vi } from 'vitest';
import { ApiError } from '../../platform/errors.ts';
import { Quota, type QuotaStore } from '../../platform/quota.ts';
import { recordStatements } from '../helpers/statements.ts';
import { type Answer, type Company, type Server, startServer, TestClock } from '../helpers/world.ts';

const START = '2026-03-01T10:00:20Z';

/** A company with this many calls a minute. */
const companyWith = (server: Server, cuota_por_minuto: number) => server.company([], { cuenta: { cuota_por_minuto } });

const read = (company: Company) => company.get('/crm/funnels');

/** The same company on another server. */
const readAt = (server: Server, { headers }: Company) => server.request('/api/v1/crm/funnels', { headers });

/** The company as the quota sees it. */
const holder = ({ id: accountId }: Company, quotaPerMinute: number | null = null, timeZone = 'Europe/Madrid') => ({
  accountId,
  quotaPerMinute,
  timeZone,
});

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
  // Through every interface and with every key.
  expect((await acme.alias('consultarProductos')).status).toBe(429);
  expect((await server.request('/api/v1/products', { headers: await acme.newKey() })).status).toBe(429);
  // Other companies are not affected.
  expect((await read(other)).status).toBe(200);

  clock.advance({ seconds: 39 });
  expect(quotaHeaders(await read(acme)).retryAfter).toBe('1');
  clock.advance({ seconds: 1 });
  expect(quotaHeaders(await read(acme))).toMatchObject({ state: '"empresa";r=2;t=60', retryAfter: null });
});

test('[LIM-01] [FAIR-05] what is answered counts, mistakes of the input and refusals included; who is not known, and what is no operation, does not', async () => {
  await using server = await startServer({ alone: true, clock: new TestClock(START) });
  const acme = await companyWith(server, 100);
  const left = ({ headers }: Answer) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  const readOnly = await acme.newKey(true);
  const before = left(await read(acme));

  const { request } = server;
  expect(
    statuses([
      await request('/api/v1/crm/funnels', { headers: { ...acme.headers, 'x-api-secret': 'wrong' } }),
      await request('/api/v1/nothing', { headers: acme.headers }),
      await request('/api/v1/crm/funnels', { method: 'DELETE', headers: acme.headers }),
      await request('/api/v1/crm/funnels', { method: 'OPTIONS', headers: acme.headers }),
      await request('/health/ready', { headers: acme.headers }),
    ]),
  ).toEqual([401, 404, 405, 200, 200]);
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
      await request('/crearOportunidad', { method: 'POST', headers: readOnly }),
    ]),
  ).toEqual([400, 404, 400, 415, 200, 403]);
  expect(left(await read(acme))).toBe(before - 8);
});

test('[FAIR-05] [ENV-09] a key that may not spends the quota by every door; once it is spent, its 403 asks the database nothing', async () => {
  await using server = await startServer({ alone: true, clock: new TestClock(START) });
  const acme = await companyWith(server, 10);
  const readOnly = await acme.newKey(true);
  const headers = { ...readOnly, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const send = (path: string, body: unknown) =>
    server.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const ways = {
    REST: () => send('/api/v1/crm/opportunities', {}),
    v0: () => send('/crearOportunidad', {}),
    tRPC: () => send('/trpc/opportunities.create', { json: {} }),
    MCP: () =>
      send('/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'crear_oportunidad', arguments: {} },
      }),
  };
  const left = async () => Number(/r=(\d+)/.exec((await read(acme)).headers.get('ratelimit') ?? '')?.[1]);
  expect(await left()).toBe(9);
  for (const [door, refused] of Object.entries(ways)) expect([door, (await refused()).status]).toEqual([door, 403]);
  expect(await left()).toBe(4);
  for (let call = 0; call < 4; call++) await ways.REST();
  expect((await read(acme)).status).toBe(429);

  const statements = recordStatements(server.service);
  statements.take();
  for (const [door, refused] of Object.entries(ways)) expect([door, (await refused()).status]).toEqual([door, 403]);
  expect(statements.take()).toEqual([]);
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
    // The new minute's calls are spent, for processes still in the old minute and for new ones.
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
  for (let call = 0; call < 1200; call++) await quota.spend(holder(acme));
  await expect(quota.spend(holder(acme))).rejects.toThrow(ApiError);
  const writes = statements.take().filter(({ text }) => /quota_windows/.test(text));
  expect(writes.length).toBeGreaterThan(0);
  expect(writes.length).toBeLessThan(120);

  // Concurrent calls share one request for a block.
  const busy = await companyWith(server, 1_000_000);
  await Promise.all(Array.from({ length: 500 }, () => quota.spend(holder(busy, 1_000_000))));
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

test('[LIM-01] a limit that is lowered within the minute holds at once: from 0 to it is left, at every door', async () => {
  await using server = await startServer({ alone: true, clock: new TestClock(START) });
  const { quota } = server.service;
  const acme = await server.company();
  for (let call = 0; call < 5; call++) await quota.spend(holder(acme, 100_000));
  const left = async (limit: number) => [quota.peek(holder(acme, limit)), await quota.look(holder(acme, limit))];
  for (const state of await left(100_000)) expect(state).toMatchObject({ limit: 100_000, remaining: 99_995 });
  for (const state of await left(7)) expect(state).toMatchObject({ limit: 7, remaining: 2 });
  for (const limit of [5, 3])
    for (const state of await left(limit)) expect(state).toMatchObject({ limit, remaining: 0 });
  await expect(quota.spend(holder(acme, 3))).rejects.toThrow('La empresa ha gastado su cuota de 3 llamadas por minuto');
  expect(await quota.spend(holder(acme, 7))).toMatchObject({ limit: 7, remaining: 1 });
  expect(await quota.spend(holder(acme, 7))).toMatchObject({ limit: 7, remaining: 0 });
  await expect(quota.spend(holder(acme, 7))).rejects.toThrow(ApiError);
  // And an increased one.
  expect(await quota.spend(holder(acme, 100))).toMatchObject({ limit: 100, remaining: 92 });
});

test('[LIM-01] by REST and in obtenerCuenta too, whatever was debited beforehand', async () => {
  await using server = await startServer({ alone: true, clock: new TestClock(START) });
  const acme = await companyWith(server, 100_000);
  for (let call = 0; call < 3; call++) await read(acme);
  const lower = (limit: number) =>
    server.service.database.pool.query('update accounts set quota_per_minute = $2 where id = $1', [acme.id, limit]);
  await lower(5);
  const headers = await acme.newKey();
  const account = await server.request('/api/v1/account', { headers });
  expect(account.body.data.cuota).toMatchObject({ limite: 5, restante: 1 });
  expect(quotaHeaders(account).state).toBe('"empresa";r=1;t=40');
  await lower(3);
  const refused = await server.request('/api/v1/account', { headers: await acme.newKey() });
  expect(refused.status).toBe(429);
  expect(quotaHeaders(refused)).toMatchObject({ policy: '"empresa";q=3;w=60', state: '"empresa";r=0;t=40' });
});

describe('[LIM-01] the calls of a day:', () => {
  /** The days as people see them, latest first. */
  const daysAt = async ({ service }: Server, company: Company, timeZone?: string) =>
    (await service.quota.look(holder(company, 100, timeZone))).days
      .map(({ day, calls }) => [day.toString(), calls] as const)
      .reverse();

  test('those that were made, not those that were debited; refused ones are in no count', async () => {
    await using server = await startServer({ alone: true, clock: new TestClock(START) });
    const acme = await companyWith(server, 100);
    for (let call = 0; call < 7; call++) await read(acme);
    await acme.get('/employees/999');
    await acme.alias('consultarProductos');
    const today = (await daysAt(server, acme))[0];
    expect(today).toEqual(['2026-03-01', 9]);
    // Read again, nothing is counted twice.
    expect((await daysAt(server, acme))[0]).toEqual(today);

    const answers = await Promise.all(Array.from({ length: 120 }, () => read(acme)));
    expect(statuses(answers).filter((status) => status === 429)).toHaveLength(29);
    expect((await daysAt(server, acme))[0]).toEqual(['2026-03-01', 100]);
    expect(await daysAt(server, await companyWith(server, 100))).toHaveLength(7);
  });

  test('a day is the company’s own: midnight in Madrid, in the Canaries an hour later, on the other side of the world', async () => {
    const clock = new TestClock('2026-03-28T22:59:30Z');
    await using server = await startServer({ alone: true, clock });
    const zones = ['Europe/Madrid', 'Atlantic/Canary', 'Pacific/Auckland'];
    const companies = await Promise.all(
      zones.map(async (zona_horaria) => ({
        zona_horaria,
        company: await server.company([], { cuenta: { zona_horaria } }),
      })),
    );
    const callAll = async (times: number) => {
      for (const { company } of companies) {
        for (let call = 0; call < times; call++) {
          const { status, text } = await read(company);
          expect(status, text).toBe(200);
        }
      }
    };
    await callAll(1);
    clock.advance({ seconds: 29, milliseconds: 999 });
    await callAll(1);
    clock.advance({ milliseconds: 1 });
    await callAll(3);
    clock.advance({ hours: 1 });
    await callAll(4);
    const seen = companies.map(async ({ company, zona_horaria }) =>
      (await daysAt(server, company, zona_horaria)).slice(0, 2),
    );
    expect(await Promise.all(seen)).toEqual([
      [
        ['2026-03-29', 7],
        ['2026-03-28', 2],
      ],
      [
        ['2026-03-29', 4],
        ['2026-03-28', 5],
      ],
      [
        ['2026-03-29', 9],
        ['2026-03-28', 0],
      ],
    ]);
  });

  test('processes and doors add up; what one has yet to hand over comes with its next minute, or when it closes', async () => {
    const clock = new TestClock('2026-03-01T22:59:00Z');
    await using one = await startServer({ alone: true, clock });
    const other = await startServer({ alone: true, clock });
    const acme = await companyWith(one, 100);
    for (let call = 0; call < 2; call++) await readAt(one, acme);
    for (let call = 0; call < 6; call++) await readAt(other, acme);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'consultar_productos' },
    });
    const headers = {
      ...acme.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    expect((await one.request('/mcp/', { method: 'POST', headers, body })).status).toBe(200);
    expect((await daysAt(one, acme))[0]).toEqual(['2026-03-01', 3]);
    // In Madrid it is the next day; the other process reports the calls of the day before with its new minute.
    clock.advance({ minutes: 1 });
    await readAt(other, acme);
    expect((await daysAt(one, acme)).slice(0, 2)).toEqual([
      ['2026-03-02', 0],
      ['2026-03-01', 9],
    ]);
    await other.stop();
    expect((await daysAt(one, acme)).slice(0, 2)).toEqual([
      ['2026-03-02', 1],
      ['2026-03-01', 9],
    ]);
  });

  test('closing starts no minute anew, and a store that is away does not keep a service from closing', async () => {
    const clock = new TestClock(START);
    await using ahead = await startServer({ clock: new TestClock('2026-03-01T10:01:30Z') });
    const leaving = await startServer({ clock });
    const acme = await companyWith(ahead, 4);
    expect((await readAt(leaving, acme)).status).toBe(200);
    for (let call = 0; call < 4; call++) expect((await readAt(ahead, acme)).status).toBe(200);
    clock.advance({ minutes: 1 });
    await leaving.stop();
    await using third = await startServer({ clock });
    expect((await readAt(third, acme)).status).toBe(429);

    let calls = 0;
    let closed = false;
    const store: QuotaStore = {
      add: async () => {
        if (calls++ > 0) throw new Error('away');
        return 1;
      },
      callsOn: async () => new Map(),
      ping: async () => {},
      close: async () => {
        closed = true;
      },
    };
    const quota = new Quota(store, clock, 1200);
    await quota.spend(holder(acme));
    await quota.close();
    expect([calls, closed]).toEqual([2, true]);
  });

  test('a store that fails while it counts may have counted: nothing is handed over a second time', async () => {
    const handed: number[] = [];
    let failing = false;
    const store: QuotaStore = {
      async add(_accountId, _windowStart, _calls, made) {
        handed.push(...made.values());
        if (failing) throw new Error('away');
        return 1;
      },
      callsOn: async () => new Map(),
      ping: async () => {},
      close: async () => {},
    };
    const clock = new TestClock(START);
    const quota = new Quota(store, clock, 20);
    const acme = { accountId: 1, quotaPerMinute: 20, timeZone: 'Europe/Madrid' };
    for (let call = 0; call < 3; call++) await quota.spend(acme);
    clock.advance({ minutes: 1 });
    failing = true;
    await expect(quota.spend(acme)).rejects.toThrow('away');
    failing = false;
    await quota.spend(acme);
    await quota.close();
    expect(handed).toEqual([3, 1]);
  });

  test('a company that lets a minute pass is handed over and forgotten, by the next call of any', async () => {
    const handed: [number, number][] = [];
    const store: QuotaStore = {
      async add(accountId, _windowStart, calls, made) {
        for (const count of made.values()) handed.push([accountId, count]);
        return calls;
      },
      callsOn: async () => new Map(),
      ping: async () => {},
      close: async () => {},
    };
    const clock = new TestClock(START);
    const quota = new Quota(store, clock, 1200);
    const spend = (accountId: number) => quota.spend({ accountId, quotaPerMinute: null, timeZone: 'Europe/Madrid' });
    for (const company of [1, 1, 2]) await spend(company);
    clock.advance({ minutes: 1 });
    await spend(2);
    expect(handed).toEqual([[2, 1]]);
    clock.advance({ minutes: 1 });
    await spend(3);
    await vi.waitUntil(() => handed.length > 1);
    expect(handed.slice(1)).toEqual([[1, 2]]);
    await quota.close();
    expect(handed.slice(2).toSorted()).toEqual([
      [2, 1],
      [3, 1],
    ]);
  });

  test('a process keeps one block to itself at most, and hands over with few of its debits', async () => {
    const clock = new TestClock(START);
    for (const limit of [60, 1200, 1_000_000]) {
      const handed: number[] = [];
      let used = 0;
      const store: QuotaStore = {
        async add(_accountId, _windowStart, calls, made) {
          handed.push(...made.values());
          used += calls;
          return used;
        },
        callsOn: async () => new Map(),
        ping: async () => {},
        close: async () => {},
      };
      const quota = new Quota(store, clock, limit);
      const spent = Math.min(limit, 2000);
      for (let call = 1; call <= spent; call++) {
        await quota.spend({ accountId: 1, quotaPerMinute: null, timeZone: 'Europe/Madrid' });
        expect(call - handed.reduce((sum, calls) => sum + calls, 0)).toBeLessThanOrEqual(50);
      }
      expect(handed.length).toBeLessThanOrEqual(spent / 25);
      await quota.close();
      expect(handed.reduce((sum, calls) => sum + calls, 0)).toBe(spent);
    }
  });
});

test('[LIM-01] [ENV-04] while the count can’t be asked for, calls are 503 and nothing is given away', async () => {
  const clock = new TestClock(START);
  await using server = await startServer({ clock });
  const acme = await companyWith(server, 2);
  const fails = {
    add: () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' })),
    callsOn: async () => new Map(),
    ping: async () => {},
    close: async () => {},
  };
  await using broken = await startServer({ clock });
  broken.service.quota = new Quota(fails, clock, 1200);
  const answer = await readAt(broken, acme);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await read(acme)).status).toBe(200);
});
