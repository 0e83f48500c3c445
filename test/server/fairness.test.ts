// One company neither delays another nor makes the process look broken.
import { afterAll, describe, expect, inject, test, vi } from 'vitest';
import { tcpProxy } from '../helpers/tcp-proxy.ts';
import { type Company, startServer } from '../helpers/world.ts';

const server = await startServer({
  alone: true,
  database: { url: inject('databaseUrl'), poolSize: 4, companyConnections: 2, companyQueue: 1 },
});
afterAll(() => server.stop());

/** Holds this many of a company's connections until released. */
async function holdConnections({ id }: Company, many: number) {
  const { promise: letGo, resolve } = Promise.withResolvers<void>();
  const begun = Array.from({ length: many }, () => Promise.withResolvers<void>());
  const held = begun.map((one) =>
    server.service.database.transaction(id, {}, async () => {
      one.resolve();
      await letGo;
    }),
  );
  await Promise.all(begun.map(({ promise }) => promise));
  return async () => {
    resolve();
    await Promise.all(held);
  };
}

describe('a company that holds all the connections it may', () => {
  test('[FAIR-01] its next call waits its turn, one more is refused, and others are answered', async () => {
    const [large, small] = [await server.company(), await server.company()];
    const expected = await large.get('/crm/channels');
    expect(expected.status).toBe(200);
    const letGo = await holdConnections(large, 2);

    let answered = false;
    const waiting = large.get('/crm/channels').finally(() => {
      answered = true;
    });
    // The refusal shows that the call before it waits.
    const refused = await vi.waitUntil(async () => {
      const answer = await large.get('/crm/channels');
      return answer.status === 503 && answer;
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.body.errorMsg).toContain('La empresa tiene demasiadas llamadas en curso');
    for (let call = 0; call < 5; call++) expect(await small.get('/account')).toMatchObject({ status: 200 });
    expect(answered).toBe(false);

    await letGo();
    expect((await waiting).body).toEqual(expected.body);
  });

  test('[FAIR-01] the calls of a tRPC batch are made one after another', async () => {
    const company = await server.company();
    const paths = Array.from({ length: 50 }, () => 'channels.list').join(',');
    // At once they would exceed the queue.
    const { status, text } = await server.request(`/trpc/${paths}?batch=1`, { headers: company.headers });
    expect([status, text]).toEqual([200, expect.not.stringContaining('error')]);
    expect(JSON.parse(text)).toHaveLength(50);
  });
});

describe('what computes much, and batches', () => {
  const range = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };
  const tools = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
  const batchesOf = ({ headers }: Company) => [
    () => server.request('/trpc/channels.list,channels.list?batch=1', { headers }),
    () =>
      server.request('/mcp/', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify(tools),
      }),
  ];
  const reportsOf = (company: Company) =>
    [
      ['/planning', range],
      ['/recurring/renewals', range],
      ['/treasury/forecast', range],
      ['/reports/sales', { ...range, agrupar: 'mes' }],
    ].map(
      ([path, query]) =>
        () =>
          company.get(String(path), Object(query)),
    );

  test.each([
    ['reports', reportsOf],
    ['batches', batchesOf],
  ] as const)(
    '[FAIR-01] %s: a company has one under way; its light calls and other companies go on',
    async (of, callsOf) => {
      const [large, small] = [await server.company(), await server.company()];
      for (const call of callsOf(large)) {
        const leave = await server.service[of].take(large.id);
        let answered = false;
        const waiting = call().finally(() => {
          answered = true;
        });
        await vi.waitUntil(() => server.service[of].waitingCount === 1);
        expect(await large.get('/account')).toMatchObject({ status: 200 });
        for (const other of callsOf(small)) expect(await other()).toMatchObject({ status: 200 });
        expect(answered).toBe(false);
        leave();
        expect(await waiting).toMatchObject({ status: 200 });
      }
    },
  );
});

describe('readiness', () => {
  test('stands on a connection of its own: calls that hold all others change nothing', async () => {
    const companies = [await server.company(), await server.company()];
    const letGo = await Promise.all(companies.map((company) => holdConnections(company, 2)));
    expect(await server.request('/health/ready')).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    for (const release of letGo) await release();
  });

  test('a database that takes connections and answers nothing is away, and back when it answers', async () => {
    const { hostname, port } = new URL(inject('databaseUrl'));
    await using proxy = await tcpProxy({ host: hostname, port: Number(port) });
    const url = new URL(inject('databaseUrl'));
    url.port = String(proxy.port);
    await using watched = await startServer({ alone: true, database: { url: url.href } });
    expect((await watched.request('/health/ready')).status).toBe(200);
    const silent = proxy.swallowAnswers();
    const answers = await Promise.all([1, 2, 3].map(() => watched.request('/health/ready')));
    await silent;
    for (const { status, text, headers } of answers) {
      expect([status, text, headers.get('retry-after')]).toEqual([503, '{"status":"database away"}', '5']);
    }
    await proxy.cut();
    await proxy.restore();
    expect(await watched.request('/health/ready')).toMatchObject({ status: 200 });
  });
});
