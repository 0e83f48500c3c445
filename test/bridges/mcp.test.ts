// The connector with the SDK clients that hosts use: that of the 2025 revisions and that of 2026-07-28.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TOOL_PAGE_SIZE, tools } from '../../bridges/mcp/tools.ts';
import { type Operation, operations } from '../../bridges/operations.ts';
import { choices } from '../../scripts/tools.ts';
import { ERAS, modern, type Session } from '../helpers/mcp-session.ts';
import { type Company, type FileRecord, type Server, startServer, TestClock } from '../helpers/world.ts';

const UNAUTHORIZED = 'Error on service call: API key authentication required';
const JANUARY = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };

const STAFF: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana', apellidos: 'Pons' },
  ...Array.from({ length: 25 }, (_, day) => {
    const fecha = `2026-01-${String(day + 1).padStart(2, '0')}`;
    const entrada = { fecha, hora: '09:00', metodo: 'web' };
    return { coleccion: 'fichajes', empleado: 'ana', entrada, salida: { ...entrada, hora: '17:30' } };
  }),
];
const FUNNEL: FileRecord[] = [
  { coleccion: 'funnels', ref: 'ventas', titulo: 'Ventas', etapas: [{ ref: 'nuevo', titulo: 'Nuevo' }] },
];

/** Fields of every message of 2026-07-28. */
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

type Connect = (headers: Record<string, string>, path?: string, url?: string) => Promise<Session>;

const connecting =
  (connect: (typeof ERAS)[number][1]): Connect =>
  (headers, path = '/mcp/', url = server.url) =>
    connect(url + path, headers);

/** One raw POST, for requests that the clients don't send. */
async function post(headers: Record<string, string>, body: unknown, path = '/mcp/', url = server.url) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const messages = text.startsWith('event:')
    ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))
    : [text === '' ? null : JSON.parse(text)].flat();
  return { status: response.status, headers: response.headers, message: messages[0], messages, text };
}

