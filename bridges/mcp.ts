// The connector: MCP over stateless HTTP at /mcp and /mcp/, for the protocol revisions 2024-10-07 to 2025-11-25 and
// 2026-07-28. The SDK speaks the protocol; in front of it stand the Origin check, the caller and the permission.
import { isIP } from 'node:net';
import {
  createMcpHandler,
  isLegacyRequest,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import packageJson from '../package.json' with { type: 'json' };
import type { Service } from '../platform/context.ts';
import { ApiError, badField, forbidden } from '../platform/errors.ts';
import { areas } from '../routers/index.ts';
import type { Envelope } from './envelope.ts';
import { callTool } from './mcp/call.ts';
import { authenticate, bearerToken, Caller, confirmKey, mayUse } from './mcp/caller.ts';
import { toolNamed, tools } from './mcp/tools.ts';
import { challenge } from './oauth/metadata.ts';
import { callContext } from './rest.ts';

export interface McpOptions {
  /** Origins that browsers may call from, beside the service's own. */
  corsOrigins: string[];
}

const PATH = '/mcp';
const AREAS = Object.keys(areas);
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
  'Las fechas son AAAA-MM-DD. Las listas van por páginas (pagina, por_pagina) y dicen cuántos registros hay en total.';

/** Adds the connector. What is refused before the protocol takes over is a JSON-RPC error with the HTTP status of ENV-04. */
export async function addMcpRoutes(app: FastifyInstance, service: Service, { corsOrigins }: McpOptions): Promise<void> {
  // Empty where the service is known by whatever address it listens on.
  const ownAddress = service.baseUrl;
  // Refused messages, which are the client's doing; what fails inside a tool is logged where it happens.
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

    mcp.post<{ Querystring: Record<string, unknown> }>(PATH, {
      async onRequest(request, reply) {
        checkOrigin(request, service, corsOrigins);
        checkHost(request, ownAddress);
        const call = callContext(service, 'mcp', request);
        request.call = call;
        call.principal = await authenticate(request, call).catch(challenging(service, request, reply));
      },
      async handler(request, reply) {
        const { call, body } = request;
        if (!call?.principal) throw new Error('Reached the handler without a caller');
        const caller = new Caller(call, call.principal);
        const calls = callsTool(body);
        // Nothing is answered to a key that is gone; the call of a tool looks into its key itself.
        const confirmed = () => confirmKey(caller).catch(challenging(service, request, reply));
        if (!calls) await confirmed();
        let answer: Response;
        let text = '';
        try {
          if (body === undefined) throw badField('', 'El cuerpo de la petición tiene que ser un mensaje JSON-RPC');
          caller.areas = wantedAreas(request.query.areas);
          refuseWrite(caller, request, reply);
          const message = webRequest(request);
          answer = (await isLegacyRequest(message, body))
            ? await answerLegacy(caller, message, body, onerror)
            : await handler.fetch(message, { authInfo: caller, parsedBody: body });
          // Calls come to an end; a subscription is a stream until somebody hangs up.
          if (calls) text = caller.answers.fill(await answer.text());
        } finally {
          if (calls) await confirmed();
        }
        // A stream's own headers would let a cache keep it, and promise a connection that may be about to close.
        answer.headers.set('cache-control', 'no-store, no-transform');
        answer.headers.delete('connection');
        if (!calls) return reply.send(answer);
        return reply.code(answer.status).headers(Object.fromEntries(answer.headers)).send(text);
      },
    });

    mcp.route({
      method: mcp.supportedMethods.filter((method) => method !== 'POST'),
      url: PATH,
      handler(_request, reply) {
        reply.header('Allow', 'POST');
        throw new ApiError('methodNotAllowed', 'Método no admitido en esta dirección; se admite POST');
      },
    });
  });
}

/** Passes an error on; a 401 says where to get a token. RFC 9728, section 5.1 */
const challenging = (service: Service, request: FastifyRequest, reply: FastifyReply) => (error: unknown) => {
  if (error instanceof ApiError && error.kind === 'unauthorized') {
    const wrong = bearerToken(request) === undefined ? undefined : INVALID_TOKEN;
    reply.header('WWW-Authenticate', challenge(service, request, wrong));
  }
  throw error;
};

/** Whether a tool is called, alone or in a batch. */
const callsTool = (body: unknown) => [body].flat().some((message) => fields(message).method === 'tools/call');

