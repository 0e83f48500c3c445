// The database and Redis over TLS with a private certificate authority, as docs/operations.md describes.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { freePort, type SystemPostgres, startSystemPostgres } from '../helpers/system-postgres.ts';
import { run, serve } from '../server/processes.ts';
import { opensslPath, redisServerPath } from './needs.ts';

vi.setConfig({ testTimeout: 120_000 });

const execute = promisify(execFile);
const openssl = (...args: string[]) => execute(opensslPath(), args);

let postgres: SystemPostgres;
const file = (name: string) => join(postgres.folder, name);
/** The service's URL. `localhost` is the name in the server's certificate. */
const urlWith = (parameters: string) => `postgres://albaran@localhost:${postgres.port}/albaran?${parameters}`;
const trusted = () => urlWith(`sslmode=verify-full&sslrootcert=${file('ca.pem')}`);

/** An authority, another one, and the first one's certificates for two names. */
async function certificates(folder: string): Promise<void> {
  const path = (name: string) => join(folder, name);
  const key = (name: string) => ['-newkey', 'rsa:2048', '-nodes', '-keyout', path(`${name}.key`)];
  for (const name of ['ca', 'other']) {
    await openssl('req', '-x509', ...key(name), '-out', path(`${name}.pem`), '-subj', `/CN=${name}`, '-days', '2');
  }
  for (const name of ['localhost', 'db.example.com']) {
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
    await openssl('req', ...key(name), '-out', path(`${name}.csr`), ...subject);
    const authority = ['-CA', path('ca.pem'), '-CAkey', path('ca.key'), '-CAcreateserial', '-days', '2'];
    const signed = ['-in', path(`${name}.csr`), '-out', path(`${name}.crt`), '-copy_extensions', 'copy'];
    await openssl('x509', '-req', ...signed, ...authority);
  }
}

/** PostgreSQL's settings for the certificate of this name. */
const presenting = (folder: string, name: string) => [
  'ssl=on',
  `ssl_cert_file=${join(folder, `${name}.crt`)}`,
  `ssl_key_file=${join(folder, `${name}.key`)}`,
  'log_connections=on',
];

beforeAll(async () => {
  postgres = await startSystemPostgres({
    async provide(folder) {
      await certificates(folder);
      return presenting(folder, 'localhost');
    },
    hba: 'hostssl all all 127.0.0.1/32 trust\n',
  });
  await postgres.query('postgres', 'create role albaran login createrole');
  await postgres.query('postgres', 'create database albaran owner albaran');
}, 120_000);
afterAll(() => postgres?.[Symbol.asyncDispose]());

test('every connection of the service is encrypted: the pool’s, readiness’, the replica’s, the migrations’, the schedule’s', async () => {
  const env = { DATABASE_URL: trusted() };
  expect(await run(['migrate'], env)).toMatchObject({ code: 0, stderr: '' });
  const made = await run(['account', 'create', '--name', 'Ruiz', '--slug', 'ruiz'], env);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const { stdout } = await run(['key', 'create', '--account', 'ruiz', '--json'], env);
  const { key, secret } = JSON.parse(stdout);
  await using server = await serve({ ...env, DATABASE_REPLICA_URL: trusted(), DEMO: 'false' });
  await server.says(/"the replica is there"/);
  const headers = { 'X-API-KEY': key, 'X-API-SECRET': secret };
  expect((await fetch(`${server.url}/api/v1/products`, { headers })).status).toBe(200);
  expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
  const open = await postgres.query(
    'postgres',
    `select ssl, count(*)::int >= 3 as several from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'albaran' group by 1`,
  );
  expect(open).toEqual([{ ssl: true, several: true }]);
  const connections = () =>
    postgres
      .log()
      .split('\n')
      .filter((line) => line.includes('connection authorized: user=albaran'));
  for (const work of ['purge', 'renewals']) {
    await vi.waitUntil(() => connections().some((line) => line.includes(`application_name=albaran ${work} `)));
  }
  for (const line of connections()) expect(line).toContain('SSL enabled');
});

