// Limits wrong credentials by network (AUTH-05). Credentials are always looked up before they are refused, so that a right one
// works whatever others in the network try. Over the limit, lookups run one after another, and a credential that was wrong a
// moment ago is not looked up again, so that guessing costs the service little. FAIR-04
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import type { Database } from './database.ts';
import { ApiError, unauthorized } from './errors.ts';
import { networkOf } from './network.ts';

/** An attempt to authenticate. */
export interface Attempt<Found> {
  /** The caller's network address. */
  address: string;
  /** Identifies the credential, secret included, without revealing it. */
  credential: string;
  /** The secret is known to be right: no need to queue. */
  proven?: boolean;
  /** Looks the credential up; undefined if it is wrong. */
  find(): Promise<Found | undefined>;
}

const WINDOW_SECONDS = 60;
const WRONG_MS = 5_000;
const LONGEST_QUEUE = 1000;

/** Counts and limits wrong credentials. */
export class Guesses {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #perMinute: number;
  /** Networks over the limit, and until when. */
  readonly #over = new LRUCache<string, number>({ max: 50_000 });
  readonly #wrong = new LRUCache<string, true>({ max: 10_000, ttl: WRONG_MS });
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(database: Database, clock: Clock, perMinute: number) {
    this.#database = database;
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** What the credential gives access to. Throws 401 if it is wrong, and 429 if its network has sent too many wrong ones. */
  async attempt<Found>({ address, credential, proven = false, find }: Attempt<Found>): Promise<Found> {
    const network = networkOf(address);
    let secondsOver = this.#secondsOver(network);
    if (secondsOver > 0 && this.#wrong.has(credential)) throw tooMany(secondsOver);
    const found = await (secondsOver > 0 && !proven ? this.#queued(find) : find());
    if (found) return found;
    this.#wrong.set(credential, true);
    if (secondsOver === 0) secondsOver = await this.#count(network);
    throw secondsOver > 0 ? tooMany(secondsOver) : unauthorized();
  }

  /** How many seconds the network stays over the limit, as far as this process knows. */
  #secondsOver(network: string): number {
    const until = this.#over.get(network) ?? 0;
    return Math.max(0, Math.ceil((until - this.#clock.now().epochMilliseconds) / 1000));
  }

  /** Counts a wrong credential for all processes. Returns for how many seconds the network is refused; 0 if it is not. */
  async #count(network: string): Promise<number> {
    const now = this.#clock.now().toString();
    const { rows } = await sql<{ starts_at: string; failures: number }>`
      insert into failed_attempts (address, starts_at, failures) values (${network}, ${now}, 1)
      on conflict (address) do update set
        failures = case when failed_attempts.starts_at <= excluded.starts_at - interval '1 minute' then 1
                        else failed_attempts.failures + 1 end,
        starts_at = case when failed_attempts.starts_at <= excluded.starts_at - interval '1 minute' then excluded.starts_at
                         else failed_attempts.starts_at end
      returning starts_at, failures`.execute(this.#database.service);
    const [counted] = rows;
    if (!counted || counted.failures <= this.#perMinute) return 0;
    const until = Temporal.Instant.from(counted.starts_at).add({ seconds: WINDOW_SECONDS }).epochMilliseconds;
    this.#over.set(network, until);
    return this.#secondsOver(network);
  }

  /** Runs lookups one after another, so that all guessing uses at most one database connection. */
  async #queued<T>(find: () => Promise<T>): Promise<T> {
    if (this.#waiting >= LONGEST_QUEUE) {
      throw new ApiError('unavailable', 'El servicio está comprobando todas las claves que puede', {
        retryAfterSeconds: 1,
      });
    }
    this.#waiting++;
    const turn = this.#queue.then(find).finally(() => {
      this.#waiting--;
    });
    this.#queue = turn.catch(() => {});
    return turn;
  }
}

const tooMany = (retryAfterSeconds: number) =>
  new ApiError('quotaSpent', 'Demasiados intentos con claves no válidas desde esta dirección', { retryAfterSeconds });
