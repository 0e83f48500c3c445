// The types of the client's methods and of what they answer.

export interface CallOptions {
  /** Stops the call; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long one attempt may take, in milliseconds; the client's own when left out. */
  timeoutMs?: number | undefined;
  /** How often it is tried again after a failure that a retry may mend; the client's own when left out. */
  maxRetries?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * The service carries out a key once: later calls with it, within 24 hours, get the first one's answer. Left out, each call
   * makes a key of its own and keeps it through its retries; give one to make a call safe to repeat after a crash.
   */
  idempotencyKey?: string | undefined;
}

/** The input can be left out where none of it is required. */
export type Arguments<Input, Options> =
  Record<never, never> extends Input ? [input?: Input, options?: Options] : [input: Input, options?: Options];

/** The company's calls a minute. Every program that calls for the company shares them. */
export interface RateLimit {
  /** Calls allowed in a minute. */
  limit: number;
  /** Calls left in this minute. */
  remaining: number;
  /** Seconds until all of them are there again. */
  resetSeconds: number;
}

/** What a response says beside its data. Reads that travel in one request share the request id and the rate limit. */
export interface ResponseMeta {
  /** HTTP status of the call. */
  status: number;
  /** Identifies the request in the service's logs; empty if a proxy dropped the header. */
  requestId: string;
  /** After this call, or after the last call of its request; undefined if a proxy dropped the headers. */
  rateLimit: RateLimit | undefined;
  /** The write was done by an earlier call with the same idempotency key. */
  replayed: boolean;
  /** The creation found the record and did not change it. */
  existing: boolean;
}

/** The answer of a call with its response's metadata. */
export interface WithResponse<Output> {
  data: Output;
  meta: ResponseMeta;
}

/** What a method returns: a promise of the data. */
export interface ApiPromise<Output> extends Promise<Output> {
  /** The data with the response's metadata. It belongs to the same call: nothing is sent again. */
  withResponse(): Promise<WithResponse<Output>>;
}

/** A query. Reads made in the same tick travel together, in one request. */
export type Read<Input, Output> = (...args: Arguments<Input, CallOptions>) => ApiPromise<Output>;

/** A query that answers in pages. */
export interface PagedRead<Input, Output> extends Read<Input, Output> {
  /** Every page from `input.pagina` (the first when left out) to the last, each asked for when the loop comes to it. */
  pages(...args: Arguments<Input, CallOptions>): AsyncGenerator<Output, void, undefined>;
  /** The elements of every page's list, one after the other. */
  items(...args: Arguments<Input, CallOptions>): AsyncGenerator<Item<Output>, void, undefined>;
}

/** The elements of a page's list. A page has one list. */
export type Item<Page> = { [Name in keyof Page]: Page[Name] extends (infer Element)[] ? Element : never }[keyof Page];

/** A change. Each goes alone, with an idempotency key, so that a retry never repeats it. */
export type Write<Input, Output> = (...args: Arguments<Input, WriteOptions>) => ApiPromise<Output>;

/** How the client makes a method; `pages` is a read. */
export type MethodKind = 'read' | 'pages' | 'write';
