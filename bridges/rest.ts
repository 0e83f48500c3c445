// REST v1 and its v0 aliases: routes from the table of operations. Texts of path, query and body are converted to the types of the
// schema, and answers are wrapped in the envelope (ENV-*). The operation itself validates the input.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import findMyWay from 'find-my-way';
import { z } from 'zod';
import type { Door } from '../platform/audit.ts';
import type { CallContext, OfferedFile, Service } from '../platform/context.ts';
import { ApiError, badField, badInput, fieldName } from '../platform/errors.ts';
import type { Kind } from '../platform/ids.ts';
import { bodyText } from '../platform/json-input.ts';
import { jsonObject } from '../platform/json-text.ts';
import { KeptText } from '../platform/kept-answers.ts';
import { admit } from '../routers/shared/calls/admission.ts';
import { NOT_MODIFIED } from '../routers/shared/calls/execution.ts';
import { unknownKeys, unwrap } from '../routers/shared/calls/walk.ts';
import { idMarks } from '../routers/shared/id.ts';
import { weightsOf } from './compression.ts';
import { success } from './envelope.ts';
import { fileHeaders } from './files.ts';
import { callOperation, type Operation, operations, type Route } from './operations.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the paths of operations. */
    call?: CallContext;
    /** A write may have completed, so its answer must not be replaced by an error. */
    hasWritten?: boolean;
  }
}

type Input = Record<string, unknown>;

/** The content type of a body that is one text parameter, and its maximum size in bytes. FAIR-03 */
export const LINES_TYPE = 'application/x-ndjson';
const LINES_LIMIT = 5 * 1024 ** 2;

/** How addresses are compared with routes. Parameters may be longer than any URL, so that an overlong id is a 404 like any unknown id. */
export const ROUTING = { ignoreTrailingSlash: true, maxParamLength: 20_000 };

/** The headers of a request that its answer depends on. RFC 9110, section 12.5.5 */
const DEPENDS_ON = ['X-API-KEY', 'X-API-SECRET', 'X-Max-Lag'];

/**
 * Adds `/api/v1/...` and `POST /<alias>` for every operation. Returns what tells the methods that an address has, for `Allow`; undefined
 * for an address that there is not.
 */
export async function addRestRoutes(app: FastifyInstance, service: Service): Promise<MethodsOf> {
  const methodsOf = new Map<string, Set<string>>();
  const add = (
    app: FastifyInstance,
    operation: Operation,
    door: Door,
    method: Route['method'],
    url: string,
    parameters: string[],
  ) => {
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
        // Set the headers even if the call is refused: a 429 shows the quota too.
        call.principal = await admit(call, operation.scope).finally(() => void reply.headers(call.headers));
      },
      async handler(request, reply) {
        const { call } = request;
        if (!call?.principal) throw new Error('Reached a handler without a caller');
        const input = collect(operation, request, parameters, call);
        const unknown = unknownKeys(operation.input, input);
        if (unknown.length > 0) reply.header('X-Ignored-Parameters', headerText(unknown));
        const tags = door === 'v1' && !operation.write;
        if (tags) call.ifNoneMatch = request.headers['if-none-match'] ?? '';
        const data = await callOperation(operation, call, input).finally(() => void reply.headers(call.headers));
        if (operation.file) {
          reply.header('Vary', 'Accept');
          const { file } = call;
          if (file && prefersFile(request, operation.file)) return sendFile(reply, file);
        }
        if (call.headers.ETag) mayBeKept(reply);
        if (data === NOT_MODIFIED) return reply.code(304).send();
        reply.type('application/json; charset=utf-8');
        if (!(data instanceof KeptText)) return reply.send(jsonObject(success(data)).text);
        data.body ??= Buffer.from(jsonObject(success(data)).text);
        return reply.send(data.body);
      },
    });
  };

  const addAll = (app: FastifyInstance, operation: Operation) => {
    for (const { method, path, parameters } of operation.routes) {
      add(app, operation, 'v1', method, `/api/v1${path.replace(/\{(\w+)\}/g, ':$1')}`, parameters);
    }
    add(app, operation, 'v0', 'POST', `/${operation.alias}`, []);
  };
  for (const operation of operations) {
    const { lines } = operation;
    if (lines === undefined) addAll(app, operation);
    else {
      await app.register(async (scope) => {
        scope.addContentTypeParser(
          LINES_TYPE,
          { parseAs: 'buffer', bodyLimit: LINES_LIMIT },
          async (_request: FastifyRequest, body: Buffer) => ({ [lines]: bodyText(body) }),
        );
        addAll(scope, operation);
      });
    }
  }

  // One address each, whatever the method: a route for each method that there is not took 12 MB.
  const addresses = findMyWay(ROUTING);
  for (const [url, allowed] of methodsOf) {
    const allow = [...allowed].join(', ');
    addresses.on('GET', url, () => {}, allow);
    app.options(url, {
      // In onRequest, so that the body is not read.
      onRequest: async (_request, reply) => reply.header('Allow', allow).send(success(null)),
      handler: () => {},
    });
  }
  return (url) => addresses.find('GET', url)?.store;
}

