// Reads from a real streaming replica: only for callers that allow a lag, never staler than they allow, and from the primary if the
// replica can't.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Database } from '../../platform/database.ts';
import { type Replicated, startReplicated } from '../helpers/replica.ts';
import { databaseProxy } from '../helpers/tcp-proxy.ts';
import { type Answer, type Company, type Server, startServer } from '../helpers/world.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 }); // It makes a PostgreSQL and starts it three times.

let postgres: Replicated;
let server: Server;

const options = () => ({ database: { url: postgres.url }, replicaUrl: postgres.replicaUrl });
const contact = (nombre: string) => ({ coleccion: 'contactos', ref: nombre, nombre });
const OLD = { 'x-max-lag': '3600' };

const contacts = (company: Company, headers?: Record<string, string>) => company.get('/crm/contacts', {}, headers);
const lagOf = ({ headers }: Pick<Answer, 'headers'>) => headers.get('x-lag');
const namesIn = ({ status, body }: Answer): string[] => {
  expect(status).toBe(200);
  return body.data.contactos.map(({ nombre }: { nombre: string }) => nombre);
};

/** The company, after the replica has all of it and answers. */
async function onReplica(company: Company): Promise<Company> {
  await postgres.untilReplayed();
  await untilFromReplica(company);
  return company;
}

const untilFromReplica = (company: Company) =>
  vi.waitUntil(async () => lagOf(await contacts(company, OLD)) !== null, { timeout: 20_000 });

beforeAll(async () => {
  postgres = await startReplicated();
  server = await startServer(options());
});
afterAll(async () => {
  await server?.stop();
  await postgres?.[Symbol.asyncDispose]();
});

test('a read that allows a lag is answered by the replica, every other by the primary', async () => {
  const acme = await onReplica(await server.company([contact('Ana')]));
  await postgres.pause();
  try {
    await acme.load([contact('Berta')]);
    const old = await contacts(acme, OLD);
    expect(namesIn(old)).toEqual(['Ana']);
    expect(Number(lagOf(old))).toBeGreaterThan(0);

    const fresh = await contacts(acme);
    expect(namesIn(fresh)).toEqual(['Ana', 'Berta']);
    expect(lagOf(fresh)).toBeNull();
  } finally {
    await postgres.resume();
  }
  await postgres.untilReplayed();
  expect(namesIn(await contacts(acme, OLD))).toEqual(['Ana', 'Berta']);
});

test.each(['pause', 'delay'] as const)(
  'an answer is never older than the caller allows: replay under %s',
  async (stop) => {
    const acme = await onReplica(await server.company([contact('Ana')]));
    await postgres[stop]();
    try {
      await acme.load([contact('Berta')]);
      const writtenAt = performance.now();
      const lags: (string | null)[] = [];
      for (let complete = false; !complete; ) {
        const askedAt = performance.now();
        const answer = await contacts(acme, { 'x-max-lag': '1.5' });
        complete = namesIn(answer).length === 2;
        lags.push(lagOf(answer));
        if (complete) continue;
        expect(askedAt - writtenAt, 'an answer without what was written').toBeLessThan(1500);
        expect(Number(lagOf(answer))).toBeLessThanOrEqual(1.5);
      }
      expect(lags[0], 'the replica answers at first').not.toBeNull();
      expect(lags.at(-1), 'the primary answers in the end').toBeNull();
    } finally {
      await postgres.resume();
    }
    await postgres.untilReplayed();
    await vi.waitUntil(async () => lagOf(await contacts(acme, { 'x-max-lag': '1.5' })) !== null, { timeout: 20_000 });
  },
);

test('an idle primary is no lag', async () => {
  const acme = await onReplica(await server.company());
  const since = performance.now();
  const latest = async () => Number(lagOf(await contacts(acme, OLD)));
  // Without writes the last replayed transaction gets older and older.
  await vi.waitUntil(async () => (await latest()) < 1 && performance.now() - since > 1_500, { timeout: 20_000 });
});

test('who allows no lag is answered by the primary', async () => {
  const acme = await onReplica(await server.company([contact('Ana')]));
  expect(lagOf(await contacts(acme, { 'x-max-lag': '0' }))).toBeNull();
});

