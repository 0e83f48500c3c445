// Several workers on one port, as real processes.
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { type Environment, type Launched, run, serve } from '../server/processes.ts';

vi.setConfig({ testTimeout: 60_000 }); // Three or more starts each, on a busy machine.

const CALLERS = 8;
const TOKEN = 'a-token-of-the-operators';

let database: OwnDatabase;
let headers: Record<string, string>;
let env: Environment;
beforeAll(async () => {
  database = await ownDatabase();
  env = { ...databaseEnvironment(database.url), DEMO: 'false', QUOTA_PER_MINUTE: '1000000', WORKERS: '2' };
  await run(['account', 'create', '--name', 'Montalt', '--slug', 'montalt'], env);
  const { key, secret } = JSON.parse((await run(['key', 'create', '--account', 'montalt', '--json'], env)).stdout);
  headers = { 'x-api-key': key, 'x-api-secret': secret };
});
afterAll(() => database[Symbol.asyncDispose]());

/** The next worker that listens, other than these. */
async function nextWorker(server: Launched, ...known: number[]): Promise<number> {
  const other = known.map((pid) => `(?!${pid},)`).join('');
  const line = await server.says(new RegExp(`"pid":${other}\\d+,.*Server listening`));
  return JSON.parse(line).pid;
}

/** A server with both workers listening. */
async function started(more: Environment = {}) {
  const server = await serve({ ...env, ...more });
  const first = await nextWorker(server);
  return { server, workers: [first, await nextWorker(server, first)] as const };
}

const isRunning = (pid: number) => existsSync(`/proc/${pid}`);

/** One call on a connection of its own. */
const call = (url: string, path = '/api/v1/products') =>
  fetch(url + path, { headers: { ...headers, connection: 'close' } });

/** Repeats calls, each on the connection of the last one, until `done`; returns the errors. */
async function keepCalling(url: string, done: (error?: unknown) => boolean): Promise<string[]> {
  const errors: string[] = [];
  let error: unknown;
  while (!done(error)) {
    error = undefined;
    try {
      const answer = await fetch(`${url}/api/v1/products`, { headers });
      const text = await answer.text();
      if (!answer.ok) errors.push(`${answer.status} ${text}`);
    } catch (failure) {
      error = failure instanceof Error ? failure.cause : failure;
      errors.push(codeOf(error));
    }
  }
  return errors;
}
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error));