export type MethodsOf = (url: string) => string | undefined;

/** Whether a caller names the file's type in `Accept`, and JSON not or less. RFC 9110, section 12.5.1 */
function prefersFile({ headers }: FastifyRequest, type: string): boolean {
  const weights = weightsOf(headers.accept ?? '');
  const weight = weights.get(type) ?? 0;
  return weight > 0 && weight > (weights.get('application/json') ?? 0);
}

const sendFile = (reply: FastifyReply, file: OfferedFile) =>
  reply.type(file.type).headers(fileHeaders(file.name)).send(file.bytes);

/** Says that the caller may keep an answer, and has to ask with its tag whether that is still so. RFC 9111, section 4.3 */
export function mayBeKept(reply: FastifyReply): void {
  const vary = [reply.getHeader('Vary') ?? [], ...DEPENDS_ON].flat().join(', ');
  reply.headers({ 'Cache-Control': 'private, no-cache', Vary: vary });
}

/** The context of a request, for every door. The credentials come from the headers of AUTH-01. */
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
    idempotencyKeys: ['x-idempotency-key', 'idempotency-key'].flatMap((name) => oneHeader(request, name) ?? []),
    maxLag: oneHeader(request, 'x-max-lag'),
    headers: {},
  };
}

const oneHeader = (request: FastifyRequest, name: string) => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** Throws 400 for a URL whose percent-encoding is not UTF-8. W-10 */
export function checkAddress({ raw }: FastifyRequest): void {
  try {
    decodeURIComponent(raw.url ?? '');
  } catch (cause) {
    throw new ApiError('badInput', 'La dirección no está bien codificada', { cause });
  }
}

const isObject = (value: unknown): value is Input =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges path, body and query. The body takes precedence over the query; the path must agree with both (CLO-04). */
function collect(
  operation: Operation,
  request: FastifyRequest<{ Querystring: Input; Params: Input }>,
  parameters: string[],
  call: CallContext,
): Input {
  checkAddress(request);
  const body = request.body ?? {};
  if (!isObject(body)) throw badField('', 'El cuerpo de la petición tiene que ser un objeto JSON');
  const input = { ...fromQuery(operation, request.query), ...fromBody(operation, body) };
  const path = asTyped(operation.input, request.params);
  for (const name of parameters) {
    const inPath = path[name];
    if (input[name] != null && !sameRecord(operation, name, input[name], inPath, call)) {
      throw badField(name, 'no coincide con el de la dirección');
    }
    input[name] = inPath;
  }
  return input;
}

