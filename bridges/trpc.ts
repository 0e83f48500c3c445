// tRPC: /trpc serves the router itself, one call or a batch of them a request. Callers are API keys alone (AUTH-02). Every
// call of a batch counts in the quota and has a context of its own; the request's errors have tRPC's shape, not the envelope.
import { getTRPCErrorShape, transformTRPCResponse } from '@trpc/server';
import { fastifyRequestHandler } from '@trpc/server/adapters/fastify';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import type { CallContext, Service } from '../platform/context.ts';
import { ApiError, asApiError, badField } from '../platform/errors.ts';
import type { JsonText } from '../platform/json-text.ts';
import { appRouter } from '../routers/index.ts';
import { Answers } from './answers.ts';
import { knownError } from './envelope.ts';
import { operations } from './operations.ts';
import { callContext } from './rest.ts';

const MAX_BATCH = 50;
const byPath = new Map(operations.map((operation) => [operation.path, operation]));

/** Adds `/trpc/<path>` and `/trpc/<path>,<path>?batch=1`. */
export function addTrpcRoutes(app: FastifyInstance, service: Service): void {
  app.register(
    async (scope) => {
      // tRPC parses the text itself, after the caller was admitted (ENV-09).
      scope.removeContentTypeParser('application/json');
      scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));

      scope.setErrorHandler((failed: FastifyError, request, reply) => {
        const error = knownError(failed);
        logOurs(error, failed, request);
        const ctx = request.call ?? callContext(service, 'trpc', request);
        const config = appRouter._def._config;
        const shape = getTRPCErrorShape({ config, error, type: 'unknown', path: undefined, input: undefined, ctx });
        return reply
          .code(error.status)
          .headers(retryAfter([error]))
          .type('application/json')
          .send(JSON.stringify(transformTRPCResponse(config, { error: shape })));
      });

      scope.route<{ Params: { '*': string }; Querystring: Record<string, unknown> }>({
        method: ['GET', 'POST'],
        url: '/*',
        async onRequest(request) {
          const call = callContext(service, 'trpc', request);
          request.call = call;
          // A path that names no operation is a 404 whoever asks (ENV-10).
          if (pathsOf(request).some((path) => byPath.has(path))) {
            call.principal = await service.keys.authenticate(call.credentials);
          }
        },
        async handler(request, reply) {
          const { principal: caller, ...call } = request.call ?? callContext(service, 'trpc', request);
          const paths = pathsOf(request);
          checkRequest(paths, call, request);
          const answers = new Answers();
          const place = (answer: JsonText) => answers.value(answer);
          const batch: CallContext[] = paths.map(() => ({ ...call, caller, place, headers: {} }));
          const send = async (response: Response) => {
            reply.code(response.status).headers(Object.fromEntries(response.headers));
            await reply.send(answers.fill(await response.text()));
          };
          await fastifyRequestHandler({
            router: appRouter,
            req: request,
            // The adapter's only use of it is to send its response.
            res: Object.create(reply, { send: { value: send } }),
            // The adapter decodes it once more.
            path: encodeURIComponent(request.params['*']),
            createContext: () => ({ ...call, batch }),
            responseMeta: ({ errors }) => ({ headers: { ...answerHeaders(batch), ...retryAfter(errors) } }),
            onError: ({ error }) => logOurs(asApiError(error), error, request),
          });
        },
      });
      scope.route({
        method: scope.supportedMethods.filter((method) => method !== 'GET' && method !== 'POST'),
        url: '/*',
        handler: (_request, reply) => {
          reply.header('Allow', 'GET, POST');
          throw new ApiError('methodNotAllowed', 'Método no admitido en esta dirección; se admite GET, POST');
        },
      });
    },
    { prefix: '/trpc' },
  );
}

type TrpcRequest = FastifyRequest<{ Params: { '*': string }; Querystring: Record<string, unknown> }>;

/** The calls of a request, by tRPC path. */
function pathsOf({ params, query }: TrpcRequest): string[] {
  const [batch] = [query.batch].flat();
  return batch === '1' ? params['*'].split(',') : [params['*']];
}

/** What the request as a whole must be, before any of its calls is looked at. */
function checkRequest(paths: string[], { idempotencyKey }: CallContext, { method, body, headers }: TrpcRequest): void {
  if (paths.length > MAX_BATCH) throw new ApiError('badInput', `Un lote lleva como mucho ${MAX_BATCH} llamadas`);
  const called = paths.flatMap((path) => byPath.get(path) ?? []);
  const writes = called.filter(({ write }) => write).length;
  if (writes > 0 && writes < called.length) {
    throw new ApiError('badInput', 'Un lote no puede mezclar lecturas y escrituras');
  }
  // One key would make each write a repetition of the first.
  if (writes > 1 && idempotencyKey) {
    throw badField('X-IDEMPOTENCY-KEY', 'no vale para un lote con varias escrituras; envía cada una por separado');
  }
  if (method === 'POST' && body === undefined) {
    throw new ApiError('notJson', 'El cuerpo de la petición tiene que ser JSON (Content-Type: application/json)');
  }
  const accepted = `${headers['trpc-accept'] ?? ''},${headers.accept ?? ''}`;
  if (accepted.includes('application/jsonl')) {
    throw badField('trpc-accept', 'no se responde por partes (application/jsonl)');
  }
}

/** A lone call's headers are the answer's. Of a batch's, only the quota as its last call left it and the longest lag speak for all. */
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

/** The longest wait that an error asks for; each error states its own too. */
function retryAfter(errors: readonly Error[]): Record<string, string> {
  const seconds = errors.flatMap((error) => asApiError(error).retryAfterSeconds ?? []);
  return seconds.length > 0 ? { 'Retry-After': String(Math.max(...seconds)) } : {};
}

function logOurs(shown: ApiError, error: Error, request: FastifyRequest): void {
  if (shown.status >= 500) request.log.error({ err: shown.cause ?? error, requestId: request.id }, shown.message);
}
