// Requests without credentials, or by callers who may only read: refused before they cost anything. FAIR-04
import { describe, expect, test, vi } from 'vitest';
import { MOST_VALUES } from '../../platform/json-input.ts';
import { type Server, startServer, TestClock } from '../helpers/world.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const post = (server: Server, path: string, body: string, headers: Record<string, string> = JSON_TYPE) =>
  server.request(path, { method: 'POST', headers, body });
const zeros = (count: number) => `[${Array(count).fill(0).join()}]`;

describe('[FAIR-04] without credentials', () => {
  test.each(['/oauth/register', '/oauth/token', '/oauth/revoke'])('at most 64 KiB are read: %s', async (path) => {
    await using server = await startServer({ alone: true });
    const answers = [await post(server, path, zeros(40_000)), await post(server, path, 'a'.repeat(66_000), FORM)];
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([
        413,
        { error: 'invalid_request', error_description: expect.stringContaining('64 KiB') },
      ]);
    }
    expect((await post(server, path, zeros(10_000))).status).toBe(400);
  });

  test.each(['/signin', '/signout', '/oauth/authorize', '/settings/password'])(
    'a page takes forms of 64 KiB, and no JSON: %s',
    async (path) => {
      await using server = await startServer({ alone: true });
      expect((await post(server, path, `a=${'b'.repeat(66_000)}`, FORM)).status).toBe(413);
      expect((await post(server, path, '{}')).status).toBe(415);
      expect((await post(server, path, 'a=b&'.repeat(201), FORM)).status).toBe(400);
    },
  );

  test('a network may send so many a minute, whatever they hold: its requests are refused unread', async () => {
    const clock = new TestClock('2026-03-01T10:00:00Z');
    await using server = await startServer({ alone: true, clock, trustProxy: true, anonymousPerMinute: 4 });
    const send = (path: string, address: string, body = '{') =>
      post(server, path, body, { ...JSON_TYPE, 'x-forwarded-for': address });
    const paths = ['/oauth/register', '/signin', '/oauth/token', '/oauth/revoke'];
    // One /64 and both scopes count together.
    for (const [index, path] of paths.entries()) {
      expect((await send(path, `2001:db8:7:7::${index + 1}`)).status).not.toBe(429);
    }
    clock.advance({ seconds: 20 });
    for (const path of paths) {
      const { status, headers } = await send(path, '2001:db8:7:7:ffff::9', zeros(40_000));
      expect([path, status, headers.get('retry-after')]).toEqual([path, 429, '40']);
    }
    expect((await send('/oauth/register', '2001:db8:7:8::1')).status).toBe(400);
    expect((await send('/oauth/register', '192.0.2.7')).status).toBe(400);
    // Pages are still shown.
    expect((await server.request('/signin', { headers: { 'x-forwarded-for': '2001:db8:7:7::1' } })).status).toBe(200);
    clock.advance({ seconds: 40 });
    expect((await send('/oauth/register', '2001:db8:7:7::1')).status).toBe(400);
  });

  test('a body is not read where the method or the caller is wrong', async () => {
    await using server = await startServer({ alone: true });
    // Parsed, it would be a 400.
    for (const [method, path, status] of [
      ['PUT', '/mcp', 405],
      ['DELETE', '/mcp', 401],
      ['PUT', '/trpc/clients.list', 405],
      ['OPTIONS', '/api/v1/clients', 200],
      ['PATCH', '/api/v1/clients', 405],
      ['POST', '/mcp', 401],
      ['POST', '/trpc/contacts.create', 401],
      ['POST', '/trpc/nothing.here', 404],
      ['POST', '/api/v1/crm/contacts', 401],
      ['POST', '/crearContacto', 401],
      ['POST', '/nothing', 404],
    ] as const) {
      const answer = await server.request(path, { method, headers: JSON_TYPE, body: '{' });
      expect([method, path, answer.status]).toEqual([method, path, status]);
    }
  });
});

describe('[FAIR-04] [FAIR-02] a body holds so many values and no more', () => {
  const properties = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));

  test('by every door, and the answer says how many', async () => {
    await using server = await startServer();
    const acme = await server.company();
    const many = properties(MOST_VALUES);
    const message = expect.stringContaining(`demasiados valores: se admiten ${MOST_VALUES}`);
    const headers = { ...acme.headers, ...JSON_TYPE, accept: 'application/json, text/event-stream' };
    expect((await acme.alias('crearContacto', many)).body).toEqual({ errorCode: 400, errorMsg: message, data: null });
    expect((await acme.post('/crm/contacts', many)).body).toEqual({ errorCode: 400, errorMsg: message, data: null });
    const trpc = await post(server, '/trpc/contacts.create', JSON.stringify({ json: many }), headers);
    expect([trpc.status, trpc.text]).toEqual([400, expect.stringContaining('demasiados valores')]);
    const mcp = await post(server, '/mcp', JSON.stringify(many), headers);
    expect([mcp.status, mcp.text]).toEqual([400, expect.stringContaining('demasiados valores')]);
  });

  test('what stands in texts does not count, and what is allowed is answered', async () => {
    await using server = await startServer();
    const acme = await server.company();
    const text = ',[{"\\'.repeat(MOST_VALUES / 10);
    const listed = await acme.alias('consultarProductos', { ...properties(MOST_VALUES - 10), texto: text });
    expect(listed.status).toBe(200);
    expect(listed.headers.get('x-ignored-parameters')?.length).toBe(1000);
  });

  test('a list that is too long is told so, and not each of its elements', async () => {
    await using server = await startServer();
    const acme = await server.company();
    const { status, body } = await acme.alias('crearFactura', { albaranes: Array(501).fill({}) });
    expect([status, body.data]).toEqual([
      400,
      [{ campo: 'albaranes', mensaje: 'no puede tener más de 500 elementos' }],
    ]);
  });

  test('nesting ends somewhere', async () => {
    await using server = await startServer();
    const acme = await server.company();
    for (const depth of [101, 500_000]) {
      const body = '['.repeat(depth) + ']'.repeat(depth);
      const answer = await post(server, '/consultarProductos', body, { ...acme.headers, ...JSON_TYPE });
      expect([answer.status, answer.body.errorMsg]).toEqual([400, expect.stringContaining('demasiados niveles')]);
    }
  });
});

test('[FAIR-04] the body of a tRPC batch is not parsed before it is known whose, and how many values it holds', async () => {
  await using server = await startServer({ alone: true });
  const acme = await server.company();
  const body = JSON.stringify(Array(MOST_VALUES + 1).fill(0));
  const parse = vi.spyOn(JSON, 'parse');
  const send = (path: string, headers = {}) =>
    server.request(`/trpc/${path}?batch=1`, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body });
  expect((await send('nothing.here')).status).toBe(404);
  expect((await send('contacts.create')).status).toBe(401);
  const { status, text } = await send('contacts.create', acme.headers);
  const parsed = parse.mock.calls.some(([given]) => given === body);
  parse.mockRestore();
  expect([status, text]).toEqual([400, expect.stringContaining('demasiados valores')]);
  expect(parsed, 'counted, it is refused unparsed').toBe(false);
});