test('the file of the authority is read at the start: one that is gone later ends neither calls nor the service', async () => {
  const env = { DATABASE_URL: urlWith(`sslmode=verify-full&sslrootcert=${file('copy.pem')}`), DEMO: 'false' };
  await copyFile(file('ca.pem'), file('copy.pem'));
  await run(['account', 'create', '--name', 'Gil', '--slug', 'gil'], env);
  const { stdout } = await run(['key', 'create', '--account', 'gil', '--json'], env);
  const { key, secret } = JSON.parse(stdout);
  await using server = await serve(env);
  const status = async () => {
    const headers = { 'X-API-KEY': key, 'X-API-SECRET': secret };
    return (await fetch(`${server.url}/api/v1/products`, { headers })).status;
  };
  expect(await status()).toBe(200);
  await rm(file('copy.pem'));
  await postgres.query(
    'postgres',
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'albaran' and application_name = ''`,
  );
  await expect.poll(status, { timeout: 10_000 }).toBe(200);
  await expect.poll(async () => (await fetch(`${server.url}/health/ready`)).status, { timeout: 10_000 }).toBe(200);
});

test('what can’t be trusted, or is not there, is one line that names the setting', async () => {
  const other = urlWith(`sslmode=verify-full&sslrootcert=${file('other.pem')}`);
  const missing = urlWith('sslmode=verify-full&sslrootcert=/nowhere/ca.pem');
  const plain = urlWith('');
  const CERTIFICATE = /certificate/;
  const MISSING = /ENOENT: no such file or directory, open '\/nowhere\/ca\.pem'/;
  const PLAIN = /no pg_hba\.conf entry for host .*, no encryption/;
  const cases: [setting: string, said: RegExp, env: Record<string, string>][] = [
    ['DATABASE_URL', CERTIFICATE, { DATABASE_URL: other }],
    ['DATABASE_URL', MISSING, { DATABASE_URL: missing }],
    ['DATABASE_URL', PLAIN, { DATABASE_URL: plain }],
    ['DATABASE_DIRECT_URL', CERTIFICATE, { DATABASE_URL: trusted(), DATABASE_DIRECT_URL: other }],
    ['DATABASE_DIRECT_URL', MISSING, { DATABASE_URL: trusted(), DATABASE_DIRECT_URL: missing }],
    ['DATABASE_DIRECT_URL', PLAIN, { DATABASE_URL: trusted(), DATABASE_DIRECT_URL: plain }],
    ['DATABASE_URL', CERTIFICATE, { DATABASE_URL: other, DATABASE_DIRECT_URL: trusted() }],
    ['DATABASE_REPLICA_URL', MISSING, { DATABASE_URL: trusted(), DATABASE_REPLICA_URL: missing }],
  ];
  for (const [setting, said, env] of cases) {
    const { code, stderr } = await run(['serve'], { PORT: '0', DEMO: 'false', ...env });
    expect(code, setting).toBe(1);
    expect(stderr).toMatch(/^.+\n$/);
    expect(stderr.slice(0, stderr.indexOf(':'))).toBe(setting);
    expect(stderr).toMatch(said);
  }
});

test('prefer, require and verify-ca check all that verify-full does, and warn; no-verify checks nothing', async () => {
  const ca = `sslrootcert=${file('ca.pem')}`;
  const answers = async (parameters: string) => {
    const { code, stderr } = await run(['account', 'list'], { DATABASE_URL: urlWith(parameters) });
    return { works: code === 0, warned: /SECURITY WARNING/.test(stderr), stderr };
  };
  for (const mode of ['prefer', 'require', 'verify-ca']) {
    expect(await answers(`sslmode=${mode}&${ca}`), mode).toMatchObject({ works: true, warned: true });
    const untrusted = await answers(`sslmode=${mode}`);
    expect(untrusted, mode).toMatchObject({ works: false, stderr: expect.stringMatching(/certificate/) });
  }
  expect(await answers('sslmode=no-verify')).toMatchObject({ works: true, warned: false });
  expect(await answers('sslmode=disable')).toMatchObject({ works: false });
  // A CA that Node trusts needs no sslrootcert.
  const env = { DATABASE_URL: urlWith('sslmode=verify-full'), NODE_EXTRA_CA_CERTS: file('ca.pem') };
  expect(await run(['account', 'list'], env)).toMatchObject({ code: 0, stderr: '' });
});

test('Redis over TLS: trusted by NODE_EXTRA_CA_CERTS, and refused in one line without', async () => {
  const port = await freePort();
  const [name, key] = [file('localhost.crt'), file('localhost.key')];
  const tls = ['--tls-port', String(port), '--tls-cert-file', name, '--tls-key-file', key, '--tls-auth-clients', 'no'];
  const options = ['--port', '0', ...tls, '--tls-ca-cert-file', file('ca.pem'), '--bind', '127.0.0.1', '--save', ''];
  const redis = spawn(redisServerPath(), options, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    for await (const text of redis.stdout.iterator({ destroyOnReturn: false })) {
      if (String(text).includes('Ready to accept connections')) break;
    }
    redis.stdout.resume();
    const env = { DATABASE_URL: trusted(), DEMO: 'false', REDIS_URL: `rediss://localhost:${port}`, PORT: '0' };
    {
      await using server = await serve({ ...env, NODE_EXTRA_CA_CERTS: file('ca.pem') });
      expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
    }
    const refused = [
      await run(['serve'], env),
      await run(['serve'], { ...env, NODE_EXTRA_CA_CERTS: file('ca.pem'), REDIS_URL: `rediss://127.0.0.1:${port}` }),
      await run(['serve'], { ...env, REDIS_URL: `redis://localhost:${port}` }),
    ];
    for (const { code, stderr } of refused) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/^REDIS_URL: Redis can't be reached: .+\n$/);
    }
  } finally {
    const gone = once(redis, 'exit');
    redis.kill();
    await gone;
  }
});

// Last: from here on the server has another certificate.
test('a certificate of another name is refused in one line that names the setting', async () => {
  await postgres.stop();
  await postgres.start(presenting(postgres.folder, 'db.example.com'));
  const { code, stderr } = await run(['migrate'], { DATABASE_URL: trusted() });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^DATABASE_URL: .* certificate's altnames: .*localhost.*db\.example\.com\n$/);
});
