// Secrets that a log must never hold, looked for after a run that uses every kind.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { callsOf, send } from '../faults/doors.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples, ONCE } from '../helpers/examples.ts';
import { type Server, startServer, TestClock } from '../helpers/world.ts';
import { callMcp, newApplication, revoke } from '../oauth/application.ts';
import { HOME, makePerson, openBrowser, PASSWORD } from '../pages/browser.ts';

const log: string[] = [];
let server: Server;

beforeAll(async () => {
  server = await startServer({ clock: new TestClock(EXAMPLE_NOW), logTo: (line) => log.push(line) });
});
afterAll(() => server.stop());

test('[AUTH-03] [OAU-04] no secret, key, token, code, password or cookie, after every operation by every door and every page', async () => {
  const acme = await server.company([...exampleRecords], { cuenta: exampleAccount });
  const secrets = new Map<string, string>();
  const note = (name: string, value: string) => {
    expect(value.length, name).toBeGreaterThan(10);
    secrets.set(name, value);
    return value;
  };
  note('key', acme.headers['x-api-key']);
  note('secret', acme.headers['x-api-secret']);

  const application = await newApplication(server, acme);
  const code = await application.newCode();
  note('code', code.code);
  note('verifier', code.verifier);
  const { body } = await application.exchange(code);
  const token = note('access token', body.access_token);
  const refresh = note('refresh token', body.refresh_token);
  for (const cookie of application.person.browser.cookie.split('; ')) note('cookie', cookie.split('=')[1] ?? '');

  const caller = { key: acme.headers, token };
  for (const operation of operations) {
    for (const call of callsOf(operation, examples[operation.path] ?? {})) {
      const { status } = await send(server.url, call, caller);
      expect(ONCE.has(operation.path) ? [200, 400] : [200], `${call.door} ${operation.path}`).toContain(status);
    }
  }
  const wrongSecret = note('wrong secret', 'sk_this-is-not-the-secret');
  const wrong = { key: { ...acme.headers, 'x-api-secret': wrongSecret }, token: note('wrong token', `${token}x`) };
  const [first] = operations;
  for (const call of first ? callsOf(first, {}) : []) {
    expect((await send(server.url, call, wrong)).status, call.door).toBe(401);
  }
  // In the wrong place: addresses are often logged.
  await server.request(`/api/v1/clients?api_secret=${acme.headers['x-api-secret']}&access_token=${token}`);
  await server.request(`/nothing/${acme.headers['x-api-secret']}`);
  await server.request('/api/v1/clients', { headers: { authorization: `Bearer ${token}` } });
  await server.request('/consultarClientes', { method: 'POST', body: `{"${acme.headers['x-api-secret']}` });

  const linked = await acme.post('/documents/factura/3901/link', {});
  note('link', linked.body.data.url.slice(-43));
  for (const at of ['', 'x', '/pdf']) await fetch(linked.body.data.url + at);

  const { email } = await makePerson(server, [{ accountId: acme.id }]);
  const browser = openBrowser(server.url);
  await browser.signIn(email, note('wrong password', 'la contraseña equivocada'));
  await browser.signIn(email);
  note('password', PASSWORD);
  const made = await browser.submit(`${HOME}/keys`, { name: 'web', scope: 'svc.read' });
  for (const value of browser.cookies.values()) note('cookie', value);
  const page = made.location ? await browser.get(made.location) : made;
  const shown = /sk_[\w-]{43}/.exec(page.text + made.text)?.[0];
  if (shown) note('secret of a page', shown);
  await application.renew(refresh);
  await callMcp(server, token);
  await revoke(server, { token });

  expect(log.length).toBeGreaterThan(operations.length * 5);
  for (const line of log) {
    for (const [name, value] of secrets) {
      const found = line.includes(value) || line.includes(encodeURIComponent(value));
      expect(found ? `${name}: ${line}` : '').toBe('');
    }
  }
});
