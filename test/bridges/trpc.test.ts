// tRPC as its callers see it: raw HTTP with superjson's wire format, and tRPC's own client.
import { httpBatchLink, httpBatchStreamLink, httpLink, TRPCClientError, TRPCUntypedClient } from '@trpc/client';
import superjson from 'superjson';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { appRouter } from '../../routers/index.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../helpers/world.ts';

const logged: Record<string, unknown>[] = [];
const clock = new TestClock('2026-07-01T10:00:10Z');
const server = await startServer({ clock, logTo: (line) => logged.push(JSON.parse(line)) });
const alone = await startServer({ clock, alone: true });
afterAll(() => Promise.all([server.stop(), alone.stop()]));

const JANUARY = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };
const LIST = 'timeEntries.list';
const CREATE = 'opportunities.create';

const records: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana', apellidos: 'Pons' },
  { coleccion: 'fichajes', empleado: 'ana', entrada: { fecha: '2026-01-31', hora: '22:00', metodo: 'app' } },
  { coleccion: 'funnels', ref: 'f', titulo: 'Ventas', etapas: [{ ref: 'e', titulo: 'Nuevo' }] },
];

/** A company, an opportunity that fits its funnel, and functions for its calls. */
async function world(options: Parameters<typeof server.company>[1] = {}, at = server) {
  const company = await at.company(records, options);
  const { body } = await company.get('/crm/funnels');
  const [funnel] = body.data.funnels;
  const lead = (descripcion: string) => ({
    datos: { funnel_fk: funnel.funnelId, etapa_fk: funnel.etapas[0].etapaId, descripcion },
  });
  return { company, lead };
}

const inputsOf = (inputs: unknown[]) => Object.fromEntries(inputs.map((json, index) => [index, { json }]));

/** Queries in one request; a single one is not sent as a batch. */
function query({ headers }: Pick<Company, 'headers'>, paths: string[], inputs: unknown[], more = {}, at = server) {
  const batch = paths.length > 1;
  const input = JSON.stringify(batch ? inputsOf(inputs) : { json: inputs[0] });
  const parameters = new URLSearchParams({ ...(batch && { batch: '1' }), input });
  return at.request(`/trpc/${paths.join(',')}?${parameters}`, { headers: { ...headers, ...more } });
}

