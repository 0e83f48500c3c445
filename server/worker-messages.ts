// What the primary and its workers say to each other.
import type { Worker } from 'node:cluster';
import { on } from 'node:events';
import { z } from 'zod';
import { countsOf, type Metrics, type MetricsSnapshot, sumOfMetrics } from '../platform/metrics.ts';

/** A worker listens. */
export const LISTENING = 'listening';
/** A worker wants the sum of all metrics, or the primary those of a worker. */
const METRICS_WANTED = 'metrics wanted';
const sum = z.object({ sum: z.string() });
const own = z.object({ own: z.array(z.looseObject({})) });

/** A worker that takes longer, since it is busy, counts with its last answer. */
const ANSWERS_WITHIN_MS = 1000;

/** In a worker: its primary. */
export class Primary {
  readonly #worker: Worker;
  readonly #waiting = new Set<(text: string) => void>();

  /** Answers the primary with these metrics. */
  constructor(worker: Worker, metrics: Metrics | undefined) {
    this.#worker = worker;
    worker.on('message', async (message: unknown) => {
      if (message === METRICS_WANTED && metrics) tell(worker, { own: await metrics.snapshot() });
      const { success, data } = sum.safeParse(message);
      if (!success) return;
      for (const answer of this.#waiting) answer(data.sum);
      this.#waiting.clear();
    });
  }

  /** Says that the worker listens. */
  sayListening(): void {
    tell(this.#worker, LISTENING);
  }

  /** The sum of all workers' metrics, in Prometheus' text format. */
  metricsOfAll(): Promise<string> {
    return new Promise((answer) => {
      this.#waiting.add(answer);
      tell(this.#worker, METRICS_WANTED);
    });
  }
}

/** In the primary: the metrics of all workers. Those that have ended keep their counts, since a counter must not go back. */
export class WorkerMetrics {
  readonly #last = new Map<Worker, MetricsSnapshot>();
  #ended: MetricsSnapshot = [];
  #asking: Promise<string> | undefined;

  /** Adds a worker that listens. */
  add(worker: Worker): void {
    this.#last.set(worker, []);
    worker.on('message', async (message: unknown) => {
      if (message !== METRICS_WANTED) return;
      this.#asking ??= this.#askAll().finally(() => {
        this.#asking = undefined;
      });
      tell(worker, { sum: await this.#asking });
    });
    worker.once('exit', () => {
      this.#ended = countsOf([this.#ended, this.#last.get(worker) ?? []]);
      this.#last.delete(worker);
    });
  }

  async #askAll(): Promise<string> {
    await Promise.all([...this.#last.keys()].map((worker) => this.#ask(worker)));
    return sumOfMetrics([this.#ended, ...this.#last.values()]);
  }

  async #ask(worker: Worker): Promise<void> {
    const messages = on(worker, 'message', { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS), close: ['exit'] });
    tell(worker, METRICS_WANTED);
    try {
      for await (const [message] of messages) {
        const { success, data } = own.safeParse(message);
        if (!success) continue;
        this.#last.set(worker, data.own);
        return;
      }
    } catch {
      // It took too long.
    }
  }
}

/** Sends a message; one to a process that has just ended is lost. */
const tell = (worker: Worker, message: string | object) => worker.send(message, () => {});
