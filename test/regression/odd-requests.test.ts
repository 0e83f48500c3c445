// Requests that were answered or logged wrongly.
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startServer } from '../helpers/world.ts';
import { HOME, makePerson, openBrowser, PASSWORD } from '../pages/browser.ts';

test('[ENV-01] an expectation that nobody knows changes nothing: it was a 417 without a body', async () => {
  await using server = await startServer();
  const { headers } = await server.company();
  const sent = httpRequest(`${server.url}/api/v1/clients`, { headers: { ...headers, expect: 'the unexpected' } }).end();
  const [response] = await once(sent, 'response');
  const [chunk] = await once(response, 'data');
  expect([response.statusCode, JSON.parse(String(chunk)).errorCode]).toEqual([200, 200]);
});

test.each(['/consultarClientes', '/trpc/contacts.create', '/mcp', '/oauth/token', '/signin'])(
  '[ENV-05] a caller who hangs up in the middle of a body is no fault of ours: %s was logged as a database that is away',
  async (path) => {
    const log: { level: number; status?: number }[] = [];
    await using server = await startServer({ logTo: (line) => log.push(JSON.parse(line)) });
    const company = await server.company();
    const type = /oauth|signin/.test(path) ? 'application/x-www-form-urlencoded' : 'application/json';
    const own = Object.entries({ ...company.headers, 'content-type': type, 'content-length': '100' });
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    const head = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...own.map(([name, value]) => `${name}: ${value}`)];
    // The service has started to read it.
    const begun = new Promise<IncomingMessage>((resolve) =>
      server.http.server.once('request', (incoming: IncomingMessage) =>
        incoming.on('newListener', (event) => event === 'data' && resolve(incoming)),
      ),
    );
    socket.write(`${head.join('\r\n')}\r\n\r\n{"a`);
    const incoming = await begun;
    const ended = new Promise((resolve) => incoming.on('close', resolve));
    socket.destroy();
    await ended;
    await server.request('/health/live');
    expect(log.filter(({ level, status = 0 }) => level > 30 || status >= 500)).toEqual([]);
  },
);

test.each(['/api/v1/clients', '/consultarClientes', '/trpc/clients.list', '/mcp', '/docs'])(
  '[ENV-04] a QUERY without a Content-Type is a 405 as any method that is not served: %s said only that it was not valid',
  async (path) => {
    await using server = await startServer();
    const { headers } = await server.company();
    const { status, headers: told } = await server.request(path, { method: 'QUERY', headers });
    expect(status).toBe(405);
    expect(told.get('allow')).toMatch(/GET|POST/);
  },
);

test('a long address that asks for a sign-in was sent back in a header that no client reads', async () => {
  await using server = await startServer();
  const long = `/settings/integrations?x=${'%F0%9F%99%82'.repeat(1000)}`;
  const asked = await fetch(server.url + long, { redirect: 'manual' });
  expect([asked.status, asked.headers.get('location')]).toEqual([303, '/signin']);
  const { email } = await makePerson(server);
  const { location } = await openBrowser(server.url).signIn(email, PASSWORD, long);
  expect(location).toBe(HOME);
});

test('[ENV-02] [ENV-07] values without a name in a query are none of its parameters: two were refused as one that has no name', async () => {
  await using server = await startServer();
  const acme = await server.company();
  expect(await acme.get('/clients?=&pagina=1&=x')).toMatchObject({ status: 200 });
  const twice = await acme.get('/clients?=&pagina=1&=x&pagina=2');
  expect([twice.status, twice.body.data]).toEqual([400, [{ campo: 'pagina', mensaje: 'aparece más de una vez' }]]);
});
