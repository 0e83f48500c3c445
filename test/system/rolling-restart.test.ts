// Processes replaced one after another behind the proxies of docs/operations.md, with the page's files.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { type Environment, type Launched, run, serve } from '../server/processes.ts';
import { lastingPort, type RunningProxy, startCaddy, startNginx } from './proxies.ts';

vi.setConfig({ testTimeout: 180_000 }); // Five starts of the service each, on a busy machine.

const CALLERS = 8;
const TOKEN = 'rolling-restart-metrics';
const HEALTHY = 200;

let database: OwnDatabase;
let headers: Record<string, string>;
let env: Environment;
beforeAll(async () => {
  database = await ownDatabase();
  env = { ...databaseEnvironment(database.url), DEMO: 'false', QUOTA_PER_MINUTE: '1000000', METRICS_TOKEN: TOKEN };
  await run(['account', 'create', '--name', 'Montalt', '--slug', 'montalt'], env);
  const { key, secret } = JSON.parse((await run(['key', 'create', '--account', 'montalt', '--json'], env)).stdout);
  headers = { 'x-api-key': key, 'x-api-secret': secret };
});
afterAll(() => database[Symbol.asyncDispose]());

/** A ready process. */
async function ready(port: number): Promise<Launched> {
  const service = await serve({ ...env, PORT: String(port) });
  await vi.waitUntil(async () => (await fetch(`${service.url}/health/ready`)).status === HEALTHY, 10_000);
  return service;
}

/** Repeats calls until stopped; returns their outcomes. */
async function keepCalling(calling: AbortSignal, call: (index: number) => Promise<Response>): Promise<string[]> {
  const outcomes: string[] = [];
  while (!calling.aborted) {
    outcomes.push(
      await call(outcomes.length).then(
        async (answer) => (answer.ok ? 'answered' : `${answer.status} ${await answer.text()}`),
        (error: unknown) => String(error),
      ),
    );
  }
  return outcomes;
}

describe.each([
  ['nginx', startNginx],
  ['Caddy', startCaddy],
])('behind %s', (name, startProxy) => {
  let ports: [number, number];
  let services: [Launched, Launched];
  let proxy: RunningProxy;
  beforeAll(async () => {
    ports = [await lastingPort(), await lastingPort()];
    services = [await ready(ports[0]), await ready(ports[1])];
    proxy = await startProxy(ports);
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    for (const service of services ?? []) await service[Symbol.asyncDispose]();
  });

  test('[IDEM-01] both processes are replaced twice under load: every read and every write is answered, once', async () => {
    const stop = new AbortController();
    const read = () => fetch(`${proxy.url}/api/v1/products`, { headers });
    const write = (writer: number) => (index: number) => {
      const nombre = `${name} ${writer} ${index}`;
      const own = { ...headers, 'content-type': 'application/json', 'idempotency-key': nombre };
      const body = JSON.stringify({ datos: { nombre } });
      return fetch(`${proxy.url}/api/v1/crm/contacts`, { method: 'POST', headers: own, body });
    };
    const reads = Array.from({ length: CALLERS }, () => keepCalling(stop.signal, read));
    const writes = Array.from({ length: CALLERS }, (_, writer) => keepCalling(stop.signal, write(writer)));
    const stopped: string[] = [];
    try {
      for (const returns of [1, 2]) {
        for (const index of [0, 1] as const) {
          services[index].signal('SIGTERM');
          const { code, stdout } = await services[index].ended;
          expect(code).toBe(0);
          stopped.push(stdout);
          services[index] = await ready(ports[index]);
          await proxy.knows(ports[index], returns);
        }
      }
    } finally {
      stop.abort();
    }
    const failed = (outcomes: string[][]) => outcomes.flat().filter((outcome) => outcome !== 'answered');
    expect(failed(await Promise.all(reads)), 'reads').toEqual([]);
    const written = await Promise.all(writes);
    expect(failed(written), 'writes').toEqual([]);
    const { rows } = await database.admin.query('select name from contacts where name like $1', [`${name} %`]);
    expect(rows).toHaveLength(written.flat().length);
    expect(new Set(rows.map((row) => row.name)).size).toBe(rows.length);
    for (const log of stopped) {
      expect(log).toContain('"stopping"');
      expect(log).not.toMatch(/"level":[456]0/);
    }
  });

  test('/metrics is for who reaches the processes themselves, however it is spelled', async () => {
    for (const path of ['/metrics', '/metrics/']) expect([path, await statusOf(ports[0], path)]).toEqual([path, 200]);
    const spellings = ['/metrics', '/metrics/', '/metrics?a', '/metrics/?a', '//metrics', '/metrics//', '/./metrics'];
    const coded = [
      '/%6Detrics',
      '/metric%73/',
      '/metrics%2F',
      '/a/../metrics',
      '/METRICS',
      '/metrics%20',
      '/metrics;a',
      '/metrics/;a',
      '/metrics#a',
    ];
    for (const path of [...spellings, ...coded]) expect([path, await statusOf(proxy.port, path)]).toEqual([path, 404]);
    expect(await statusOf(proxy.port, '/health/live')).toBe(200);
  });
});

/** The answer to a raw path, with the metrics token. */
async function statusOf(port: number, path: string): Promise<number> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let answer = '';
  socket.on('data', (text: string) => {
    answer += text;
  });
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`;
  socket.write(request);
  await once(socket, 'close');
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
}
