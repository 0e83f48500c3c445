// tRPC: /trpc serves the procedures, one call or a batch per request. Only API keys are accepted (AUTH-02).
// Each call of a batch counts in the quota and has its own context. Errors have tRPC's shape, not the envelope.
import { initTRPC, transformTRPCResponse } from '@trpc/server';
import { resolveResponse } from '@trpc/server/http';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import type { CallContext, Service } from '../platform/context.ts';
import { ApiError, asApiError, badField, ERRORS, unavailable } from '../platform/errors.ts';
import { bodyText, checkJson } from '../platform/json-input.ts';
import type { JsonText } from '../platform/json-text.ts';
import { oneByOne } from '../platform/turns.ts';
import { appRouter } from '../routers/index.ts';
import { NOT_MODIFIED } from '../routers/shared/calls/execution.ts';
import { Answers } from './answers.ts';
import { knownError } from './envelope.ts';
import { type Operation, operations, shownAnswer } from './operations.ts';
import { callContext, checkAddress, mayBeKept } from './rest.ts';
import { webRequest } from './web-request.ts';

const MAX_BATCH = 50;
const byPath = new Map(operations.map((operation) => [operation.path, operation]));

type CallOptions = Parameters<Operation['procedure']>[0];

/** The calls of one request, each with its own context. They run one after another. FAIR-01 */
class Batch {
  readonly requestId: string;
  readonly calls: readonly CallContext[];
  /** The answers, for which the body has placeholders. */
  readonly answers = new Answers();
  /** Of a single read: the caller has its answer already. JRN-04 */
  notModified = false;
  readonly #nextOne = oneByOne();
  readonly #request: FastifyRequest;

  constructor(request: FastifyRequest, calls: readonly CallContext[]) {
    this.#request = request;
    this.requestId = request.id;
    this.calls = calls;
  }

  /** Runs one of the calls in its turn, and records it in the metrics. */
  make(operation: Operation, { batchIndex, getRawInput }: CallOptions): Promise<JsonText> {
    return this.#nextOne(async () => {
      // Skip the rest of the batch if the caller has disconnected.
      if (this.#request.raw.socket.destroyed) throw unavailable(new Error('The caller has gone'));
      const call = this.calls[batchIndex];
      if (!call) throw new Error('A call without its context');
      const started = performance.now();
      let status = 200;
      try {
        const answer = await operation.run(call, getRawInput);
        this.notModified = answer === NOT_MODIFIED;
        return this.answers.value(shownAnswer(operation, answer, call.headers));
      } catch (error) {
        status = asApiError(error).status;
        throw error;
      } finally {
        const milliseconds = performance.now() - started;
        call.service.metrics?.callAnswered({ operation: operation.alias, door: 'trpc', status, milliseconds });
        if (call.caller) call.service.activity.answered(call.caller, operation.alias, status);
      }
    });
  }
}

const trpc = initTRPC.context<Batch>().create({
  transformer: appRouter._def._config.transformer,
  errorFormatter: ({ shape, error, ctx }) => errorShape(asApiError(error), ctx?.requestId ?? '', shape.data.path),
});

/** An error for tRPC clients: tRPC's fields and those of the envelope. */
function errorShape(error: ApiError, requestId: string, path?: string) {
  const { kind, status, message: text, fields, retryAfterSeconds } = error;
  const code = ERRORS[kind].trpc;
  const message = status >= 500 ? `${text} (petición ${requestId})` : text;
  const own = { errorCode: status, errorMsg: message, fields, requestId, retryAfterSeconds };
  return { message, code: TRPC_ERROR_CODES_BY_KEY[code], data: { code, httpStatus: status, path, ...own } };
}

/** The router. Each procedure runs as a call of the request's batch. */
const served = trpc.router(Object.fromEntries(operations.map((operation) => [operation.path, inBatch(operation)])));

function inBatch(operation: Operation) {
  const call = async (options: CallOptions) => {
    if (!(options.ctx instanceof Batch)) throw new Error('A call without its request');
    return options.ctx.make(operation, options);
  };
  const { _def, meta } = operation.procedure;
  return _def.type === 'query' ? Object.assign(call, { _def, meta }) : Object.assign(call, { _def, meta });
}

