// Security headers on every answer of every interface: successes and errors, JSON, pages and files.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { callsOf, headersOf } from '../faults/doors.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';

let server: Server;
let acme: Company;

beforeAll(async () => {
  server = await startServer({ clock: new TestClock(EXAMPLE_NOW), metricsToken: 'a token for metrics' });
  acme = await server.company([...exampleRecords], { cuenta: exampleAccount });
});
afterAll(() => server.stop());

/** Answers that may be cached: public and equal for all callers. */
const PUBLIC = /^\/$|^\/docs|openapi\.json$|^\/pages\/style|^\/\.well-known\//;

function expectProtected(about: string, { headers }: { headers: Headers }, open: string | null = null) {
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy, about).toContain("default-src 'none'");
  expect(policy, about).not.toMatch(/script-src[^;]*unsafe/);
  expect(policy, about).toMatch(/frame-ancestors 'none'|sandbox/);
  expect(headers.get('x-content-type-options'), about).toBe('nosniff');
  expect(headers.get('referrer-policy'), about).toBe('no-referrer');
  expect(headers.get('strict-transport-security'), about).toBe('max-age=31536000; includeSubDomains');
  expect(headers.get('x-powered-by') ?? headers.get('server'), about).toBeNull();
  expect([null, open], about).toContain(headers.get('access-control-allow-origin'));
  expect(headers.get('x-request-id'), about).toMatch(/./);
}

test('[ENV-05] every operation by every door, answered or refused', async () => {
  for (const operation of operations) {
    for (const call of callsOf(operation, examples[operation.path] ?? {})) {
      if (call.door === 'MCP, token') continue;
      const { method, path, body } = call;
      const init = { method, ...(body !== undefined && { body }) };
      for (const headers of [headersOf(call, { key: acme.headers }), {}]) {
        const answer = await server.request(path, { ...init, headers });
        const about = `${call.door} ${path} ${answer.status}`;
        expectProtected(about, answer);
        const kept = answer.headers.has('etag') ? 'private, no-cache' : 'no-store';
        expect(answer.headers.get('cache-control'), about).toContain(kept);
        expect(answer.headers.get('content-type'), about).toMatch(/^(application\/json|text\/event-stream)/);
      }
    }
  }
});

test('what a browser asks before it calls', async () => {
  const origin = 'https://app.example';
  await using open = await startServer({ corsOrigins: [origin] });
  const headers = { origin, 'access-control-request-method': 'POST' };
  const answer = await open.request('/api/v1/products', { method: 'OPTIONS', headers });
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
  expectProtected('preflight', answer, origin);
});

test('documents, pages, files, health, the connector’s authorization and what is not there', async () => {
  const { body } = await acme.get('/estimates/3401/attachments');
  const file = new URL(body.data.adjuntos[0].url).pathname;
  const style = /href="(\/pages\/style-[\w-]+\.css)"/.exec((await server.request('/signin')).text)?.[1] ?? '';
  const linked = (await acme.post('/documents/factura/3901/link', {})).body.data.url;
  const link = new URL(linked).pathname;
  const paths = [
    link,
    `${link}/pdf`,
    '/d/none',
    '/',
    '/docs',
    '/docs/scalar.js',
    '/api/v1/openapi.json',
    '/signin',
    style,
    '/oauth/authorize',
    file,
  ];
  const machine = [
    '/health/live',
    '/health/ready',
    '/metrics',
    '/oauth/token',
    '/files/none',
    '/nothing',
    '/api/v1/%zz',
  ];
  const metadata = ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource'];
  for (const path of [...paths, ...machine, ...metadata]) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await server.request(path, { method, redirect: 'manual' });
      const about = `${method} ${path} ${answer.status}`;
      // Pages of any origin may read the authorization metadata: it involves no cookies.
      const isOpen = path.startsWith('/.well-known/') || path === '/oauth/token';
      expectProtected(about, answer, isOpen ? '*' : null);
      if (method !== 'GET' || !PUBLIC.test(path)) {
        const kept = answer.headers.has('etag') ? 'private, no-cache' : 'no-store';
        expect(answer.headers.get('cache-control'), about).toContain(kept);
      }
    }
  }
});
