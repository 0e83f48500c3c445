// The company's quota in a real Redis instead of PostgreSQL.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordStatements } from '../helpers/statements.ts';
import { tcpProxy } from '../helpers/tcp-proxy.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';
import { redisServerPath } from './needs.ts';

const START = '2026-03-01T10:00:20Z';

let folder: string;
let redis: ChildProcess;
let port: number;
let redisUrl: string;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return address.port;
}

beforeAll(async () => {
  const path = redisServerPath();
  folder = await mkdtemp(join(tmpdir(), 'albaran-redis-'));
  port = await freePort();
  redis = spawn(path, ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]);
  let said = '';
  const started = (async () => {
    for await (const line of redis.stdout ?? []) {
      said += line;
      if (said.includes('Ready to accept connections')) return;
    }
    throw new Error(`redis-server did not start: ${said}`);
  })();
  await started;
  redisUrl = `redis://127.0.0.1:${port}`;
});

afterAll(async () => {
  if (redis && redis.exitCode === null) {
    redis.kill();
    await once(redis, 'exit');
  }
  if (folder) await rm(folder, { recursive: true, force: true });
});

const companyWith = (server: Server, cuota_por_minuto: number) => server.company([], { cuenta: { cuota_por_minuto } });
const holder = ({ id: accountId }: Company, timeZone = 'Europe/Madrid') => ({
  accountId,
  quotaPerMinute: null,
  timeZone,
});
const readAt = (server: Server, { headers }: Company) => server.request('/api/v1/crm/funnels', { headers });