/** Adds `/trpc/<path>` and `/trpc/<path>,<path>?batch=1`. */
export function addTrpcRoutes(app: FastifyInstance, service: Service): void {
  app.register(
    async (scope) => {
      // tRPC parses the text itself, after the caller was admitted (ENV-09).
      scope.removeContentTypeParser('application/json');
      scope.addContentTypeParser(
        'application/json',
        { parseAs: 'buffer' },
        async (_request: FastifyRequest, body: Buffer) => body,
      );

      scope.setErrorHandler((failed: FastifyError, request, reply) => {
        const error = knownError(failed);
        logOurs(error, failed, request);
        const shape = { error: errorShape(error, request.id) };
        return reply
          .code(error.status)
          .headers(retryAfter([error]))
          .type('application/json')
          .send(JSON.stringify(transformTRPCResponse(served._def._config, shape)));
      });

      scope.route<{ Params: { '*': string }; Querystring: Record<string, unknown> }>({
        method: ['GET', 'POST'],
        url: '/*',
        async onRequest(request) {
          const call = callContext(service, 'trpc', request);
          request.call = call;
          // An unknown path is a 404 for everybody, so it needs no caller (ENV-10).
          if (pathsOf(request).some((path) => byPath.has(path))) {
            call.principal = await service.keys.authenticate(call.credentials);
          }
        },
        async handler(request, reply) {
          const { principal: caller, ...call } = request.call ?? callContext(service, 'trpc', request);
          const paths = pathsOf(request);
          checkRequest(paths, call, request);
          const malformed = readInput(request, caller !== undefined);
          // Parse only input of known callers that has passed the checks. FAIR-04
          if (caller && !malformed && isBatch(request)) {
            checkPositions(paths.length, request.method === 'GET' ? request.query.input : request.body);
          }
          const calls = paths.map((): CallContext => ({ ...call, caller, malformed, headers: {} }));
          const [single] = calls;
          if (single && !isBatch(request) && request.method === 'GET') {
            single.ifNoneMatch = request.headers['if-none-match'] ?? '';
          }
          const batch = new Batch(request, calls);
          const body = typeof request.body === 'string' ? request.body : undefined;
          const answer = async () => {
            const response = await resolveResponse({
              router: served,
              req: webRequest(request, new URL(request.url, 'http://trpc'), body),
              // It decodes the path.
              path: encodeURIComponent(request.params['*']),
              error: null,
              createContext: async () => batch,
              allowMethodOverride: true,
              responseMeta: ({ errors }) => ({ headers: retryAfter(errors) }),
              onError: ({ error }) => logOurs(asApiError(error), error, request),
            });
            // A streamed batch is sent in one piece, because its placeholders must be filled in first.
            response.headers.delete('transfer-encoding');
            reply.code(response.status).headers(Object.fromEntries(response.headers)).headers(answerHeaders(calls));
            if (single?.headers.ETag) mayBeKept(reply);
            const text = batch.answers.fill(await response.text());
            await (batch.notModified ? reply.code(304).removeHeader('content-type').send() : reply.send(text));
          };
          const { accountId } = caller ?? {};
          if (paths.length === 1 || accountId === undefined) await answer();
          else await service.batches.run(accountId, answer);
        },
      });
      scope.route({
        method: scope.supportedMethods.filter((method) => method !== 'GET' && method !== 'POST'),
        url: '/*',
        async onRequest(_request, reply) {
          reply.header('Allow', 'GET, POST');
          throw new ApiError('methodNotAllowed', 'Método no admitido en esta dirección; se admite GET, POST');
        },
        handler: () => {},
      });
    },
    { prefix: '/trpc' },
  );
}

type TrpcRequest = FastifyRequest<{ Params: { '*': string }; Querystring: Record<string, unknown> }>;

/** The calls of a request, by tRPC path. */
const pathsOf = (request: TrpcRequest): string[] =>
  isBatch(request) ? request.params['*'].split(',') : [request.params['*']];

