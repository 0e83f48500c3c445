// Real processes of the service, with an environment of their own.
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = resolve(import.meta.dirname, '../..');
const LIMIT_MS = 60_000;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export type Environment = Record<string, string>;

export interface Launched extends AsyncDisposable {
  pid: number;
  ended: Promise<Ended>;
  /** The first matching line on either output, past or future. */
  says(pattern: RegExp): Promise<string>;
  signal(name: NodeJS.Signals): void;
}

/** Starts `albaran <args>` of this project, or of the one in `root`; disposing ends it. */
export function launch(args: readonly string[], env: Environment, input?: string, root = ROOT): Launched {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(join(root, 'node_modules/.bin/node'), [join(root, 'server/main.js'), ...args], {
    env: { PATH, HOME, ...env },
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  child.stdin.on('error', () => {}); // EPIPE: it ended before it read everything.
  child.stdin.end(input);
  const output = { stdout: '', stderr: '' };
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
    createInterface({ input: child[name] }).on('line', (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<Ended>((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => done({ code, ...output }));
  });
  return {
    pid: child.pid ?? 0,
    ended,
    says: (pattern) =>
      new Promise((done, fail) => {
        const look = () => {
          const found = lines.find((line) => pattern.test(line));
          if (found === undefined) return;
          waiting.delete(look);
          done(found);
        };
        waiting.add(look);
        look();
        ended.then(({ code, stdout, stderr }) => fail(new Error(`It ended (${code}):\n${stdout}${stderr}`)), fail);
      }),
    signal: (name) => void child.kill(name),
    async [Symbol.asyncDispose]() {
      child.kill('SIGINT'); // Ends at once; SIGTERM waits for callers.
      await ended;
    },
  };
}

/** Runs a command to its end. */
export const run = (args: readonly string[], env: Environment, input?: string, root?: string): Promise<Ended> =>
  launch(args, env, input, root).ended;

/** With TEST_WORKERS=2 a server of `serve` has two workers. */
const WORKERS = process.env.TEST_WORKERS ?? '1';

/** Starts a server on a free port and waits until it listens. */
export async function serve(env: Environment, root?: string): Promise<Launched & { url: string }> {
  const server = launch([], { PORT: '0', LOG_LEVEL: 'info', WORKERS, ...env }, undefined, root);
  const line = await server.says(/Server listening at/);
  return { ...server, url: /http:[^"]+/.exec(line)?.[0] ?? '' };
}
