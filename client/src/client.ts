// Builds the client: one method for each operation of the generated table, with timeouts and retries.
import { AlbaranError, errorOf } from './error.ts';
import type { ApiPromise, MethodKind, WithResponse, WriteOptions } from './methods.ts';
import { type AlbaranClient, methods } from './operations.ts';
import { reading, remembering, writing } from './transport.ts';

export interface ClientOptions {
  /** Where the service is: `https://albaran.example.com`. */
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  /** How long one attempt may take, in milliseconds; 30,000 by default. */
  timeoutMs?: number;
  /** How often a failed call is tried again, where another attempt may succeed; 3 by default. */
  maxRetries?: number;
  /** How many seconds behind the primary a read may be: a service with a replica may then read there. Left out, reads are current. */
  maxLagSeconds?: number;
  /**
   * Keeps what reads answer, and asks whether it is still so: an unchanged answer is not sent again. Reads of one tick then travel
   * one by one.
   */
  cache?: boolean;
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

type Input = Record<string, unknown>;
type Answer = WithResponse<unknown>;
type Send = (signal: AbortSignal) => Promise<Answer>;

const FIRST_WAIT_MS = 250;
const LONGEST_BACKOFF_MS = 8_000;
/** After a longer `Retry-After` the call is not tried again. */
const LONGEST_WAIT_MS = 65_000;
/** No answer; first call with the key still running; quota spent; service or proxy unavailable. */
const RETRIED = new Set([0, 409, 429, 502, 503, 504]);

/** Creates a client of the company that the key belongs to. Its methods reject with `AlbaranError`. */
export function createClient(options: ClientOptions): AlbaranClient {
  const { baseUrl, apiKey, apiSecret, timeoutMs = 30_000, maxRetries = 3, fetch = globalThis.fetch } = options;
  const headers = { 'X-API-KEY': apiKey, 'X-API-SECRET': apiSecret };
  const { maxLagSeconds } = options;
  const readHeaders = maxLagSeconds === undefined ? headers : { ...headers, 'X-Max-Lag': String(maxLagSeconds) };
  const common = { url: `${baseUrl.replace(/\/+$/, '')}/trpc`, fetch };
  const ask = (options.cache ? remembering : reading)({ ...common, headers: readHeaders });

  async function retrying(send: Send, options: WriteOptions): Promise<Answer> {
    const { signal, timeoutMs: limit = timeoutMs, maxRetries: most = maxRetries } = options;
    for (let retry = 0; ; retry++) {
      signal?.throwIfAborted();
      try {
        return await within(limit, signal, send);
      } catch (cause) {
        signal?.throwIfAborted();
        const wait = cause instanceof AlbaranError ? waitBefore(retry, cause) : undefined;
        if (retry >= most || wait === undefined) throw cause;
        await pause(wait, signal);
      }
    }
  }

  function method(path: string, kind: MethodKind) {
    const read = (input?: Input, options: WriteOptions = {}) =>
      apiPromise(retrying((signal) => ask({ path, input, signal }), options));
    const write = (input?: Input, options: WriteOptions = {}) => {
      const key = { 'X-IDEMPOTENCY-KEY': options.idempotencyKey ?? crypto.randomUUID() };
      const transport = { ...common, headers: { ...headers, ...key } };
      return apiPromise(retrying((signal) => writing(transport, { path, input, signal }), options));
    };
    async function* pages(input?: Input, options?: WriteOptions) {
      const { pagina, ...filters } = input ?? {};
      for (let place: Input = { pagina, cursor: filters.cursor }; ; ) {
        const page = await read({ ...filters, ...place }, options);
        yield page;
        if (!isObject(page) || typeof page.cursor !== 'string') return;
        place = { cursor: page.cursor };
      }
    }
    async function* items(input?: Input, options?: WriteOptions) {
      for await (const page of pages(input, options)) {
        if (isObject(page)) yield* Object.values(page).find(Array.isArray) ?? [];
      }
    }
    if (kind === 'write') return write;
    return kind === 'pages' ? Object.assign(read, { pages, items }) : read;
  }

  const client = Object.entries(methods).map(([resource, verbs]) => [
    resource,
    Object.fromEntries(Object.entries(verbs).map(([verb, kind]) => [verb, method(`${resource}.${verb}`, kind)])),
  ]);
  // The table and the type are generated from the same operations.
  return Object.fromEntries(client) as AlbaranClient;
}

function apiPromise(answer: Promise<Answer>): ApiPromise<unknown> {
  const data = answer.then(({ data }) => data);
  const withResponse = () => {
    // The caller handles the rejection of `answer`: the same one of `data` must not count as unhandled.
    data.catch(() => {});
    return answer;
  };
  return Object.assign(data, { withResponse });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Milliseconds to wait before the next attempt, or undefined if another would not help. */
function waitBefore(retry: number, { code, retryAfterSeconds: asked }: AlbaranError): number | undefined {
  if (!RETRIED.has(code)) return undefined;
  const wait = asked === undefined ? Math.min(FIRST_WAIT_MS * 2 ** retry, LONGEST_BACKOFF_MS) : asked * 1000;
  // A random part keeps clients that failed together from retrying together.
  return wait > LONGEST_WAIT_MS ? undefined : wait + Math.random() * FIRST_WAIT_MS;
}

/** One attempt. Rejects after `timeoutMs` or when the caller's signal aborts, even if its request goes on for other calls. */
async function within(timeoutMs: number, signal: AbortSignal | undefined, send: Send): Promise<Answer> {
  const controller = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  const timer = setTimeout(() => {
    controller.abort(errorOf(`El servicio no ha respondido en ${timeoutMs} ms`, { code: 0 }));
  }, timeoutMs);
  const stop = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', stop);
  try {
    return await Promise.race([send(controller.signal), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
