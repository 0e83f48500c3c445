// The HTTP server: the bridges by prefix, and what applies to every request (ids, limits, headers, errors, log).
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { IncomingMessage, METHODS, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import cors from '@fastify/cors';
import { type Span, SpanStatusCode } from '@opentelemetry/api';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import helmet from 'helmet';
import { addCompression } from '../bridges/compression.ts';
import { addDocs } from '../bridges/docs.ts';
import { failure, knownError } from '../bridges/envelope.ts';
import { addFileRoutes } from '../bridges/files.ts';
import { addMcpRoutes } from '../bridges/mcp.ts';
import { addOAuthRoutes, type OAuthOptions } from '../bridges/oauth/index.ts';
import { addPages } from '../bridges/pages/index.ts';
import { addRestRoutes, type MethodsOf, ROUTING } from '../bridges/rest.ts';
import { addTrpcRoutes } from '../bridges/trpc.ts';
import type { Service } from '../platform/context.ts';
import { ApiError } from '../platform/errors.ts';
import { bodyText, parseJson } from '../platform/json-input.ts';
import type { Metrics } from '../platform/metrics.ts';
import { traceRequest } from '../platform/tracing.ts';
import { addUnreadLimits, type UnreadOptions } from './unread.ts';

/** Settings of the HTTP server. */
export interface HttpOptions extends UnreadOptions {
  /** Origins that browsers may call from. */
  corsOrigins: string[];
  /** Proxies whose X-Forwarded-For is trusted: all, none, or their addresses. */
  trustProxy: boolean | string;
  /** How many calls may wait for a database connection; further ones are refused. Default: no limit. */
  databaseQueue?: number | undefined;
  /** The public address, if it differs from where the service listens. */
  baseUrl?: string | undefined;
  /** The contact in the API's description: an e-mail address or a URL. */
  apiContact?: string | undefined;
  /** Serves the metrics to callers with this bearer token. */
  metricsToken?: string | undefined;
  /** Of a worker: the metrics of all workers. */
  metricsOfAll?: (() => Promise<string>) | undefined;
  /** Aborted when the process is about to stop. */
  stop?: AbortSignal | undefined;
  /** Creates a span for each request. */
  traces?: boolean | undefined;
  /** Settings of the connector's authorization server. */
  oauth?: OAuthOptions | undefined;
}

/** Paths for monitoring, answered even when the process is overloaded. */
const MONITORING_PATHS: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/metrics']);
/** The route in metrics for requests without one. */
const NO_ROUTE = 'none';
const BODY_LIMIT = 1024 * 1024;
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'ETag',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Idempotent-Replayed',
  'X-Existing',
  'X-Ignored-Parameters',
  'X-Lag',
  'WWW-Authenticate',
];

/** What every answer says, unless its route says otherwise. Shared caches don't know that an answer depends on the API key's headers. */
const COMMON_HEADERS = { 'Cache-Control': 'no-store', ...securityHeaders() };

/** Helmet's headers. They are the same for every answer, so they are made once. */
function securityHeaders(): OutgoingHttpHeaders {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const directives = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };
  helmet({ contentSecurityPolicy: { useDefaults: false, directives } })(request, response, () => {});
  return response.getHeaders();
}

