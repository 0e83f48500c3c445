// The published client against a real server, and its retries on a network that fails.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import {
  AlbaranError,
  type ClientOptions,
  createClient,
  InvalidInputError,
  type TimeEntriesListOutput,
} from '../../client/src/index.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const JANUARY = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };

const records: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana', apellidos: 'Pons' },
  ...[1, 2, 3, 4, 5].map((day) => ({
    coleccion: 'fichajes',
    empleado: 'ana',
    entrada: { fecha: `2026-01-0${day}`, hora: '09:00', metodo: 'app' },
  })),
  { coleccion: 'funnels', ref: 'f', id: 1, titulo: 'Ventas', etapas: [{ ref: 'e', id: 1, titulo: 'Nuevo' }] },
];
const lead = (descripcion: string) => ({ datos: { funnel_fk: 1, etapa_fk: 1, descripcion } });

/** A company and its client, with the requests that the client makes. */
async function world(options: Partial<ClientOptions> = {}, readOnly = false) {
  const company = await server.company(records, { readOnly });
  const requests: { method: string; path: string; key: string | null }[] = [];
  const client = createClient({
    baseUrl: server.url,
    apiKey: company.headers['x-api-key'],
    apiSecret: company.headers['x-api-secret'],
    fetch: (input, init) => {
      const { method, url, headers } = new Request(input, init);
      requests.push({ method, path: new URL(url).pathname, key: headers.get('X-IDEMPOTENCY-KEY') });
      return fetch(input, init);
    },
    ...options,
  });
  return { company, client, requests };
}

const titles = async ({ id }: Company) => {
  const rows = await server.service.database.transaction(id, {}, (db) =>
    db.selectFrom('opportunities').select('title').where('account_id', '=', id).orderBy('title').execute(),
  );
  return rows.map(({ title }) => title);
};

/** The AlbaranError that a call rejects with. */
async function failure(call: Promise<unknown>): Promise<AlbaranError> {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof AlbaranError)) throw new Error('No AlbaranError', { cause: error });
  return error;
}

describe('[JRN-04] kept answers', () => {
  test('an unchanged one is not sent again, and what a write changed is', async () => {
    const statuses: [string, number][] = [];
    const { client } = await world({
      cache: true,
      async fetch(input, init) {
        const response = await fetch(input, init);
        statuses.push([init?.method ?? 'GET', response.status]);
        return response;
      },
    });
    const first = await client.contacts.list();
    const again = await client.contacts.list();
    expect([again, again === first]).toEqual([first, false]);
    expect((await client.contacts.list({ busqueda: 'eva' })).total_contactos).toBe(0);
    await client.contacts.create({ datos: { nombre: 'Eva' } });
    const [after, { data, meta }] = await Promise.all([
      client.contacts.list(),
      client.contacts.list({ busqueda: 'eva' }).withResponse(),
    ]);
    expect([after.total_contactos, data.total_contactos, meta.status]).toEqual([1, 1, 200]);
    await client.contacts.list();
    const [reads, writes] = [
      statuses.filter(([method]) => method === 'GET'),
      statuses.filter(([method]) => method === 'POST'),
    ];
    expect(reads.map(([, status]) => status)).toEqual([200, 304, 200, 200, 200, 304]);
    expect(writes).toHaveLength(1);
    // What a caller does with an answer stays with the caller.
    after.contactos.length = 0;
    expect((await client.contacts.list()).contactos).toHaveLength(1);
  });

  test('without `cache` a client asks for all of it', async () => {
    const { client, requests } = await world();
    await client.contacts.list();
    await client.contacts.list();
    expect(requests).toHaveLength(2);
  });
});

