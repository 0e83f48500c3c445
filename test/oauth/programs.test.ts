// Real programs: mcp-remote, the Inspector, and the client of the conformance suite. Each opens the consent page, where a person
// answers in the browser.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { headerProxy } from '../helpers/header-proxy.ts';
import { type Company, type Server, startServer } from '../helpers/world.ts';
import { newApplication, register } from './application.ts';
import { decide, newPerson, type Person } from './person.ts';

const BIN = resolve('node_modules/.bin');
const TIMEOUT_MS = 60_000;

let server: Server;
let acme: Company;
let home: string;
beforeAll(async () => {
  server = await startServer();
  acme = await server.company();
  home = await mkdtemp(join(tmpdir(), 'albaran-programs-'));
});
afterAll(async () => {
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

/** Runs a program to its end; a person agrees on its consent page. */
function run(program: string, args: string[], person?: Person): Promise<{ code: number | null; text: string }> {
  return new Promise((settle, reject) => {
    // PATH has only Node: no program can open a browser.
    const env = { HOME: home, MCP_REMOTE_CONFIG_DIR: home, PATH: dirname(process.execPath) };
    const child = spawn(process.execPath, [join(BIN, program), ...args], { env, timeout: TIMEOUT_MS });
    let text = '';
    let asked = false;
    const take = (data: Buffer) => {
      text += data;
      const [address] = /http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?\S+(?=\s)/.exec(text) ?? [];
      if (!person || !address || asked) return;
      asked = true;
      const { pathname, search } = new URL(address);
      // It may print the address before it listens.
      decide(person, pathname + search)
        .then((back) => answerAt(back, () => child.exitCode === null))
        .catch(reject);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (code) => settle({ code, text }));
  });
}

async function answerAt(back: URL, goesOn: () => boolean): Promise<void> {
  while (goesOn()) if (await fetch(back).catch(() => undefined)) return;
}

/** A port that was free just now. */
const freePort = () =>
  new Promise<number>((settle) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => settle(typeof address === 'object' && address ? address.port : 0));
    });
  });

test('[OAU-01..04] the authorization scenarios of the conformance suite pass', { timeout: TIMEOUT_MS }, async () => {
  const port = await freePort();
  const { body } = await register(server, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const person = await newPerson(server, acme);
  const where = ['--url', server.url, '--resource', `${server.url}/mcp`, '-p', String(port)];
  const { code, text } = await run('conformance', ['authorization', '--client-id', body.client_id, ...where], person);
  expect(text).toContain('2 passed, 0 failed');
  expect(code).toBe(0);
});

test.each(['2025-11-25', '2026-07-28'])(
  '[MCP-03] the server scenarios of the conformance suite pass, but those for its own example server (%s)',
  { timeout: TIMEOUT_MS },
  async (revision) => {
    const baseline = resolve('test/oauth/conformance-baseline.yml');
    // The suite sends no credentials.
    await using proxy = await headerProxy(server.url, acme.headers);
    const where = ['--url', `${proxy.url}/mcp/`, '--suite', 'all', '--spec-version', revision];
    const { code, text } = await run('conformance', ['server', ...where, '--expected-failures', baseline]);
    expect(text).toContain('Baseline check passed');
    const scenarios = [...text.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, name]) => name);
    expect(scenarios).toContain('tools-list');
    const lines = (await readFile(baseline, 'utf8')).matchAll(/^ {2}- ((\S+):\S+)(?: # (\S+))?$/gm);
    const excused = [...lines].flatMap(([, line, scenario, only = revision]) =>
      scenarios.includes(scenario) && only === revision ? [line] : [],
    );
    // The suite does not fail if a check of a baseline line is never run.
    const failed = [...text.matchAll(/^ {2}~ (\S+)$/gm)].map(([, line]) => line);
    expect(failed.toSorted()).toEqual(excused.toSorted());
    expect(code).toBe(0);
  },
);

test.each([
  ['/mcp', 'crear_oportunidad'],
  ['/mcp/?modo=catalogo', 'ejecutar_escritura'],
])('[OAU-01..04] mcp-remote connects and lists (%s)', { timeout: TIMEOUT_MS }, async (path, tool) => {
  const person = await newPerson(server, acme);
  const { code, text } = await run('mcp-remote-client', [server.url + path, '--host', '127.0.0.1'], person);
  expect(text).toContain('Connected successfully');
  expect(text).toContain(tool);
  expect(code).toBe(0);
});

test.each(['legacy', 'modern'])(
  '[MCP-03] the Inspector lists with a token (%s)',
  { timeout: TIMEOUT_MS },
  async (era) => {
    const { access } = await (await newApplication(server, acme)).connect();
    const how = ['--transport', 'http', '--protocol-era', era, '--header', `Authorization: Bearer ${access}`];
    const addresses = { '/mcp': 'crear_oportunidad', '/mcp?modo=catalogo': 'ejecutar_escritura' };
    for (const [path, tool] of Object.entries(addresses)) {
      const where = ['--cli', server.url + path, ...how, '--method', 'tools/list'];
      const { code, text } = await run('mcp-inspector', where);
      expect(text).toContain(tool);
      expect(text).toContain('Schema portability: 0 errors');
      expect(code).toBe(0);
    }
  },
);
