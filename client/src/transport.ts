// Sends calls in tRPC's format: the reads of one tick in one GET, each write in one POST.
import { errorOf, type FieldProblem } from './error.ts';
import type { RateLimit, ResponseMeta, WithResponse } from './methods.ts';

export interface Call {
  path: string;
  input: unknown;
  /** Stops the call; its request is aborted when all of its calls are stopped. */
  signal: AbortSignal;
}

export interface TransportOptions {
  /** Address of the tRPC router. */
  url: string;
  fetch: typeof globalThis.fetch;
  headers: Record<string, string>;
}

interface Waiting extends Call {
  /** The input as JSON. */
  text: string;
  resolve(answer: WithResponse<unknown>): void;
  reject(error: unknown): void;
}

const MAX_BATCH = 50;
/** Many servers and proxies refuse addresses over 8 KiB. */
const MAX_URL_LENGTH = 8_000;

/** Returns a function that sends reads; the reads of one tick share a request. */
export function reading(options: TransportOptions): (call: Call) => Promise<WithResponse<unknown>> {
  let waiting: Waiting[] = [];

  function sendAll() {
    const calls = waiting.filter(({ signal }) => !signal.aborted);
    for (const { signal, reject } of waiting) if (signal.aborted) reject(signal.reason);
    waiting = [];
    for (let at = 0; at < calls.length; ) {
      let count = Math.min(calls.length - at, MAX_BATCH);
      while (count > 1 && addressOf(options.url, calls.slice(at, at + count)).length > MAX_URL_LENGTH) count--;
      send(options, calls.slice(at, at + count));
      at += count;
    }
  }

  return (call) =>
    new Promise((resolve, reject) => {
      const text = jsonOf(call.input);
      if (waiting.push({ ...call, text, resolve, reject }) > 1) return;
      // Two microtasks, so that calls which needed one more to get here join the batch.
      Promise.resolve()
        .then(() => {})
        .then(sendAll);
    });
}

/** How many answers are kept. */
const MOST_KEPT = 200;

/** Returns a function that sends each read by itself, and keeps its answer while the service says that it is unchanged. */
export function remembering({ url, fetch, headers }: TransportOptions): (call: Call) => Promise<WithResponse<unknown>> {
  /** By address, the one that was asked for longest ago first. */
  const kept = new Map<string, Tagged>();
  return async ({ path, input, signal }) => {
    const address = `${url}/${path}?input=${encodeURIComponent(jsonOf(input))}`;
    if (address.length > MAX_URL_LENGTH) throw unsent('la dirección sería demasiado larga');
    const known = kept.get(address);
    const asked = known ? { ...headers, 'If-None-Match': known.tag } : headers;
    const { answers, meta, tagged } = await answersOf(fetch, address, { headers: asked, signal }, known);
    kept.delete(address);
    if (tagged) kept.set(address, tagged);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return answerOf(answers[0], meta);
  };
}