describe('calls', () => {
  test('a read answers data with its types', async () => {
    const { client } = await world();
    const page: TimeEntriesListOutput = await client.timeEntries.list({ ...JANUARY, por_pagina: 2 });
    expect(page.total_fichajes).toBe(5);
    const [entry] = page.fichajes;
    const project: string | null | undefined = entry?.proyectoId;
    expect([entry?.empleado.apellidos, entry?.entrada.fecha, project]).toEqual(['Pons', '2026-01-01', null]);
    // Ids of an answer are valid inputs, and so are numbers.
    const ana = await client.employees.get({ empleadoId: entry?.empleado.empleadoId ?? '' });
    expect(ana.empleado.nombre).toBe('Ana');
  });

  test('what is required is required, and what is not can be left out', async () => {
    const { client } = await world();
    expect((await client.funnels.list()).total_funnels).toBe(1);
    expect((await client.products.list()).articulos).toEqual([]);
    // @ts-expect-error: both dates are required
    expect((await failure(client.timeEntries.list({ fecha_inicio: '2026-01-01' }))).code).toBe(400);
    // @ts-expect-error: not a parameter
    await client.products.list({ search: 'x' });
    // @ts-expect-error: a read without pages
    expect(client.funnels.list.pages).toBeUndefined();
  });

  test('reads of one tick travel in one request, each with its own outcome', async () => {
    const { client, requests } = await world();
    const [entries, funnels, failed] = await Promise.allSettled([
      client.timeEntries.list(JANUARY),
      client.funnels.list(),
      client.employees.get({ empleadoId: 'nobody' }),
    ]);
    expect(entries).toMatchObject({ status: 'fulfilled', value: { total_fichajes: 5 } });
    expect(funnels).toMatchObject({ status: 'fulfilled', value: { total_funnels: 1 } });
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: 404 } });
    expect(requests).toEqual([{ method: 'GET', path: '/trpc/timeEntries.list,funnels.list,employees.get', key: null }]);
  });

  test('more reads than a request holds travel in several', async () => {
    const { client, requests } = await world();
    const answers = await Promise.all(Array.from({ length: 60 }, () => client.funnels.list()));
    expect(answers.map(({ total_funnels }) => total_funnels)).toEqual(Array(60).fill(1));
    expect(requests.map(({ path }) => path.split(',').length)).toEqual([50, 10]);
  });

  test('reads say how old they may be, where the caller does; writes don’t', async () => {
    const lags: (string | null)[] = [];
    const { client } = await world({
      maxLagSeconds: 2.5,
      fetch: (input, init) => {
        lags.push(new Request(input, init).headers.get('X-Max-Lag'));
        return fetch(input, init);
      },
    });
    await client.employees.list();
    await client.opportunities.create(lead('Toldos'));
    expect(lags).toEqual(['2.5', null]);
  });

  test('[IDEM-01] writes go one by one, each with a key of its own', async () => {
    const { company, client, requests } = await world();
    const numbers = await Promise.all([
      client.opportunities.create(lead('uno')),
      client.opportunities.create(lead('dos')),
    ]);
    expect(numbers[0]).toBeTypeOf('number');
    expect(await titles(company)).toEqual(['dos', 'uno']);
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /trpc/opportunities.create',
      'POST /trpc/opportunities.create',
    ]);
    expect(new Set(requests.map(({ key }) => key)).size).toBe(2);
  });

  test("[IDEM-01] a key of the caller's makes two calls one", async () => {
    const { company, client } = await world();
    const options = { idempotencyKey: 'lead-77' };
    const first = await client.opportunities.create(lead('uno'), options);
    expect(await client.opportunities.create(lead('uno'), options)).toBe(first);
    expect(await titles(company)).toEqual(['uno']);
  });

  test('pages come one after another, each asked for when it is wanted', async () => {
    const { client, requests } = await world();
    const days: string[] = [];
    for await (const page of client.timeEntries.list.pages({ ...JANUARY, por_pagina: 2 })) {
      days.push(...page.fichajes.map(({ entrada }) => entrada.fecha.slice(-2)));
      if (page.pagina === 2) expect(requests).toHaveLength(2);
    }
    expect(days).toEqual(['01', '02', '03', '04', '05']);
    expect(requests).toHaveLength(3);

    for await (const page of client.timeEntries.list.pages({ ...JANUARY, por_pagina: 2, pagina: 2 })) {
      expect(page.pagina).toBe(2);
      break;
    }
    expect(requests).toHaveLength(4);
  });

  test('what the lists of the pages hold comes one after the other', async () => {
    const { client, requests } = await world();
    const days: string[] = [];
    for await (const { entrada } of client.timeEntries.list.items({ ...JANUARY, por_pagina: 2 })) {
      days.push(entrada.fecha.slice(-2));
      if (days.length === 4) break;
    }
    expect(days).toEqual(['01', '02', '03', '04']);
    expect(requests).toHaveLength(2);
    expect(await Array.fromAsync(client.products.list.items())).toEqual([]);
  });

  test('a list without rows has one page', async () => {
    const { client } = await world();
    expect(await Array.fromAsync(client.products.list.pages())).toMatchObject([{ total_articulos: 0, num_paginas: 0 }]);
  });
});