/** Mutations in one request. */
function mutate({ headers }: Pick<Company, 'headers'>, paths: string[], inputs: unknown[], more = {}) {
  const batch = paths.length > 1;
  return server.request(`/trpc/${paths.join(',')}${batch ? '?batch=1' : ''}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', ...more },
    body: JSON.stringify(batch ? inputsOf(inputs) : { json: inputs[0] }),
  });
}

// tRPC's answers have no envelope.
const answer = ({ text }: { text: string }) => JSON.parse(text);
const errorOf = (one: { text: string }) => answer(one).error.json;

const titles = async ({ id }: Company) => {
  const rows = await server.service.database.transaction(id, {}, (db) =>
    db.selectFrom('opportunities').select('title').where('account_id', '=', id).orderBy('title').execute(),
  );
  return rows.map(({ title }) => title);
};

describe('one call', () => {
  test('answers what REST answers, in the wire format of superjson', async () => {
    const { company } = await world();
    const rest = await company.get('/employees/times', JANUARY);
    const { status, text } = await query(company, [LIST], [JANUARY]);
    expect(status).toBe(200);
    expect(answer({ text })).toEqual({ result: { data: { json: rest.body.data } } });
  });

  test('an input is what superjson made of it, undefined included', async () => {
    const { company } = await world();
    const input = JSON.stringify(superjson.serialize({ ...JANUARY, empleadoId: undefined, por_pagina: 5 }));
    const found = await server.request(`/trpc/${LIST}?${new URLSearchParams({ input })}`, { headers: company.headers });
    expect(answer(found).result.data.json).toMatchObject({ total_fichajes: 1, por_pagina: 5 });
  });

  test('an operation without parameters needs no input', async () => {
    const { company } = await world();
    const found = await server.request('/trpc/funnels.list', { headers: company.headers });
    expect(answer(found).result.data.json.total_funnels).toBe(1);
  });

  test("[ENV-05] carries a request id, the caller's own if it sent one", async () => {
    const { company } = await world();
    const { headers } = await query(company, [LIST], [JANUARY], { 'X-Request-Id': 'mine-12345' });
    expect(headers.get('X-Request-Id')).toBe('mine-12345');
    const failed = await query(company, [LIST], [{}], { 'X-Request-Id': 'mine-67890' });
    expect(errorOf(failed).data.requestId).toBe('mine-67890');
  });

  test('is logged with its company', async () => {
    const { company } = await world();
    await query(company, [LIST], [JANUARY], { 'X-Request-Id': 'log-of-a-call' });
    await vi.waitFor(() =>
      expect(logged).toContainEqual(
        expect.objectContaining({ msg: 'answered', account: company.id, route: '/trpc/*', status: 200 }),
      ),
    );
  });
});

describe('errors', () => {
  test('[AUTH-02] without an API key it is 401, a bearer token or not', async () => {
    const { company } = await world();
    for (const headers of [{}, { authorization: 'Bearer abc' }, { ...company.headers, 'x-api-secret': 'other' }]) {
      const refused = await query({ headers } as Company, [LIST], [JANUARY]);
      expect(refused.status).toBe(401);
      expect(errorOf(refused)).toMatchObject({
        message: 'Error on service call: API key authentication required',
        data: { code: 'UNAUTHORIZED', httpStatus: 401, errorCode: 401, fields: [] },
      });
    }
  });

  test('[AUTH-04] a read-only key that writes is 403, and nothing is written', async () => {
    const { company, lead } = await world({ readOnly: true });
    const refused = await mutate(company, [CREATE], [lead('x')]);
    expect(refused.status).toBe(403);
    expect(errorOf(refused).data).toMatchObject({ code: 'FORBIDDEN', errorCode: 403 });
    expect(await titles(company)).toEqual([]);
  });

  test('[ENV-02] [ENV-03] bad input is 400 with every problem and the message that REST gives', async () => {
    const { company } = await world();
    const rest = await company.get('/employees/times', { fecha_inicio: '2026-02-30' });
    const refused = await query(company, [LIST], [{ fecha_inicio: '2026-02-30' }]);
    expect(refused.status).toBe(400);
    expect(errorOf(refused)).toMatchObject({
      message: rest.body.errorMsg,
      data: { code: 'BAD_REQUEST', path: LIST, errorCode: 400, errorMsg: rest.body.errorMsg, fields: rest.body.data },
    });
  });

  test('[ENV-10] a path that names no operation is 404 whoever asks', async () => {
    for (const path of ['nope', 'timeEntries', 'constructor', '__proto__', 'a/b', 'timeEntries.list.x']) {
      const missing = await server.request(`/trpc/${path}`);
      expect([path, missing.status, errorOf(missing).data.errorCode]).toEqual([path, 404, 404]);
    }
  });

  test("[TEN-01] another company's id is 404", async () => {
    const { company } = await world();
    const other = await world();
    const { body } = await other.company.get('/employees/times', JANUARY);
    const { empleadoId } = body.data.fichajes[0].empleado;
    const missing = await query(company, [LIST], [{ ...JANUARY, empleadoId }]);
    expect(missing.status).toBe(404);
    expect(errorOf(missing).message).toBe('No existe el registro indicado en empleadoId');
  });

  test('[ENV-04] what is not a call is refused with its own status', async () => {
    const { company } = await world();
    const json = { ...company.headers, 'content-type': 'application/json' };
    const post = (body: string, headers: Record<string, string> = json, at = server) =>
      at.request(`/trpc/${CREATE}`, { method: 'POST', headers, body });
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    const statuses = {
      malformed: (await post('{"json": {')).status,
      'malformed query': (await server.request(`/trpc/${LIST}?input={`, { headers: company.headers })).status,
      'no superjson': (await post('{"datos": {}}')).status,
      deep: (await post(`{"json": {"datos": ${deep}}}`)).status,
      text: (await post('{}', { ...company.headers, 'content-type': 'text/plain' })).status,
      'no body': (await server.request(`/trpc/${CREATE}`, { method: 'POST', headers: company.headers })).status,
      large: (await post(' '.repeat(1024 * 1024 + 1), json, alone)).status,
      'streamed alone': (await query(company, [LIST], [JANUARY], { 'trpc-accept': 'application/jsonl' })).status,
    };
    expect(statuses).toEqual({
      malformed: 400,
      'malformed query': 400,
      'no superjson': 400,
      deep: 400,
      text: 415,
      'no body': 415,
      large: 413,
      'streamed alone': 400,
    });
  });

  test.for([
    { what: 'a query', send: ['funnels.list', `input=${encodeURIComponent('{"pagina": 2}')}`] as const },
    { what: 'an empty object', send: ['contacts.list', `input=${encodeURIComponent('{}')}`] as const },
    { what: 'a bare value', send: ['contacts.list', 'input=null'] as const },
    { what: 'a mutation', send: [CREATE, '', { datos: {} }] as const },
  ])('[ENV-04] $what whose input does not stand in `json` is 400, and says where it does', async ({ send }) => {
    const { company } = await world();
    const [path, parameters, body] = send;
    const refused = await server.request(`/trpc/${path}?${parameters}`, {
      method: body ? 'POST' : 'GET',
      headers: { ...company.headers, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    });
    expect(refused.status).toBe(400);
    expect(errorOf(refused)).toMatchObject({
      message: 'El parámetro input no es válido: los datos van dentro de json: {"json": {...}}',
      data: { errorCode: 400, fields: [{ campo: 'input' }] },
    });
  });

  test('[ENV-04] in a batch too; and an input that stands under no call is 400 for all', async () => {
    const { company } = await world();
    const batch = (input: unknown, method = 'GET') =>
      server.request(
        `/trpc/contacts.list,funnels.list?${new URLSearchParams({ batch: '1', ...(method === 'GET' && { input: JSON.stringify(input) }) })}`,
        {
          method,
          headers: { ...company.headers, 'content-type': 'application/json' },
          body: method === 'POST' ? JSON.stringify(input) : null,
        },
      );
    for (const method of ['GET', 'POST']) {
      // One JSON text holds all inputs: an unreadable one fails all calls.
      for (const { error } of answer(await batch({ 0: { pagina: 2 } }, method))) {
        expect(error.json.message).toContain('{"json": {...}}');
      }
      for (const input of [{ pagina: 2 }, { json: {} }, { 2: { json: {} } }, [{ json: {} }, { json: {} }, {}]]) {
        const refused = await batch(input, method);
        expect([JSON.stringify(input), refused.status]).toEqual([JSON.stringify(input), 400]);
        expect(errorOf(refused).message).toContain('por posiciones, {"0": {"json": {...}}}');
      }
      expect((await batch({}, method)).status).toBe(200);
    }
  });

  test('[ENV-04] a mutation by GET and other methods are 405 with Allow; a query may come by POST', async () => {
    const { company } = await world();
    const { headers } = company;
    const put = await server.request(`/trpc/${LIST}`, { method: 'PUT', headers });
    expect([put.status, put.headers.get('Allow')]).toEqual([405, 'GET, POST']);
    const got = await server.request(`/trpc/${CREATE}`, { headers });
    expect([got.status, got.headers.get('Allow')]).toEqual([405, 'POST']);
    const posted = await mutate(company, [LIST], [JANUARY]);
    expect([posted.status, answer(posted).result.data.json.total_fichajes]).toEqual([200, 1]);
  });

  test('[ENV-05] a 500 shows its request id and nothing of the inside, and is logged once', async () => {
    const { company } = await world();
    const secret = Object.assign(new Error('select secret from vault'), { code: '42P01' });
    using transaction = vi.spyOn(server.service.database, 'transaction').mockRejectedValueOnce(secret);
    const failed = await query(company, [LIST], [JANUARY], { 'X-Request-Id': 'broken-one' });
    expect(transaction).toHaveBeenCalled();
    expect(failed.status).toBe(500);
    expect(errorOf(failed)).toMatchObject({ message: 'Error interno del servicio (petición broken-one)' });
    expect(failed.text).not.toMatch(/vault|stack|\.ts/);
    const lines = logged.filter(({ level, requestId }) => Number(level) >= 50 && requestId === 'broken-one');
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain('vault');
  });

  test('[ENV-04] with the database away it is 503 with Retry-After', async () => {
    const { company } = await world();
    const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    using _ = vi.spyOn(server.service.database, 'transaction').mockRejectedValueOnce(away);
    const failed = await query(company, [LIST], [JANUARY]);
    expect([failed.status, failed.headers.get('Retry-After')]).toEqual([503, '5']);
    expect(errorOf(failed).data).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      httpStatus: 503,
      errorCode: 503,
      retryAfterSeconds: 5,
    });
  });
});

describe('batches', () => {
  test('each call has its own answer, in order; together they are 207 where they differ', async () => {
    const { company } = await world();
    const many = await query(company, [LIST, 'nope', 'funnels.list', LIST], [JANUARY, {}, {}, {}]);
    expect(many.status).toBe(207);
    const [entries, missing, funnels, bad] = answer(many);
    expect(entries.result.data.json.total_fichajes).toBe(1);
    expect(missing.error.json.data).toMatchObject({ errorCode: 404, path: 'nope' });
    expect(funnels.result.data.json.total_funnels).toBe(1);
    expect(bad.error.json.data).toMatchObject({ errorCode: 400, path: LIST });
    expect(bad.error.json.data.fields.map(({ campo }: { campo: string }) => campo)).toEqual([
      'fecha_inicio',
      'fecha_fin',
    ]);
  });

  test('[LIM-01] every call of a batch counts one, unknown ones none', async () => {
    const { company } = await world({ cuenta: { cuota_por_minuto: 40 } }, alone);
    const before = await query(company, [LIST], [JANUARY], {}, alone);
    expect(before.headers.get('RateLimit')).toBe('"empresa";r=38;t=50');
    const many = await query(company, [LIST, LIST, 'nope', LIST], [JANUARY, JANUARY, {}, {}], {}, alone);
    expect(many.headers.get('RateLimit')).toBe('"empresa";r=35;t=50');
    expect(many.headers.get('RateLimit-Policy')).toBe('"empresa";q=40;w=60');
  });

  test('[LIM-01] a quota spent within a batch answers the calls it still covered', async () => {
    const { company } = await world({ cuenta: { cuota_por_minuto: 3 } });
    const many = await query(company, [LIST, LIST, LIST], [JANUARY, JANUARY, JANUARY]);
    expect(many.status).toBe(207);
    expect(answer(many).map((one: object) => ('error' in one ? 'spent' : 'answered'))).toEqual([
      'answered',
      'answered',
      'spent',
    ]);
    expect(answer(many)[2].error.json.data).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      errorCode: 429,
      retryAfterSeconds: 50,
    });
    expect(many.headers.get('RateLimit')).toBe('"empresa";r=0;t=50');
    expect(many.headers.get('Retry-After')).toBe('50');

    const spent = await query(company, [LIST], [JANUARY]);
    expect([spent.status, spent.headers.get('Retry-After')]).toEqual([429, '50']);
    expect(spent.headers.get('RateLimit')).toBe('"empresa";r=0;t=50');
  });

  test('[AUTH-05] a wrong key in a batch is one failure, not one for each call', async () => {
    const { company } = await world();
    using authenticate = vi.spyOn(alone.service.keys, 'authenticate');
    const headers = { ...company.headers, 'x-api-secret': 'wrong' };
    const refused = await query({ headers }, Array(50).fill(LIST), [], {}, alone);
    expect(refused.status).toBe(401);
    expect(authenticate).toHaveBeenCalledTimes(1);
  });

  test('[ENV-04] at most 50 calls, and reads or writes, not both', async () => {
    const { company, lead } = await world();
    const full = await query(company, Array(50).fill('funnels.list'), []);
    expect([full.status, answer(full).length]).toEqual([200, 50]);
    const over = await query(company, Array(51).fill('funnels.list'), []);
    expect([over.status, errorOf(over).message]).toEqual([400, 'Un lote lleva como mucho 50 llamadas']);
    const mixed = await mutate(company, [CREATE, LIST], [lead('x'), JANUARY]);
    expect([mixed.status, errorOf(mixed).message]).toEqual([400, 'Un lote no puede mezclar lecturas y escrituras']);
    expect(await titles(company)).toEqual([]);
  });

  test('[AUTH-04] a read-only key in a batch of writes is 403 for each', async () => {
    const { company, lead } = await world({ readOnly: true });
    const refused = await mutate(company, [CREATE, CREATE], [lead('uno'), lead('dos')]);
    expect(refused.status).toBe(403);
    expect(await titles(company)).toEqual([]);
  });
});

describe('writes', () => {
  test('[IDEM-01] the same key and input creates once, and the replay says so', async () => {
    const { company, lead } = await world();
    const key = { 'X-IDEMPOTENCY-KEY': 'lead-1' };
    const first = await mutate(company, [CREATE], [lead('Placas')], key);
    const second = await mutate(company, [CREATE], [lead('Placas')], key);
    expect(first.headers.get('Idempotent-Replayed')).toBeNull();
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect(answer(second)).toEqual(answer(first));
    expect(await titles(company)).toEqual(['Placas']);
    const other = await mutate(company, [CREATE], [lead('Otra')], key);
    expect([other.status, errorOf(other).data.errorCode]).toEqual([422, 422]);
  });

  test("[IDEM-01] a batch of several writes can't share one key: 400, and nothing is written", async () => {
    const { company, lead } = await world();
    const refused = await mutate(company, [CREATE, CREATE], [lead('uno'), lead('dos')], { 'X-IDEMPOTENCY-KEY': 'k' });
    expect(refused.status).toBe(400);
    expect(errorOf(refused).data.fields[0].campo).toBe('X-IDEMPOTENCY-KEY');
    expect(await titles(company)).toEqual([]);
  });

  test('without a key each write of a batch is its own', async () => {
    const { company, lead } = await world();
    const both = await mutate(company, [CREATE, CREATE], [lead('uno'), lead('dos')]);
    expect(both.status).toBe(200);
    const ids = answer(both).map(({ result }: { result: { data: { json: number } } }) => result.data.json);
    expect(new Set(ids).size).toBe(2);
    expect(await titles(company)).toEqual(['dos', 'uno']);
  });
});

describe("tRPC's own client", () => {
  const clientOf = ({ headers }: Company) =>
    new TRPCUntypedClient({
      links: [httpBatchLink({ url: `${server.url}/trpc`, headers, transformer: superjson })],
    });

  test('batches, and tells each call its own error', async () => {
    const { company } = await world();
    const client = clientOf(company);
    const [entries, failed] = await Promise.allSettled([client.query(LIST, JANUARY), client.query(LIST, {})]);
    expect(entries).toMatchObject({ status: 'fulfilled', value: { total_fichajes: 1 } });
    expect(failed).toMatchObject({ status: 'rejected', reason: { data: { errorCode: 400, path: LIST } } });
    expect(failed.status === 'rejected' && failed.reason).toBeInstanceOf(TRPCClientError);
  });

  test.for([
    { what: 'httpLink with methodOverride', link: httpLink, methodOverride: 'POST' as const },
    { what: 'httpBatchLink with methodOverride', link: httpBatchLink, methodOverride: 'POST' as const },
    { what: 'httpBatchStreamLink', link: httpBatchStreamLink },
    { what: 'httpBatchStreamLink with methodOverride', link: httpBatchStreamLink, methodOverride: 'POST' as const },
  ])('$what reads and writes', async ({ link, methodOverride }) => {
    const { company, lead } = await world();
    const client = new TRPCUntypedClient({
      links: [link({ url: `${server.url}/trpc`, headers: company.headers, transformer: superjson, methodOverride })],
    });
    const [entries, failed, funnels] = await Promise.allSettled([
      client.query(LIST, JANUARY),
      client.query(LIST, {}),
      client.query('funnels.list', {}),
    ]);
    expect(entries).toMatchObject({ status: 'fulfilled', value: { total_fichajes: 1 } });
    expect(failed).toMatchObject({ status: 'rejected', reason: { data: { errorCode: 400, path: LIST } } });
    expect(funnels).toMatchObject({ status: 'fulfilled', value: { total_funnels: 1 } });
    expect(await client.mutation(CREATE, lead('Tejado'))).toBeGreaterThan(1e9);
    expect(await titles(company)).toEqual(['Tejado']);
  });

  test('[W-03] says in the answer whether the contact was there', async () => {
    const { company } = await world();
    const client = clientOf(company);
    const create = () => client.mutation('contacts.create', { datos: { email: 'eva@x.es' } });
    const [first, second] = [await create(), await create()];
    expect(first).toEqual({ data: expect.stringMatching(/^[\w-]{23}$/), existente: false });
    expect(second).toEqual({ ...Object(first), existente: true });
  });

  test('writes', async () => {
    const { company, lead } = await world();
    await clientOf(company).mutation(CREATE, lead('Tejado'));
    expect(await titles(company)).toEqual(['Tejado']);
  });
});

test('every operation is a procedure at its path: a read a query, a write a mutation', () => {
  const served = operations.map(({ path }) => [path, appRouter._def.procedures[path as never]]);
  expect(served).toEqual(operations.map(({ path, procedure }) => [path, procedure]));
  const types = operations.map(({ path, procedure }) => [path, procedure._def.type]);
  expect(types).toEqual(operations.map(({ path, write }) => [path, write ? 'mutation' : 'query']));
});
