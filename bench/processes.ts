// The two servers as processes, and processor time and memory of processes.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endedWith, freePort } from './cluster.ts';

const ROOT = join(import.meta.dirname, '..');
const START_MS = 30_000;
const POLL_MS = 2;

/** As in production, except the quota; and without renewals, which would issue thousands of notes at the start. */
const PRODUCTION = {
  NODE_ENV: 'production',
  QUOTA_PER_MINUTE: '10000000',
  RENEWALS: 'off',
  // As `npm start` and the image have it.
  NODE_OPTIONS: '--max-old-space-size=384 --max-semi-space-size=8',
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
};

export interface Server extends AsyncDisposable {
  origin: string;
  pid: number;
  /** Milliseconds from the start of the process to its first answer. */
  startMs: number;
}

/** Starts the product. `flags` are flags of Node, such as `--cpu-prof`. */
export const startProduct = (
  databaseUrl: string,
  flags: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Server> =>
  start([...flags, join(ROOT, 'server/main.js'), 'serve'], '/health/live', {
    ...PRODUCTION,
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    ...settings,
  });

/** Starts the floor. */
export const startFloor = (databaseUrl: string): Promise<Server> =>
  start([join(ROOT, 'bench/floor/server.mjs')], '/hello', { DATABASE_URL: databaseUrl });

async function start(args: string[], firstPath: string, env: Record<string, string>): Promise<Server> {
  const port = await freePort();
  const begun = performance.now();
  // Its log is written, as in production, and not read.
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  endedWith(child);
  const origin = `http://127.0.0.1:${port}`;
  try {
    await untilAnswering(origin + firstPath, child);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    origin,
    pid: child.pid ?? 0,
    startMs: performance.now() - begun,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function untilAnswering(url: string, child: ChildProcess): Promise<void> {
  for (const giveUpAt = Date.now() + START_MS; ; await sleep(POLL_MS)) {
    try {
      await (await fetch(url)).text();
      return;
    } catch (cause) {
      if (child.exitCode !== null || Date.now() > giveUpAt) throw new Error(`${url} does not answer`, { cause });
    }
  }
}

/** Ticks of processor time in a second. */
const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

interface Stat {
  pid: number;
  parent: number;
  /** Ticks of the process itself. */
  ownMs: number;
  /** Ticks of its ended children. */
  endedMs: number;
}

function statOf(pid: number | string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name, which may contain anything: state, parent, ...; user and system time, own and of children, are fields 14 to 17.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [0, 1, 11, 12, 13, 14].map(
      (index) => fields[index] ?? 0,
    );
    const ms = 1000 / TICKS;
    return { pid: Number(pid), parent, ownMs: (user + system) * ms, endedMs: (endedUser + endedSystem) * ms };
  } catch {
    return undefined; // It has ended.
  }
}

/** Processor time of a process so far, in milliseconds. */
export const cpuOf = (pid: number): number => statOf(pid)?.ownMs ?? 0;

/** Processor time of a process and all its descendants, ended ones included, in milliseconds. */
export function cpuOfTree(pid: number): number {
  const stats = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(name) ?? []) : []));
  return stats.reduce(
    (sum, stat) => (stat.pid === pid ? sum + stat.ownMs + stat.endedMs : stat.parent === pid ? sum + stat.ownMs : sum),
    0,
  );
}

/** Resident memory of a process in MB. */
export function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
