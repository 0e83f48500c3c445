// The client's runtime: one method for each operation of the generated table, over tRPC's own links.
import { httpBatchLink, httpLink, splitLink, TRPCClientError, TRPCUntypedClient } from '@trpc/client';
import superjson from 'superjson';
import { AlbaranError, type FieldProblem } from './error.ts';
import type { MethodKind, WriteOptions } from './methods.ts';
import { type AlbaranClient, methods } from './operations.ts';

export interface ClientOptions {
  /** Where the service is: `https://albaran.example.com`. */
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  /** How long one attempt may take, in milliseconds; 30,000 by default. */
  timeoutMs?: number;
  /** How often a call is tried again after a failure that a retry may mend; 3 by default. */
  maxRetries?: number;
  /** How old, in seconds, what reads answer may be: a service with a replica then reads there. Left out, nothing is old. */
  maxLagSeconds?: number;
  /** In place of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

type Input = Record<string, unknown>;
type Send = (signal: AbortSignal) => Promise<unknown>;

const MAX_BATCH = 50;
/** Servers and proxies commonly refuse addresses over 8 KiB. */
const MAX_URL_LENGTH = 8_000;
/** Characters of an input that stay below that however they are encoded. */
const SURELY_SHORT = 800;
const FIRST_WAIT_MS = 250;
const LONGEST_BACKOFF_MS = 8_000;
/** A longer `Retry-After` is left to the caller. */
const LONGEST_WAIT_MS = 65_000;
/** No answer; the first call with the key still runs; quota spent; the service, or a proxy before it, away. */
const RETRIED = new Set([0, 409, 429, 502, 503, 504]);

/** A client of one company, the one that the key belongs to. Its methods reject with `AlbaranError`. */
export function createClient(options: ClientOptions): AlbaranClient {
  const { baseUrl, apiKey, apiSecret, timeoutMs = 30_000, maxRetries = 3, fetch = globalThis.fetch } = options;
  const headers = { 'X-API-KEY': apiKey, 'X-API-SECRET': apiSecret };
  const { maxLagSeconds } = options;
  const readHeaders = maxLagSeconds === undefined ? headers : { ...headers, 'X-Max-Lag': String(maxLagSeconds) };
  const common = { url: `${baseUrl.replace(/\/+$/, '')}/trpc`, transformer: superjson, fetch: answersOf(fetch) };
  const trpc = new TRPCUntypedClient({
    links: [
      splitLink({
        condition: ({ type }) => type === 'query',
        true: splitLink({
          condition: ({ context }) => context.alone === true,
          true: httpLink({ ...common, headers: readHeaders }),
          false: httpBatchLink({ ...common, headers: readHeaders, maxItems: MAX_BATCH, maxURLLength: MAX_URL_LENGTH }),
        }),
        false: httpLink({
          ...common,
          headers: ({ op }) => ({ ...headers, 'X-IDEMPOTENCY-KEY': String(op.context.idempotencyKey) }),
        }),
      }),
    ],
  });
  const askedTogether = gathering();

  async function retrying(send: Send, { signal, timeoutMs: own = timeoutMs }: WriteOptions): Promise<unknown> {
    for (let retry = 0; ; retry++) {
      signal?.throwIfAborted();
      try {
        return await within(own, signal, send);
      } catch (cause) {
        signal?.throwIfAborted();
        const error = failureOf(cause);
        const wait = waitBefore(retry, error);
        if (retry >= maxRetries || wait === undefined) throw error;
        await pause(wait, signal);
      }
    }
  }

  function method(path: string, kind: MethodKind) {
    const read = (input?: Input, options: WriteOptions = {}) =>
      retrying(async (signal) => {
        // A lone one need not wait for tRPC's batch, which a timer sends; a long one is measured there.
        const alone = (await askedTogether()) === 1 && JSON.stringify(input ?? {}).length < SURELY_SHORT;
        return await trpc.query(path, input, { signal, context: { alone } });
      }, options);
    const write = (input?: Input, options: WriteOptions = {}) => {
      const context = { idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
      return retrying((signal) => trpc.mutation(path, input, { signal, context }), options);
    };
    async function* pages(input?: Input, options?: WriteOptions) {
      for (let pagina = Number(input?.pagina ?? 1); ; pagina++) {
        const page = await read({ ...input, pagina }, options);
        yield page;
        if (!isObject(page) || !(Number(page.num_paginas) > pagina)) return;
      }
    }
    if (kind === 'write') return write;
    return kind === 'pages' ? Object.assign(read, { pages }) : read;
  }

  const client = Object.entries(methods).map(([resource, verbs]) => [
    resource,
    Object.fromEntries(Object.entries(verbs).map(([verb, kind]) => [verb, method(`${resource}.${verb}`, kind)])),
  ]);
  // The table and the type are generated from the same operations.
  return Object.fromEntries(client) as AlbaranClient;
}

/** Counts what is asked for at one moment: each who asks learns of how many it is one. */
function gathering(): () => Promise<number> {
  let count = 0;
  let counted: Promise<number> | undefined;
  return () => {
    count++;
    // Two turns of the queue, so that calls which come by ways of different length meet.
    counted ??= Promise.resolve()
      .then(() => {})
      .then(() => {
        const together = count;
        count = 0;
        counted = undefined;
        return together;
      });
    return counted;
  };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** `fetch` for tRPC's links, that fails with an AlbaranError unless tRPC answered. */
const answersOf =
  (fetch: typeof globalThis.fetch) => async (url: string | URL | Request, init?: Parameters<typeof fetch>[1]) => {
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, init);
      text = await response.text();
    } catch (cause) {
      throw new AlbaranError('No se ha podido hablar con el servicio', { code: 0, cause });
    }
    const json = parsed(text);
    const [answer] = Array.isArray(json) ? json : [json];
    if (!isObject(answer) || !('result' in answer || 'error' in answer)) {
      throw new AlbaranError(`Lo que responde en ${response.url} (HTTP ${response.status}) no es este servicio`, {
        code: response.status,
        retryAfterSeconds: Number(response.headers.get('Retry-After')) || undefined,
      });
    }
    return { ok: response.ok, json: async () => json };
  };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What tRPC's client rejected with, as an AlbaranError. */
function failureOf(failure: unknown): AlbaranError {
  if (failure instanceof AlbaranError) return failure;
  if (failure instanceof TRPCClientError && failure.cause instanceof AlbaranError) return failure.cause;
  const data: unknown = failure instanceof TRPCClientError ? failure.data : undefined;
  if (!(failure instanceof Error) || !isObject(data)) {
    // The input is too long for an address, or no JSON: it never left.
    return new AlbaranError(`No se puede enviar la llamada: ${failure}`, { code: 400, cause: failure });
  }
  return new AlbaranError(failure.message, {
    code: Number(data.errorCode),
    fields: Array.isArray(data.fields) ? data.fields.filter(isFieldProblem) : [],
    requestId: typeof data.requestId === 'string' ? data.requestId : '',
    retryAfterSeconds: typeof data.retryAfterSeconds === 'number' ? data.retryAfterSeconds : undefined,
    cause: failure,
  });
}

const isFieldProblem = (value: unknown): value is FieldProblem =>
  isObject(value) && typeof value.campo === 'string' && typeof value.mensaje === 'string';

/** Milliseconds to wait before the next attempt, or undefined where another would not help. */
function waitBefore(retry: number, { code, retryAfterSeconds: asked }: AlbaranError): number | undefined {
  if (!RETRIED.has(code)) return undefined;
  const wait = asked === undefined ? Math.min(FIRST_WAIT_MS * 2 ** retry, LONGEST_BACKOFF_MS) : asked * 1000;
  // Clients that failed together don't come back together.
  return wait > LONGEST_WAIT_MS ? undefined : wait + Math.random() * FIRST_WAIT_MS;
}

/** One attempt, given up after `timeoutMs` or when the caller's signal says so, whatever else travels with it. */
async function within(timeoutMs: number, signal: AbortSignal | undefined, send: Send): Promise<unknown> {
  const controller = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  const timer = setTimeout(() => {
    controller.abort(new AlbaranError(`El servicio no ha respondido en ${timeoutMs} ms`, { code: 0 }));
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