describe('metadata of a response', () => {
  const CLOCK = new TestClock('2026-03-02T10:00:20Z');

  /** A client of a company with 40 calls a minute, on a server whose minute ends in 40 seconds. */
  async function limited(options: Partial<ClientOptions> = {}) {
    const own = await startServer({ clock: CLOCK, quotaPerMinute: 40 });
    const { headers } = await own.company(records);
    const key = { apiKey: headers['x-api-key'], apiSecret: headers['x-api-secret'] };
    const client = createClient({ baseUrl: own.url, ...key, ...options });
    return { client, [Symbol.asyncDispose]: own.stop };
  }
  const tagged: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('X-Request-Id', 'mine-12345');
    return fetch(input, { ...init, headers });
  };

  test('[LIM-01] comes with the data on request: status, request id, rate limit', async () => {
    await using service = await limited({ fetch: tagged });
    const { data, meta } = await service.client.funnels.list().withResponse();
    expect(data.total_funnels).toBe(1);
    expect(meta).toEqual({
      status: 200,
      requestId: 'mine-12345',
      rateLimit: { limit: 40, remaining: 39, resetSeconds: 40 },
      replayed: false,
      existing: false,
    });
  });

  test('is that of the one call whose data was awaited too', async () => {
    const { client, requests } = await world();
    const call = client.funnels.list();
    const { data } = await call.withResponse();
    expect(await call).toBe(data);
    expect(requests).toHaveLength(1);
  });

  test('[IDEM-01] says that a write was done before', async () => {
    const { client } = await world();
    const create = () => client.opportunities.create(lead('uno'), { idempotencyKey: 'lead-77' }).withResponse();
    const [first, second] = [await create(), await create()];
    expect([first.meta.replayed, second.meta.replayed]).toEqual([false, true]);
    expect(second.data).toBe(first.data);
  });

  test('says that a created record was there already', async () => {
    const { client } = await world();
    const create = () => client.contacts.create({ datos: { email: 'eva@example.com' } }).withResponse();
    const [first, second] = [await create(), await create()];
    expect([first.meta.existing, second.meta.existing]).toEqual([false, true]);
    expect([first.data.existente, second.data.existente]).toEqual([false, true]);
  });

  test('of reads that travel together is one, whatever becomes of the others', async () => {
    await using service = await limited();
    const { funnels, employees } = service.client;
    const [first, failed, second] = await Promise.all([
      funnels.list().withResponse(),
      failure(employees.get({ empleadoId: 'nobody' }).withResponse()),
      funnels.list().withResponse(),
    ]);
    expect(first.meta).toEqual(second.meta);
    const { status, requestId, rateLimit } = first.meta;
    expect([status, rateLimit?.remaining]).toEqual([200, 37]);
    expect(failed).toMatchObject({ code: 404, requestId, rateLimit });
  });

  test('comes with errors too', async () => {
    await using service = await limited({ fetch: tagged });
    const rateLimit = { limit: 40, remaining: 39, resetSeconds: 40 };
    const error = await failure(service.client.timeEntries.list({ ...JANUARY, fecha_fin: '2025-13-01' }));
    expect(error).toMatchObject({ code: 400, requestId: 'mine-12345', rateLimit });
  });

  test('of a failed call rejects once: the promise of the data is no unhandled rejection', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    try {
      const { client } = await world({ apiSecret: 'wrong' });
      expect((await failure(client.funnels.list().withResponse())).code).toBe(401);
      // Unhandled rejections are reported before the next turn of the event loop.
      await new Promise(setImmediate);
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });

  test('is empty where a proxy drops the headers', async () => {
    const { client } = await world({
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        return new Response(await answer.text(), { status: answer.status });
      },
    });
    const { meta } = await client.funnels.list().withResponse();
    expect(meta).toEqual({ status: 200, requestId: '', rateLimit: undefined, replayed: false, existing: false });
  });
});

