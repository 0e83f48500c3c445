// The connector with an access token: what it allows, what it refuses, and when it ends.
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { listGrants, revokeGrant } from '../../platform/identity/grants.ts';
import { leaveCompany } from '../../platform/identity/users.ts';
import { hashSecret } from '../../platform/principal.ts';
import { type Company, type FileRecord, type Server, startServer, TestClock } from '../helpers/world.ts';
import { callMcp, newApplication, rpc, toolCall, twin } from './application.ts';
import { fieldOf } from './person.ts';

const FUNNEL: FileRecord[] = [
  { coleccion: 'funnels', ref: 'ventas', titulo: 'Ventas', etapas: [{ ref: 'nuevo', titulo: 'Nuevo' }] },
];
const JANUARY = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };
const READ = toolCall('consultar_fichajes', JANUARY);
const GRANTED_WRITES = ['crear_contacto', 'crear_oportunidad', 'mover_oportunidad'];

let server: Server;
let acme: Company;
beforeAll(async () => {
  server = await startServer();
  acme = await server.company(FUNNEL);
});
afterAll(() => server.stop());

const toolsOf = async (access: string) =>
  (await callMcp(server, access)).body.result.tools.map(({ name }: { name: string }) => name);

async function opportunity(company: Company) {
  const { body } = await company.get('/crm/funnels');
  const [funnel] = body.data.funnels;
  return { funnel_fk: funnel.funnelId, etapa_fk: funnel.etapas[0].etapaId, descripcion: 'Una' };
}

