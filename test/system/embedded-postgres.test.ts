// The embedded PostgreSQL with real processes and folders. Every test has a data folder and removes it.

import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startEmbeddedPostgres } from '../../server/postgres/embedded-postgres.ts';

vi.setConfig({ testTimeout: 60_000 }); // Making a cluster takes a second, several on a busy machine.

const isRoot = process.getuid?.() === 0;

test('what was stored is there after a stop and a second start', async () => {
  const dataDir = folder();
  const first = await startEmbeddedPostgres({ dataDir });
  expect(first.started).toBe(true);
  await query(first.url, 'create table kept as select 42 as answer');
  await first.stop();
  await expect(query(first.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
  await expect(startEmbeddedPostgres({ dataDir, ephemeral: true })).rejects.toThrow('made to be kept');

  await using second = await startEmbeddedPostgres({ dataDir });
  expect(second.url, 'the same port and password').toBe(first.url);
  expect(await query(second.url, 'select answer from kept')).toEqual({ answer: 42 });
});

test('text is compared alike on every system, and trigrams know accented letters', async () => {
  await using server = await startEmbeddedPostgres({ dataDir: folder(), ephemeral: true });
  await query(server.url, 'create extension pg_trgm');
  const sql = `select lower('CAÑÓN') as lower, similarity('ñu', 'u') < 1 as accents, current_setting('timezone') as zone,
    current_setting('jit') as jit, current_setting('fsync') as fsync, current_setting('listen_addresses') as address`;
  expect(await query(server.url, sql)).toEqual({
    lower: 'cañón',
    accents: true,
    zone: 'UTC',
    jit: 'off',
    fsync: 'off',
    address: '127.0.0.1',
  });
});

test('a second process attaches, and leaves the server running', async () => {
  const dataDir = folder();
  await using server = await startEmbeddedPostgres({ dataDir, ephemeral: true });
  const other = await inAnotherProcess(dataDir, 'await found.stop()');
  expect(other).toEqual({ url: server.url, started: false });
  expect(await query(server.url, 'select 1 as one')).toEqual({ one: 1 });
});

test('a server whose process was killed is found, and stopped by the one that adopts it', async () => {
  const dataDir = folder();
  const killed = await inAnotherProcess(dataDir, `process.kill(process.pid, 'SIGKILL')`);
  expect(killed.started).toBe(true);
  const bystander = await startEmbeddedPostgres({ dataDir });
  await bystander.stop();
  const adopted = await startEmbeddedPostgres({ dataDir, adopt: true });
  expect(adopted).toMatchObject({ url: killed.url, started: false });
  expect(await query(adopted.url, 'select 1 as one')).toEqual({ one: 1 });
  await adopted.stop();
  await expect(query(adopted.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
});

test('of several that start at once one starts the server, and it runs until all that hold it have stopped', async () => {
  const dataDir = folder();
  const options = { dataDir, ephemeral: true, adopt: true };
  const servers = await Promise.all([startEmbeddedPostgres(options), startEmbeddedPostgres(options)]);
  expect(servers.map((server) => server.started).sort()).toEqual([false, true]);
  servers.sort((one, other) => Number(other.started) - Number(one.started));
  for (const server of servers) {
    expect(await query(server.url, 'select 1 as one')).toEqual({ one: 1 });
    await server.stop();
  }
  expect(fs.existsSync(dataDir), 'ephemeral data is gone').toBe(false);
});

test('a server that crashed is recovered, whatever process has its id now', async () => {
  const dataDir = folder();
  const { url } = await inAnotherProcess(dataDir, `process.kill(process.pid, 'SIGKILL')`);
  await query(url, 'create table kept as select 42 as answer');
  const lock = join(clusterOf(dataDir), 'postmaster.pid');
  const [pid, ...rest] = fs.readFileSync(lock, 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
  fs.writeFileSync(lock, [process.pid, ...rest].join('\n'));
  await using server = await startEmbeddedPostgres({ dataDir });
  expect(server.started).toBe(true);
  expect(await query(server.url, 'select answer from kept')).toEqual({ answer: 42 });
});

test('another port is taken if that of last time is in use, unless it was asked for', async () => {
  const dataDir = folder();
  const first = await startEmbeddedPostgres({ dataDir });
  await first.stop();
  const port = Number(new URL(first.url).port);
  const intruder = createServer();
  await new Promise<void>((done) => intruder.listen(port, '127.0.0.1', done));
  onTestFinished(() => void intruder.close());
  await expect(startEmbeddedPostgres({ dataDir, port })).rejects.toThrow('Address already in use');
  await using second = await startEmbeddedPostgres({ dataDir });
  expect(new URL(second.url).port).not.toBe(String(port));
});

test('data of another major version is refused in one line', async () => {
  const dataDir = folder();
  fs.mkdirSync(join(dataDir, 'postgres'));
  fs.writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(
    /^The data folder .*\/postgres was made by PostgreSQL 17; this version runs 18: .*$/,
  );
});

test('data without its password, a folder of something else and no folder at all are refused in one line', async () => {
  const withoutPassword = folder();
  fs.mkdirSync(join(withoutPassword, 'postgres'));
  fs.writeFileSync(join(withoutPassword, 'postgres', 'PG_VERSION'), '18\n');
  await expect(startEmbeddedPostgres({ dataDir: withoutPassword })).rejects.toThrow(/password file .*: restore it$/);

  const other = folder();
  fs.mkdirSync(join(other, 'postgres', 'photos'), { recursive: true });
  await expect(startEmbeddedPostgres({ dataDir: other })).rejects.toThrow(/isn't a data folder of PostgreSQL$/);

  const file = join(folder(), 'file');
  fs.writeFileSync(file, '');
  await expect(startEmbeddedPostgres({ dataDir: join(file, 'data') })).rejects.toThrow(
    /^The data folder .* can't be used/,
  );
});

// Only root runs PostgreSQL as another user; other users can enter their own folders.
test.runIf(isRoot)('root can start it in a folder that nobody else can enter', async () => {
  const dataDir = join(folder(0o700), 'inner', 'data');
  const first = await startEmbeddedPostgres({ dataDir, ephemeral: true });
  expect(clusterOf(dataDir)).toMatch(/^\/var\/lib\/albaran\//);
  expect(fs.statSync(join(dataDir, 'postgres.password')).mode & 0o777).toBe(0o600);
  expect(await query(first.url, 'select version()')).toEqual({ version: expect.stringMatching(/^PostgreSQL 18/) });
  const cluster = clusterOf(dataDir);
  await first.stop();
  expect(fs.existsSync(cluster), 'ephemeral data is gone from there too').toBe(false);
});

test.runIf(isRoot)('a data folder whose data is elsewhere can be moved, but not copied', async () => {
  const parent = folder(0o700);
  const dataDir = join(parent, 'data');
  const moved = join(parent, 'moved');
  const copy = join(parent, 'copy');
  const first = await startEmbeddedPostgres({ dataDir });
  await query(first.url, 'create table kept as select 42 as answer');
  await first.stop();
  fs.renameSync(dataDir, moved);
  await using second = await startEmbeddedPostgres({ dataDir: moved });
  expect(await query(second.url, 'select answer from kept')).toEqual({ answer: 42 });
  fs.cpSync(moved, copy, { recursive: true });
  await expect(startEmbeddedPostgres({ dataDir: copy })).rejects.toThrow(`is a copy of ${moved}`);
});

/** A temporary folder with mode 0755: root's PostgreSQL runs as another user, who must enter it. */
function folder(mode = 0o755): string {
  const path = fs.mkdtempSync(join(tmpdir(), 'albaran-test-'));
  fs.chmodSync(path, mode);
  onTestFinished(() => {
    for (const name of fs.globSync('**/postgres.location', { cwd: path })) {
      fs.rmSync(join(clusterOf(join(path, name, '..')), '..'), { recursive: true, force: true });
    }
    // Only a failed test leaves a server.
    const lock = join(clusterOf(path), 'postmaster.pid');
    const pid = fs.existsSync(lock) && Number(fs.readFileSync(lock, 'utf8').split('\n')[0]);
    if (pid && pid !== process.pid) process.kill(pid, 'SIGQUIT');
    fs.rmSync(path, { recursive: true, force: true });
  });
  return path;
}

function clusterOf(dataDir: string): string {
  const pointer = join(dataDir, 'postgres.location');
  if (!fs.existsSync(pointer)) return join(dataDir, 'postgres');
  return fs.readFileSync(pointer, 'utf8').split('\n')[0] ?? '';
}

async function query(url: string, sql: string): Promise<Record<string, unknown> | undefined> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows[0];
  } finally {
    await client.end();
  }
}

/** Starts or finds the server in a separate process, which then does `what` and ends. */
async function inAnotherProcess(dataDir: string, what: string): Promise<{ url: string; started: boolean }> {
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL('../../server/postgres/embedded-postgres.ts', import.meta.url))};
    const found = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} });
    (await import('node:fs')).writeSync(1, JSON.stringify({ url: found.url, started: found.started }));
    ${what};`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const { stdout } = await run.catch((error: { signal?: string; stdout: string; stderr: string }) => {
    if (error.signal !== 'SIGKILL') throw new Error(error.stderr);
    return error;
  });
  return JSON.parse(stdout);
}