describe('errors', () => {
  test('[ENV-02] bad input names the parameters at fault', async () => {
    const { client } = await world();
    const error = await failure(client.timeEntries.list({ ...JANUARY, fecha_fin: '2025-13-01' }));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({
      name: 'InvalidInputError',
      code: 400,
      message: 'El parámetro fecha_fin no es válido: se esperaba una fecha real AAAA-MM-DD',
      fields: [{ campo: 'fecha_fin', mensaje: 'se esperaba una fecha real AAAA-MM-DD' }],
      retryAfterSeconds: undefined,
    });
    expect(error.requestId).toMatch(/^[\w-]{36}$/);
  });

  test('[AUTH-01] [AUTH-04] a wrong secret is 401, a read-only key that writes 403, each at once', async () => {
    const wrong = await world({ apiSecret: 'wrong' });
    expect((await failure(wrong.client.funnels.list())).code).toBe(401);
    expect(wrong.requests).toHaveLength(1);
    const reader = await world({}, true);
    expect((await failure(reader.client.opportunities.create(lead('x')))).code).toBe(403);
    expect(reader.requests).toHaveLength(1);
  });

  test('an address that is not the service says so', async () => {
    const { client } = await world({ baseUrl: `${server.url}/elsewhere` });
    const error = await failure(client.funnels.list());
    expect(error).toMatchObject({ code: 404, message: expect.stringContaining('no es este servicio') });
  });

  test('[ENV-02] an input too long to be sent is 400 without asking', async () => {
    const { client, requests } = await world();
    const error = await failure(client.products.list({ busqueda: 'ñ'.repeat(3000) }));
    expect(error).toMatchObject({ code: 400, message: expect.stringContaining('No se puede enviar la llamada') });
    expect(requests).toEqual([]);
  });

  test('reads too long for one address travel in as many as it takes, each read once', async () => {
    const { client, requests } = await world();
    const texts = Array.from({ length: 9 }, (_, index) => `${index}${'ñ'.repeat(190)}`);
    const pages = await Promise.all(texts.map((busqueda) => client.products.list({ busqueda })));
    expect(pages.map(({ total_articulos }) => total_articulos)).toEqual(texts.map(() => 0));
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.flatMap(({ path }) => path.replace('/trpc/', '').split(','))).toHaveLength(9);
  });

  test('what is no number is told, where JSON would leave it out', async () => {
    const { client } = await world();
    const error = await failure(client.products.list({ por_pagina: Number.NaN }));
    expect(error.fields).toEqual([{ campo: 'por_pagina', mensaje: expect.stringContaining('número') }]);
  });

  test('an input that is no JSON is 400 without asking', async () => {
    const { client, requests } = await world();
    const lead = { datos: { funnel_fk: 1, etapa_fk: 1, descripcion: 'x', itself: {} } };
    lead.datos.itself = lead;
    const error = await failure(client.opportunities.create(lead));
    expect(error).toMatchObject({ code: 400, message: expect.stringContaining('No se puede enviar la llamada') });
    expect(requests).toEqual([]);
  });
});