/** How many calls the metrics count, asked of any worker. */
async function countedCalls(url: string): Promise<number> {
  const answer = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${TOKEN}`, connection: 'close' },
  });
  const text = await answer.text();
  expect(text).toMatch(/^albaran_database_connections\{state="waiting"\} 0$/m);
  return Number(/^albaran_calls_total\{operation="consultarProductos".*\} (\d+)$/m.exec(text)?.[1]);
}

test('two workers answer on one port, and each of them tells the metrics of both, also of one that has ended', async () => {
  const { server, workers } = await started({ METRICS_TOKEN: TOKEN });
  await using _ = server;
  for (let calls = 0; calls < 40; calls++) expect((await call(server.url)).status).toBe(200);
  for (const pid of workers) await server.says(new RegExp(`"pid":${pid},.*"answered"`));
  for (let asked = 0; asked < 10; asked++) expect(await countedCalls(server.url)).toBe(40);

  process.kill(workers[0], 'SIGKILL');
  await nextWorker(server, ...workers);
  expect(await countedCalls(server.url)).toBe(40);
  expect((await call(server.url)).status).toBe(200);
  expect(await countedCalls(server.url)).toBe(41);
});

test('one is killed while calls run: the other answers all but those it had, and another takes its place', async () => {
  const { server, workers } = await started();
  await using _ = server;
  let isDone = false;
  const callers = Array.from({ length: CALLERS }, () => keepCalling(server.url, () => isDone));
  process.kill(workers[0], 'SIGKILL');
  const third = await nextWorker(server, ...workers);
  await server.says(new RegExp(`"worker":${workers[0]},"code":null,"signal":"SIGKILL","msg":"a worker ended"`));
  await server.says(new RegExp(`"pid":${workers[1]},.*"answered"`));
  // The new one gets new connections.
  let isHeard = false;
  void server.says(new RegExp(`"pid":${third},.*"answered"`)).then(() => {
    isHeard = true;
  });
  while (!isHeard) await call(server.url);
  isDone = true;
  for (const errors of await Promise.all(callers)) {
    expect(errors.length).toBeLessThanOrEqual(1);
    expect(['ECONNRESET', 'UND_ERR_SOCKET']).toEqual(expect.arrayContaining(errors));
  }
});

test('SIGTERM under load loses no call: each is answered until connections are refused; every line of the log is whole', async () => {
  const { server, workers } = await started();
  await using _ = server;
  const refused = (error?: unknown) => codeOf(error) === 'ECONNREFUSED';
  const callers = Array.from({ length: CALLERS }, () => keepCalling(server.url, refused));
  for (const pid of workers) await server.says(new RegExp(`"pid":${pid},.*"answered"`));
  server.signal('SIGTERM');
  const { code, stdout, stderr } = await server.ended;
  expect(await Promise.all(callers)).toEqual(Array.from({ length: CALLERS }, () => ['ECONNREFUSED']));
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const saying = (text: string) => lines.filter(({ msg }) => msg === text).map(({ pid }) => pid);
  for (const text of ['stopping', 'stopped']) {
    expect(saying(text).toSorted()).toEqual([server.pid, ...workers].toSorted());
  }
  expect(lines.filter(({ level }) => level >= 40)).toEqual([]);
  expect(workers.filter(isRunning)).toEqual([]);
});

test('workers do not outlive a primary that is killed', async () => {
  const { server, workers } = await started();
  server.signal('SIGKILL');
  await server.ended;
  await vi.waitUntil(() => !workers.some(isRunning), 20_000);
});

test('each scheduled run is done by one of them, and goes on when that one dies', async () => {
  const { server, workers } = await started({ RENEWALS: '* * * * * *' });
  await using _ = server;
  const slots = new Set<string>();
  const nextRun = async (): Promise<number> => {
    const others = [...slots].map((slot) => `(?!${slot})`).join('');
    const { pid, slot } = JSON.parse(await server.says(new RegExp(`"slot":"${others}.*"renewals issued"`)));
    slots.add(slot);
    return pid;
  };
  const runner = await nextRun();
  process.kill(runner, 'SIGKILL');
  await nextWorker(server, ...workers);
  while ((await nextRun()) === runner || slots.size < 5);
  server.signal('SIGTERM');
  const { stdout } = await server.ended;
  const runs = stdout.split('\n').filter((line) => line.includes('"renewals issued"'));
  expect(new Set(runs.map((line) => JSON.parse(line).slot)).size).toBe(runs.length);
});

test('the primary gives up when workers end as soon as they start, and says what can’t be used once', async () => {
  const module = `import cluster from 'node:cluster'; if (cluster.worker?.id > 1) process.exit(3);`;
  await using looping = await serve({
    ...env,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}`,
  });
  const { code, stdout, stderr } = await looping.ended;
  expect([code, stderr]).toEqual([1, '5 workers in a row ended within 10 s of their start\n']);
  expect(stdout.match(/"code":3,"signal":null,"msg":"a worker ended"/g)).toHaveLength(5);

  const wrong = await run([], { ...env, PORT: '0', REDIS_URL: 'redis://127.0.0.1:1' });
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toMatch(/^REDIS_URL: .*127\.0\.0\.1:1.*\n$/);
});

test('the first start makes one database and one demo company, and greets once; Ctrl-C stops all', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'albaran-workers-'));
  await chmod(folder, 0o755); // Lets PostgreSQL's user enter if the tests run as root.
  try {
    const { server, workers } = await started({
      DATABASE_URL: '',
      DATABASE_PREPARE: '',
      DEMO: 'true',
      DATA_DIR: folder,
    });
    const curl = await server.says(/^curl /);
    const [url = ''] = /http[^']+/.exec(curl) ?? [];
    const demo = [...curl.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]);
    expect((await fetch(url, { headers: Object.fromEntries(demo) })).status).toBe(200);
    server.signal('SIGINT');
    const { code, stdout, stderr } = await server.ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/^curl /gm)).toHaveLength(1);
    expect(existsSync(join(folder, 'postgres', 'postmaster.pid'))).toBe(false);
    expect(workers.filter(isRunning)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