describe('what a token opens', () => {
  test('[MCP-02] the reads, and the three writes that were granted', async () => {
    const application = await newApplication(server, acme);
    const { access } = await application.connect();
    const reads = operations.filter(({ write }) => !write).map(({ tool }) => tool);
    const tools = await toolsOf(access);
    expect(tools.filter((name: string) => !GRANTED_WRITES.includes(name))).toEqual(reads);
    expect(tools.filter((name: string) => !reads.includes(name)).toSorted()).toEqual(GRANTED_WRITES);
    const { body } = await callMcp(server, access, toolCall('crear_oportunidad', { datos: await opportunity(acme) }));
    expect(body.result.structuredContent.data).toEqual(expect.any(Number));
    const { rows } = await server.service.database.pool.query(
      `select actor, door from journal_entries where account_id = $1 and record_id = $2 and operation = 'crearOportunidad'`,
      [acme.id, body.result.structuredContent.data],
    );
    expect(rows).toEqual([{ actor: expect.stringMatching(/^token:\d+$/), door: 'mcp' }]);
  });

  test('[MCP-02] every other write is for API keys alone, which the result says', async () => {
    const { access } = await (await newApplication(server, acme)).connect();
    const others = operations.filter(({ write, tool }) => write && !GRANTED_WRITES.includes(tool));
    expect(others.length).toBeGreaterThan(2);
    for (const { tool } of others) {
      const { status, body } = await callMcp(server, access, toolCall(tool));
      expect([tool, status, body.result.isError]).toEqual([tool, 200, true]);
      expect(body.result.content[0].text).toContain('clave de API');
    }
  });

  test('[MCP-01] [MCP-02] without svc.write no write is listed, and calling any is a 403 that says what is missing', async () => {
    const { access } = await (await newApplication(server, acme)).connect({ write: false });
    expect(await toolsOf(access)).toEqual(operations.filter(({ write }) => !write).map(({ tool }) => tool));
    const write = toolCall('crear_oportunidad', { datos: await opportunity(acme) }, 7);
    const attempts = [
      ...GRANTED_WRITES.map((tool) => toolCall(tool, {}, 7)),
      [rpc('tools/list'), READ, write],
      [toolCall('crear_albaran', {}, 6), write],
    ];
    for (const message of attempts) {
      const { status, headers } = await callMcp(server, access, message, { path: '/mcp/' });
      expect(status).toBe(403);
      const challenge = headers.get('www-authenticate') ?? '';
      expect(challenge).toMatch(/^Bearer error="insufficient_scope", /);
      expect(challenge).toContain('scope="svc.write"');
      expect(challenge).toContain(`resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp/"`);
    }
    const { body } = await callMcp(server, access, write);
    expect(body).toMatchObject({ id: 7, error: { message: expect.stringContaining('svc.write') } });
    const { rows } = await server.service.database.pool.query(
      `select from journal_entries a join grants g on a.account_id = g.account_id and a.actor = 'token:' || g.id
       where g.account_id = $1 and not g.can_write`,
      [acme.id],
    );
    expect(rows).toEqual([]);
  });

  test('[MCP-02] without svc.write, a tool that no token may call says so: to ask for more would not help', async () => {
    const { access } = await (await newApplication(server, acme)).connect({ write: false });
    const others = operations.filter(({ write, tool }) => write && !GRANTED_WRITES.includes(tool));
    for (const { tool } of others) {
      const { status, headers, body } = await callMcp(server, access, toolCall(tool));
      expect([tool, status, headers.get('www-authenticate')]).toEqual([tool, 200, null]);
      expect(body.result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('clave de API') }],
      });
    }
    const batch = await callMcp(server, access, [toolCall('crear_albaran', {}, 1), { ...READ, id: 2 }]);
    expect(batch).toMatchObject({ status: 200, body: [{ id: 1, result: { isError: true } }, { id: 2 }] });
    expect(batch.body[1].result.structuredContent).toMatchObject({ total_fichajes: 0 });
  });

  describe('[MCP-02] by the catalogue', () => {
    const path = '/mcp/?modo=catalogo';
    const run = (by: string, operacion: string, argumentos: object = {}, id = 1) =>
      toolCall(by, { operacion, argumentos }, id);

    test('the same: its three writes, and every other is for API keys alone and not found', async () => {
      const { access } = await (await newApplication(server, acme)).connect();
      const datos = await opportunity(acme);
      const message = run('ejecutar_escritura', 'crear_oportunidad', { datos });
      const { body } = await callMcp(server, access, message, { path });
      const { rows } = await server.service.database.pool.query(
        `select actor, door from journal_entries where account_id = $1 and record_id = $2 and operation = 'crearOportunidad'`,
        [acme.id, body.result.structuredContent.data],
      );
      expect(rows).toEqual([{ actor: expect.stringMatching(/^token:\d+$/), door: 'mcp' }]);
      const others = operations.filter(({ write, tool }) => write && !GRANTED_WRITES.includes(tool));
      for (const { tool } of others) {
        for (const by of ['ejecutar_escritura', 'ejecutar_operacion']) {
          const { status, body } = await callMcp(server, access, run(by, tool), { path });
          expect([tool, status, body.result.isError]).toEqual([tool, 200, true]);
          expect(body.result.content[0].text).toContain('clave de API');
        }
        const search = toolCall('buscar_operaciones', { consulta: tool, limite: 20 });
        const found = (await callMcp(server, access, search, { path })).body.result.structuredContent.operaciones;
        expect(found.map(({ name }: { name: string }) => name)).not.toContain(tool);
      }
    });

    test('without svc.write none writes, and calling one is a 403 that says what is missing, in a batch too', async () => {
      const { access } = await (await newApplication(server, acme)).connect({ write: false });
      const listed = await callMcp(server, access, rpc('tools/list'), { path });
      const names = listed.body.result.tools.map(({ name }: { name: string }) => name);
      expect(names).toEqual(['buscar_operaciones', 'ejecutar_operacion']);
      const write = run('ejecutar_escritura', 'crear_oportunidad', { datos: await opportunity(acme) }, 7);
      const read = run('ejecutar_operacion', 'consultar_fichajes', JANUARY);
      for (const message of [write, run('ejecutar_operacion', 'crear_contacto'), [read, write]]) {
        const { status, headers } = await callMcp(server, access, message, { path });
        expect(status).toBe(403);
        expect(headers.get('www-authenticate')).toMatch(/^Bearer error="insufficient_scope", .*scope="svc.write"/);
      }
      expect((await callMcp(server, access, read, { path })).body.result.structuredContent.total_fichajes).toBe(0);
    });
  });

  test('[TEN-01] one company, whose records alone it sees', async () => {
    const other = await server.company([{ coleccion: 'funnels', ref: 'x', titulo: 'De otra empresa', etapas: [] }]);
    const application = await newApplication(server, acme, other);
    const titles = async (company: Company) => {
      const { access } = await application.connect({ company: company.slug });
      return JSON.stringify((await callMcp(server, access, toolCall('listar_funnels'))).body);
    };
    expect(await titles(acme)).not.toContain('De otra empresa');
    expect(await titles(other)).toContain('De otra empresa');
  });

  test('[AUTH-02] nothing but the connector: at REST, v0 and tRPC a token is 401', async () => {
    const { access } = await (await newApplication(server, acme)).connect();
    const headers = { authorization: `Bearer ${access}`, 'content-type': 'application/json' };
    for (const [path, method] of [
      ['/api/v1/crm/funnels', 'GET'],
      ['/listarFunnels', 'POST'],
      ['/trpc/funnels.list', 'GET'],
    ] as const) {
      const answer = await server.request(path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
      expect([path, answer.status]).toEqual([path, 401]);
    }
  });

  test('[OAU-01] the connector answers by both of its addresses, and to `bearer` in any case', async () => {
    const { access } = await (await newApplication(server, acme)).connect();
    for (const scheme of ['bearer', 'BEARER', 'Bearer']) {
      const headers = { authorization: `${scheme} ${access}` };
      for (const path of ['/mcp', '/mcp/']) {
        expect((await callMcp(server, undefined, READ, { path, headers })).status).toBe(200);
      }
    }
  });

  test('[OAU-01] a token that is none is 401 and invalid_token, also beside a key that is right', async () => {
    const application = await newApplication(server, acme);
    const { access, refresh } = await application.connect();
    const { code } = await application.newCode();
    const wrong = ['', 'x', `${access}x`, access.slice(0, -1), refresh, code, `at_${acme.id}_${'x'.repeat(43)}`];
    for (const bearer of wrong) {
      for (const headers of [{}, acme.headers]) {
        const answer = await callMcp(server, bearer, READ, { headers });
        expect(answer.status, bearer).toBe(401);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", .*resource_metadata="/);
      }
    }
    const inQuery = await callMcp(server, undefined, READ, { path: `/mcp?access_token=${access}` });
    expect(inQuery.status).toBe(401);
    expect(inQuery.headers.get('www-authenticate')).not.toContain('error=');
  });

  test('[OAU-04] a token for one address of the service is none for another', async () => {
    const { access } = await (await newApplication(server, acme)).connect();
    await using other = await startServer();
    expect((await callMcp(other, access, READ)).status).toBe(401);
  });
});

