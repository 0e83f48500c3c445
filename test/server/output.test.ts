// Output of processes arrives completely, however slow the reader, or the exit code tells: with real pipes, full disks, and
// readers that are gone or never read.
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { type Environment, run } from './processes.ts';

vi.setConfig({ testTimeout: 60_000 });

const SERVER = resolve(import.meta.dirname, '../../server');
/** Reads 8 kB at a time with pauses. */
const SLOWLY = `const { readSync, writeSync } = require('fs');
  const some = Buffer.alloc(8192), nobody = new Int32Array(new SharedArrayBuffer(4));
  for (let read; (read = readSync(0, some)) > 0; Atomics.wait(nobody, 0, 0, 2)) writeSync(1, some, 0, read);`;
const COMPANIES = 2500;

let database: OwnDatabase;
let folder: string;
beforeAll(async () => {
  database = await ownDatabase();
  folder = await mkdtemp(join(tmpdir(), 'albaran-output-'));
  await run(['account', 'create', '--name', 'Larga', '--slug', 'larga'], environment());
  await database.admin.query(
    `insert into accounts (slug, name) select 'a' || n, repeat('Nombre ', 10) from generate_series(1, ${COMPANIES}) n`,
  );
  const records = [
    { coleccion: 'cuenta', ref: 'larga', nombre: 'Larga' },
    ...Array.from({ length: 30 }, (_, n) => ({
      coleccion: 'articulos',
      ref: `a${n}`,
      descripcion: 'Muy larga. '.repeat(1500),
    })),
  ];
  const file = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  expect(await run(['import', '-', '--account', 'larga'], environment(), file)).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const environment = () => ({ ...databaseEnvironment(database.url), DEMO: 'false' });

/** A shell line in which `albaran` is the command and `slowly` a slow reader of its pipe. */
async function shell(line: string, main = 'main.js') {
  const prelude = `albaran() { "$NODE" ${SERVER}/${main} "$@"; }; slowly() { "$NODE" -e "$SLOWLY"; }; `;
  const { PATH = '' } = process.env;
  const child = spawn('bash', ['-o', 'pipefail', '-c', prelude + line], {
    env: { PATH, NODE: process.execPath, SLOWLY, ...environment() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'exit'),
  ]);
  return { code, stdout: stdout.join(''), stderr: stderr.join('') };
}

test.each(['albaran export --account larga', 'albaran account list', 'albaran account list --json'])(
  '%s is whole for a slow reader',
  async (command) => {
    const [slow, wrapped] = await Promise.all([
      shell(`${command} | slowly`),
      shell(`${command} | slowly`, 'albaran.js'),
    ]);
    const file = join(folder, 'whole');
    expect(await shell(`${command} > ${file}`)).toEqual({ code: 0, stdout: '', stderr: '' });
    const whole = await readFile(file, 'utf8');
    expect(whole.length).toBeGreaterThan(200_000);
    for (const { code, stdout, stderr } of [slow, wrapped]) {
      expect({ code, stderr, length: stdout.length }).toEqual({ code: 0, stderr: '', length: whole.length });
      expect(stdout === whole).toBe(true);
    }
  },
);

test.each([
  { json: '', from: '2>&1 >/dev/null' },
  { json: '--json', from: '' },
])('what went wrong is whole for a slow reader too: import $json', async ({ json, from }) => {
  const file = join(folder, 'wrong.ndjson');
  const wrong = `{"coleccion":"turnos","ref":"${'r'.repeat(4000)}","color":"rojo"}\\n`;
  const { code, stdout } = await shell(
    `printf '${wrong}%.0s' {1..90} > ${file}; albaran import ${file} --account larga ${json} ${from} | slowly`,
  );
  expect(code).toBe(1);
  expect(stdout.length).toBeGreaterThan(200_000);
  const end = json ? /"total":\d+}\n$/ : /\nNothing was imported: \d+ problems, of which these are the first 100\n$/;
  expect(stdout.slice(-100)).toMatch(end);
});

test('a full disk is one line, and exit 1', async () => {
  const full = { code: 1, stdout: '', stderr: expect.stringMatching(/^standard output can't be written: ENOSPC.*\n$/) };
  const commands = ['export --account larga', 'account list', 'account list --json', '--help'];
  for (const said of await Promise.all(commands.map((command) => shell(`albaran ${command} > /dev/full`)))) {
    expect(said).toEqual(full);
  }
  expect(await shell('albaran key list --account nobody --json > /dev/full')).toEqual(full);
  expect(await shell('albaran key list --account nobody 2> /dev/full')).toEqual({ code: 1, stdout: '', stderr: '' });
});

test('a file that takes a part of the last write is not taken for whole; one of --out is not there at all', async () => {
  const part = join(folder, 'part');
  const out = join(folder, 'out.ndjson');
  // The shell's limit is in blocks of 1 kB.
  const [listed, exported] = await Promise.all([
    shell(`ulimit -f 100; albaran account list > ${part}`),
    shell(`ulimit -f 100; albaran export --account larga --out ${out}`),
  ]);
  expect(listed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^standard output can't be written: EFBIG.*\n$/),
  });
  expect(exported).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Failed: EFBIG.*\n$/) });
  expect((await readFile(part)).length, 'the part').toBe(102_400);
  expect((await readdir(folder)).filter((name) => name.startsWith('out'))).toEqual([]);
});

