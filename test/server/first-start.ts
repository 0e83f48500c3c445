// A first start with the demo company, and a shell to run a page's commands in.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { serve } from './processes.ts';

interface FirstStart extends AsyncDisposable {
  url: string;
  /** With the printed key. */
  headers: Record<string, string>;
  /** What commands print that were written for the usual address; the first that fails ends them. */
  shell(script: string): Promise<string>;
}

export async function firstStart(): Promise<FirstStart> {
  await using started = new AsyncDisposableStack();
  const database = started.use(await ownDatabase());
  const server = started.use(await serve(databaseEnvironment(database.url)));
  const key = /ak_[\w-]+/.exec(await server.says(/API key +ak_/))?.[0] ?? '';
  const secret = /sk_[\w-]+/.exec(await server.says(/Secret +sk_/))?.[0] ?? '';
  const stack = started.move();
  return {
    url: server.url,
    headers: { 'X-API-KEY': key, 'X-API-SECRET': secret },
    shell: async (script) => {
      const here = script.replaceAll('http://127.0.0.1:3000', server.url);
      const env = { ...process.env, ALBARAN_KEY: key, ALBARAN_SECRET: secret };
      return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', here], { env })).stdout;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