describe('when it stops', () => {
  const grantsOf = (company: Company, userId: number) =>
    server.service.database.transaction(company.id, {}, (db) => listGrants(db, company.id, { userId }));

  test('[OAU-06] withdrawn in the integrations page: the very next call is 401, on every process', async () => {
    const application = await newApplication(server, acme);
    const { browser } = application.person;
    await using second = await twin(server);
    const { access, refresh } = await application.connect();
    expect([(await callMcp(server, access, READ)).status, (await callMcp(second, access, READ)).status]).toEqual([
      200, 200,
    ]);
    const page = await (await browser.get(`/settings/integrations?company=${acme.slug}`)).text();
    const action = /action="([^"]*\/connections\/\d+\/withdraw)"/.exec(page)?.[1] ?? '';
    const withdrawn = await browser.post(action, { csrf: fieldOf(page, 'csrf'), company: acme.slug });
    expect(withdrawn.status).toBe(303);
    for (const process of [server, second]) {
      const { status, headers } = await callMcp(process, access, READ);
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
    }
    expect((await application.renew(refresh)).body.error).toBe('invalid_grant');
  });

  test('[OAU-06] a call that is under way when its authorization ends does nothing', async () => {
    const application = await newApplication(server, acme);
    const { access } = await application.connect();
    const { database, clock } = server.service;
    const credential = { kind: 'token', hash: hashSecret(access) } as const;
    const work = (accountId = acme.id) =>
      database.transaction(
        accountId,
        { write: true, credential: { credential, now: clock.now() } },
        async () => 'done',
      );
    expect(await work()).toBe('done');
    const other = await server.company();
    await expect(work(other.id)).rejects.toMatchObject({ status: 401 });
    const [grant] = await grantsOf(acme, application.person.userId);
    await database.transaction(acme.id, { write: true }, (db) => revokeGrant(db, acme.id, grant?.id ?? 0));
    await expect(work()).rejects.toMatchObject({ status: 401 });
  });

  test('[OAU-06] who leaves a company takes along what was authorised there, and there alone', async () => {
    const other = await server.company();
    const application = await newApplication(server, acme, other);
    const colleague = await newApplication(server, acme);
    const here = await application.connect({ company: acme.slug });
    const there = await application.connect({ company: other.slug });
    const theirs = await colleague.connect();
    const { userId } = application.person;
    const author = { actor: 'command', door: 'command', requestId: 'test' } as const;
    await leaveCompany(server.service.database, { userId, accountId: acme.id }, author);
    const states = [];
    for (const { access } of [here, there, theirs]) states.push((await callMcp(server, access, READ)).status);
    expect(states).toEqual([401, 200, 200]);
  });

  test('[OAU-06] the list of connections: live ones, with their use; nobody withdraws another’s by number', async () => {
    const other = await server.company();
    const application = await newApplication(server, acme);
    const { userId } = application.person;
    await application.connect({ write: false });
    const { access } = await application.connect();
    await callMcp(server, access, READ);
    const [newest, oldest, ...more] = await grantsOf(acme, userId);
    expect(more).toEqual([]);
    expect(newest).toMatchObject({
      userId,
      canWrite: true,
      redirectHost: '127.0.0.1:9',
      lastUsedAt: expect.anything(),
    });
    expect(oldest).toMatchObject({ canWrite: false, lastUsedAt: null });
    const { database } = server.service;
    const id = newest?.id ?? 0;
    const withdraw = (accountId: number, by = userId) =>
      database.transaction(accountId, { write: true }, (db) => revokeGrant(db, accountId, id, { userId: by }));
    expect([await withdraw(other.id), await withdraw(acme.id, userId + 1)]).toEqual([false, false]);
    expect((await callMcp(server, access, READ)).status).toBe(200);
    expect([await withdraw(acme.id), await withdraw(acme.id)]).toEqual([true, false]);
    expect((await grantsOf(acme, userId)).map((grant) => grant.id)).toEqual([oldest?.id]);
  });
});

