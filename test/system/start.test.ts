// Starting and stopping as processes: the first output, failures to start, and what a stop leaves behind.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { openBrowser } from '../pages/browser.ts';
import { run, serve } from '../server/processes.ts';

vi.setConfig({ testTimeout: 60_000 }); // A first start makes a PostgreSQL and loads the demo company.

let database: OwnDatabase;
let folder: string;
beforeAll(async () => {
  database = await ownDatabase();
  folder = await mkdtemp(join(tmpdir(), 'albaran-start-'));
  await chmod(folder, 0o755); // Lets PostgreSQL's user enter if the tests run as root.
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const environment = () => ({ ...databaseEnvironment(database.url), DEMO: 'false' });

test('what a start can’t use is one line that names it, exit 1', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await vi.waitUntil(() => taken.listening);
  const { port } = taken.address() as AddressInfo; // It listens on a port.
  const older = join(folder, 'older');
  await mkdir(join(older, 'postgres'), { recursive: true });
  await writeFile(join(older, 'postgres', 'PG_VERSION'), '15\n');
  const [setting, busy, away, absent, host, redis, version] = await Promise.all([
    run([], { PORT: 'abc' }),
    run([], { ...environment(), PORT: String(port) }),
    run([], { PORT: '0', DATABASE_URL: 'postgres://albaran:hunter2@127.0.0.1:1/albaran' }),
    run([], { PORT: '0', DATABASE_URL: database.directUrl.replace(/\w+$/, 'no_such_database') }),
    run([], { ...environment(), HOST: '192.0.2.1' }),
    run([], { ...environment(), PORT: '0', REDIS_URL: 'redis://127.0.0.1:1' }),
    run([], { PORT: '0', DATA_DIR: older }),
  ]);
  taken.close();
  expect(setting.stderr).toBe('PORT: expected a whole number from 0 to 65535, not "abc"\n');
  expect(busy.stderr).toMatch(`PORT: ${port} is taken`);
  expect(away.stderr).toMatch(/^DATABASE_URL: .*127\.0\.0\.1:1/);
  expect(absent.stderr).toMatch(/^DATABASE_URL: .*no_such_database/);
  expect(host.stderr).toMatch(/^HOST: 192\.0\.2\.1 /);
  expect(redis.stderr).toMatch(/^REDIS_URL: .*127\.0\.0\.1:1/);
  expect(version.stderr).toMatch(/PostgreSQL 15/);
  for (const { code, stderr, stdout } of [setting, busy, away, absent, host, redis, version]) {
    expect(code).toBe(1);
    expect(stderr).toMatch(/^.+\n$/);
    expect(stderr + stdout).not.toContain('hunter2');
  }
});

test('the first start makes its database and prints a call that works; the next finds its data and prints no secret', async () => {
  const env = { DATA_DIR: join(folder, 'data') };
  const isDatabaseUp = () => existsSync(join(env.DATA_DIR, 'postgres', 'postmaster.pid'));
  let curl = '';
  {
    await using server = await serve(env);
    curl = await server.says(/^curl /);
    await server.says(new RegExp(`Address +${server.url}$`));
    await server.says(new RegExp(`${server.url}/docs$`));
    const email = (await server.says(/E-mail +\S+@/)).trim().split(/\s+/)[1] ?? '';
    const password = (await server.says(/Password +\S+/)).trim().split(/\s+/)[1] ?? '';
    expect((await openBrowser(server.url).signIn(email, password)).status, 'the person signs in').toBe(303);
    const answer = await paste(curl);
    expect(isDatabaseUp()).toBe(true);
    expect(answer.data.total_articulos).toBeGreaterThan(0);

    const { code, stdout } = await run(['key', 'create', '--account', 'demo', '--json'], env);
    expect(code, 'a command beside it').toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ key: expect.stringMatching(/^ak_/) });
    server.signal('SIGINT');
    const ended = await server.ended;
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const [, secret = ''] = /X-API-SECRET: (sk_[\w-]+)/.exec(curl) ?? [];
    for (const line of ended.stdout.split('\n').filter((line) => line.startsWith('{'))) {
      expect(line, 'the log').not.toContain(secret);
      expect(line, 'the log').not.toContain(password);
    }
    expect(isDatabaseUp()).toBe(false);
  }
  {
    // Stopped, so that a command starts and stops the database itself.
    const { stdout } = await run(['account', 'list', '--json'], env);
    expect(JSON.parse(stdout).accounts).toEqual([expect.objectContaining({ slug: 'demo' })]);
    expect(isDatabaseUp()).toBe(false);
  }
  await using server = await serve(env);
  expect((await paste(curl.replace(/http:\/\/[^/]+/, server.url))).data.total_articulos).toBeGreaterThan(0);
  server.signal('SIGTERM');
  const { code, stdout } = await server.ended;
  expect(code).toBe(0);
  expect(stdout).not.toContain('sk_');
});

