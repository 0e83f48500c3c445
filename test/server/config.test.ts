// Configuration by environment variables: defaults, and errors for bad values.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { generatedPages } from '../../scripts/generate-docs.ts';
import { readConfig } from '../../server/config.ts';
import { Failure } from '../../server/failure.ts';

const read = (environment: Record<string, string>, terminal = false) => readConfig(environment, terminal);

function complaints(environment: Record<string, string>): readonly string[] {
  try {
    read(environment);
  } catch (error) {
    if (error instanceof Failure) return error.lines;
    throw error;
  }
  return [];
}

test('unset and empty variables have their defaults', () => {
  const config = read({});
  expect(config).toMatchObject({
    databaseUrl: undefined,
    host: '127.0.0.1',
    port: 3000,
    workers: 1,
    quotaPerMinute: 1200,
    failedKeysPerMinute: 20,
    anonymousPerMinute: 600,
    trustProxy: false,
    corsOrigins: [],
    oauth: { allowLocalhost: false, registrationsPerHour: 100, totalRegistrationsPerHour: 2000 },
    checkOutputs: true,
    demo: true,
  });
  expect(config.dataDir).toMatch(/\/\.albaran$/);
  expect(read({ PORT: '', DATABASE_URL: ' ', CORS_ORIGINS: '', DEMO: '' })).toEqual(config);
});

test('workers share the connections that PostgreSQL has by default', () => {
  const poolOf = (WORKERS: string, more = {}) => read({ WORKERS, ...more }).databasePool;
  expect(['1', '8', '16', '64'].map((workers) => poolOf(workers))).toEqual([10, 10, 5, 3]);
  expect(poolOf('16', { DATABASE_POOL: '20' })).toBe(20);
  expect(read({ WORKERS: 'auto' }).workers).toBe(availableParallelism());
  for (const WORKERS of ['0', '1.5', 'all']) {
    expect(complaints({ WORKERS })).toEqual([
      `WORKERS: expected a whole number from 1 to 256, or auto, not "${WORKERS}"`,
    ]);
  }
});

test('what is set is read as what it is', () => {
  expect(
    read({
      DATABASE_URL: 'postgres://a:b@pooler/albaran',
      DATABASE_DIRECT_URL: 'postgres://a:b@db/albaran',
      DATABASE_REPLICA_URL: 'postgres://a:b@replica/albaran',
      PORT: '80',
      BASE_URL: 'https://api.example.com/',
      API_CONTACT: 'api@example.com',
      TRUST_PROXY: '10.0.0.0/8, ::1, loopback',
      CORS_ORIGINS: 'https://a.example, http://localhost:5173',
      ID_KEYS: `${'n'.repeat(32)},${'o'.repeat(32)}`,
      DEMO: 'false',
      CHECK_OUTPUTS: '0',
    }),
  ).toMatchObject({
    databaseUrl: 'postgres://a:b@pooler/albaran',
    databaseDirectUrl: 'postgres://a:b@db/albaran',
    databaseReplicaUrl: 'postgres://a:b@replica/albaran',
    port: 80,
    baseUrl: 'https://api.example.com',
    apiContact: 'api@example.com',
    trustProxy: '10.0.0.0/8,::1,loopback',
    corsOrigins: ['https://a.example', 'http://localhost:5173'],
    idKeys: ['n'.repeat(32), 'o'.repeat(32)],
    demo: false,
    checkOutputs: false,
  });
  expect(read({ TRUST_PROXY: 'true' }).trustProxy).toBe(true);
  expect(read({ OAUTH_REGISTRATIONS_PER_HOUR: '5000' }).oauth.registrationsPerHour).toBe(5000);
  expect(read({ DATABASE_URL: 'postgres://db/albaran' }).databaseDirectUrl).toBe('postgres://db/albaran');
});

test('a terminal is left to the person in front of it, a production log is not', () => {
  expect(read({}, true).logLevel).toBe('warn');
  expect(read({}, false).logLevel).toBe('info');
  expect(read({ NODE_ENV: 'production' }, true)).toMatchObject({ logLevel: 'info', demo: false, checkOutputs: false });
});

test('a bad value is one line that names its variable', () => {
  const bad = {
    DATABASE_POOL: '0',
    STATEMENT_TIMEOUT_MS: '1',
    HOST: 'no host',
    PORT: '65536',
    BASE_URL: 'https://example.com/api',
    TRUST_PROXY: '10.0.0.0/33',
    CORS_ORIGINS: 'https://a.example/',
    QUOTA_PER_MINUTE: '1.5',
    FAILED_KEYS_PER_MINUTE: 'many',
    OAUTH_REGISTRATIONS_PER_HOUR: '0',
    SHUTDOWN_TIMEOUT_MS: '-1',
    CHECK_OUTPUTS: 'perhaps',
    DATABASE_PREPARE: 'no',
    DEMO: '2',
    LOG_LEVEL: 'loud',
  };
  for (const [name, value] of Object.entries(bad)) {
    expect(complaints({ [name]: value })).toEqual([expect.stringMatching(`^${name}: expected .*, not "`)]);
  }
  expect(complaints(bad).length, 'all of them at once').toBe(Object.keys(bad).length);
  for (const name of ['DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL']) {
    expect(complaints({ [name]: 'postgres://db/albaran' })).toEqual([`${name}: expected DATABASE_URL beside it`]);
  }
});

test('a bad value that may hold a secret is not repeated', () => {
  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL', 'REDIS_URL', 'ID_KEYS']) {
    const [line, ...more] = complaints({ [name]: 'hunter2' });
    expect(line).toMatch(`${name}: expected`);
    expect(line).not.toContain('hunter2');
    expect(more).toEqual([]);
  }
});

test('the generated pages are up to date (npm run docs)', async () => {
  for (const [path, text] of Object.entries(generatedPages())) {
    expect(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(text);
  }
});
