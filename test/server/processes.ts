// Real processes of the service, each with an environment of its own and nothing of the tester's.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

const MAIN = resolve(import.meta.dirname, '../../server/main.js');
const NODE = resolve(import.meta.dirname, '../../node_modules/.bin/node');
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
  /** The first line on either output that matches, past or future. */
  says(pattern: RegExp): Promise<string>;
  signal(name: NodeJS.Signals): void;
}

/** Starts `albaran <args>`; disposing it ends it. */
export function launch(args: readonly string[], env: Environment, input?: string): Launched {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(NODE, [MAIN, ...args], { env: { PATH, HOME, ...env }, timeout: LIMIT_MS, killSignal: 'SIGKILL' });
  child.stdin.on('error', () => {}); // Ended before it read all.
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
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Runs a command to its end. */
export const run = (args: readonly string[], env: Environment, input?: string): Promise<Ended> =>
  launch(args, env, input).ended;

/** Starts a server on any free port and waits until it listens. */
export async function serve(env: Environment): Promise<Launched & { url: string }> {
  const server = launch([], { PORT: '0', LOG_LEVEL: 'info', ...env });
  const line = await server.says(/Server listening at/);
  return { ...server, url: /http:[^"]+/.exec(line)?.[0] ?? '' };
}
