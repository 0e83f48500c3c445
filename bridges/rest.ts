// REST v1 and its v0 aliases: routes made from the table of operations, texts of path and query turned into what the
// schema expects, and every answer in the envelope (ENV-*). The schema itself is the operation's; nothing is checked twice.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CallContext, Door, Service } from '../platform/context.ts';
import { ApiError, badField, badInput, fieldName } from '../platform/errors.ts';
import { jsonObject } from '../platform/json-text.ts';
import { admit } from '../routers/operation.ts';
import { idMarks } from '../routers/shared/id.ts';
import { unknownKeys, unwrap } from '../routers/shared/walk.ts';
import { success } from './envelope.ts';
import { callOperation, type Operation, operations, type Route } from './operations.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the paths of operations. */
    call?: CallContext;
  }
}

type Input = Record<string, unknown>;

/** Adds `/api/v1/...` and `POST /<alias>` for every operation. */
export function addRestRoutes(app: FastifyInstance, service: Service): void {
  const methodsOf = new Map<string, Set<string>>();
  const add = (operation: Operation, door: Door, method: Route['method'], url: string, parameters: string[]) => {
    const allowed = methodsOf.get(url) ?? new Set();
    methodsOf.set(url, allowed.add(method).add('OPTIONS'));
    if (method === 'GET') allowed.add('HEAD');
    app.route<{ Querystring: Input; Params: Input }>({
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      url,
      async onRequest(request, reply) {
        const call = callContext(service, door, request);
        call.operation = operation.alias;
        request.call = call;
        // The answer's headers are set whether the call is admitted or not: a 429 tells the quota too.
        call.principal = await admit(call, operation.scope).finally(() => void reply.headers(call.headers));
      },
      async handler(request, reply) {
        const { call } = request;
        if (!call?.principal) throw new Error('Reached a handler without a caller');
        const input = collect(operation, request, parameters, call);
        const unknown = unknownKeys(operation.input, input);
        if (unknown.length > 0) reply.header('X-Ignored-Parameters', headerText(unknown.map(fieldName)));
        const data = await callOperation(operation, call, input).finally(() => void reply.headers(call.headers));
        return reply.type('application/json; charset=utf-8').send(jsonObject(success(data)).text);
      },
    });
  };

  for (const operation of operations) {
    for (const { method, path, parameters } of operation.routes) {
      add(operation, 'v1', method, `/api/v1${path.replace(/\{(\w+)\}/g, ':$1')}`, parameters);
    }
    add(operation, 'v0', 'POST', `/${operation.alias}`, []);
  }

  for (const [url, allowed] of methodsOf) {
    const allow = [...allowed].join(', ');
    app.route({
      method: app.supportedMethods.filter((method) => !allowed.has(method)),
      url,
      // Whatever the request holds beside its method, that is what is wrong with it.
      async onRequest(_request, reply) {
        reply.header('Allow', allow);
        throw new ApiError('methodNotAllowed', `Método no admitido en esta dirección; se admite ${allow}`);
      },
      handler: () => {},
    });
    app.options(url, (_request, reply) => reply.header('Allow', allow).send(success(null)));
  }
}

/** What every door knows of a request; the credentials are the headers of AUTH-01. */
export function callContext(service: Service, door: Door, request: FastifyRequest): CallContext {
  return {
    service,
    door,
    requestId: request.id,
    credentials: {
      key: oneHeader(request, 'x-api-key'),
      secret: oneHeader(request, 'x-api-secret'),
      address: request.ip,
    },
    idempotencyKey: oneHeader(request, 'x-idempotency-key'),
    maxLag: oneHeader(request, 'x-max-lag'),
    headers: {},
  };
}

const oneHeader = (request: FastifyRequest, name: string) => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
};

const isObject = (value: unknown): value is Input =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Path, body and query as one input. The body wins over the query; the path must agree with both (CLO-04). */
function collect(
  operation: Operation,
  request: FastifyRequest<{ Querystring: Input; Params: Input }>,
  parameters: string[],
  call: CallContext,
): Input {
  try {
    decodeURIComponent(request.raw.url ?? '');
  } catch (cause) {
    throw new ApiError('badInput', 'La dirección no está bien codificada', { cause });
  }
  const body = request.body ?? {};
  if (!isObject(body)) throw badField('', 'El cuerpo de la petición tiene que ser un objeto JSON');
  const input = { ...fromTexts(operation, request.query), ...body };
  for (const name of parameters) {
    const inPath = request.params[name];
    if (input[name] != null && !sameRecord(operation, name, input[name], inPath, call)) {
      throw badField(name, 'no coincide con el de la dirección');
    }
    input[name] = inPath;
  }
  return input;
}

/** Two forms of one id, sealed or numeric, name the same record. */
function sameRecord(operation: Operation, name: string, one: unknown, other: unknown, call: CallContext): boolean {
  const property = operation.input.shape[name];
  const mark = property && idMarks.get(unwrap(property));
  const accountId = call.principal?.accountId;
  if (!mark || accountId === undefined) return one === other;
  const open = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number'
      ? call.service.ids.open(accountId, mark.kind, value)
      : undefined;
  const number = open(one);
  // A path that names nothing is a 404, not a disagreement.
  return open(other) === undefined || number === open(other);
}

/** Query texts as the schema's types; what does not read as its type stays a text, which the schema then refuses. ENV-07 */
function fromTexts(operation: Operation, query: Input): Input {
  // What has no name is no parameter, however often it comes.
  const repeated = Object.keys(query).filter((name) => name !== '' && Array.isArray(query[name]));
  if (repeated.length > 0) {
    throw badInput(repeated.map((campo) => ({ campo, mensaje: 'aparece más de una vez' })));
  }
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === '' ? [] : [[name, fromText(operation.input.shape[name], String(value))]],
    ),
  );
}

const BOOLEANS: Record<string, boolean> = { true: true, '1': true, false: false, '0': false };

function fromText(property: z.core.$ZodType | undefined, text: string): unknown {
  const schema = property && unwrap(property);
  if (schema instanceof z.ZodBoolean) return BOOLEANS[text] ?? text;
  if (schema instanceof z.ZodNumber) {
    const digits = schema.isInt ? /^\d{1,15}$/ : /^-?\d{1,15}(\.\d{1,15})?$/;
    return digits.test(text) ? Number(text) : text;
  }
  return text;
}

/** Names in a header: printable ASCII, and not without end. */
const headerText = (names: string[]) =>
  names
    .map((name) => encodeURIComponent(name.toWellFormed()).replaceAll('%5B', '[').replaceAll('%5D', ']'))
    .join(', ')
    .slice(0, 1000);
