// Limits requests without credentials per network and minute. They are counted before the request is read, in the memory of each
// process: counting in the database would cost more than serving them. FAIR-04
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import { ApiError } from './errors.ts';
import { networkOf } from './network.ts';

const WINDOW_MS = 60_000;

export class AnonymousCalls {
  readonly #clock: Clock;
  readonly #perMinute: number;
  /** The most recent callers. Its size is bounded: a caller with many networks pushes out the counts of others. */
  readonly #windows = new LRUCache<string, { startsAt: number; calls: number }>({ max: 50_000 });

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Counts a request from an address. Throws 429 if its network is over the limit. */
  count(address: string): void {
    const network = networkOf(address);
    const now = this.#clock.now().epochMilliseconds;
    let window = this.#windows.get(network);
    if (!window || now - window.startsAt >= WINDOW_MS || now < window.startsAt) {
      window = { startsAt: now, calls: 0 };
      this.#windows.set(network, window);
    }
    window.calls++;
    if (window.calls <= this.#perMinute) return;
    throw new ApiError('quotaSpent', 'Demasiadas peticiones desde esta dirección', {
      retryAfterSeconds: Math.ceil((window.startsAt + WINDOW_MS - now) / 1000),
    });
  }
}