test('a call under way is answered before the service stops, and whoever asks is told that it does', async () => {
  await using server = await serve(environment());
  await using held = await callThatWaits(server.url);
  server.signal('SIGTERM');
  await server.says(/"stopping"/);
  const late = await fetch(`${server.url}/health/live`).then(
    ({ status }) => status,
    () => 'refused',
  );
  expect([503, 'refused']).toContain(late);
  await held.release();
  expect((await held.answer)?.status).toBe(200);
  const { code, stdout } = await server.ended;
  expect(code).toBe(0);
  expect(stdout).not.toContain('cut off');
});

test('told to stop, it serves those who are connected, and closes each connection with its answer once it takes no new ones', async () => {
  await using server = await serve(environment());
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (path: string) => {
    const [answer] = await once(request(`${server.url}${path}`, { agent }).end(), 'response');
    return { answer, body: await text(answer) };
  };
  const status = async (path: string) => (await ask(path)).answer.statusCode;
  expect(await status('/health/ready')).toBe(200);
  const { port } = new URL(server.url);
  const late = connect(Number(port), '127.0.0.1');
  late.write('GET /docs HTTP/1.1\r\n');

  server.signal('SIGTERM');
  await server.says(/"stopping"/);
  const ready = await ask('/health/ready');
  expect([ready.answer.statusCode, ready.answer.headers['retry-after']]).toEqual([503, '5']);
  expect(JSON.parse(ready.body)).toEqual({ status: 'stopping' });
  expect(await status('/health/live')).toBe(503);
  expect(await status('/docs')).toBe(200);
  agent.destroy();

  const isRefused = () =>
    fetch(server.url).then(
      () => false,
      () => true,
    );
  await vi.waitUntil(isRefused, { timeout: 10_000, interval: 20 });
  late.write(`Host: 127.0.0.1:${port}\r\n\r\n`);
  expect(await text(late)).toMatch(/^HTTP\/1.1 200 .*\r\nconnection: close\r\n/is);
  const { code, stdout } = await server.ended;
  expect(code).toBe(0);
  expect(stdout).not.toMatch(/"level":[456]0/);
  expect(stdout).not.toContain('cut off');
});

test('a call that takes longer than the limit is cut off', async () => {
  await using server = await serve({ ...environment(), SHUTDOWN_TIMEOUT_MS: '100' });
  await using held = await callThatWaits(server.url);
  server.signal('SIGTERM');
  expect(await held.answer).toBeUndefined();
  const { code, stdout } = await server.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('cut off');
});

test('an error that nothing caught is logged, and ends the service in order with exit 1', async () => {
  const module = `process.on('SIGUSR2', () => { throw new Error('unforeseen') })`;
  await using server = await serve({
    ...environment(),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}`,
  });
  await using held = await callThatWaits(server.url);
  server.signal('SIGUSR2');
  await server.says(/"stopping"/);
  await held.release();
  expect((await held.answer)?.status).toBe(200);
  const { code, stdout } = await server.ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/"level":60.*unforeseen/);
  expect(stdout).not.toContain('cut off');
});

/** Calls the address of a curl line with its headers. */
async function paste(curl: string) {
  const [url = ''] = /http[^']+/.exec(curl) ?? [];
  const headers = [...curl.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]);
  const response = await fetch(url, { headers: Object.fromEntries(headers) });
  expect(response.status).toBe(200);
  // biome-ignore lint/suspicious/noExplicitAny: JSON of no known shape, looked into freely
  const body: any = await response.json();
  return body;
}

/** A call whose statement waits for a lock until released. Resolves to undefined if it gets no answer. */
async function callThatWaits(url: string) {
  const slug = `espera-${randomUUID()}`;
  const { stdout } = await run(['account', 'create', '--name', 'Espera', '--slug', slug, '--json'], environment());
  expect(JSON.parse(stdout)).toMatchObject({ slug });
  const key = JSON.parse((await run(['key', 'create', '--account', slug, '--json'], environment())).stdout);
  const { admin } = database;
  await admin.query('begin; lock table products in access exclusive mode');
  const headers = { 'X-API-KEY': key.key, 'X-API-SECRET': key.secret };
  const answer = fetch(`${url}/api/v1/products`, { headers }).catch(() => undefined);
  const release = async () => void (await admin.query('rollback'));
  const waits = async () => {
    const waiting = `select from pg_locks where relation = 'products'::regclass and not granted`;
    return (await admin.query(waiting)).rows.length > 0;
  };
  await vi.waitUntil(waits, 10_000).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  return { answer, release, [Symbol.asyncDispose]: release };
}