test('by every door', async () => {
  const acme = await onReplica(await server.company([contact('Ana')]));
  const call = (path: string, init: RequestInit = {}) =>
    server.request(path, { ...init, headers: { ...acme.headers, ...OLD, ...init.headers } });
  const post = (path: string, body: unknown, headers = {}) =>
    call(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  const query = (input: unknown) => encodeURIComponent(JSON.stringify(input));
  await postgres.pause();
  try {
    await acme.load([contact('Berta')]);
    const tool = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'consultar_contactos', arguments: {} },
    };
    const answers = {
      v1: await call('/api/v1/crm/contacts'),
      v0: await post('/consultarContactos', {}),
      tRPC: await call(`/trpc/contacts.list?input=${query({ json: {} })}`),
      batch: await call(
        `/trpc/contacts.list,funnels.list?batch=1&input=${query({ 0: { json: {} }, 1: { json: {} } })}`,
      ),
      mcp: await post('/mcp', tool, { accept: 'application/json, text/event-stream' }),
    };
    for (const [door, { status, text, headers }] of Object.entries(answers)) {
      expect([status, text.includes('Ana'), text.includes('Berta')], `${door}: ${text}`).toEqual([200, true, false]);
      // An answer of the connector may hold several messages; its headers belong to none of them.
      if (door !== 'mcp') expect(Number(headers.get('x-lag')), door).toBeGreaterThan(0);
    }
  } finally {
    await postgres.resume();
  }
});

test('[AUTH-03] a revoked key stops at once, though the replica knows nothing of it', async () => {
  const acme = await onReplica(await server.company([contact('Ana')]));
  await using other = await startServer(options());
  const there = () => other.request('/api/v1/crm/contacts', { headers: { ...acme.headers, ...OLD } });
  await vi.waitUntil(async () => lagOf(await there()) !== null, { timeout: 20_000 });
  await postgres.pause();
  try {
    await server.service.database.pool.query('update api_keys set revoked_at = now() where key = $1', [
      acme.headers['x-api-key'],
    ]);
    expect((await there()).status).toBe(401);
    expect((await contacts(acme, OLD)).status).toBe(401);
    const unknown = await server.request('/api/v1/crm/contacts/999', { headers: { ...acme.headers, ...OLD } });
    expect(unknown.status, 'and learns nothing but that').toBe(401);
  } finally {
    await postgres.resume();
  }
});

test('[TEN-02] on the replica too a company sees its own rows alone, whatever the statement', async () => {
  const acme = await onReplica(await server.company([contact('Ana')]));
  const neighbour = await onReplica(await server.company([contact('Nora')]));
  expect(namesIn(await contacts(acme, OLD))).toEqual(['Ana']);
  const [{ contactoId }] = (await contacts(neighbour, OLD)).body.data.contactos;
  expect((await acme.get(`/crm/contacts/${contactoId}`, {}, OLD)).status).toBe(404);

  const { replica, keys } = server.service;
  const { 'x-api-key': key, 'x-api-secret': secret } = acme.headers;
  const { credential } = await keys.authenticate({ key, secret, address: '' });
  const check = { credential: { credential, now: Temporal.Now.instant() } };
  const read = await replica?.read(acme.id, 3600, check, async (db) => {
    const rows = await sql<{ name: string }>`select name from contacts`.execute(db);
    return rows.rows.map(({ name }) => name);
  });
  expect(read?.value).toEqual(['Ana']);
});