/** The server with all routes, not yet listening. */
export async function makeHttp(service: Service, options: HttpOptions): Promise<FastifyInstance> {
  const { databaseQueue = Number.POSITIVE_INFINITY, stop } = options;
  const log: FastifyBaseLogger = service.log;
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    trustProxy: options.trustProxy,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: 60_000,
    routerOptions: ROUTING,
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, log),
    genReqId: ({ headers: { 'x-request-id': given } }) =>
      typeof given === 'string' && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID(),
    frameworkErrors: (error, request, reply) => {
      const { body, status } = answerTo(error, request);
      const answer: FastifyReply = reply;
      void answer.code(status).headers(COMMON_HEADERS).header('X-Request-Id', request.id).send(body);
    },
  });

  // Ignore unknown `Expect` headers. By default Node answers 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  // Accept every method, so that an unsupported one on an existing path is a 405 rather than a 404.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => {
      const text = bodyText(body);
      // An operation without parameters may be called with an empty body.
      return text.trim() === '' ? undefined : parseJson(text);
    },
  );

  // Ahead of the hooks that may answer.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(COMMON_HEADERS).header('X-Request-Id', request.id);
    done();
  });
  if (options.corsOrigins.length > 0) {
    await app.register(cors, {
      origin: options.corsOrigins,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: 3600,
    });
  }

  if (options.traces) addTracing(app);
  let methodsOf: MethodsOf = () => undefined;
  app.addHook('onRequest', async (request, reply) => {
    // Before the body is read, so that the path's error comes first. ENV-10
    if (request.is404) {
      const allow = methodsOf(request.url);
      if (allow === undefined) throw new ApiError('notFound', 'No existe esa dirección');
      reply.header('Allow', allow);
      throw new ApiError('methodNotAllowed', `Método no admitido en esta dirección; se admite ${allow}`);
    }
    // Fastify rejects a QUERY without a content type with its own error. Set one, so that it becomes our 405.
    if (request.method === 'QUERY') request.raw.headers['content-type'] ??= 'application/json';
    // The queue is full: refuse the call rather than make it and later ones wait too long.
    if (service.database.pool.waitingCount >= databaseQueue && !MONITORING_PATHS.has(request.routeOptions.url ?? '')) {
      throw new ApiError('unavailable', 'El servicio está atendiendo todas las llamadas que puede', {
        retryAfterSeconds: 1,
      });
    }
  });
  addCompression(app);
  addUnreadLimits(app, log, options);
  // While stopping, requests are still served, but callers and proxies are told to close the connection.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stop?.aborted && !app.server.listening) reply.header('Connection', 'close');
    done();
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, call } = request;
    const status = reply.statusCode;
    const milliseconds = reply.elapsedTime;
    const caller = call?.principal ?? call?.caller;
    if (call?.operation && caller) service.activity.answered(caller, call.operation, status);
    if (service.metrics) {
      service.metrics.requestAnswered(method, routeOptions.url ?? NO_ROUTE, status);
      if (call?.operation) {
        service.metrics.callAnswered({ operation: call.operation, door: call.door, status, milliseconds });
      }
    }
    request.log.info(
      {
        method,
        route: routeOptions.url,
        status,
        ms: Math.round(milliseconds * 10) / 10,
        account: call?.principal?.accountId,
        actor: call?.principal?.actor,
      },
      'answered',
    );
  });

  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { body, status, retryAfterSeconds } = answerTo(error, request);
    if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds));
    return reply.code(status).type('application/json; charset=utf-8').send(body);
  });

  const health = (reply: FastifyReply, away?: string) => {
    const wrong = stop?.aborted ? 'stopping' : away && `${away} away`;
    return wrong ? reply.code(503).header('Retry-After', '5').send({ status: wrong }) : reply.send({ status: 'ok' });
  };
  app.get('/health/live', (_request, reply) => health(reply));
  app.get('/health/ready', async (_request, reply) =>
    health(reply, stop?.aborted ? undefined : await service.readiness.away()),
  );

  if (service.metrics && options.metricsToken) addMetrics(app, service.metrics, options.metricsToken, options);
  addFileRoutes(app, service);
  methodsOf = await addRestRoutes(app, service);
  addDocs(app, { baseUrl: options.baseUrl, contact: options.apiContact });
  addTrpcRoutes(app, service);
  await addOAuthRoutes(app, service, options.oauth);
  await addMcpRoutes(app, service, options);
  await addPages(app, service);
  return app;
}

/** Adds `/metrics` for callers with the token. */
function addMetrics(
  app: FastifyInstance,
  metrics: Metrics,
  token: string,
  { metricsOfAll = () => metrics.text() }: HttpOptions,
): void {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${token}`);
  app.get('/metrics', async (request, reply) => {
    if (!timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) {
      reply.header('WWW-Authenticate', 'Bearer');
      throw new ApiError('unauthorized', 'Error on service call: the metrics need their bearer token');
    }
    return reply.type(metrics.contentType).send(await metricsOfAll());
  });
}

/** Runs each request inside a span. */
function addTracing(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, _reply, done) => {
    const attributes = { 'http.request.method': request.method, 'albaran.request_id': request.id };
    spans.set(request, traceRequest(request.headers, attributes, done));
  });
  app.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request);
    const route = request.routeOptions.url;
    span?.updateName(route ? `${request.method} ${route}` : request.method);
    span?.setAttributes({ 'http.response.status_code': reply.statusCode, ...(route && { 'http.route': route }) });
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
  });
}

/** The answer to an error. Errors of the service (5xx) are logged. */
function answerTo(error: FastifyError, request: FastifyRequest) {
  const known = knownError(error);
  if (known.status >= 500) {
    request.log.error({ err: known.cause ?? error, requestId: request.id }, known.message);
    const about = new ApiError(known.kind, `${known.message} (petición ${request.id})`);
    return { status: known.status, body: failure(about), retryAfterSeconds: known.retryAfterSeconds };
  }
  return { status: known.status, body: failure(known), retryAfterSeconds: known.retryAfterSeconds };
}

/** Answers bytes that are not an HTTP request, with the usual envelope and request id. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket, log: FastifyBaseLogger): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const requestId = randomUUID();
  log.info({ err: error, requestId }, 'a request that is not HTTP');
  const message =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'Las cabeceras de la petición son demasiado largas'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'La petición no llegó entera a tiempo'
        : 'La petición no es HTTP válido';
  const body = JSON.stringify(failure(new ApiError('badInput', message)));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(COMMON_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