const isBatch = ({ query }: TrpcRequest) => [query.batch].flat()[0] === '1';

/** Checks the request as a whole, before its calls. */
function checkRequest(paths: string[], { idempotencyKeys }: CallContext, request: TrpcRequest): void {
  const { method, body, headers } = request;
  if (paths.length > MAX_BATCH) throw new ApiError('badInput', `Un lote lleva como mucho ${MAX_BATCH} llamadas`);
  const called = paths.flatMap((path) => byPath.get(path) ?? []);
  const writes = called.filter(({ write }) => write).length;
  if (writes > 0 && writes < called.length) {
    throw new ApiError('badInput', 'Un lote no puede mezclar lecturas y escrituras');
  }
  // With one key, the second write would count as a repetition of the first.
  if (writes > 1 && idempotencyKeys.some((key) => key !== '')) {
    throw badField('X-IDEMPOTENCY-KEY', 'no vale para un lote con varias escrituras; envía cada una por separado');
  }
  if (method === 'POST' && body === undefined) {
    throw new ApiError('notJson', 'El cuerpo de la petición tiene que ser JSON (Content-Type: application/json)');
  }
  const accepted = `${headers['trpc-accept'] ?? ''},${headers.accept ?? ''}`;
  if (accepted.includes('application/jsonl') && !isBatch(request)) {
    throw badField('trpc-accept', 'solo un lote se responde por partes (application/jsonl)');
  }
}

/** Refuses inputs of a batch that are not under the position of a call. tRPC would silently ignore them, filters included. */
function checkPositions(calls: number, text: unknown): void {
  let inputs: unknown;
  try {
    inputs = JSON.parse(String(text));
  } catch {
    // tRPC parses the text again and reports invalid JSON.
    return;
  }
  const misplaced = Object.keys(Object(inputs)).find((key) => !/^\d+$/.test(key) || Number(key) >= calls);
  if (misplaced !== undefined) {
    throw badField(
      'input',
      `la entrada de un lote va por posiciones, {"0": {"json": {...}}}, y ${misplaced} no es una`,
    );
  }
}

/**
 * Replaces the body by the text that tRPC parses. Returns an error in the body or the URL, which each call reports once its caller
 * is admitted. The body of an unknown caller is never parsed.
 */
function readInput(request: TrpcRequest, known: boolean): ApiError | undefined {
  const { body, query } = request;
  if (Buffer.isBuffer(body)) request.body = '';
  if (!known) return undefined;
  try {
    checkAddress(request);
    if (Buffer.isBuffer(body)) {
      const text = bodyText(body);
      checkJson(text);
      request.body = text;
    }
    for (const input of [query.input].flat()) if (typeof input === 'string') checkJson(input);
    return undefined;
  } catch (error) {
    return asApiError(error);
  }
}

/** The response headers: those of a single call; for a batch, the quota after its last counted call and the longest lag. */
function answerHeaders(batch: readonly CallContext[]): Record<string, string> {
  const [only, second] = batch;
  if (only && !second) return only.headers;
  const last = batch.findLast(({ headers }) => headers.RateLimit);
  const { RateLimit, 'RateLimit-Policy': policy } = last?.headers ?? {};
  const lags = batch.flatMap(({ headers }) => headers['X-Lag'] ?? []);
  return {
    ...(RateLimit && policy && { RateLimit, 'RateLimit-Policy': policy }),
    ...(lags.length > 0 && { 'X-Lag': String(Math.max(...lags.map(Number))) }),
  };
}

/** `Retry-After`: the longest wait of all errors. Each error also has its own. */
function retryAfter(errors: readonly Error[]): Record<string, string> {
  const seconds = errors.flatMap((error) => asApiError(error).retryAfterSeconds ?? []);
  return seconds.length > 0 ? { 'Retry-After': String(Math.max(...seconds)) } : {};
}

function logOurs(shown: ApiError, error: Error, request: FastifyRequest): void {
  if (shown.status >= 500) request.log.error({ err: shown.cause ?? error, requestId: request.id }, shown.message);
}
