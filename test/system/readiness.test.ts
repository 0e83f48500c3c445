// Health checks and metrics while the database or Redis hangs or is gone, and recovery without intervention.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { migrate } from '../../server/postgres/migrations.ts';
import { freePort, type SystemPostgres, startSystemPostgres } from '../helpers/system-postgres.ts';
import { type Company, type Server, startServer } from '../helpers/world.ts';
import { redisServerPath } from './needs.ts';

vi.setConfig({ testTimeout: 120_000 });

let folder: string;
let postgres: SystemPostgres;
let redis: ChildProcess;
let redisPort: number;
let server: Server;
let acme: Company;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'albaran-readiness-'));
  postgres = await startSystemPostgres();
  await postgres.query('postgres', 'create database albaran');
  const url = postgres.urlOf('postgres', 'albaran');
  await migrate(url);
  redisPort = await freePort();
  redis = await startRedis();
  server = await startServer({
    alone: true,
    redisUrl: `redis://127.0.0.1:${redisPort}`,
    database: { url, statementTimeoutMs: 1_000, connectTimeoutMs: 1_000 },
  });
  // With so small a quota every call asks Redis.
  acme = await server.company([], { cuenta: { cuota_por_minuto: 15 } });
});
afterAll(async () => {
  await server?.stop();
  await postgres?.[Symbol.asyncDispose]();
  await stopRedis();
  if (folder) await rm(folder, { recursive: true });
});

async function startRedis(): Promise<ChildProcess> {
  const options = ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const started = spawn(redisServerPath(), options, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const text of started.stdout.iterator({ destroyOnReturn: false })) {
    if (String(text).includes('Ready to accept connections')) break;
  }
  started.stdout.resume();
  return started;
}

async function stopRedis(): Promise<void> {
  if (!redis || redis.exitCode !== null) return;
  const gone = once(redis, 'exit');
  redis.kill('SIGTERM');
  await gone;
}

/** The answers to a watcher with the timeout of Docker's check. */
const ready = async () => {
  const response = await fetch(`${server.url}/health/ready`, { signal: AbortSignal.timeout(4_000) });
  return [response.status, await response.text()];
};
const READY = [200, '{"status":"ok"}'];
const call = () => acme.get('/crm/funnels');

/** Each makes its state and returns a function that ends it. */
const STATES: [state: string, away: string, begin: () => Promise<() => unknown>][] = [
  ['the database frozen', 'database', () => postgres.freeze()],
  [
    'the database gone',
    'database',
    async () => {
      await postgres.stop();
      return () => postgres.start();
    },
  ],
  [
    'Redis frozen',
    'Redis',
    async () => {
      redis.kill('SIGSTOP');
      return () => redis.kill('SIGCONT');
    },
  ],
  [
    'Redis gone',
    'Redis',
    async () => {
      await stopRedis();
      return async () => {
        redis = await startRedis();
      };
    },
  ],
];

test.each(STATES)(
  '[ENV-04] %s: not ready for want of the %s, alive, calls 503; and as before by itself',
  async (_state, away, begin) => {
    expect(await ready()).toEqual(READY);
    expect((await call()).status).toBe(200);
    const end = await begin();
    try {
      for (const _ of [1, 2, 3]) {
        const [health, live] = await Promise.all([ready(), server.request('/health/live')]);
        expect(health).toEqual([503, `{"status":"${away} away"}`]);
        expect(live.status).toBe(200);
      }
      const { status, headers } = await call();
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    } finally {
      await end();
    }
    await expect.poll(ready, { timeout: 30_000 }).toEqual(READY);
    await expect.poll(async () => (await call()).status, { timeout: 30_000 }).toBe(200);
  },
);
