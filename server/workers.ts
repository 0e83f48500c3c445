// The primary process of several workers: it does what is done once at the start, starts them, replaces those that die, passes
// signals on, and writes their log. It answers no calls. Each worker is a service of its own on the same port: they share the
// database, and who does a scheduled job, as processes on several machines do.
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Database } from '../platform/database.ts';
import { aborted, within } from './aborted.ts';
import type { Interruption } from './command.ts';
import type { Config } from './config.ts';
import { loadDemo } from './demo.ts';
import { Failure, Interrupted } from './failure.ts';
import { greeting } from './greeting.ts';
import { type OpenDatabase, usable } from './open-database.ts';
import { type LogLines, output } from './output.ts';
import { LISTENING, WorkerMetrics } from './worker-messages.ts';

/** A worker that ends sooner after its start has ended quickly. */
const QUICK_MS = 10_000;
/** After so many quick ends in a row the primary gives up. The waits in between double. */
const QUICK_ENDS = 5;
const FIRST_WAIT_MS = 250;
/** How much longer than its calls a worker may take to stop. */
const STOPS_WITHIN_MS = 6_000;

/** What the workers need. */
export interface WorkersOptions extends Interruption {
  config: Config;
  /** Where they listen. */
  port: number;
  url: string;
  opened: OpenDatabase;
  /** Receives their log. */
  lines: LogLines;
  log: Logger;
}

/** Keeps the workers running until `stop`; resolves when they have stopped. Throws a Failure if they can't be kept running. */
export async function runWorkers(options: WorkersOptions): Promise<void> {
  const { config, lines, log, stop, hurry } = options;
  const welcome = await prepare(options);
  stop.throwIfAborted();
  cluster.setupPrimary({
    exec: join(import.meta.dirname, 'main.js'),
    args: ['serve'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const workers = new Set<Worker>();
  const metrics = new WorkerMetrics();
  const listening = Promise.withResolvers<void>();
  let isListening = false;
  let quickEnds = 0;

  const failed = new AbortController();
  const over = AbortSignal.any([stop, failed.signal]);
  const signalAll = (signal: NodeJS.Signals) => {
    for (const worker of workers) worker.process.kill(signal);
  };
  const pass = () => signalAll(stop.reason instanceof Interrupted ? stop.reason.signal : 'SIGTERM');
  const kill = () => signalAll('SIGKILL');
  over.addEventListener('abort', () => {
    log.info('stopping');
    pass();
    setTimeout(kill, config.shutdownTimeoutMs + STOPS_WITHIN_MS).unref();
  });
  hurry.addEventListener('abort', pass);
  process.on('exit', kill);

  // The first worker alone: what can't be used is said once.
  const places = Array.from({ length: config.workers }, async (_, index) => {
    if (index > 0) await Promise.race([listening.promise, aborted(over)]);
    await keepOne().catch((error: unknown) => failed.abort(error));
  });
  await Promise.all(places);
  failed.signal.throwIfAborted();

  /** Runs one worker after another. */
  async function keepOne(): Promise<void> {
    while (!over.aborted) {
      const startedAt = performance.now();
      const worker = start();
      const [code, signal] = await once(worker.process, 'close');
      workers.delete(worker);
      if (over.aborted) return;
      log.warn({ worker: worker.process.pid, code, signal }, 'a worker ended');
      // It has said why.
      if (!isListening) throw new Failure([]);
      quickEnds = performance.now() - startedAt < QUICK_MS ? quickEnds + 1 : 0;
      if (quickEnds === QUICK_ENDS) {
        throw new Failure(`${QUICK_ENDS} workers in a row ended within ${QUICK_MS / 1000} s of their start`);
      }
      if (quickEnds > 0) await within(FIRST_WAIT_MS * 2 ** quickEnds, over);
    }
  }

  function start(): Worker {
    const worker = cluster.fork(environmentOf(options));
    workers.add(worker);
    copyLines(worker, lines);
    worker.on('message', (message: unknown) => {
      if (message !== LISTENING) return;
      metrics.add(worker);
      if (!isListening && welcome) output.say(welcome);
      isListening = true;
      listening.resolve();
    });
    return worker;
  }
}

/** Loads the demo company, if that is due. Returns the text to show when the service has started, if there is one. */
async function prepare({ config, url, opened, stop, hurry }: WorkersOptions): Promise<string | undefined> {
  const database = new Database(opened.options);
  try {
    await usable('DATABASE_URL', database.prepareRole());
    const { directUrl } = opened;
    const demo = config.demo
      ? await loadDemo({ database, directUrl }, { stop, hurry }, { intoEmpty: true })
      : undefined;
    return demo || process.stdout.isTTY ? await greeting(config.baseUrl ?? url, database, demo) : undefined;
  } finally {
    await database.close();
  }
}

/** The settings of a worker that this process has decided; the others are its environment. */
const environmentOf = ({ config, port, opened }: WorkersOptions) => ({
  DATABASE_URL: opened.options.url,
  DATABASE_DIRECT_URL: opened.directUrl,
  PORT: String(port),
  DEMO: 'false',
  LOG_LEVEL: config.logLevel,
});

/** Copies what a worker writes, in whole lines: several processes that write to one pipe may write into each other's lines. */
function copyLines({ process: { stdout } }: Worker, lines: LogLines): void {
  let rest = '';
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) lines.write(rest + text.slice(0, end));
    rest = end > 0 ? text.slice(end) : rest + text;
  });
  stdout?.on('end', () => rest && lines.write(`${rest}\n`));
}
