// The connector: MCP over stateless HTTP at /mcp and /mcp/, for the protocol revisions 2024-10-07 to 2025-11-25 and
// 2026-07-28. The SDK implements the protocol. Before it, the Origin, the caller and the permission are checked.
import { isIP } from 'node:net';
import { scheduler } from 'node:timers/promises';
import {
  createMcpHandler,
  isLegacyRequest,
  isSpecType,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import packageJson from '../package.json' with { type: 'json' };
import type { Service } from '../platform/context.ts';
import { ApiError, badField, forbidden } from '../platform/errors.ts';
import { LONGEST_ANSWER } from '../platform/json-text.ts';
import { areas } from '../routers/index.ts';
import type { Envelope } from './envelope.ts';
import { callTool } from './mcp/call.ts';
import { authenticate, bearerToken, Caller, confirmKey, isForKeysAlone } from './mcp/caller.ts';
import { callCatalogue, catalogueFor, toolRunBy } from './mcp/catalogue.ts';
import { type Tool, toolNamed } from './mcp/tools.ts';
import { challenge } from './oauth/metadata.ts';
import { callContext } from './rest.ts';
import { webRequest } from './web-request.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller of the connector. */
    caller?: Caller;
  }
}

/** Settings of the connector. */
export interface McpOptions {
  /** Origins that browsers may call from, besides the service's own. */
  corsOrigins: string[];
}

const PATH = '/mcp';
const AREAS = Object.keys(areas);
const MAX_BATCH = 50;
const JSON_RPC = { parseError: -32700, invalidRequest: -32600, refused: -32000 };

const INVALID_TOKEN = { code: 'invalid_token', text: 'The access token is not valid, has expired or was withdrawn' };
const INSUFFICIENT_SCOPE = {
  code: 'insufficient_scope',
  text: 'This tool needs svc.write',
  scope: 'svc.write',
} as const;

const INSTRUCTIONS =
  'Datos de gestión de una empresa: ventas, compras, catálogo, CRM, proyectos, tesorería y control horario. ' +
  'Los identificadores son textos opacos: se copian tal cual de la respuesta de otra herramienta, nunca se inventan. ' +
  'Las fechas son AAAA-MM-DD, y los periodos incluyen su último día. ' +
  'Las listas van por páginas (pagina, por_pagina: 500 como máximo) y dicen cuántos registros hay en total. ' +
  'El cursor que da una página pide la siguiente, en vez de pagina: lo que entra o sale entretanto ni se repite ni se salta. ' +
  'En una lista, un identificador deja solo lo suyo, y modificado_desde (AAAA-MM-DD o un instante con zona) lo creado o cambiado desde entonces. ' +
  'clave_idempotencia es un texto propio: repetir una escritura con la misma da la primera respuesta, sin escribir otra vez.';

