// A server in its own process, so that a test can kill it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { databaseEnvironment } from './pgbouncer.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'server', 'main.js');

export interface ServerProcess extends AsyncDisposable {
  url: string;
  port: number;
  pid: number;
  /** Ends it with this signal (default SIGKILL) and waits for its exit. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts `albaran serve` on this database, on a free port. */
export async function startServerProcess(databaseUrl: string, env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  const own = { ...databaseEnvironment(databaseUrl), HOST: '127.0.0.1', PORT: '0', DEMO: 'false' };
  // All tests have one address: wrong keys of one must not lock out the others.
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
