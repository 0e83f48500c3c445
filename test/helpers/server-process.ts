// A server as a process of its own, so that it can be killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { databaseEnvironment } from './pgbouncer.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'server', 'main.js');

export interface ServerProcess extends AsyncDisposable {
  url: string;
  port: number;
  pid: number;
  /** Ends it, SIGKILL unless said otherwise, and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** `albaran serve` on this database, at any free port. */
export async function startServerProcess(databaseUrl: string, env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  const own = { ...databaseEnvironment(databaseUrl), HOST: '127.0.0.1', PORT: '0', DEMO: 'false' };
  // Every test calls from one address: the wrong keys that some try must not close the door to the others.
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { PATH: process.env.PATH, ...own, FAILED_KEYS_PER_MINUTE: '1000000', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'exit');
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    child.kill(signal);
    await gone;
  };
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const listening = (async () => {
    for await (const text of child.stdout) {
      said += text;
      const url = /listening at (http:\/\/[\d.]+:\d+)/.exec(said)?.[1];
      if (url) return url;
    }
    throw new Error(`The server did not start: ${said}`);
  })();
  const url = await listening;
  child.stdout.resume();
  return { url, port: Number(new URL(url).port), pid: child.pid ?? 0, kill, [Symbol.asyncDispose]: () => kill() };
}