/** Adds the connector. Requests refused before they reach the SDK get a JSON-RPC error with the HTTP status of ENV-04. */
export async function addMcpRoutes(app: FastifyInstance, service: Service, { corsOrigins }: McpOptions): Promise<void> {
  // Without a configured name, `baseUrl` is set to the listening address later.
  const hasName = service.baseUrl !== '';
  // Refused messages are the client's errors. Failures inside tools are logged where they happen.
  const onerror = (error: Error) => service.log.debug({ err: error }, 'connector');
  const handler = createMcpHandler(
    ({ authInfo }) => {
      if (!(authInfo instanceof Caller)) throw new Error('A message without its caller');
      return serverFor(authInfo);
    },
    { legacy: 'reject', onerror },
  );

  await app.register(async (mcp) => {
    mcp.addHook('preSerialization', async (request, reply, payload: Envelope) => jsonRpcError(request, reply, payload));

    /** Authenticates the caller first (401). Every message of a known caller counts in the quota, even if it is not read. */
    async function admitCaller(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      checkOrigin(request, service, corsOrigins);
      checkHost(request, service.baseUrl, hasName);
      const call = callContext(service, 'mcp', request);
      request.call = call;
      call.principal = await authenticate(request, call).catch(challenging(service, request, reply));
      const caller = new Caller(call, call.principal);
      await caller.count();
      if (caller.refusal && caller.refusal.kind !== 'quotaSpent') challenging(service, request, reply)(caller.refusal);
      request.caller = caller;
    }

    mcp.post<{ Querystring: Record<string, unknown> }>(PATH, {
      onRequest: admitCaller,
      async handler(request, reply) {
        const { caller, body } = request;
        if (!caller) throw new Error('Reached the handler without a caller');
        const calls = callsTool(body);
        // Tool calls report a refusal in their results; other requests fail here.
        if (caller.refusal && !calls) throw caller.refusal;
        // Revoked keys get no answer. Tool calls check the key in their own transaction.
        const confirmed = () => confirmKey(caller).catch(challenging(service, request, reply));
        if (!calls) await confirmed();
        let answer: Response;
        let text = '';
        const isStream = fields(body).method === 'subscriptions/listen';
        try {
          if (body === undefined) throw badField('', 'El cuerpo de la petición tiene que ser un mensaje JSON-RPC');
          if (Array.isArray(body)) checkBatch(body);
          caller.areas = wantedAreas(request.query.areas);
          caller.catalogue = wantsCatalogue(request.query.modo);
          refuseWrite(caller, request, reply);
          request.hasWritten = [body].flat().some((message) => callsWrite(caller, message));
          // The parsed body is passed separately.
          const message = webRequest(request, `http://connector${PATH}/`);
          answer = !(await isLegacyRequest(message, body))
            ? await handler.fetch(message, { authInfo: caller, parsedBody: body })
            : Array.isArray(body)
              ? await service.batches.run(caller.principal.accountId, () => answerBatch(caller, message, body, onerror))
              : await answerLegacy(caller, message, body, onerror);
          // A subscription ends only when the client hangs up.
          if (!isStream) text = caller.answers.fill(await answer.text());
        } finally {
          // If every call was refused, the answer holds no data of the company.
          if (calls && caller.admitted) await confirmed();
        }
        // The SDK's headers for streams would allow caching and promise to keep the connection open.
        answer.headers.set('cache-control', 'no-store, no-transform');
        answer.headers.delete('connection');
        if (isStream) return reply.send(answer);
        return reply
          .code(answer.status)
          .headers(Object.fromEntries(answer.headers))
          .send(text || undefined);
      },
    });

    const notPost = (_request: FastifyRequest, reply: FastifyReply) => {
      reply.header('Allow', 'POST');
      throw new ApiError('methodNotAllowed', 'Método no admitido en esta dirección; se admite POST');
    };
    // Methods by which clients open a stream or end a session. They are not supported, but the caller is authenticated first.
    mcp.route({
      method: ['GET', 'HEAD', 'DELETE'],
      url: PATH,
      onRequest: admitCaller,
      async handler(request, reply) {
        const { caller } = request;
        if (!caller) throw new Error('Reached the handler without a caller');
        if (caller.refusal) throw caller.refusal;
        await confirmKey(caller).catch(challenging(service, request, reply));
        return notPost(request, reply);
      },
    });
    mcp.route({
      method: mcp.supportedMethods.filter((method) => !['POST', 'GET', 'HEAD', 'DELETE'].includes(method)),
      url: PATH,
      onRequest: async (request, reply) => notPost(request, reply),
      handler: () => {},
    });
  });
}

/** Rethrows an error; a 401 gets a `WWW-Authenticate` that says where to get a token. RFC 9728, section 5.1 */
const challenging = (service: Service, request: FastifyRequest, reply: FastifyReply) => (error: unknown) => {
  if (error instanceof ApiError && error.kind === 'unauthorized') {
    const wrong = bearerToken(request) === undefined ? undefined : INVALID_TOKEN;
    reply.header('WWW-Authenticate', challenge(service, request, wrong));
  }
  throw error;
};

/** Whether a message calls a tool, alone or in a batch. */
const callsTool = (body: unknown) => [body].flat().some((message) => fields(message).method === 'tools/call');

/**
 * Answers a request of the revisions up to 2025-11-25. Each message has exactly one answer, so they are answered with JSON; by
 * default the SDK would open a stream.
 */