/**
 * Answers a request of the revisions up to 2025-11-25. Its messages have one answer each and nothing on the way, so they are
 * answered with JSON, where the SDK would open a stream for them by itself.
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
    return await transport.handleRequest(message, { authInfo: caller, parsedBody: withoutCancellations(body) });
  } finally {
    await server.close();
  }
}

/**
 * A batch without what cancels its own calls, which a receiver may leave aside: the SDK would never answer a cancelled one, and
 * so never the request.
 */
function withoutCancellations(body: unknown): unknown {
  if (!Array.isArray(body)) return body;
  const rest = body.filter((message) => fields(message).method !== 'notifications/cancelled');
  return rest.length > 0 ? rest : body;
}

/** A server for the messages of one request: its tools are those that this caller may use. */
function serverFor(caller: Caller): Server {
  const server = new Server(
    { name: 'albaran', title: 'Albaran', version: packageJson.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: tools
      .filter(({ operation }) => caller.areas.has(operation.area) && mayUse(caller.principal, operation))
      .map(({ definition }) => definition),
  }));
  server.setRequestHandler('tools/call', ({ params }) => callTool(caller, params.name, params.arguments ?? {}));
  return server;
}

/** Browsers say where a page comes from; pages of strangers are refused, whatever they carry. 403 */
function checkOrigin(
  { headers: { origin }, protocol, host }: FastifyRequest,
  { baseUrl }: Service,
  corsOrigins: readonly string[],
): void {
  if (origin === undefined || corsOrigins.includes(origin) || origin === URL.parse(baseUrl)?.origin) return;
  if (origin !== `${protocol}://${host}` || !isFixed(origin)) {
    throw new ApiError('forbidden', 'No se admiten llamadas desde páginas de ese origen');
  }
}

/** Whether an address is this machine's or a number: any other name is pointed here by whoever owns it (DNS rebinding). */
function isFixed(address: string): boolean {
  const { hostname = '' } = URL.parse(address) ?? {};
  return hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

/** `?areas=crm,sales`: the areas whose tools are listed, all of them when none is named. 400 for one that does not exist. */
function wantedAreas(value: unknown): ReadonlySet<string> {
  const wanted = [value ?? []].flat().flatMap((text) => String(text).split(','));
  const named = wanted.map((name) => name.trim()).filter((name) => name !== '');
  const unknown = named.filter((name) => !AREAS.includes(name));
  if (unknown.length > 0) {
    throw badField('areas', `no existe ${unknown.join(', ')}; se esperaban algunas de: ${AREAS.join(', ')}`);
  }
  return new Set(named.length > 0 ? named : AREAS);
}

/** Somebody else's page may get here by a name of its own for our address (DNS rebinding). 403 */
function checkHost({ host }: FastifyRequest, ownAddress: string): void {
  if (ownAddress === '') return;
  const { protocol, host: own } = new URL(ownAddress);
  if (URL.parse(`${protocol}//${host}`)?.host !== own) {
    throw new ApiError('forbidden', 'El servicio no se llama así: la dirección de la petición es otra');
  }
}

/**
 * A caller without svc.write who calls a write gets a 403 for the whole request. Inside a batch it is so for a token; for a key
 * the message answers for itself. MCP-02
 */
function refuseWrite({ principal, call: { service } }: Caller, request: FastifyRequest, reply: FastifyReply): void {
  const { body } = request;
  const byToken = principal.credential.kind === 'token';
  const messages: unknown[] = Array.isArray(body) && byToken ? body : [body];
  const refused = messages.some((message) => {
    const { method, params } = fields(message);
    const { name } = fields(params);
    const tool = method === 'tools/call' && typeof name === 'string' ? toolNamed(name) : undefined;
    return tool !== undefined && !principal.scopes.has(tool.operation.scope);
  });
  if (!refused) return;
  if (!byToken) throw forbidden();
  reply.header('WWW-Authenticate', challenge(service, request, INSUFFICIENT_SCOPE));
  throw new ApiError('forbidden', 'La conexión es de solo lectura: esta herramienta necesita el permiso svc.write');
}

/** The request as the SDK reads it: its headers count, its body is handed over parsed. */
function webRequest({ headers }: FastifyRequest): Request {
  const texts = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return new Request(`http://connector${PATH}/`, { method: 'POST', headers: texts });
}

/** The envelope of an error, which is all that Fastify serialises here, as a JSON-RPC error for the message it was about. */
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