/** Sends a write. */
export async function writing(
  { url, fetch, headers }: TransportOptions,
  { path, input, signal }: Call,
): Promise<WithResponse<unknown>> {
  const { answers, meta } = await answersOf(fetch, `${url}/${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: jsonOf(input),
    signal,
  });
  return answerOf(answers[0], meta);
}

async function send({ url, fetch, headers }: TransportOptions, calls: readonly Waiting[]): Promise<void> {
  const controller = new AbortController();
  const stop = () => {
    if (calls.every(({ signal }) => signal.aborted)) controller.abort();
  };
  for (const { signal } of calls) signal.addEventListener('abort', stop);
  try {
    const address = addressOf(url, calls);
    if (address.length > MAX_URL_LENGTH) throw unsent('la dirección sería demasiado larga');
    const { answers, meta } = await answersOf(fetch, address, { headers, signal: controller.signal });
    for (const [index, { resolve, reject }] of calls.entries()) {
      try {
        // A single answer to a batch is an error of the whole request.
        resolve(answerOf(answers.length < calls.length ? answers[0] : answers[index], meta));
      } catch (error) {
        reject(error);
      }
    }
  } catch (error) {
    for (const { reject } of calls) reject(error);
  } finally {
    for (const { signal } of calls) signal.removeEventListener('abort', stop);
  }
}

function addressOf(url: string, calls: readonly Waiting[]): string {
  const [first] = calls;
  const paths = calls.map(({ path }) => path).join(',');
  if (calls.length === 1 && first) return `${url}/${paths}?input=${encodeURIComponent(first.text)}`;
  const inputs = calls.map(({ text }, index) => `"${index}":${text}`).join(',');
  return `${url}/${paths}?batch=1&input=${encodeURIComponent(`{${inputs}}`)}`;
}

/** An input in superjson's wire format, of which plain JSON needs `json` alone. */
function jsonOf(input: unknown): string {
  try {
    // JSON.stringify would turn these numbers into null; as text the service refuses them by name.
    const kept = (_name: string, value: unknown) =>
      typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
    return JSON.stringify({ json: input ?? {} }, kept);
  } catch (cause) {
    throw unsent(String(cause), cause);
  }
}

/** The error of an input that can't be sent: too long for an address, or not JSON. */
const unsent = (why: string, cause?: unknown) => errorOf(`No se puede enviar la llamada: ${why}`, { code: 400, cause });

/** The text of a response, with its entity tag. */
interface Tagged {
  tag: string;
  text: string;
}

interface Answers {
  answers: Record<string, unknown>[];
  meta: ResponseMeta;
  /** To be kept, where the response has a tag. */
  tagged: Tagged | undefined;
}

/**
 * Sends a request and answers its calls' results in order; fails if the response is not from this service. `known`: what a response
 * without a body stands for.
 */
async function answersOf(
  fetch: typeof globalThis.fetch,
  address: string,
  init: RequestInit,
  known?: Tagged,
): Promise<Answers> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(address, init);
    text = response.status === 304 && known ? known.text : await response.text();
  } catch (cause) {
    throw errorOf('No se ha podido hablar con el servicio', { code: 0, cause });
  }
  const meta = metaOf(response);
  const json = parsed(text);
  const answers: unknown[] = Array.isArray(json) ? json : [json];
  const ours = answers.filter((answer) => isObject(answer) && ('result' in answer || 'error' in answer));
  if (ours.length === 0 || ours.length < answers.length) {
    throw errorOf(`Lo que responde en ${response.url} (HTTP ${response.status}) no es este servicio`, {
      code: response.status,
      requestId: meta.requestId,
      rateLimit: meta.rateLimit,
      retryAfterSeconds: Number(response.headers.get('Retry-After')) || undefined,
    });
  }
  const tag = response.headers.get('ETag');
  return { answers: ours.filter(isObject), meta, tagged: tag === null ? undefined : { tag, text } };
}

function metaOf({ status, headers }: Response): ResponseMeta {
  return {
    // 207: the calls of a batch differ. 304: the answer is the one that was kept. Only the metadata of successful calls is shown.
    status: status === 207 || status === 304 ? 200 : status,
    requestId: headers.get('X-Request-Id') ?? '',
    rateLimit: rateLimitOf(headers),
    replayed: headers.get('Idempotent-Replayed') === 'true',
    existing: headers.get('X-Existing') === 'true',
  };
}

/** Reads `RateLimit-Policy: "empresa";q=1200;w=60` and `RateLimit: "empresa";r=1199;t=42`. */
function rateLimitOf(headers: Headers): RateLimit | undefined {
  const [, limit] = /;q=(\d+)/.exec(headers.get('RateLimit-Policy') ?? '') ?? [];
  const [, remaining, resetSeconds] = /;r=(\d+);t=(\d+)/.exec(headers.get('RateLimit') ?? '') ?? [];
  if (limit === undefined || remaining === undefined) return undefined;
  return { limit: Number(limit), remaining: Number(remaining), resetSeconds: Number(resetSeconds) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** `json` inside `value[name]`: a result's data, an error's shape. */
const unwrapped = (value: unknown) => (isObject(value) ? value.json : undefined);

/** The data of an answer with the response's metadata. Throws the answer's error. */
function answerOf(answer: Record<string, unknown> | undefined, meta: ResponseMeta): WithResponse<unknown> {
  if (isObject(answer?.result)) return { data: unwrapped(answer.result.data), meta };
  const shape = unwrapped(answer?.error);
  const { message, data } = isObject(shape) ? shape : {};
  const { errorCode, fields, requestId, retryAfterSeconds } = isObject(data) ? data : {};
  throw errorOf(String(message), {
    code: Number(errorCode),
    fields: Array.isArray(fields) ? fields.filter(isFieldProblem) : [],
    requestId: typeof requestId === 'string' ? requestId : meta.requestId,
    rateLimit: meta.rateLimit,
    retryAfterSeconds: typeof retryAfterSeconds === 'number' ? retryAfterSeconds : undefined,
  });
}

const isFieldProblem = (value: unknown): value is FieldProblem =>
  isObject(value) && typeof value.campo === 'string' && typeof value.mensaje === 'string';