test('[LIM-01] processes share the minute’s calls through Redis to the last one, and never give one more', async () => {
  const clock = new TestClock(START);
  await using one = await startServer({ clock, redisUrl });
  await using other = await startServer({ clock, redisUrl });
  for (const limit of [1, 7, 60]) {
    const acme = await companyWith(one, limit);
    const answers = await Promise.all(
      Array.from({ length: limit + 30 }, (_, index) => readAt(index % 2 ? one : other, acme)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(limit);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(30);
    for (const { headers } of refused) expect(headers.get('retry-after')).toBe('40');
  }
  const acme = await companyWith(one, 2);
  const neighbour = await companyWith(one, 2);
  for (const status of [200, 200, 429]) expect((await readAt(one, acme)).status).toBe(status);
  expect((await readAt(other, neighbour)).status).toBe(200);
  clock.advance({ seconds: 40 });
  for (const status of [200, 200, 429]) expect((await readAt(other, acme)).status).toBe(status);
});

test('[LIM-01] PostgreSQL is not asked for the quota, Redis rarely, and it keeps nothing for long', async () => {
  await using server = await startServer({ clock: new TestClock(START), redisUrl });
  const acme = await server.company();
  const statements = recordStatements(server.service);
  const watcher = await createClient({ url: redisUrl }).connect();
  try {
    const calls = async () => Number(/total_commands_processed:(\d+)/.exec(await watcher.info('stats'))?.[1]);
    const before = await calls();
    for (let call = 0; call < 1200; call++) await server.service.quota.spend(holder(acme));
    await expect(server.service.quota.spend(holder(acme))).rejects.toThrow('cuota');
    expect((await calls()) - before).toBeLessThan(5 * 120);
    expect(statements.take()).toEqual([]);
    const [key = '', ...others] = await watcher.keys(`albaran:quota:${acme.id}:*`);
    expect(others).toEqual([]);
    expect(await watcher.get(key)).toBe('1200');
    const seconds = await watcher.ttl(key);
    expect(seconds).toBeGreaterThan(60);
    expect(seconds).toBeLessThanOrEqual(120);
  } finally {
    watcher.destroy();
  }
});

test('[LIM-01] the calls of the company’s day add up over processes, change at its midnight, and are forgotten in time', async () => {
  const clock = new TestClock('2026-03-01T22:58:30Z');
  await using one = await startServer({ clock, redisUrl });
  const other = await startServer({ clock, redisUrl });
  const madrid = await companyWith(one, 100);
  const canary = await one.company([], { cuenta: { zona_horaria: 'Atlantic/Canary' } });
  const days = async (company: Company, timeZone: string) =>
    (await one.service.quota.look(holder(company, timeZone))).days
      .slice(-2)
      .map(({ day, calls }) => [day.toString(), calls]);
  for (let call = 0; call < 3; call++) await readAt(one, madrid);
  for (let call = 0; call < 4; call++) await readAt(other, madrid);
  await readAt(one, canary);
  clock.advance({ seconds: 90 });
  for (const server of [one, other]) for (const company of [madrid, canary]) await readAt(server, company);
  await other.stop();
  expect(await days(madrid, 'Europe/Madrid')).toEqual([
    ['2026-03-01', 7],
    ['2026-03-02', 2],
  ]);
  expect(await days(canary, 'Atlantic/Canary')).toEqual([
    ['2026-02-28', 0],
    ['2026-03-01', 3],
  ]);
  const watcher = await createClient({ url: redisUrl }).connect();
  try {
    const keys = await watcher.keys(`albaran:calls:${madrid.id}:*`);
    expect(keys.sort()).toEqual([`albaran:calls:${madrid.id}:2026-03-01`, `albaran:calls:${madrid.id}:2026-03-02`]);
    for (const key of keys) expect(await watcher.ttl(key)).toBeGreaterThan(7 * 24 * 3600);
  } finally {
    watcher.destroy();
  }
});

test('[LIM-01] [ENV-04] while Redis is away, calls are 503 at once, and go on by themselves when it is back', async () => {
  await using network = await tcpProxy({ host: '127.0.0.1', port });
  const log: string[] = [];
  await using server = await startServer({
    clock: new TestClock(START),
    redisUrl: `redis://127.0.0.1:${network.port}`,
    logTo: (line) => log.push(line),
  });
  // With so small a quota every call asks Redis.
  const acme = await companyWith(server, 15);
  expect((await readAt(server, acme)).status).toBe(200);
  await network.cut();
  for (let attempt = 0; attempt < 3; attempt++) {
    const away = await readAt(server, acme);
    expect([away.status, away.body.data]).toEqual([503, null]);
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(away.body.errorMsg).not.toMatch(/redis/i);
  }
  expect(log.join()).toMatch(/Redis/);
  await network.restore();
  await expect.poll(async () => (await readAt(server, acme)).status, { timeout: 10_000 }).toBe(200);
});

test('[ENV-04] a Redis that takes a call and never answers is given up on', async () => {
  await using network = await tcpProxy({ host: '127.0.0.1', port });
  await using server = await startServer({
    clock: new TestClock(START),
    redisUrl: `redis://127.0.0.1:${network.port}`,
  });
  const acme = await companyWith(server, 15);
  expect((await readAt(server, acme)).status).toBe(200);
  const unanswered = network.swallowAnswers();
  const call = readAt(server, acme);
  await unanswered;
  expect((await call).status).toBe(503);
  // It still accepts data, but not while an answer is outstanding.
  const watcher = await createClient({ url: redisUrl }).connect();
  try {
    const counted = async () => Number(await watcher.get((await watcher.keys(`albaran:quota:${acme.id}:*`))[0] ?? ''));
    const before = await counted();
    expect(before).toBeGreaterThan(0);
    for (let attempt = 0; attempt < 3; attempt++) expect((await readAt(server, acme)).status).toBe(503);
    expect(await counted()).toBe(before);
  } finally {
    watcher.destroy();
  }
});

test('[ENV-04] a connection to Redis over which nothing passes any more is replaced by another', {
  timeout: 60_000,
}, async () => {
  await using network = await tcpProxy({ host: '127.0.0.1', port });
  await using server = await startServer({
    clock: new TestClock(START),
    redisUrl: `redis://127.0.0.1:${network.port}`,
  });
  const acme = await companyWith(server, 15);
  expect((await readAt(server, acme)).status).toBe(200);
  network.strand();
  expect((await readAt(server, acme)).status).toBe(503);
  await expect.poll(async () => (await readAt(server, acme)).status, { timeout: 40_000 }).toBe(200);
});

test('a service whose Redis is not there does not start, and says what it looked for', async () => {
  const nowhere = `redis://127.0.0.1:${await freePort()}`;
  await expect(startServer({ redisUrl: nowhere })).rejects.toThrow(/REDIS_URL.*ECONNREFUSED/);
});
