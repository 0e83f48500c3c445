// The proxies of docs/operations.md with the page's files, except addresses and certificate.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { vi } from 'vitest';
import { caddyPath, nginxPath } from './needs.ts';

export interface RunningProxy extends AsyncDisposable {
  url: string;
  port: number;
  /** Resolves when the proxy sends calls again to a process that was away, for the `returns`-th time. */
  knows(service: number, returns: number): Promise<void>;
}

const PAGE = resolve(import.meta.dirname, '../../docs/operations.md');
const NOBODY = { uid: 65_534, gid: 65_534 };
/** Below the ports of outgoing connections, so that a process gets its port back and no connection connects to itself. */
const PORTS = { first: 20_000, count: 10_000 };

/** The first code block with all of these lines in the section "Behind a proxy". */
async function fileWith(...lines: string[]): Promise<string> {
  const section = (await readFile(PAGE, 'utf8')).split(/\n##+ /).find((part) => part.startsWith('Behind a proxy\n'));
  const blocks = [...(section ?? '').matchAll(/```\w*\n(.*?)```/gs)].map(([, block = '']) => block);
  const found = blocks.find((block) => lines.every((line) => block.includes(line)));
  if (found === undefined) throw new Error(`docs/operations.md has no file with ${lines.join(' and ')}`);
  return found;
}

/** Replaces texts that the file must have. */
function replaced(file: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`docs/operations.md: the proxy's file lacks ${from}`);
    return text.replaceAll(from, to);
  }, file);
}

/** A port that a process can leave and listen on again. */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch {
      continue;
    }
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

/** nginx with the page's file, in front of two processes. */
export async function startNginx(services: readonly [number, number]): Promise<RunningProxy> {
  const path = nginxPath();
  const port = await lastingPort();
  const file = replaced(await fileWith('upstream albaran', 'server_name'), [
    ['127.0.0.1:3000', `127.0.0.1:${services[0]}`],
    ['127.0.0.1:3001', `127.0.0.1:${services[1]}`],
    ['listen 443 ssl;', `listen 127.0.0.1:${port};`],
    ['  ssl_certificate /etc/ssl/albaran.pem;\n', ''],
    ['  ssl_certificate_key /etc/ssl/albaran.key;\n', ''],
  ]);
  const folder = await ownFolder('nginx');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((what) => `${what}_temp_path ${folder};`);
  const settings = `daemon off; pid ${folder}/nginx.pid; worker_processes auto; error_log stderr warn;
events {}
http { access_log off; ${temporary.join(' ')}
${file}}`;
  await writeFile(join(folder, 'nginx.conf'), settings);
  // It tries a process with every call.
  const knows = async () => {};
  const child = spawnAsNobody(path, ['-e', 'stderr', '-c', join(folder, 'nginx.conf')], folder);
  return listening(child, folder, port, () => knows);
}

/** Caddy with the page's file, in front of two processes. */
export async function startCaddy(services: readonly [number, number]): Promise<RunningProxy> {
  const path = caddyPath();
  const port = await lastingPort();
  const file = replaced(await fileWith('reverse_proxy'), [
    ['127.0.0.1:3000', `127.0.0.1:${services[0]}`],
    ['127.0.0.1:3001', `127.0.0.1:${services[1]}`],
    ['albaran.example.com {', `http://127.0.0.1:${port} {`],
  ]);
  const folder = await ownFolder('caddy');
  await writeFile(join(folder, 'Caddyfile'), `{\n\tadmin off\n}\n${file}`);
  const child = spawnAsNobody(path, ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')], folder);
  const knows = (said: () => string) => async (service: number, returns: number) => {
    const up = new RegExp(`"host is up","host":"127.0.0.1:${service}"`, 'g');
    await vi.waitUntil(() => [...said().matchAll(up)].length >= returns, 10_000);
  };
  return listening(child, folder, port, knows);
}

async function ownFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `albaran-${name}-`));
  await chmod(folder, 0o777);
  return folder;
}

function spawnAsNobody(path: string, args: string[], folder: string): ChildProcess {
  const user = process.getuid?.() === 0 ? NOBODY : {};
  return spawn(path, args, { ...user, env: { HOME: folder }, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Waits until the proxy gives any answer. */
async function listening(
  child: ChildProcess,
  folder: string,
  port: number,
  knows: (said: () => string) => RunningProxy['knows'],
): Promise<RunningProxy> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const gone = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await gone;
    }
    await rm(folder, { recursive: true });
  };
  for (;;) {
    const up = await fetch(`${url}/health/ready`).then(
      () => true,
      () => false,
    );
    if (up) return { url, port, knows: knows(() => said), [Symbol.asyncDispose]: stop };
    if (child.exitCode !== null) {
      await stop();
      throw new Error(`${child.spawnfile} did not start: ${said}`);
    }
  }
}
