// Unread answers use the service's memory. An answer of which the caller reads nothing for half a minute is abandoned, and each
// company may have only a limited amount of unread data.
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../platform/errors.ts';

/** The limits. */
export interface UnreadOptions {
  /** An answer of which nothing is read for this long is abandoned, in milliseconds. Default: 30 s. */
  giveUpAfterMs?: number | undefined;
  /** How many bytes a company may leave unread, in answers of 64 kB and more. Default: 32 MB. */
  unreadBytes?: number | undefined;
}

const GIVE_UP_AFTER_MS = 30_000;
const UNREAD_BYTES = 32 * 1024 ** 2;
/** Smaller answers are not counted: the quota limits their number. */
const SMALLEST = 64 * 1024;

interface Connection {
  /** Bytes that the kernel has not yet accepted, and bytes of completed writes. */
  queued: number;
  taken: number;
  since: number;
  /** The request being answered. */
  request: FastifyRequest | undefined;
}

/** The connections of a server, each with the time since when the caller has read nothing. */
export class SlowReaders {
  readonly #connections = new Map<Socket, Connection>();
  readonly #giveUpAfterMs: number;
  readonly #log: FastifyBaseLogger;

  constructor(giveUpAfterMs: number, log: FastifyBaseLogger) {
    this.#giveUpAfterMs = giveUpAfterMs;
    this.#log = log;
  }

  /** Watches a connection until it closes. */
  add(socket: Socket): void {
    this.#connections.set(socket, { queued: 0, taken: 0, since: 0, request: undefined });
    socket.once('close', () => this.#connections.delete(socket));
  }

  /** Remembers the request that a connection is answering, for the log. */
  note(request: FastifyRequest): void {
    const connection = this.#connections.get(request.raw.socket);
    if (connection) connection.request = request;
  }

  /** Closes the connections whose caller has read nothing for too long; idle ones stay. `now` is in milliseconds. */
  check(now: number): void {
    for (const [socket, connection] of this.#connections) {
      const queued = queuedBytes(socket);
      const taken = socket.bytesWritten - socket.writableLength;
      const idle = socket.writableLength === 0;
      if (idle || queued !== connection.queued || taken !== connection.taken) {
        Object.assign(connection, { queued, taken, since: now });
      } else if (now - connection.since >= this.#giveUpAfterMs) {
        const { request } = connection;
        const account = request?.call?.principal?.accountId;
        const route = request?.routeOptions.url;
        const bytes = socket.writableLength;
        this.#log.info({ reqId: request?.id, route, account, bytes }, 'an answer that nobody reads was given up');
        socket.destroy();
      }
    }
  }
}

/**
 * Bytes of the current write that the kernel has not accepted yet. Node's public properties count only whole writes, and an answer
 * can be one write of megabytes. Node's socket timeout uses the same value, but it would also close idle connections.
 */
function queuedBytes(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  const queued: unknown = typeof handle === 'object' && handle ? Reflect.get(handle, 'writeQueueSize') : 0;
  return typeof queued === 'number' ? queued : 0;
}

/** Adds both limits to every answer of the server. */
export function addUnreadLimits(app: FastifyInstance, log: FastifyBaseLogger, options: UnreadOptions): void {
  const { giveUpAfterMs = GIVE_UP_AFTER_MS, unreadBytes = UNREAD_BYTES } = options;
  const readers = new SlowReaders(giveUpAfterMs, log);
  app.server.on('connection', (socket) => readers.add(socket));
  const timer = setInterval(() => readers.check(performance.now()), giveUpAfterMs / 6).unref();
  app.addHook('onClose', async () => clearInterval(timer));

  const unread = new Map<number, number>();
  app.addHook('onRequest', (request, _reply, done) => {
    readers.note(request);
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const account = request.call?.principal?.accountId;
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
    // A response whose caller has already gone emits no `close` event, so it would count for ever.
    if (account === undefined || !isText || payload.length < SMALLEST || reply.raw.destroyed) return done();
    const bytes = Buffer.byteLength(payload);
    const held = unread.get(account) ?? 0;
    // A single answer may be of any length, and the answer to a completed write is never refused.
    if (held > 0 && held + bytes > unreadBytes && !request.hasWritten) {
      const why = 'La empresa tiene demasiadas respuestas sin leer';
      return done(new ApiError('quotaSpent', why, { retryAfterSeconds: 5 }));
    }
    unread.set(account, held + bytes);
    reply.raw.once('close', () => {
      const rest = (unread.get(account) ?? 0) - bytes;
      if (rest > 0) unread.set(account, rest);
      else unread.delete(account);
    });
    done();
  });
}