describe('the door', () => {
  test('[LIM-01] [MCP-03] calls with a token and with a key spend one quota', async () => {
    await using quiet = await startServer({ clock: new TestClock('2026-03-01T10:00:20Z') });
    const small = await quiet.company([], { cuenta: { cuota_por_minuto: 3 } });
    const { access } = await (await newApplication(quiet, small)).connect();
    const failed = async (answer: ReturnType<typeof callMcp>) => (await answer).body.result.isError === true;
    expect(await failed(callMcp(quiet, access, READ))).toBe(false);
    expect((await small.get('/employees/times', JANUARY)).status).toBe(200);
    expect(await failed(callMcp(quiet, undefined, READ, { headers: small.headers }))).toBe(false);
    expect(await failed(callMcp(quiet, access, READ))).toBe(true);
    expect((await small.get('/employees/times', JANUARY)).status).toBe(429);
    expect((await callMcp(quiet, access)).status).toBe(429);
  });

  test('a page of strangers is 403 whatever it carries', async () => {
    const { access } = await (await newApplication(server, acme)).connect();
    const from = async (origin: string) => (await callMcp(server, access, READ, { headers: { origin } })).status;
    expect([await from('https://evil.example'), await from('null'), await from(server.url)]).toEqual([403, 403, 200]);
  });

  test('a request that calls the service by another name is 403 where its address is configured', async () => {
    await using known = await startServer({ baseUrl: 'https://albaran.example', trustProxy: 'loopback' });
    const { port } = new URL(known.url);
    const statusOf = (host: string, more: Record<string, string> = {}) =>
      new Promise<number | undefined>((resolve, reject) => {
        const call = httpRequest(
          { port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers: { host, ...more } },
          (answer) => {
            answer.resume();
            resolve(answer.statusCode);
          },
        );
        call.on('error', reject).end();
      });
    for (const host of [
      'evil.example',
      'albaran.example.evil.example',
      `127.0.0.1:${port}`,
      'albaran.example:8443',
      '[',
    ]) {
      expect([host, await statusOf(host)]).toEqual([host, 403]);
    }
    for (const host of ['albaran.example', 'ALBARAN.example:443']) expect(await statusOf(host)).toBe(401);
    // Through a proxy that is trusted, a page reached by another host name may send any header but `Host`.
    expect(await statusOf('evil.example', { 'x-forwarded-host': 'albaran.example' })).toBe(403);
    expect(await statusOf('albaran.example', { 'x-forwarded-host': 'evil.example' })).toBe(401);
  });

  test('[MCP-03] both eras shake hands with a token', async () => {
    const { access } = await (await newApplication(server, acme)).connect();
    const initialize = rpc('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    expect((await callMcp(server, access, initialize)).body.result.protocolVersion).toBe('2025-11-25');
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' };
    const discover = await callMcp(server, access, rpc('server/discover', { _meta }), { headers });
    expect(discover.status).toBe(200);
    expect(JSON.stringify(discover.body.result)).toContain('2026-07-28');
  });
});