const toolCall = (id: number, name: string, args = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe.each(ERAS)('a client of %s', (revision, connectTo) => {
  const connect = connecting(connectTo);

  test('[MCP-03] shakes hands, lists and calls with the key of the company', async () => {
    const acme = await server.company(STAFF);
    await using host = await connect(acme.headers);
    expect(host.revision()).toBe(revision);
    expect((await host.tools()).map(({ name }) => name)).toContain('consultar_fichajes');
    const { isError, data } = await host.call('consultar_fichajes', JANUARY);
    expect(isError).toBe(false);
    expect(data).toMatchObject({ total_fichajes: 25, fichajes: expect.any(Array) });
  });

  test('[MCP-04] the structured content is the data of REST, and the text its JSON', async () => {
    const acme = await server.company(STAFF);
    await using host = await connect(acme.headers);
    const { text, data } = await host.call('consultar_fichajes', { ...JANUARY, por_pagina: 10, pagina: 3 });
    const rest = await acme.get('/employees/times', { ...JANUARY, por_pagina: 10, pagina: 3 });
    expect(data).toEqual(rest.body.data);
    expect(data.fichajes).toHaveLength(5);
    expect(text).toBe(JSON.stringify(rest.body.data));
  });

  test('[MCP-04] a page is 20 rows unless the call says otherwise', async () => {
    const acme = await server.company(STAFF);
    await using host = await connect(acme.headers);
    for (const args of [JANUARY, { ...JANUARY, por_pagina: null, empleadoId: null }]) {
      const { data } = await host.call('consultar_fichajes', args);
      expect(data).toMatchObject({ por_pagina: TOOL_PAGE_SIZE, num_paginas: 2 });
      expect(data.fichajes).toHaveLength(20);
    }
  });

  test('[MCP-04] a scalar answer is the data of an object', async () => {
    const acme = await server.company(FUNNEL);
    await using host = await connect(acme.headers);
    const { data, text } = await host.call('crear_oportunidad', { datos: await opportunity(acme) });
    expect(data).toEqual({ data: expect.any(Number) });
    expect(text).toBe(JSON.stringify(data));
  });

  test('[ENV-06] an argument that the tool does not have is refused by its name', async () => {
    const acme = await server.company(FUNNEL);
    await using host = await connect(acme.headers);
    const flat = await host.call('consultar_fichajes', { ...JANUARY, empleado: 'Ana' });
    expect(flat).toMatchObject({ isError: true, data: undefined });
    expect(flat.text).toContain('- empleado: no existe');
    expect(flat.text).toContain('fecha_inicio, fecha_fin, empleadoId');
    const nested = await host.call('crear_oportunidad', { datos: { ...(await opportunity(acme)), color: 'rojo' } });
    expect(nested.text).toContain('- datos.color: no existe');
    expect((await acme.get('/crm/opportunities')).body.data?.oportunidades ?? []).toEqual([]);
  });

  test('[MCP-04] an error names each argument at fault and what was expected', async () => {
    const acme = await server.company();
    await using host = await connect(acme.headers);
    const both = await host.call('consultar_fichajes', { fecha_inicio: 'ayer', fecha_fin: 3 });
    expect(both.isError).toBe(true);
    expect(both.text).toContain('- fecha_inicio: se esperaba una fecha real AAAA-MM-DD');
    expect(both.text).toContain('- fecha_fin: se esperaba una fecha real AAAA-MM-DD');
    const none = await host.call('consultar_fichajes');
    expect(none.text).toContain('- fecha_inicio: es obligatorio');
    const one = await host.call('consultar_fichajes', { ...JANUARY, pagina: '2' });
    expect(one.text).toBe('El parámetro pagina no es válido: se esperaba un número');
  });

  test("[MCP-04] [TEN-01] another company's id does not exist, and the error names the tool that gives ids", async () => {
    const [acme, other] = await Promise.all([server.company(STAFF), server.company(STAFF)]);
    const { body } = await other.get('/employees/times', JANUARY);
    const { empleadoId } = body.data.fichajes[0].empleado;
    await using host = await connect(acme.headers);
    const { isError, text } = await host.call('consultar_fichajes', { ...JANUARY, empleadoId });
    expect(isError).toBe(true);
    expect(text).toContain('No existe el registro indicado en empleadoId');
    if (named('consultar_empleados')) expect(text).toContain('empleadoId se obtiene con consultar_empleados.');
    expect(text).not.toContain('proyectoId');
  });

  test('[MCP-01] [AUTH-04] a read-only key sees no tool that writes, and may call none', async () => {
    const acme = await server.company(FUNNEL);
    await using reader = await connect(await acme.newKey(true));
    await using writer = await connect(acme.headers);
    const names = (operations: readonly Operation[]) => operations.map(({ tool }) => tool);
    expect((await writer.tools()).map(({ name }) => name)).toEqual(names(operations));
    expect((await reader.tools()).map(({ name }) => name)).toEqual(names(operations.filter(({ write }) => !write)));
    await expect(reader.call('crear_oportunidad', { datos: await opportunity(acme) })).rejects.toThrow(/svc\.write/);
  });

  test('[MCP-04] a tool that does not exist is an error of the protocol', async () => {
    const acme = await server.company();
    await using host = await connect(acme.headers);
    await expect(host.call('borrar_todo')).rejects.toMatchObject({ code: -32602 });
  });

  test('[FAIR-05] [LIM-01] lists count as calls do; spent, they are refused, and a call says how long to wait', async () => {
    await using quiet = await startServer({ clock: new TestClock('2026-03-01T10:00:20Z') });
    const acme = await quiet.company([], { cuenta: { cuota_por_minuto: 8 } });
    await using host = await connect(acme.headers, '/mcp/', quiet.url);
    expect(await host.call('consultar_fichajes', JANUARY)).toMatchObject({ isError: false });
    const lists = async () => {
      for (let times = 0; times < 8; times++) await host.tools();
    };
    await expect(lists()).rejects.toThrow('La empresa ha gastado su cuota de 8 llamadas por minuto');
    const { isError, text } = await host.call('consultar_fichajes', JANUARY);
    expect(isError).toBe(true);
    expect(text).toBe(
      'La empresa ha gastado su cuota de 8 llamadas por minuto\nSe puede repetir la llamada dentro de 40 s.',
    );
    expect((await acme.get('/employees/times', JANUARY)).status).toBe(429);
  });

  test('[W-03] crear_contacto says in its answer whether the contact was there; a replay is marked', async () => {
    const acme = await server.company();
    await using host = await connect(acme.headers);
    const create = (more: object = {}) => host.call('crear_contacto', { datos: { email: 'eva@x.es' }, ...more });
    const first = await create({ clave_idempotencia: 'a' });
    expect(first).toMatchObject({
      data: { data: expect.stringMatching(/^[\w-]{23}$/), existente: false },
      replayed: false,
    });
    expect(JSON.parse(first.text)).toEqual(first.data);
    expect(await create()).toMatchObject({ data: { ...first.data, existente: true }, replayed: false });
    expect(await create({ clave_idempotencia: 'a' })).toMatchObject({ data: first.data, replayed: true });
    const tool = (await host.tools()).find(({ name }) => name === 'crear_contacto');
    expect(tool).toMatchObject({ outputSchema: { required: ['data', 'existente'] } });
  });

  test('[MCP-04] [IDEM-01] clave_idempotencia makes a repeated write one, at this door and at REST', async () => {
    const acme = await server.company(FUNNEL);
    const datos = await opportunity(acme);
    await using host = await connect(acme.headers);
    const first = await host.call('crear_oportunidad', { datos, clave_idempotencia: 'pedido-1' });
    const again = await host.call('crear_oportunidad', { datos, clave_idempotencia: 'pedido-1' });
    const rest = await acme.post('/crm/opportunities', { datos }, { 'x-idempotency-key': 'pedido-1' });
    const other = await host.call('crear_oportunidad', { datos, clave_idempotencia: 'pedido-2' });
    expect(again.data).toEqual(first.data);
    expect(rest.body.data).toBe(first.data.data);
    expect(rest.headers.get('idempotent-replayed')).toBe('true');
    expect(other.data).not.toEqual(first.data);
    const changed = { ...datos, descripcion: 'Otra' };
    expect(await host.call('crear_oportunidad', { datos: changed, clave_idempotencia: 'pedido-1' })).toMatchObject({
      isError: true,
      text: 'La clave de idempotencia ya se usó con otra petición',
    });
    const wrong = await host.call('crear_oportunidad', { datos, clave_idempotencia: 7 });
    expect(wrong.text).toContain('clave_idempotencia');
    const read = await host.call('consultar_fichajes', { ...JANUARY, clave_idempotencia: 'x' });
    expect(read.text).toContain('- clave_idempotencia: no existe');
  });

  test('[MCP-04] ?areas= narrows the list, whatever the order in which it names them', async () => {
    const acme = await server.company();
    const areas = [...new Set(operations.map(({ area }) => area))].slice(0, 2);
    await using host = await connect(acme.headers, `/mcp?areas=${areas.toReversed().join(',')}`);
    expect((await host.tools()).map(({ name }) => name)).toEqual(
      operations.filter(({ area }) => areas.includes(area)).map(({ tool }) => tool),
    );
  });

  test('[AUTH-01] [AUTH-03] a wrong key, and one revoked a moment ago, are 401', async () => {
    const acme = await server.company();
    await expect(connect({ ...acme.headers, 'x-api-secret': 'sk_no' })).rejects.toThrow();
    await using host = await connect(acme.headers);
    await host.call('consultar_fichajes', JANUARY);
    await server.service.database.transaction(acme.id, { write: true }, (db) =>
      db
        .updateTable('api_keys')
        .set({ revoked_at: '2026-01-01T00:00:00Z' })
        .where('account_id', '=', acme.id)
        .execute(),
    );
    await expect(host.call('consultar_fichajes', JANUARY)).rejects.toThrow(UNAUTHORIZED);
  });

  test('[ENV-05] a fault of ours tells the request id and nothing else', async () => {
    const lines: string[] = [];
    await using faulty = await startServer({ alone: true, logTo: (line) => lines.push(line) });
    const acme = await faulty.company(STAFF);
    await using host = await connect(acme.headers, '/mcp/', faulty.url);
    vi.spyOn(faulty.service.ids, 'sealMarked').mockImplementation(() => {
      throw new Error('the secret of the house');
    });
    const { isError, text } = await host.call('consultar_fichajes', JANUARY);
    expect(isError).toBe(true);
    const [, requestId] = /^Error interno del servicio \(petición ([\w-]+)\)$/.exec(text) ?? [];
    const logged = lines.map((line) => JSON.parse(line)).find(({ level }) => level === 50);
    expect(logged).toMatchObject({ requestId, err: { message: expect.stringContaining('the secret of the house') } });
  });
});

test('every read that asks for nothing but dates answers as REST does', async () => {
  const acme = await server.company([...STAFF, ...FUNNEL]);
  await using host = await modern(`${server.url}/mcp/`, acme.headers);
  await host.tools();
  for (const { operation, definition, paged, wrapped } of tools) {
    const required = definition.inputSchema.required ?? [];
    if (operation.write || required.some((name) => !Object.hasOwn(JANUARY, name))) continue;
    // Which tells of the call itself.
    if (operation.alias === 'consultarRegistroActividad') continue;
    const args = required.length > 0 ? JANUARY : {};
    const { data, text } = await host.call(operation.tool, args);
    const path = operation.routes.find(({ parameters }) => parameters.length === 0)?.path ?? '';
    const { body } = await acme.get(path, { ...args, ...(paged && { por_pagina: TOOL_PAGE_SIZE }) });
    // The remaining quota differs between calls.
    const still = ({ cuota, ...rest }: Record<string, unknown>) => rest;
    expect(still(data), `${operation.tool}: ${text}`).toEqual(still(wrapped ? { data: body.data } : body.data));
  }
});

describe('before the protocol', () => {
  test('[AUTH-01] [MCP-03] without credentials, with wrong ones, or with a token: 401, always the same', async () => {
    const acme = await server.company();
    const attempts = [
      post({}, listTools),
      post({ 'x-api-key': acme.headers['x-api-key'] }, listTools),
      post({ ...acme.headers, 'x-api-secret': 'sk_no' }, listTools),
      post({ authorization: 'Bearer abc' }, listTools),
      post({ ...acme.headers, authorization: 'bearer abc' }, listTools),
      post({}, listTools, '/mcp/?access_token=abc'),
      post({}, '{ not JSON'),
    ];
    for (const { status, message } of await Promise.all(attempts)) {
      expect(status).toBe(401);
      expect(message).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32000, message: UNAUTHORIZED } });
    }
  });

  test('[MCP-03] /mcp and /mcp/ are one address; every method but POST is 405', async () => {
    const acme = await server.company();
    for (const path of ['/mcp', '/mcp/']) {
      expect((await post(acme.headers, listTools, path)).message.result.tools).toHaveLength(operations.length);
      for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
        const { status, headers } = await server.request(path, { method, headers: acme.headers, redirect: 'error' });
        expect([method, status, headers.get('allow')]).toEqual([method, 405, 'POST']);
      }
    }
  });

  test('[OAU-01] [AUTH-01] the protocol’s other methods are 401 without credentials, and say where to get a token', async () => {
    const acme = await server.company();
    for (const path of ['/mcp', '/mcp/']) {
      for (const method of ['POST', 'GET', 'HEAD', 'DELETE']) {
        for (const headers of [{}, { ...acme.headers, 'x-api-secret': 'sk_no' }]) {
          const answer = await server.request(path, { method, headers });
          expect([method, answer.status]).toEqual([method, 401]);
          expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer (?!error).*resource_metadata="/);
        }
        const { status, headers } = await server.request(path, { method, headers: { authorization: 'Bearer no' } });
        expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('invalid_token')]);
      }
    }
  });

  test('[MCP-03] a connection that is about to close is told so, whatever a stream of the protocol promises', async () => {
    const acme = await server.company();
    const method = 'subscriptions/listen';
    const headers = {
      ...acme.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      connection: 'close',
    };
    const { promise, resolve, reject } = Promise.withResolvers<(string | undefined)[]>();
    const asked = request(`${server.url}/mcp`, { method: 'POST', headers, agent: false }, (answer) => {
      resolve([answer.headers['content-type'], answer.headers.connection]);
      answer.destroy();
    });
    asked.on('error', reject);
    asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta, notifications: {} } }));
    expect(await promise).toEqual(['text/event-stream', 'close']);
  });

  test('[MCP-03] a batch that cancels its own call is answered all the same', async () => {
    const acme = await server.company();
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const { status, message } = await post(acme.headers, [toolCall(1, 'consultar_fichajes', JANUARY), cancelled]);
    expect([status, message.result.structuredContent.total_fichajes]).toEqual([200, 0]);
    expect(await post(acme.headers, [cancelled])).toMatchObject({ status: 202 });
  });

  test('[MCP-01] [AUTH-04] a write with a read-only key is 403 for a message alone, and an error of its own message in a batch', async () => {
    const acme = await server.company();
    const reader = await acme.newKey(true);
    const alone = await post(reader, toolCall(7, 'crear_oportunidad'));
    expect(alone).toMatchObject({
      status: 403,
      message: { id: 7, error: { message: expect.stringContaining('svc.write') } },
    });
    const { status, messages } = await post(reader, [
      toolCall(1, 'crear_oportunidad'),
      toolCall(2, 'consultar_fichajes', JANUARY),
    ]);
    expect(status).toBe(200);
    const byId = new Map(messages.map(({ id, result }) => [id, result]));
    expect(byId.get(1)).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('svc.write') }] });
    expect(byId.get(2)).toMatchObject({ structuredContent: { total_fichajes: 0 } });
  });

  describe('[FAIR-05] [LIM-01] every message counts one', () => {
    let quiet: Server;
    beforeAll(async () => {
      quiet = await startServer({ clock: new TestClock('2026-03-01T10:00:15Z') });
    });
    afterAll(() => quiet.stop());

    /** The remaining calls of a company with a quota of 100, after the one that asks. */
    async function left(company: Company): Promise<number> {
      const { body } = await company.get('/account');
      return body.data.cuota.restante;
    }
    const initialize = {
      ...listTools,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    };

    test.each<[string, number, unknown, number, Record<string, string>?]>([
      ['tools/list', 200, listTools, 1],
      ['initialize', 200, initialize, 1],
      ['ping', 200, { ...listTools, method: 'ping' }, 1],
      ['a notification', 202, { jsonrpc: '2.0', method: 'notifications/initialized' }, 1],
      ['tools/call', 200, toolCall(1, 'consultar_fichajes', JANUARY), 1],
      ['a call that is refused for its arguments', 200, toolCall(1, 'consultar_fichajes'), 1],
      ['a tool that does not exist', 200, toolCall(1, 'nada'), 1],
      ['a method that does not exist', 200, { ...listTools, method: 'nada' }, 1],
      ['what is no message', 400, { hola: 1 }, 1],
      ['what is no JSON', 400, '{', 1],
      ['an area that does not exist', 400, listTools, 1, { path: '/mcp?areas=luna' }],
      ['a batch', 200, [listTools, listTools, toolCall(1, 'consultar_fichajes', JANUARY)], 3],
    ])('%s', async (_about, status, body, messages, { path = '/mcp' } = {}) => {
      const acme = await quiet.company([], { cuenta: { cuota_por_minuto: 100 } });
      expect((await post(acme.headers, body, path, quiet.url)).status).toBe(status);
      expect(await left(acme)).toBe(100 - messages - 1);
    });

    test('and so do the protocol’s other methods, and a write that is refused', async () => {
      const acme = await quiet.company([], { cuenta: { cuota_por_minuto: 100 } });
      for (const method of ['GET', 'HEAD', 'DELETE']) {
        expect((await quiet.request('/mcp/', { method, headers: acme.headers })).status).toBe(405);
      }
      const reader = await acme.newKey(true);
      expect((await post(reader, toolCall(1, 'crear_oportunidad'), '/mcp', quiet.url)).status).toBe(403);
      expect(await left(acme)).toBe(100 - 5);
    });

    test('the account that a batch asks for tells the quota as its own message left it', async () => {
      const acme = await quiet.company([], { cuenta: { cuota_por_minuto: 100 } });
      const ask = (id: number) => toolCall(id, 'obtener_cuenta');
      const { messages } = await post(acme.headers, [ask(1), listTools, ask(3)], '/mcp', quiet.url);
      expect(messages.map(({ result }) => result.structuredContent?.cuota.restante)).toEqual([99, undefined, 97]);
    });

    test('spent: 429 for what calls no tool, and in a batch each message for itself', async () => {
      const acme = await quiet.company([], { cuenta: { cuota_por_minuto: 2 } });
      const call = (id: number) => toolCall(id, 'consultar_fichajes', JANUARY);
      const list = (id: number) => ({ ...listTools, id });
      const note = { jsonrpc: '2.0', method: 'notifications/initialized' };
      const batch = await post(acme.headers, [list(1), call(2), call(3), note, list(4)], '/mcp/', quiet.url);
      expect(batch.status).toBe(200);
      const WAIT = 'La empresa ha gastado su cuota de 2 llamadas por minuto';
      expect(batch.messages).toEqual([
        expect.objectContaining({ id: 1, result: { tools: expect.any(Array) } }),
        expect.objectContaining({ id: 2, result: expect.objectContaining({ structuredContent: expect.anything() }) }),
        expect.objectContaining({
          id: 3,
          result: {
            isError: true,
            content: [{ type: 'text', text: `${WAIT}\nSe puede repetir la llamada dentro de 45 s.` }],
          },
        }),
        {
          jsonrpc: '2.0',
          id: 4,
          error: { code: -32000, message: `${WAIT}. Se puede repetir la llamada dentro de 45 s.` },
        },
      ]);
      for (const refused of [list(7), note, [list(8), list(9)]]) {
        const { status, headers, message } = await post(acme.headers, refused, '/mcp', quiet.url);
        expect([status, headers.get('retry-after')]).toEqual([429, '45']);
        expect(message).toMatchObject({ error: { code: -32000, message: WAIT } });
      }
      for (const method of ['GET', 'DELETE']) {
        expect((await quiet.request('/mcp', { method, headers: acme.headers })).status).toBe(429);
      }
    });
  });

  test('[FAIR-01] the calls of a batch are served one after another, in their order', async () => {
    const acme = await server.company(STAFF);
    const { database } = server.service;
    const transaction = database.transaction.bind(database);
    let [under, most] = [0, 0];
    const watched = vi.spyOn(database, 'transaction').mockImplementation((accountId, options, work) => {
      // Recording the use of a key belongs to no call.
      if (!options.credential) return transaction(accountId, options, work);
      most = Math.max(most, ++under);
      return transaction(accountId, options, work).finally(() => under--);
    });
    try {
      const calls = [1, 2, 3, 4, 5, 6].map((id) => toolCall(id, 'consultar_fichajes', JANUARY));
      const { messages } = await post(acme.headers, calls);
      expect(messages.map(({ id, result }) => [id, result.isError ?? false])).toEqual(
        calls.map(({ id }) => [id, false]),
      );
      expect(most).toBe(1);
    } finally {
      watched.mockRestore();
    }
  });

  test('[FAIR-03] a batch is at most 50 messages', async () => {
    const acme = await server.company();
    const ping = (id: number) => ({ ...listTools, method: 'ping', id });
    const pings = Array.from({ length: 51 }, (_, id) => ping(id));
    expect(await post(acme.headers, pings)).toMatchObject({
      status: 400,
      message: { id: null, error: { code: -32600, message: 'Un lote lleva como mucho 50 mensajes' } },
    });
    const { status, messages } = await post(acme.headers, pings.slice(1));
    expect([status, messages.length]).toEqual([200, 50]);
  });

  test('[FAIR-03] the answer of a batch is at most 8 MB; what comes after is not run', async () => {
    const note = 'x'.repeat(60_000);
    const acme = await server.company([
      ...FUNNEL,
      ...STAFF.map((record) => (record.coleccion === 'fichajes' ? { ...record, observaciones: note } : record)),
    ]);
    // Each is 1.5 MB, and is sent twice: as structured content and as text.
    const page = (id: number) => toolCall(id, 'consultar_fichajes', { ...JANUARY, por_pagina: 25 });
    const datos = await opportunity(acme);
    const write = (id: number) => toolCall(id, 'crear_oportunidad', { datos });
    const { status, messages, text } = await post(acme.headers, [
      page(1),
      write(2),
      page(3),
      page(4),
      { ...listTools, id: 5 },
      write(6),
    ]);
    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThan(8 * 1024 ** 2 + 1000);
    const outcome = messages.map(({ id, result, error }) => [id, error?.message ?? result.isError ?? false]);
    const TOO_LONG = 'La respuesta del lote pasa de 8 MB: este mensaje tiene que ir en otra petición';
    expect(outcome).toEqual([
      [1, false],
      [2, false],
      [3, false],
      [4, TOO_LONG],
      [5, TOO_LONG],
      [6, TOO_LONG],
    ]);
    const { body } = await acme.get('/crm/opportunities', { funnel_fk: datos.funnel_fk });
    expect(body.data.oportunidades).toHaveLength(1);
  });

  test('[ENV-04] a batch with anything that is no message, or with a handshake, is refused whole', async () => {
    const acme = await server.company();
    const initialize = { ...listTools, method: 'initialize', params: {} };
    for (const batch of [[], [listTools, 7], [listTools, { jsonrpc: '2.0' }], [listTools, initialize]]) {
      expect(await post(acme.headers, batch)).toMatchObject({
        status: 400,
        messages: [{ id: null, error: { code: -32600 } }],
      });
    }
  });

  test('[IDEM-01] the writes of a batch have a key each', async () => {
    const acme = await server.company(FUNNEL);
    const datos = await opportunity(acme);
    const keys = ['a', 'b', 'a', undefined];
    const { messages } = await post(
      acme.headers,
      keys.map((clave_idempotencia, id) => toolCall(id, 'crear_oportunidad', { datos, clave_idempotencia })),
    );
    const numbers = new Map(messages.map(({ id, result }) => [id, result.structuredContent.data]));
    expect(numbers.get(2)).toBe(numbers.get(0));
    expect(new Set(numbers.values()).size).toBe(3);
  });

  test('[ENV-04] a foreign page is 403; the allowed ones and our own are served', async () => {
    await using open = await startServer({ corsOrigins: ['https://app.example'] });
    const acme = await open.company();
    const from = async (origin: string) =>
      (await post({ ...acme.headers, origin }, listTools, '/mcp/', open.url)).status;
    expect(await from('https://evil.example')).toBe(403);
    expect(await from('null')).toBe(403);
    expect(await from('https://app.example.evil.example')).toBe(403);
    expect(await from('https://app.example')).toBe(200);
    expect(await from(open.url)).toBe(200);
  });

  test('[ENV-04] a page whose own name points at the service is 403, by number and as localhost it is served', async () => {
    const acme = await server.company();
    const { port } = new URL(server.url);
    const fromItself = (host: string, origin = `http://${host}`) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = {
          ...acme.headers,
          host,
          origin,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        };
        const call = request({ port, host: '127.0.0.1', path: '/mcp/', method: 'POST', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        call.on('error', reject).end(JSON.stringify(listTools));
      });
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', 'localhost.evil.example']) {
      expect([host, await fromItself(host)]).toEqual([host, 403]);
    }
    for (const host of [`localhost:${port}`, `[::1]:${port}`, '192.168.1.20:3000']) {
      expect([host, await fromItself(host)]).toEqual([host, 200]);
    }
    // Also without `BASE_URL`, and for a caller that claims to be our own page.
    expect(await fromItself('inside:3000', server.url)).toBe(403);
  });

  test('[ENV-04] what is no message is refused as JSON-RPC says', async () => {
    const acme = await server.company();
    expect(await post(acme.headers, '{ not JSON')).toMatchObject({ status: 400, message: { error: { code: -32700 } } });
    expect(await post(acme.headers, '')).toMatchObject({ status: 400, message: { error: { code: -32700 } } });
    expect(await post(acme.headers, { hola: 1 })).toMatchObject({ status: 400, message: { error: { code: -32600 } } });
    expect(await post({ ...acme.headers, 'content-type': 'text/plain' }, 'hola')).toMatchObject({ status: 415 });
    expect((await post(acme.headers, { ...listTools, method: 'nada' })).message.error.code).toBe(-32601);
  });

  test('[ENV-04] a message over 1 MiB is 413', async () => {
    await using own = await startServer({ alone: true });
    const acme = await own.company();
    const large = { ...listTools, params: { cursor: 'x'.repeat(1024 * 1024) } };
    expect(await post(acme.headers, large, '/mcp/', own.url)).toMatchObject({ status: 413 });
  });

  test('[MCP-04] an area that does not exist is 400 and names those that do', async () => {
    const acme = await server.company();
    const { status, message } = await post(acme.headers, listTools, '/mcp/?areas=time,moon');
    expect(status).toBe(400);
    expect(message).toMatchObject({ id: 1, error: { message: expect.stringMatching(/areas.*moon.*time/) } });
  });

  test('[ENV-04] headers and body of 2026-07-28 that disagree are 400; a method it does not have is 404', async () => {
    const acme = await server.company();
    const headers = (method: string) => ({
      ...acme.headers,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
    });
    const message = { ...listTools, params: { _meta } };
    expect(await post(headers('tools/list'), message)).toMatchObject({
      status: 200,
      message: { result: { cacheScope: 'private' } },
    });
    expect(await post(headers('tools/call'), message)).toMatchObject({ status: 400 });
    expect(await post(headers('nada'), { ...message, method: 'nada' })).toMatchObject({
      status: 404,
      message: { error: { code: -32601 } },
    });
  });
});