describe('a replica that is away:', () => {
  test('the primary answers, and the replica again once it is back; the log says so once', async () => {
    const lines: string[] = [];
    await using proxy = await databaseProxy(postgres.replicaUrl);
    await using own = await startServer({
      ...options(),
      replicaUrl: proxy.url,
      metrics: true,
      logTo: (line) => lines.push(line),
    });
    const acme = await own.company([contact('Ana')]);
    await onReplica(acme);
    await proxy.cut();
    for (let call = 0; call < 5; call++) {
      const answer = await contacts(acme, OLD);
      expect(namesIn(answer)).toEqual(['Ana']);
      expect(lagOf(answer)).toBeNull();
    }
    await proxy.restore();
    await untilFromReplica(acme);
    expect(lines.filter((line) => line.includes('the replica does not answer'))).toHaveLength(1);
    expect(await own.service.metrics?.text()).toMatch(/albaran_replica_reads_total\{result="away"\} \d/);
  });

  test('one that goes silent in the middle of a call keeps nobody waiting for long', async () => {
    await using proxy = await databaseProxy(postgres.replicaUrl);
    await using own = await startServer({ ...options(), replicaUrl: proxy.url });
    const acme = await own.company([contact('Ana')]);
    await onReplica(acme);
    const silent = proxy.swallowAnswers();
    const startedAt = performance.now();
    const answer = await contacts(acme, OLD);
    await silent;
    expect(namesIn(answer)).toEqual(['Ana']);
    expect(lagOf(answer)).toBeNull();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await proxy.cut();
  });

  test('it need not be there at the start', async () => {
    await using own = await startServer({ ...options(), replicaUrl: 'postgres://127.0.0.1:1/albaran' });
    expect(namesIn(await contacts(await own.company([contact('Ana')]), OLD))).toEqual(['Ana']);
  });
});

test('what is no replica of this database is never asked', async () => {
  const lines: string[] = [];
  const elsewhere = new URL(postgres.replicaUrl);
  elsewhere.pathname = '/postgres';
  await using own = await startServer({
    ...options(),
    replicaUrl: elsewhere.href,
    logTo: (line) => lines.push(line),
  });
  const acme = await own.company([contact('Ana')]);
  await vi.waitUntil(() => lines.some((line) => line.includes('no copy of the database')), { timeout: 20_000 });
  expect(lagOf(await contacts(acme, OLD))).toBeNull();

  // The primary has nothing to replay.
  await using twice = await startServer({ ...options(), replicaUrl: postgres.url, metrics: true });
  await vi.waitUntil(
    async () => {
      const { status, headers } = await twice.request('/api/v1/crm/contacts', { headers: { ...acme.headers, ...OLD } });
      expect([status, headers.get('x-lag')]).toEqual([200, null]);
      return (await twice.service.metrics?.text())?.includes('{result="behind"}');
    },
    { timeout: 20_000 },
  );
});

test('a login that row-level security does not bind is refused on a replica as on a primary', async () => {
  const name = 'unbound_on_replica';
  await server.service.database.pool.query(`create role ${name} login password 'secret' bypassrls`);
  await postgres.untilReplayed();
  const url = new URL(postgres.replicaUrl);
  url.username = name;
  url.password = 'secret';
  const open = new Database({ url: url.href });
  await expect(open.prepareRole()).rejects.toThrow('grant albaran_app to unbound_on_replica;');
  await open.close();
  const acme = await onReplica(await server.company([contact('Ana')]));
  const lines: string[] = [];
  await using own = await startServer({ ...options(), replicaUrl: url.href, logTo: (line) => lines.push(line) });
  await vi.waitUntil(() => lines.some((line) => line.includes('grant albaran_app to unbound_on_replica;')), {
    timeout: 20_000,
  });
  const answer = await own.request('/api/v1/crm/contacts', { headers: { ...acme.headers, ...OLD } });
  expect(lagOf(answer)).toBeNull();
});

describe('X-Max-Lag', () => {
  test.each(['', '-1', 'abc', '1e3', '3601', '1, 2', '0.0001', 'Infinity'])(
    '[ENV-07] that is no number of seconds is a 400 that names it: %j',
    async (given) => {
      await using without = await startServer();
      for (const company of [await server.company(), await without.company()]) {
        const { status, body } = await contacts(company, { 'x-max-lag': given });
        expect([status, body.data]).toEqual([400, [{ campo: 'X-Max-Lag', mensaje: expect.any(String) }]]);
      }
    },
  );

  test('is nothing to writes', async () => {
    const acme = await server.company();
    for (const lag of ['3600', 'abc']) {
      const created = await acme.post('/crm/contacts', { datos: { nombre: 'Ana' } }, { 'x-max-lag': lag });
      expect(created.status).toBe(200);
      expect(lagOf(created)).toBeNull();
    }
  });

  test('is nothing to a service without a replica', async () => {
    await using without = await startServer();
    const answer = await contacts(await without.company([contact('Ana')]), OLD);
    expect(namesIn(answer)).toEqual(['Ana']);
    expect(lagOf(answer)).toBeNull();
  });
});
