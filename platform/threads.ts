// Long computations in threads of their own, so that they delay no other call. FAIR-02
import { Piscina } from 'piscina';
import { ApiError } from './errors.ts';
import { Turns } from './turns.ts';

/** A company has one of them at a time, so its long work leaves the other to all others. */
const THREADS = 2;
/** A thread takes some 60 MB, so it ends when it has had nothing to do for a minute. */
const IDLE_MS = 60_000;
const MEMORY_MB = 256;
/** How much may wait: of a company, and of all. */
const WAITING = { company: 8, all: 64 };
const WAIT_MS = 10_000;
/** Longer work is given up, and its thread ended. */
const LONGEST_MS = 60_000;

const busy = (cause?: unknown) =>
  new ApiError('unavailable', 'Hay demasiados documentos en preparación: vuelve a intentarlo enseguida', {
    retryAfterSeconds: 2,
    cause,
  });

/** A few threads, started when they are first needed. */
export class Threads {
  readonly #turns = new Turns({ share: 1, queue: WAITING.company, waitMs: WAIT_MS, refuse: busy });
  #pool: Piscina | undefined;

  /** Calls the default export of a module with a value, and passes its answer on; both are copied. */
  run(company: number, module: URL, value: unknown): Promise<unknown> {
    return this.#turns.run(company, async () => {
      this.#pool ??= new Piscina({
        minThreads: 0,
        maxThreads: THREADS,
        idleTimeout: IDLE_MS,
        resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      });
      if (this.#pool.queueSize >= WAITING.all) throw busy();
      const signal = AbortSignal.timeout(LONGEST_MS);
      try {
        return await this.#pool.run(value, { filename: module.href, signal });
      } catch (error) {
        throw signal.aborted ? busy(error) : error;
      }
    });
  }

  /** Ends them, whatever they are doing. */
  async close(): Promise<void> {
    await this.#pool?.destroy();
  }
}