describe('a network that fails', () => {
  /** What happens to a request: the service's answer, no answer, an answer lost on the way back, or another server's answer. */
  type Fate = 'answer' | 'silence' | 'loss' | { status: number; retryAfter?: string };

  /** A proxy before the server. Each request meets the next fate; the last fate applies to all later ones. */
  async function proxyOf(...fates: Fate[]) {
    const requests: { key: unknown; at: number; left: Promise<unknown> }[] = [];
    const proxy = createServer(async (request, response) => {
      const { method = 'GET', url, headers } = request;
      const fate = fates[Math.min(requests.length, fates.length - 1)];
      requests.push({ key: headers['x-idempotency-key'], at: performance.now(), left: once(request.socket, 'close') });
      if (fate === 'silence') return;
      if (typeof fate === 'object') {
        const more = fate.retryAfter === undefined ? {} : { 'retry-after': fate.retryAfter };
        return response.writeHead(fate.status, { 'content-type': 'text/html', ...more }).end('<h1>No</h1>');
      }
      const sent = Object.fromEntries(
        Object.entries(headers).filter(([name]) => name.startsWith('x-') || name === 'content-type'),
      ) as Record<string, string>;
      const body = method === 'GET' ? undefined : await buffer(request);
      const answer = await fetch(server.url + url, { method, headers: sent, body });
      const text = await answer.text();
      if (fate === 'loss') return request.socket.destroy();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const stop = () => {
      proxy.closeAllConnections();
      proxy.close();
    };
    /** The client's waits before each request but the first, in milliseconds. */
    const waits = () => requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
    return { baseUrl: `http://127.0.0.1:${port}`, requests, waits, [Symbol.dispose]: stop };
  }

  test('[IDEM-01] a write whose reply was lost is sent again with its key, and done once', async () => {
    using proxy = await proxyOf('loss', 'loss', 'answer');
    const { company, client } = await world({ baseUrl: proxy.baseUrl });
    const created = await client.opportunities.create(lead('Placas'));
    expect(created).toBeTypeOf('number');
    expect(await titles(company)).toEqual(['Placas']);
    const keys = proxy.requests.map(({ key }) => key);
    expect(keys).toHaveLength(3);
    expect(keys[0]).toMatch(/^[\w-]{36}$/);
    expect(new Set(keys).size).toBe(1);
  });

  test('a read whose reply was lost is asked again', async () => {
    using proxy = await proxyOf('loss', 'answer');
    const { client } = await world({ baseUrl: proxy.baseUrl });
    expect((await client.funnels.list()).total_funnels).toBe(1);
  });

  test('attempts are bounded', async () => {
    using proxy = await proxyOf('loss');
    const { client } = await world({ baseUrl: proxy.baseUrl, maxRetries: 1 });
    expect(await failure(client.funnels.list())).toMatchObject({ name: 'UnavailableError', code: 0, requestId: '' });
    expect(proxy.requests).toHaveLength(2);
    await failure(client.funnels.list({}, { maxRetries: 0 }));
    expect(proxy.requests).toHaveLength(3);
  });

  test('each wait is longer than the one before, a quarter of a second at first', async () => {
    using proxy = await proxyOf({ status: 502 }, { status: 504 }, 'answer');
    const { client } = await world({ baseUrl: proxy.baseUrl });
    expect((await client.funnels.list()).total_funnels).toBe(1);
    const [first = 0, second = 0] = proxy.waits();
    // Timers may be a millisecond early.
    expect(first).toBeGreaterThanOrEqual(249);
    expect(second).toBeGreaterThanOrEqual(499);
  });

  test("[IDEM-01] a write comes back after a proxy's Retry-After, with its key", async () => {
    using proxy = await proxyOf({ status: 503, retryAfter: '1' }, 'answer');
    const { company, client } = await world({ baseUrl: proxy.baseUrl });
    await client.opportunities.create(lead('Placas'));
    expect(await titles(company)).toEqual(['Placas']);
    expect(proxy.waits()[0]).toBeGreaterThanOrEqual(999);
    expect(proxy.requests[1]?.key).toBe(proxy.requests[0]?.key);
  });

  test('an attempt without an answer is given up at its time limit, and its connection with it', async () => {
    using proxy = await proxyOf('silence');
    const { client } = await world({ baseUrl: proxy.baseUrl, maxRetries: 1 });
    const error = await failure(client.opportunities.create(lead('Placas'), { timeoutMs: 50 }));
    expect(error).toMatchObject({ code: 0, message: 'El servicio no ha respondido en 50 ms' });
    expect(proxy.requests).toHaveLength(2);
    await Promise.all(proxy.requests.map(({ left }) => left));
  });

  test('of reads that travel together one that is stopped leaves the others under way', async () => {
    const controller = new AbortController();
    let requests = 0;
    const { client } = await world({
      fetch: (input, init) => {
        requests++;
        controller.abort('enough');
        return fetch(input, init);
      },
    });
    const stopped = client.funnels.list({}, { signal: controller.signal });
    const other = client.funnels.list();
    await expect(stopped).rejects.toBe('enough');
    expect((await other).total_funnels).toBe(1);
    expect(requests).toBe(1);
  });

  test('a call that is stopped rejects with the reason, and hangs up', async () => {
    using proxy = await proxyOf('silence');
    const { client } = await world({ baseUrl: proxy.baseUrl });
    const controller = new AbortController();
    const call = client.funnels.list({}, { signal: controller.signal });
    const reason = new Error('no longer needed');
    await vi.waitUntil(() => proxy.requests.length > 0);
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await proxy.requests[0]?.left;
    expect(proxy.requests).toHaveLength(1);
  });
});

describe("[LIM-01] the company's quota", () => {
  const spent = async (clock: TestClock) => {
    const own = await startServer({ clock, quotaPerMinute: 1 });
    const { headers } = await own.company(records);
    const clientWith = (options: Partial<ClientOptions>) =>
      createClient({
        baseUrl: own.url,
        apiKey: headers['x-api-key'],
        apiSecret: headers['x-api-secret'],
        ...options,
      });
    await clientWith({}).funnels.list();
    return { clientWith, [Symbol.asyncDispose]: own.stop };
  };

  test('once spent is a 429 that says when to come back', async () => {
    await using service = await spent(new TestClock('2026-03-02T10:00:20Z'));
    const error = await failure(service.clientWith({ maxRetries: 0 }).funnels.list());
    expect(error.rateLimit).toMatchObject({ limit: 1, remaining: 0 });
    expect(error).toMatchObject({ code: 429, message: expect.stringContaining('cuota') });
    expect(error.retryAfterSeconds).toBeGreaterThan(0);
    expect(error.retryAfterSeconds).toBeLessThanOrEqual(60);
  });

  test('is waited for, as long as the service says', async () => {
    const clock = new TestClock('2026-03-02T10:00:59Z');
    await using service = await spent(clock);
    const asked: number[] = [];
    const client = service.clientWith({
      fetch: async (input, init) => {
        asked.push(performance.now());
        const answer = await fetch(input, init);
        clock.set('2026-03-02T10:01:00Z');
        return answer;
      },
    });
    expect((await client.funnels.list()).total_funnels).toBe(1);
    expect(asked).toHaveLength(2);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(999);
  });
});

describe('waiting', () => {
  afterEach(() => void vi.useRealTimers());

  const error = (errorCode: number, retryAfterSeconds?: number) =>
    Response.json(
      {
        error: {
          json: { code: -32000, message: 'no', data: { errorCode, fields: [], requestId: 'r', retryAfterSeconds } },
        },
      },
      { status: errorCode },
    );
  const funnels = () => Response.json({ result: { data: { json: { total_funnels: 0, funnels: [] } } } });

  /** A client whose service gives these answers in turn, the last one forever. The test controls the timers. */
  function scripted(answers: (() => Response | Promise<Response>)[], options: Partial<ClientOptions> = {}) {
    vi.useFakeTimers();
    const asked = vi.fn<typeof fetch>(async () => {
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (!answer) throw new TypeError('fetch failed');
      return answer();
    });
    return {
      client: createClient({ baseUrl: 'http://x', apiKey: 'k', apiSecret: 's', fetch: asked, ...options }),
      asked,
    };
  }

  test('a lone read is sent at once: no timer has to pass, as it has for those that travel together', async () => {
    const { client, asked } = scripted([funnels]);
    expect(await client.funnels.list()).toEqual({ total_funnels: 0, funnels: [] });
    expect(asked.mock.calls.map(([url]) => new URL(String(url)).searchParams.has('batch'))).toEqual([false]);
  });

  test('[LIM-01] a spent quota waits for as long as the service says', async () => {
    const { client, asked } = scripted([() => error(429, 30), funnels]);
    const call = client.funnels.list();
    await vi.advanceTimersByTimeAsync(29_900);
    expect(asked).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(500);
    expect(await call).toEqual({ total_funnels: 0, funnels: [] });
  });

  test("a wait longer than a minute is the caller's to take", async () => {
    const { client, asked } = scripted([() => error(429, 3600)]);
    const call = failure(client.funnels.list());
    await vi.advanceTimersByTimeAsync(10);
    expect(await call).toMatchObject({ code: 429, retryAfterSeconds: 3600, requestId: 'r' });
    expect(asked).toHaveBeenCalledTimes(1);
  });

  test.each([409, 429, 502, 503, 504])('%i is tried again, three times and no more', async (code) => {
    const { client, asked } = scripted([() => error(code)]);
    const call = failure(client.funnels.list());
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await call).code).toBe(code);
    expect(asked).toHaveBeenCalledTimes(4);
  });

  test.each([400, 401, 403, 404, 413, 422, 500])('%i is not', async (code) => {
    const { client, asked } = scripted([() => error(code)]);
    const call = failure(client.funnels.list());
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await call).code).toBe(code);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  test("a proxy's page in place of an answer counts by its status", async () => {
    const page = () => new Response('<h1>Bad gateway</h1>', { status: 502 });
    const { client, asked } = scripted([page, funnels]);
    const call = client.funnels.list();
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await call).total_funnels).toBe(0);
    expect(asked).toHaveBeenCalledTimes(2);
  });

  test('an attempt without an answer ends at its time limit', async () => {
    const { client, asked } = scripted([() => new Promise<Response>(() => {})], { timeoutMs: 2_000, maxRetries: 1 });
    const call = failure(client.funnels.list());
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await call).toMatchObject({ code: 0, message: 'El servicio no ha respondido en 2000 ms' });
    expect(asked).toHaveBeenCalledTimes(2);
    expect(asked.mock.lastCall?.[1]?.signal?.aborted).toBe(true);
  });

  test('a signal stops a call before it starts, while it runs and while it waits', async () => {
    const reason = new Error('no longer needed');
    const never = scripted([funnels]);
    await expect(never.client.funnels.list({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(never.asked).not.toHaveBeenCalled();

    const states = [() => new Promise<Response>(() => {}), () => error(503, 50)];
    for (const state of states) {
      const { client, asked } = scripted([state]);
      const controller = new AbortController();
      const call = expect(client.funnels.list({}, { signal: controller.signal })).rejects.toBe(reason);
      await vi.advanceTimersByTimeAsync(1_000);
      controller.abort(reason);
      await call;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked).toHaveBeenCalledTimes(1);
    }
  });

  test('a call that is stopped leaves the others of its request alone', async () => {
    const answers = [await funnels().json(), await funnels().json()].flat();
    const { client } = scripted([() => Response.json(answers)]);
    const controller = new AbortController();
    const stopped = expect(client.funnels.list({}, { signal: controller.signal })).rejects.toThrow();
    const other = client.funnels.list();
    controller.abort();
    await stopped;
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await other).total_funnels).toBe(0);
  });
});