/** Whether two ids, each sealed or numeric, name the same record. */
function sameRecord(operation: Operation, name: string, one: unknown, other: unknown, call: CallContext): boolean {
  const property = operation.input.shape[name];
  const mark = property && idMarks.get(unwrap(property));
  const accountId = call.principal?.accountId;
  if (!mark || accountId === undefined) return one === other;
  const open = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number'
      ? [mark.kind, ...(mark.or ?? [])]
          .map((kind: Kind) => call.service.ids.open(accountId, kind, value))
          .find((number) => number !== undefined)
      : undefined;
  const number = open(one);
  // An invalid id in the path becomes a 404 later, not a mismatch.
  return open(other) === undefined || number === open(other);
}

/** The input of a query. Empty values count as absent. ENV-07 */
function fromQuery({ input }: Operation, query: Input): Input {
  // Entries without a name are not parameters.
  const repeated = Object.keys(query).filter((name) => name !== '' && Array.isArray(query[name]));
  if (repeated.length > 0) {
    throw badInput(repeated.map((campo) => ({ campo, mensaje: 'aparece más de una vez' })));
  }
  const sent = Object.entries(query).filter(([, value]) => value !== '');
  return asTyped(input, Object.fromEntries(sent.map(([name, value]) => [name, String(value)])));
}

/**
 * The input of a body, read like a query: strings are converted to the schema's types, and an empty string for another type counts
 * as absent. An empty string for a text is absent in a read, and a value in a write. ENV-07
 */
const fromBody = ({ input, write }: Operation, body: Input): Input =>
  asTyped(input, write ? body : Object.fromEntries(Object.entries(body).filter(([, value]) => value !== '')));

/** Converts the strings of an object to the types of the schema. */
function asTyped({ shape }: z.ZodObject, input: Input): Input {
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => {
      const schema = Object.hasOwn(shape, name) ? unwrap(shape[name]) : undefined;
      if (!schema) return [[name, value]];
      return value === '' && !takesEmpty(schema) ? [] : [[name, fromTexts(schema, value)]];
    }),
  );
}

/** Converts strings, nested ones too; a list may be one, with commas. A string that does not fit its type stays one, and the schema refuses it. */
function fromTexts(schema: z.core.$ZodType, value: unknown): unknown {
  if (typeof value === 'string') return fromText(schema, value);
  if (schema instanceof z.ZodObject && isObject(value)) return asTyped(schema, value);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    const element = unwrap(schema.def.element);
    return value.map((item) => fromTexts(element, item));
  }
  return value;
}

/**
 * Whether an empty string is a value of this type: of plain text, and of what it empties. A date is a string too, but not plain
 * text. W-01
 */
const takesEmpty = (schema: z.core.$ZodType) =>
  (schema instanceof z.ZodString && schema.format === null) ||
  (schema instanceof z.ZodUnion && schema.safeParse('').success);

const BOOLEANS: Record<string, boolean> = { true: true, '1': true, false: false, '0': false };

function fromText(schema: z.core.$ZodType, text: string): unknown {
  if (schema instanceof z.ZodArray) return fromTexts(schema, text.split(','));
  if (schema instanceof z.ZodBoolean) return Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : text;
  if (schema instanceof z.ZodLiteral) return [...schema.values].find((value) => String(value) === text) ?? text;
  // Accept only JSON's plain notation, and for an int only digits, so that every door refuses the same values.
  if (schema instanceof z.ZodNumber && /^-?\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    return schema.isInt && Number.isInteger(number) && text.includes('.') ? text : number;
  }
  return text;
}

const LONGEST_HEADER = 1000;

/** Names for a header: printable ASCII, of limited length. */
function headerText(paths: readonly (readonly PropertyKey[])[]): string {
  let text = '';
  for (const path of paths) {
    const name = encodeURIComponent(fieldName(path).slice(0, LONGEST_HEADER).toWellFormed());
    text += `${text && ', '}${name.replaceAll('%5B', '[').replaceAll('%5D', ']')}`;
    if (text.length >= LONGEST_HEADER) break;
  }
  return text.slice(0, LONGEST_HEADER);
}
