// The types that every method of the client has.

export interface CallOptions {
  /** Stops the call; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long one attempt may take, in milliseconds; the client's own when left out. */
  timeoutMs?: number | undefined;
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

/** A query. Reads made in the same tick travel together, in one request. */
export type Read<Input, Output> = (...args: Arguments<Input, CallOptions>) => Promise<Output>;

/** A query that answers in pages. */
export interface PagedRead<Input, Output> extends Read<Input, Output> {
  /** Every page from `input.pagina` (the first when left out) to the last, each asked for when the loop comes to it. */
  pages(...args: Arguments<Input, CallOptions>): AsyncGenerator<Output, void, undefined>;
}

/** A change. Each goes alone, with an idempotency key, so that a retry never repeats it. */
export type Write<Input, Output> = (...args: Arguments<Input, WriteOptions>) => Promise<Output>;

/** How the client makes a method; `pages` is a read. */
export type MethodKind = 'read' | 'pages' | 'write';