async function answerLegacy(
  caller: Caller,
  message: Request,
  body: unknown,
  onerror: (error: Error) => void,
): Promise<Response> {
  const server = serverFor(caller);
  try {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    transport.onerror = onerror;
    await server.connect(transport);
    return await transport.handleRequest(message, { authInfo: caller, parsedBody: body });
  } finally {
    await server.close();
  }
}

/** Checks a batch as a whole, before its messages. Throws 400. */
function checkBatch(messages: readonly unknown[]): void {
  if (messages.length === 0) throw badField('', 'Un lote lleva al menos un mensaje');
  if (messages.length > MAX_BATCH) throw badField('', `Un lote lleva como mucho ${MAX_BATCH} mensajes`);
  const wrong = messages.findIndex((message) => !isSpecType.JSONRPCMessage(message));
  if (wrong >= 0) throw badField('', `El elemento ${wrong + 1} del lote no es un mensaje JSON-RPC 2.0`);
  if (messages.length > 1 && messages.some((message) => fields(message).method === 'initialize')) {
    throw badField('', 'initialize no puede ir en un lote con otros mensajes');
  }
}

/**
 * Answers a batch one message after another, so that it uses no more resources than single messages. FAIR-01
 * A read whose result no longer fits into the answer gets an error, and later messages do not run. FAIR-03
 */
async function answerBatch(
  caller: Caller,
  request: Request,
  messages: readonly unknown[],
  onerror: (error: Error) => void,
): Promise<Response> {
  const texts: string[] = [];
  let [length, full] = [0, false];
  for (const [index, message] of messages.entries()) {
    if (index > 0) await caller.count();
    // Messages may complete without any I/O. Yield, so that other calls can run. FAIR-02
    await scheduler.yield();
    const { method } = fields(message);
    const refusal = full ? tooLong() : method === 'tools/call' ? undefined : caller.refusal;
    let text = '';
    if (refusal) text = errorFor(message, refusal);
    else {
      const answer = await answerLegacy(caller, request, message, onerror);
      // An error of the request itself applies to all messages.
      if (index === 0 && !answer.ok) return answer;
      text = caller.answers.fill(await answer.text());
      full = length + Buffer.byteLength(text) > LONGEST_ANSWER;
      // The result of a write is always included; it is small.
      if (full && !callsWrite(caller, message)) text = errorFor(message, tooLong());
    }
    if (text === '') continue;
    texts.push(text);
    length += Buffer.byteLength(text) + 1;
  }
  return texts.length === 0
    ? new Response(null, { status: 202 })
    : new Response(`[${texts.join(',')}]`, { headers: { 'content-type': 'application/json' } });
}

const tooLong = () =>
  new ApiError(
    'badInput',
    `La respuesta del lote pasa de ${LONGEST_ANSWER / 1e6} MB: este mensaje tiene que ir en otra petición`,
  );

/** A JSON-RPC error as text; empty for notifications and responses, which get no answer. */
function errorFor(message: unknown, { message: why, retryAfterSeconds }: ApiError): string {
  const { id, method } = fields(message);
  if (id === undefined || method === undefined) return '';
  const wait = retryAfterSeconds === undefined ? '' : `. Se puede repetir la llamada dentro de ${retryAfterSeconds} s.`;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: JSON_RPC.refused, message: why + wait } });
}

/** A server for the messages of one request, with the tools that this caller may use. */
function serverFor(caller: Caller): Server {
  const server = new Server(
    { name: 'albaran', title: 'Albaran', version: packageJson.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: caller.catalogue
      ? catalogueFor(caller)
      : [caller.answers.value<Tool['definition']>(caller.toolList()).parse()],
  }));
  const call = caller.catalogue ? callCatalogue : callTool;
  server.setRequestHandler('tools/call', ({ params }) => call(caller, params.name, params.arguments ?? {}));
  return server;
}

/** Refuses calls from web pages of unknown origins, whatever their credentials. Throws 403. */
function checkOrigin(
  { headers: { origin, host }, protocol }: FastifyRequest,
  { baseUrl }: Service,
  corsOrigins: readonly string[],
): void {
  if (origin === undefined || corsOrigins.includes(origin) || origin === URL.parse(baseUrl)?.origin) return;
  if (origin !== `${protocol}://${host}` || !isFixed(origin)) {
    throw new ApiError('forbidden', 'No se admiten llamadas desde páginas de ese origen');
  }
}

