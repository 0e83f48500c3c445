// A limit on how many places each holder (a company) may have at a time. A holder at its limit waits; other holders do not. FAIR-01
import { ApiError } from './errors.ts';

/** The limits of `Turns`. */
export interface TurnsOptions {
  /** Maximum number of places of one holder at a time. */
  share: number;
  /** How many requests of one holder may wait; further ones are refused at once. Default: no limit. */
  queue?: number | undefined;
  /** How long a request may wait. */
  waitMs: number;
  /** The error for a request that waited too long or was refused. */
  refuse: () => Error;
}

const COMPANY_WAITS_MS = 10_000;

const companyBusy = () =>
  new ApiError('unavailable', 'La empresa tiene demasiadas llamadas en curso: espera a que acaben', {
    retryAfterSeconds: 1,
  });

/** Turns by company number: 503 after waiting 10 s, or at once if the queue is full. */
export const companyTurns = (share: number, queue?: number) =>
  new Turns({ share, queue, waitMs: COMPANY_WAITS_MS, refuse: companyBusy });

interface Waiter {
  enter: () => void;
  leave: (reason: Error) => void;
}

/** Gives each holder a limited number of places. */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #taken = new Map<number, number>();
  readonly #waiting = new Map<number, Set<Waiter>>();
  #waiters = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** How many requests wait, of all holders. */
  get waitingCount(): number {
    return this.#waiters;
  }

  /** Takes a place. Call the returned function once to give it back. */
  async take(holder: number): Promise<() => void> {
    const taken = this.#taken.get(holder) ?? 0;
    if (taken < this.#options.share) this.#taken.set(holder, taken + 1);
    else await this.#wait(holder);
    return () => this.#giveBack(holder);
  }

  /** Runs a job in a place of the holder. */
  async run<T>(holder: number, job: () => Promise<T>): Promise<T> {
    const leave = await this.take(holder);
    try {
      return await job();
    } finally {
      leave();
    }
  }

  #wait(holder: number): Promise<void> {
    const { queue = Number.POSITIVE_INFINITY, waitMs, refuse } = this.#options;
    const line = this.#waiting.get(holder) ?? new Set();
    if (line.size >= queue) throw refuse();
    this.#waiting.set(holder, line);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { enter: resolve, leave: reject };
    const timer = setTimeout(() => {
      this.#forget(holder, line, waiter);
      waiter.leave(refuse());
    }, waitMs);
    line.add(waiter);
    this.#waiters++;
    return promise.finally(() => clearTimeout(timer));
  }

  /** Passes the place to the request that has waited longest. */
  #giveBack(holder: number): void {
    const line = this.#waiting.get(holder);
    const [next] = line ?? [];
    if (line && next) {
      this.#forget(holder, line, next);
      next.enter();
      return;
    }
    const taken = (this.#taken.get(holder) ?? 1) - 1;
    if (taken > 0) this.#taken.set(holder, taken);
    else this.#taken.delete(holder);
  }

  #forget(holder: number, line: Set<Waiter>, waiter: Waiter): void {
    if (line.delete(waiter)) this.#waiters--;
    if (line.size === 0) this.#waiting.delete(holder);
  }
}

/** Returns a function that runs jobs one after another, in order, even after a failure. */
export function oneByOne(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const done = last.then(job);
    last = done.catch(() => {});
    return done;
  };
}
