// The HTTP server: which prefix goes to which bridge, and what holds for every request (ids, limits, headers, errors, log).
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import { type Span, SpanStatusCode } from '@opentelemetry/api';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { addDocs } from '../bridges/docs.ts';
import { failure, knownError } from '../bridges/envelope.ts';
import { addFileRoutes } from '../bridges/files.ts';
import { addMcpRoutes } from '../bridges/mcp.ts';
import { addOAuthRoutes, type OAuthOptions } from '../bridges/oauth/index.ts';
import { addPages } from '../bridges/pages/index.ts';
import { addRestRoutes } from '../bridges/rest.ts';
import { addTrpcRoutes } from '../bridges/trpc.ts';
import type { Service } from '../platform/context.ts';
import { ApiError } from '../platform/errors.ts';
import type { Metrics } from '../platform/metrics.ts';
import { traceRequest } from '../platform/tracing.ts';

export interface HttpOptions {
  /** Origins that browsers may call from. */
  corsOrigins: string[];
  /** Proxies whose X-Forwarded-For is believed: all, none, or their addresses. */
  trustProxy: boolean | string;
  /** Calls that may wait for a connection to the database; those beyond are refused. Default: however many. */
  databaseQueue?: number | undefined;
  /** Where callers reach the service, if not where it listens. */
  baseUrl?: string | undefined;
  /** Serves the metrics to callers with this bearer token. */
  metricsToken?: string | undefined;
  /** Makes each request a span. */
  traces?: boolean | undefined;
  /** Of the connector's authorization server. */
  oauth?: OAuthOptions | undefined;
}

/** What those who watch the process ask: answered however busy it is. */
const ABOUT_THE_PROCESS: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/metrics']);
/** What metrics call requests of paths that nothing answers. */
const NO_ROUTE = 'none';
const BODY_LIMIT = 1024 * 1024;
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Idempotent-Replayed',
  'X-Existing',
  'X-Ignored-Parameters',
  'X-Lag',
  'WWW-Authenticate',
];

/** On what is answered before a route is found, where no plugin adds them. */
const BARE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none';frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

export async function makeHttp(service: Service, options: HttpOptions): Promise<FastifyInstance> {
  let stopping = false;
  const { databaseQueue = Number.POSITIVE_INFINITY } = options;
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
    // Longer than a URL can be: an id without end is an id that does not exist.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 20_000 },
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, log),
    genReqId: ({ headers: { 'x-request-id': given } }) =>
      typeof given === 'string' && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID(),
    frameworkErrors: (error, request, reply) => {
      const { body, status } = answerTo(error, request);
      const answer: FastifyReply = reply;
      void answer.code(status).headers(BARE_HEADERS).header('X-Request-Id', request.id).send(body);
    },
  });

  // An expectation that nobody knows changes nothing; Node would refuse it without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  // So that every method is answered on every path: where it does not fit it is a 405, not a path that is not there.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    const text = body.toString();
    // An operation without parameters may be called with an empty body.
    if (text.trim() === '') return done(null, undefined);
    secureJson(text, done);
  });
  const secureJson = (text: string, done: (error: Error | null, body?: unknown) => void) => {
    try {
      done(null, JSON.parse(text, refusePrototype));
    } catch (cause) {
      done(new ApiError('badInput', 'El cuerpo de la petición no es JSON válido', { cause }));
    }
  };

  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  });
  if (options.corsOrigins.length > 0) {
    await app.register(cors, {
      origin: options.corsOrigins,
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: 3600,
    });
  }

  if (options.traces) addTracing(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id);
    // API keys in headers don't tell a shared cache that an answer is one company's; what may be kept says so itself.
    reply.header('Cache-Control', 'no-store');
    if (stopping) {
      throw new ApiError('unavailable', 'El servicio se está deteniendo', { retryAfterSeconds: 5 });
    }
    // Before a body is read: whatever it holds, the path is what is wrong. ENV-10
    if (request.is404) throw new ApiError('notFound', 'No existe esa dirección');
    // Fastify refuses a QUERY without a type in words of its own, where every method that is not served is a 405.
    if (request.method === 'QUERY') request.raw.headers['content-type'] ??= 'application/json';
    // One more would wait longer than its caller likes to, and make all that come after wait longer still.
    if (service.database.pool.waitingCount >= databaseQueue && !ABOUT_THE_PROCESS.has(request.routeOptions.url ?? '')) {
      throw new ApiError('unavailable', 'El servicio está atendiendo todas las llamadas que puede', {
        retryAfterSeconds: 1,
      });
    }
  });
  app.addHook('preClose', async () => {
    stopping = true;
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, call } = request;
    const status = reply.statusCode;
    const milliseconds = reply.elapsedTime;
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

  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (_request, reply) => {
    try {
      await service.database.pool.query('select 1');
      return { status: 'ok' };
    } catch {
      return reply.code(503).header('Retry-After', '5').send({ status: 'database away' });
    }
  });

  if (service.metrics && options.metricsToken) addMetrics(app, service.metrics, options.metricsToken);
  addFileRoutes(app, service);
  addRestRoutes(app, service);
  addDocs(app, { baseUrl: options.baseUrl });
  addTrpcRoutes(app, service);
  await addOAuthRoutes(app, service, options.oauth);
  await addMcpRoutes(app, service, options);
  await addPages(app, service);
  return app;
}

/** `/metrics`, for who has the token. */
function addMetrics(app: FastifyInstance, metrics: Metrics, token: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${token}`);
  app.get('/metrics', async (request, reply) => {
    if (!timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) {
      reply.header('WWW-Authenticate', 'Bearer');
      throw new ApiError('unauthorized', 'Error on service call: the metrics need their bearer token');
    }
    return reply.type(metrics.contentType).send(await metrics.text());
  });
}

/** A span for each request, in which all that it does goes on. */
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

/** The answer to an error, logged when it is ours. */
function answerTo(error: FastifyError, request: FastifyRequest) {
  const known = knownError(error);
  if (known.status >= 500) {
    request.log.error({ err: known.cause ?? error, requestId: request.id }, known.message);
    const about = new ApiError(known.kind, `${known.message} (petición ${request.id})`);
    return { status: known.status, body: failure(about), retryAfterSeconds: known.retryAfterSeconds };
  }
  return { status: known.status, body: failure(known), retryAfterSeconds: known.retryAfterSeconds };
}

/** What is answered to bytes that are no HTTP request: they reach no route, but envelope and request id go out all the same. */
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
    ...Object.entries(BARE_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function refusePrototype(this: unknown, key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('__proto__ in a body');
  return value;
}