/** Whether a host is `localhost` or an IP address. The owner of any other name can point it here (DNS rebinding). */
function isFixed(address: string): boolean {
  const { hostname = '' } = URL.parse(address) ?? {};
  return hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

/** `?areas=crm,sales`: the areas whose tools are listed; default all. Throws 400 for an unknown one. */
function wantedAreas(value: unknown): ReadonlySet<string> {
  const wanted = [value ?? []].flat().flatMap((text) => String(text).split(','));
  const named = wanted.map((name) => name.trim()).filter((name) => name !== '');
  const unknown = named.filter((name) => !AREAS.includes(name));
  if (unknown.length > 0) {
    throw badField('areas', `no existe ${unknown.join(', ')}; se esperaban algunas de: ${AREAS.join(', ')}`);
  }
  return new Set(named.length > 0 ? named : AREAS);
}

/** `?modo=catalogo`: lists three tools that find and run the others. Throws 400 for other values. */
function wantsCatalogue(value: unknown): boolean {
  const wanted = [value ?? []].flat().filter((name) => name !== '');
  if (wanted.some((name) => name !== 'catalogo')) throw badField('modo', 'se esperaba catalogo, o nada');
  return wanted.length > 0;
}

/**
 * Protects against DNS rebinding, by which a foreign page reaches us under its own host name. Throws 403. Only `Host` is checked,
 * because such a page can set other headers, such as `X-Forwarded-Host`. A service without a configured name accepts `localhost` and
 * IP addresses.
 */
function checkHost({ headers: { host = '' } }: FastifyRequest, baseUrl: string, hasName: boolean): void {
  const { protocol, host: own } = new URL(baseUrl);
  const asked = URL.parse(`${protocol}//${host}`);
  if (asked?.host === own || (!hasName && asked && isFixed(asked.href))) return;
  throw new ApiError('forbidden', 'El servicio no se llama así: la dirección de la petición es otra (BASE_URL)');
}

/**
 * Throws 403 for the whole request if a caller without svc.write calls a write. In a batch this applies only to tokens; with a key
 * only that message fails. Tools that tokens can never use are left out too, because more permission would not help. MCP-02
 */
function refuseWrite(caller: Caller, request: FastifyRequest, reply: FastifyReply): void {
  const { body } = request;
  const { principal, call } = caller;
  const byToken = principal.credential.kind === 'token';
  const messages: unknown[] = Array.isArray(body) && byToken ? body : [body];
  const refused = messages.some((message) => {
    const operation = calledTool(caller, message)?.operation;
    return operation && !principal.scopes.has(operation.scope) && !isForKeysAlone(principal, operation);
  });
  if (!refused) return;
  if (!byToken) throw forbidden();
  reply.header('WWW-Authenticate', challenge(call.service, request, INSUFFICIENT_SCOPE));
  throw new ApiError('forbidden', 'La conexión es de solo lectura: esta herramienta necesita el permiso svc.write');
}

/** The tool that a message calls, directly or through the catalogue. */
function calledTool({ catalogue }: Caller, message: unknown): Tool | undefined {
  const { method, params } = fields(message);
  const { name, arguments: args } = fields(params);
  if (method !== 'tools/call' || typeof name !== 'string') return undefined;
  return catalogue ? toolRunBy(name, fields(args)) : toolNamed(name);
}

const callsWrite = (caller: Caller, message: unknown) => calledTool(caller, message)?.operation.write === true;

/** Converts an error's envelope to a JSON-RPC error with the message's id. Fastify serialises nothing else in this scope. */
function jsonRpcError(request: FastifyRequest, reply: FastifyReply, { errorMsg }: Envelope) {
  const { id } = fields(request.body);
  const badRequest = request.body === undefined ? JSON_RPC.parseError : JSON_RPC.invalidRequest;
  return {
    jsonrpc: '2.0',
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    error: { code: reply.statusCode === 400 ? badRequest : JSON_RPC.refused, message: errorMsg },
  };
}

const fields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