test('[MCP-03] each tools/call is one line of the log, without its arguments', async () => {
  const lines: string[] = [];
  await using logged = await startServer({ logTo: (line) => lines.push(line) });
  const acme = await logged.company();
  await post(
    acme.headers,
    [toolCall(1, 'consultar_fichajes', { ...JANUARY, empleadoId: 'personal' })],
    '/mcp/',
    logged.url,
  );
  const calls = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'tool called');
  expect(calls).toEqual([
    expect.objectContaining({ tool: 'consultar_fichajes', status: 404, ms: expect.any(Number), account: acme.id }),
  ]);
  expect(lines.join('')).not.toContain('personal');
});

describe('[MCP-04] every tool', () => {
  test.each(tools.map((tool) => [tool.definition.name, tool] as const))('%s', (name, { operation, definition }) => {
    const { title, description, inputSchema, outputSchema, annotations } = definition;
    expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/);
    expect(title?.trim()).toBeTruthy();
    expect(description?.trim().length).toBeGreaterThan(20);
    expect(Object.values(annotations ?? {})).toHaveLength(4);
    expect(annotations).toMatchObject({
      readOnlyHint: !operation.write,
      destructiveHint: operation.destructive,
      idempotentHint: expect.any(Boolean),
      openWorldHint: false,
    });
    expect(inputSchema.type).toBe('object');
    expect(outputSchema?.type).toBe('object');
    const objects = objectsOf(inputSchema);
    // The records of an account file have the fields of their collection, which only the import knows.
    const open = operation.path === 'imports.create' ? 1 : 0;
    expect(objects.filter(({ additionalProperties }) => additionalProperties !== false)).toHaveLength(open);
    for (const { properties } of objects) {
      for (const [argument, schema] of Object.entries(properties ?? {})) {
        expect(schema, argument).toSatisfy(({ type, anyOf, enum: values }) => type ?? anyOf ?? values);
      }
    }
    const { por_pagina, clave_idempotencia } = inputSchema.properties ?? {};
    if (por_pagina) expect(por_pagina).toMatchObject({ default: TOOL_PAGE_SIZE });
    expect(clave_idempotencia !== undefined).toBe(operation.write);
    const text = JSON.stringify([inputSchema, outputSchema]);
    expect(text).not.toMatch(/\$schema|9007199254740991|"example"/);
    expect(JSON.stringify(inputSchema)).not.toMatch(/"type":\[/);
  });

  test('has a name of its own, and the list is small enough for a context', ({ annotate }) => {
    expect(new Set(tools.map(({ definition }) => definition.name)).size).toBe(tools.length);
    const costs = [...choices()];
    annotate(costs.map(([address, { tools, inputs, whole }]) => `${address} ${tools}: ${inputs}, ${whole}`).join('; '));
    const all = choices().get('/mcp/');
    expect(all?.tools).toBe(operations.length);
    expect(all?.inputs).toBeLessThan(90_000);
    expect(all?.whole).toBeLessThan(200_000);
    expect((all?.inputs ?? 0) / operations.length).toBeLessThan(850);
    expect(choices().get('/mcp/?modo=catalogo')?.whole).toBeLessThan(4000);
    const areas = costs.filter(([address]) => address.includes('areas='));
    expect(areas.reduce((sum, [, { tools: its }]) => sum + its, 0)).toBe(operations.length);
    for (const [address, { whole }] of areas) expect(whole, address).toBeLessThan(25_000);
  });
});

type JsonObject = Record<string, unknown> & { additionalProperties?: unknown; properties?: Record<string, JsonObject> };

/** The object schemas inside a schema, at any depth. */
function objectsOf(schema: unknown): JsonObject[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const here = 'type' in schema && schema.type === 'object' ? [{ ...schema }] : [];
  return [...here, ...Object.values(schema).flatMap(objectsOf)];
}

const named = (tool: string) => tools.some(({ definition }) => definition.name === tool);

/** The required fields of an opportunity in a company with FUNNEL. */
async function opportunity(company: Company) {
  const { body } = await company.get('/crm/funnels');
  const [funnel] = body.data.funnels;
  return { funnel_fk: funnel.funnelId, etapa_fk: funnel.etapas[0].etapaId, descripcion: 'Una' };
}