test('a reader who has had enough ends it quietly, and not with 0', async () => {
  const quiet = { code: 1, stderr: '' };
  expect(await shell('albaran export --account larga | head -n 1')).toMatchObject({
    ...quiet,
    stdout: expect.stringMatching(/^{"coleccion":"cuenta".*\n$/),
  });
  expect(await shell('albaran account list --json | true')).toMatchObject(quiet);
});

test('told to stop, a command waits no longer for a reader who never reads', async () => {
  await using reader = neverRead(['export', '--account', 'larga']);
  // It is connected and idle: it waits for its reader.
  await vi.waitUntil(
    async () =>
      (
        await database.admin.query(
          `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
             and state like 'idle%' and clock_timestamp() - state_change > interval '500 ms'`,
        )
      ).rowCount,
    { timeout: 30_000 },
  );
  reader.child.kill('SIGINT');
  expect(await reader.ended).toEqual([130, null]);
});

test('a server whose log nobody reads stops when it is told twice', async () => {
  const PORT = await freePort();
  await using reader = neverRead(['serve'], { PORT, LOG_LEVEL: 'info' });
  await untilLive(PORT);
  // A line each, together more than a pipe holds.
  for (let calls = 0; calls < 600; calls++) await (await fetch(`http://127.0.0.1:${PORT}/api/v1/nothing`)).text();
  // Events within a second of the first count as one.
  await vi.waitUntil(() => !reader.child.kill('SIGTERM') || reader.child.signalCode, {
    timeout: 30_000,
    interval: 300,
  });
  expect((await reader.ended)[1]).toBeNull();
});

test('a server whose log can’t be written goes on, and stops as any', async () => {
  const PORT = await freePort();
  await using full = toFile('/dev/full', ['serve'], { PORT, LOG_LEVEL: 'info' });
  await untilLive(PORT);
  full.child.kill('SIGTERM');
  expect(await full.ended).toEqual([0, null]);
  expect(await full.said).toMatch(/^The log can't be written: ENOSPC.*\n$/);
});

/** A process whose standard output is an open pipe that is never read. */
function neverRead(args: readonly string[], env: Environment = {}) {
  const pipe = join(folder, `pipe-${randomUUID()}`);
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  return toFile(pipe, args, env, () => closeSync(reader));
}

function toFile(path: string, args: readonly string[], env: Environment, close = () => {}) {
  const file = openSync(path, 'w');
  const child = spawn(process.execPath, [join(SERVER, 'main.js'), ...args], {
    env: { PATH: process.env.PATH, ...environment(), ...env },
    stdio: ['ignore', file, 'pipe'],
  });
  closeSync(file);
  const said = child.stderr?.setEncoding('utf8').toArray() ?? Promise.resolve([]);
  const ended = once(child, 'exit');
  return {
    child,
    ended,
    said: said.then((texts) => texts.join('')),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      close();
    },
  };
}

const untilLive = (port: string) =>
  vi.waitUntil(
    () =>
      fetch(`http://127.0.0.1:${port}/health/live`).then(
        ({ ok }) => ok,
        () => false,
      ),
    { timeout: 30_000 },
  );

/** A port that was free just now: a server with unread output can't print the port that it took. */
async function freePort(): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return String(typeof address === 'object' ? address?.port : 0);
}
