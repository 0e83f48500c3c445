// Texts that are refused everywhere: invalid UTF-8, lone surrogates, NUL. A byte-order mark is ignored.
import { describe, expect, test } from 'vitest';
import { checkJson, parseJson } from '../../platform/json-input.ts';
import { startServer } from '../helpers/world.ts';
import { newApplication, REDIRECT } from '../oauth/application.ts';
import { signedIn } from '../pages/browser.ts';

const contact = (name: string) => `{"datos":{"nombre":"${name}","email":"ana@example.com"}}`;
const DOORS: Record<string, { path: string; body(name: string): string }> = {
  REST: { path: '/api/v1/crm/contacts', body: contact },
  v0: { path: '/crearContacto', body: contact },
  tRPC: { path: '/trpc/contacts.create', body: (name) => `{"json":${contact(name)}}` },
  MCP: {
    path: '/mcp',
    body: (name) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crear_contacto","arguments":${contact(name)}}}`,
  },
};

describe.each(Object.entries(DOORS))('[W-10] %s:', (_door, { path, body }) => {
  const send = async (bytes: Buffer) => {
    await using server = await startServer();
    const acme = await server.company();
    const headers = {
      ...acme.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const answer = await server.request(path, { method: 'POST', headers, body: new Uint8Array(bytes) });
    const { body: contacts } = await acme.get('/crm/contacts');
    return { answer, names: contacts.data.contactos.map(({ nombre }: { nombre: string }) => nombre) };
  };

  test.each([
    ['Latin-1', Buffer.from(body('José'), 'latin1')],
    ['a surrogate as bytes', Buffer.from(body('a\xed\xa0\x80b'), 'latin1')],
    ['half a character at its end', Buffer.concat([Buffer.from(body('Ana')), Buffer.from([0xc3])])],
    ['a first half, escaped', Buffer.from(body('a\\ud83db'))],
    ['a second half, escaped', Buffer.from(body('a\\uDE00b'))],
    ['the halves the wrong way round', Buffer.from(body('\\ude00\\ud83d'))],
    ['half a character in a name', Buffer.from(body('Ana","\\ud800":"x'))],
  ])('%s is 400, and nothing is stored', async (_about, bytes) => {
    const { answer, names } = await send(bytes);
    expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(/UTF-8/)]);
    expect(names).toEqual([]);
  });

  test.each([
    ['a byte-order mark', Buffer.from(`\uFEFF${body('José')}`), 'José'],
    ['both halves, escaped', Buffer.from(body('a\\ud83d\\ude00b')), 'a😀b'],
    ['what only looks like half a character', Buffer.from(body('a\\\\ud800b')), 'a\\ud800b'],
  ])('%s changes nothing', async (_about, bytes, name) => {
    const { answer, names } = await send(bytes);
    expect([answer.status, names]).toEqual([200, [name]]);
  });
});

test('[W-10] tRPC: an input in the address is held to the same', async () => {
  await using server = await startServer();
  const acme = await server.company();
  const ask = (input: string) => server.request(`/trpc/products.list?input=${input}`, { headers: acme.headers });
  const json = (search: string) => encodeURIComponent(`{"json":{"busqueda":"${search}"}}`);
  expect((await ask(json('x'))).status).toBe(200);
  for (const input of [json('\\ud800'), '{"json":{"busqueda":"%ff"}}', `${json('x')}&x=%ed%a0%80`]) {
    const answer = await ask(input);
    expect([input, answer.status]).toEqual([input, 400]);
  }
});

test.each([
  '{"__proto__":1}',
  '{"a":[{"__proto__" : 1}]}',
  '{"\\u005f_proto__":1}',
  '{"__pr\\u006Fto__":1}',
  '{"\\u005F\\u005F\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":1}',
])('[FAIR-04] a prototype is refused however it is written: %s', (text) => {
  expect(() => parseJson(text)).toThrow('no es JSON válido');
  expect(() => checkJson(text)).toThrow('no es JSON válido');
});

test('[FAIR-04] a text that speaks of prototypes is a text', () => {
  const value = { a: '"__proto__":', b: ['__proto__'], constructor: { prototype: 1 } };
  expect(parseJson(JSON.stringify(value))).toEqual(value);
});

describe('[W-10] [ENV-04] NUL, which the database can’t hold, is 400 without a line of error:', () => {
  test('at the connector’s authorization', async () => {
    const log: string[] = [];
    await using server = await startServer({ alone: true, logTo: (line) => log.push(line) });
    const acme = await server.company();
    const { clientId } = await newApplication(server, acme);
    const form = (path: string, fields: Record<string, string>) =>
      server.request(path, { method: 'POST', body: new URLSearchParams(fields) });
    const token = { grant_type: 'refresh_token', refresh_token: 'rt_1_x', client_id: clientId };
    for (const [path, fields] of [
      ['/oauth/token', { ...token, client_id: 'a\0b' }],
      ['/oauth/token', { ...token, refresh_token: '\0' }],
      ['/oauth/token', { ...token, grant_type: 'authorization_code', code: 'x', redirect_uri: '\0' }],
      ['/oauth/revoke', { token: 'at_1_x', client_id: '\0' }],
    ] as const) {
      const { status, body } = await form(path, fields);
      expect([status, body]).toEqual([
        400,
        { error: 'invalid_request', error_description: expect.stringContaining('NUL') },
      ]);
    }
    const queries: Record<string, string>[] = [{ client_id: 'a\0b' }, { client_id: clientId, redirect_uri: '\0' }];
    for (const query of queries) {
      expect((await server.request(`/oauth/authorize?${new URLSearchParams(query)}`)).status).toBe(400);
    }
    const register = (metadata: object) =>
      server.request('/oauth/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(metadata),
      });
    expect((await register({ redirect_uris: [`${REDIRECT}\0`] })).status).toBe(400);
    const named = await register({ redirect_uris: [REDIRECT], client_name: 'a\0b' });
    expect([named.status, Reflect.get(named.body, 'client_name')]).toEqual([201, 'a b']);
    expect(log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });

  test('at the pages: a sign-in’s e-mail, a new key’s name', async () => {
    const log: string[] = [];
    await using server = await startServer({ alone: true, logTo: (line) => log.push(line) });
    const acme = await server.company();
    const { browser } = await signedIn(server, [{ accountId: acme.id }]);
    await browser.get(`/settings/integrations?company=${acme.slug}`);
    const made = await browser.submit('/settings/integrations/keys', { company: acme.slug, name: 'a\0b' });
    expect([made.status, made.text]).toEqual([400, expect.stringContaining('NUL')]);
    const again = await browser.submit('/signin', { email: 'a\0b@example.com', password: 'x' });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('NUL')]);
    expect(log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });
});
