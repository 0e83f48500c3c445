// What operators see of a running process: Prometheus metrics and OpenTelemetry traces.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { run, serve } from './processes.ts';

const TOKEN = 'a-token-of-the-operators';

let database: OwnDatabase;
let headers: Record<string, string>;
beforeAll(async () => {
  database = await ownDatabase();
  const env = databaseEnvironment(database.url);
  await run(['account', 'create', '--name', 'Ruiz', '--slug', 'ruiz'], env);
  const { key, secret } = JSON.parse((await run(['key', 'create', '--account', 'ruiz', '--json'], env)).stdout);
  headers = { 'x-api-key': key, 'x-api-secret': secret, 'content-type': 'application/json' };
});
afterAll(() => database[Symbol.asyncDispose]());

test('calls by operation, door and outcome, latency, pool, quota and event loop, for who has the token', async () => {
  await using server = await serve({ ...databaseEnvironment(database.url), DEMO: 'false', METRICS_TOKEN: TOKEN });
  const ask = (path: string, init?: RequestInit) => fetch(server.url + path, { headers, ...init });
  const tool = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'consultar_productos', arguments: {} } };
  await ask('/api/v1/products');
  await ask('/api/v1/products?pagina=0');
  await ask('/api/v1/products', { headers: {} });
  await ask('/consultarProductos', { method: 'POST', body: '{}' });
  await ask('/trpc/products.list,clients.list?batch=1');
  await ask('/mcp/', {
    method: 'POST',
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    body: JSON.stringify(tool),
  });
  await ask('/no/such/path/of/anyone');

  expect((await ask('/metrics')).status).toBe(401);
  expect((await ask('/metrics', { headers: { authorization: 'Bearer another' } })).status).toBe(401);
  const answer = await ask('/metrics', { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(answer.headers.get('content-type')).toMatch('text/plain; version=0.0.4');
  const text = await answer.text();
  const calls = (operation: string, door: string, outcome: number) =>
    `albaran_calls_total{operation="${operation}",door="${door}",outcome="${outcome}"} 1`;
  for (const line of [
    calls('consultarProductos', 'v1', 200),
    calls('consultarProductos', 'v1', 400),
    calls('consultarProductos', 'v1', 401),
    calls('consultarProductos', 'v0', 200),
    calls('consultarProductos', 'trpc', 200),
    calls('consultarClientes', 'trpc', 200),
    calls('consultarProductos', 'mcp', 200),
    'albaran_call_seconds_count{operation="consultarProductos",door="v1"} 3',
    'albaran_http_requests_total{method="GET",route="none",status="404"} 1',
    'albaran_quota_calls_total{result="counted"} 6',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).toMatch(/^albaran_database_connections\{state="idle"\} \d+$/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
  expect(text).not.toContain('ruiz');
});

test('without a token there are no metrics', async () => {
  await using server = await serve({ ...databaseEnvironment(database.url), DEMO: 'false' });
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
});

test('a request, its operation and its statements are one trace, which goes on the caller’s', async () => {
  const sent: Buffer[] = [];
  const collector = createServer(async (request, response) => {
    sent.push(Buffer.concat(await Array.fromAsync(request)));
    response.end();
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo; // It listens on a port.
  const [ours, callers] = ['11111111111111111111111111111111', '22222222222222222222222222222222'];
  {
    await using server = await serve({
      ...databaseEnvironment(database.url),
      DEMO: 'false',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_SERVICE_NAME: 'albaran-ruiz',
      OTEL_TRACES_SAMPLER_ARG: '0',
    });
    const ask = (traceparent: string) =>
      fetch(`${server.url}/api/v1/products`, { headers: { ...headers, traceparent } });
    await ask(`00-${ours}-1111111111111111-01`);
    // Neither a trace that the caller does not sample nor, at ratio 0, one that starts here is sent.
    await ask(`00-${callers}-2222222222222222-00`);
    await fetch(`${server.url}/health/live`);
  }
  collector.close();
  // Names, ids and texts are plain in the protobuf.
  const spans = Buffer.concat(sent);
  const times = (text: string) => spans.toString('latin1').split(text).length - 1;
  expect(times('GET /api/v1/products')).toBe(1);
  expect(times('consultarProductos')).toBe(1);
  expect(times('from "products"') + times('from products')).toBeGreaterThan(0);
  expect(spans.includes(Buffer.from(ours, 'hex'))).toBe(true);
  expect(spans.includes(Buffer.from(callers, 'hex'))).toBe(false);
  expect(spans.includes('albaran-ruiz')).toBe(true);
  expect(spans.includes('/health/live')).toBe(false);
  expect(spans.includes(headers['x-api-secret'] ?? '')).toBe(false);
});
