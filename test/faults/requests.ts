// The requests of `npm run prove:input`: made from the OpenAPI document, and from valid calls that are broken in one way or
// several. Each follows from the seed and its own number alone.
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { operations } from '../../bridges/operations.ts';
import { examples } from '../helpers/examples.ts';
import { type Input, places, withValue } from '../helpers/places.ts';
import { toolCall } from '../oauth/application.ts';
import { routeCall, trpcCall } from './doors.ts';
import { Random } from './random.ts';

/** What an answer has to look like. `any`: it is a page, a document or what a mangled address leads to. */
export type Shape = 'envelope' | 'tRPC' | 'MCP' | 'any';

export interface FuzzRequest {
  /** What is odd about it. */
  about: string[];
  shape: Shape;
  method: string;
  path: string;
  headers: [string, string][];
  body?: Buffer;
  /** The body comes in so many pieces, with a wait before each. */
  pieces?: number;
  /** Sent byte by byte as it stands, on a connection of its own. The service may hang up instead of answering. */
  raw?: Buffer;
}

const schemaOf: z.ZodType<JsonSchema> = z.lazy(() =>
  z.object({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    anyOf: z.array(schemaOf).optional(),
    oneOf: z.array(schemaOf).optional(),
    properties: z.record(z.string(), schemaOf).optional(),
    required: z.array(z.string()).optional(),
    items: schemaOf.optional(),
    format: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    maxLength: z.number().optional(),
    maxItems: z.number().optional(),
    examples: z.array(z.unknown()).optional(),
  }),
);

interface JsonSchema {
  type?: string | string[] | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  anyOf?: JsonSchema[] | undefined;
  oneOf?: JsonSchema[] | undefined;
  properties?: Record<string, JsonSchema> | undefined;
  required?: string[] | undefined;
  items?: JsonSchema | undefined;
  format?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  maxLength?: number | undefined;
  maxItems?: number | undefined;
  examples?: unknown[] | undefined;
}

/** What is read of the OpenAPI document. */
export const openApi = z.object({
  paths: z.record(z.string(), z.unknown()),
  components: z.object({ schemas: z.record(z.string(), schemaOf) }),
});
export type OpenApi = z.output<typeof openApi>;

const TEXTS = [
  ...['', ' ', 'x', '\0', 'a\0b', '\ud800', 'a\udc00b', '\ufeff', '\u202e', 'ﷺ', '🙂', 'é', 'İ', 'ß', '\r\n', '\t'],
  ...["'", '"', "'; drop table accounts --", "' or '1'='1", '1; select pg_sleep(9)', '$1', '%', '_', '\\', '#{7*7}'],
  ...[
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '{{7*7}}',
    '../../etc/passwd',
    'file:///etc/passwd',
  ],
  ...[
    'null',
    'undefined',
    'NaN',
    'true',
    '[object Object]',
    '__proto__',
    'constructor',
    'toString',
    '0x10',
    '1e3',
    '-0',
  ],
  ...['2025-02-29', '2025-1-5', '0000-00-00', '9999-12-31', '+010000-01-01', '٢٠٢٥-٠١-٠٥', '2025-01-01T00:00:00Z'],
  ...[
    'ana@example.com',
    'a@b',
    '@',
    'ana@exämple.com',
    '99999999999999999999',
    '-1',
    '1.5',
    'B12345678',
    '+34 600 11 22 33',
  ],
  ...['%s%s%n', '() { :;}; echo', '\u0000\u0001\u0002\u001f', 'a'.repeat(255), 'ñ'.repeat(2000), '🙂'.repeat(6000)],
];
const NUMBERS = [
  ...[0, -0, 1, -1, 1.5, 0.1, 1e-7, 5e-324, 1e15, 1e16, 1e21, 1e308, -1e308, 2 ** 31, 2 ** 31 - 1, -(2 ** 31)],
  ...[2 ** 53, 2 ** 53 - 1, -(2 ** 53), 2 ** 63, 999_999_999_999, 0.005, 99.999, 12345678901.125],
];
const DATES = ['2026-02-01', '2026-03-31', '2026-03-02', '2024-02-29', '1900-01-01', '2999-12-31', '0001-01-01'];
const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'a.b',
  'a[0]',
  'id',
  'account_id',
  '\ud800',
  '\0',
  'é',
  'x'.repeat(3000),
];

function nested(depth: number, random: Random): unknown {
  let value: unknown = random.pick(TEXTS);
  for (let level = 0; level < depth; level++) value = random.chance(0.5) ? [value] : { a: value };
  return value;
}

/** A value that belongs nowhere. */
function junk(random: Random): unknown {
  const kind = random.int(0, 11);
  if (kind < 5) return random.pick(TEXTS);
  if (kind < 8) return random.pick(NUMBERS);
  if (kind === 8) return random.pick([null, true, false, [], {}, [null], [[]], [{}], { id: null }, ['x', 1]]);
  if (kind === 9) return nested(random.pick([2, 10, 63, 64, 65, 200]), random);
  if (kind === 10) return Array.from({ length: random.pick([2, 50, 1001]) }, () => random.pick(NUMBERS));
  return withName({}, random.pick(NAMES), random.pick(TEXTS));
}

/** With a property of any name, `__proto__` included. */
const withName = <Named extends object>(object: Named, name: string, value: unknown): Named =>
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });

/** By name of the parameter, the values that the examples have for it: what makes a generated call reach its handler. */
const known = new Map<string, unknown[]>();
JSON.stringify(examples, (name, value) => {
  if (value !== null && typeof value !== 'object') known.set(name, [...(known.get(name) ?? []), value]);
  return value;
});

/** A value that the schema allows, or nearly. */
function fromSchema(schema: JsonSchema, random: Random, name = ''): unknown {
  if (random.chance(0.04)) return junk(random);
  const values = known.get(name);
  if (values && random.chance(0.5)) return random.pick(values);
  if (schema.enum) return random.chance(0.9) ? random.pick(schema.enum) : String(schema.enum[0]).toUpperCase();
  if (schema.const !== undefined) return schema.const;
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return fromSchema(random.pick(options), random, name);
  switch (random.pick([schema.type ?? 'object'].flat())) {
    case 'object': {
      const object = {};
      for (const [key, property] of Object.entries(schema.properties ?? {})) {
        const share = schema.required?.includes(key) ? 0.97 : 0.4;
        if (random.chance(share)) withName(object, key, fromSchema(property, random, key));
      }
      if (random.chance(0.05)) withName(object, random.pick(NAMES), junk(random));
      return object;
    }
    case 'array': {
      const most = schema.maxItems ?? 3;
      const length = random.chance(0.01) ? most + 1 : random.int(0, Math.min(3, most));
      const { items = {} } = schema;
      return Array.from({ length }, () => fromSchema(items, random, name));
    }
    case 'integer':
    case 'number': {
      const { minimum = -5, maximum = 1000 } = schema;
      return random.pick([minimum, maximum, minimum - 1, maximum + 1, random.int(1, 20), random.next() * 100, 1]);
    }
    case 'boolean':
      return random.chance(0.5);
    default: {
      if (schema.format === 'date') return random.pick(random.chance(0.9) ? DATES : TEXTS);
      const { maxLength = 100 } = schema;
      const long = random.pick(['a', 'ñ', '🙂', ' ', '%']);
      return random.pick([
        ...(schema.examples ?? []),
        ...[random.pick(TEXTS), random.pick(TEXTS), long.repeat(maxLength), long.repeat(maxLength + 1), 'Silla'],
      ]);
    }
  }
}

const operationsByWeight = operations.flatMap((operation) => (operation.write ? [operation, operation] : [operation]));

function inputFor(
  document: OpenApi,
  random: Random,
): { operation: (typeof operations)[number]; input: Input; about: string[] } {
  const operation = random.pick(operationsByWeight);
  const about: string[] = [operation.path];
  const { alias } = operation;
  const schema = document.components.schemas[`${alias.charAt(0).toUpperCase()}${alias.slice(1)}Parametros`];
  let input: Input = structuredClone(examples[operation.path] ?? {});
  if (schema && random.chance(0.4)) {
    const made = fromSchema(schema, random);
    about.push('from the document');
    // Path parameters have to be something.
    if (typeof made === 'object' && made !== null && !Array.isArray(made)) {
      const path = operation.routes.flatMap(({ parameters }) => parameters);
      input = { ...Object.fromEntries(path.map((name) => [name, input[name]])), ...made };
    } else input = withName(input, 'x', made);
  }
  const where = [...places(operation.input)];
  for (let changes = random.pick([0, 1, 1, 1, 2, 3]); changes > 0 && where.length > 0; changes--) {
    const { path } = random.pick(where);
    try {
      input = withValue(input, path, junk(random));
    } catch {
      // An earlier change left no room for this one.
    }
    about.push(`junk at ${path.join('.')}`);
  }
  return { operation, input, about };
}

/** Ways to break the text of a body. */
const BREAKS: Record<string, (body: Buffer, random: Random) => Buffer> = {
  'cut short': (body, random) => body.subarray(0, random.int(0, body.length)),
  'a byte changed': (body, random) => {
    const changed = Buffer.from(body);
    if (changed.length > 0) changed[random.int(0, changed.length - 1)] = random.int(0, 255);
    return changed;
  },
  'bytes that are no UTF-8': (body, random) => {
    const at = random.int(0, body.length);
    const bytes = random.pick([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]);
    return Buffer.concat([body.subarray(0, at), Buffer.from(bytes), body.subarray(at)]);
  },
  'single quotes': (body) => Buffer.from(body.toString().replaceAll('"', "'")),
  'a key twice': (body) => Buffer.from(body.toString().replace(/^\{("[^"]+":)/, '{$1null,$1')),
  'a prototype': (body, random) =>
    Buffer.from(
      body.toString().replace(/^\{/, `{"${random.pick(['__proto__', 'constructor', '\\u005f_proto__'])}":{"a":1},`),
    ),
  'nested deeply': (_, random) => {
    const depth = random.pick([66, 1000, 20_000, 200_000]);
    const [open, shut] = random.pick([
      ['[', ']'],
      ['{"a":', '}'],
      ['{"datos":[', ']}'],
    ]);
    return Buffer.from(`${open?.repeat(depth)}1${shut?.repeat(depth)}`.slice(0, 1_000_000));
  },
  'UTF-16': (body) => Buffer.from(body.toString(), 'utf16le'),
  'a byte order mark': (body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]),
  'a number without end': (body, random) =>
    Buffer.from(
      body
        .toString()
        .replace(/\d+/, random.pick(['1e400', '-1e400', '9'.repeat(5000), '0.1e-500', '01', '+1', '1.', 'NaN'])),
    ),
  'odd escapes': (body, random) =>
    Buffer.from(
      body.toString().replace(/":"/, `":"${random.pick(['\\ud800', '\\u0000', '\\x41', '\\u12', '\\', '\n'])}`),
    ),
  'something behind it': (body, random) =>
    Buffer.concat([body, Buffer.from(random.pick(['}', ',', ' 1', '\0', '{}', '//']))]),
  nothing: (_, random) => Buffer.from(random.pick(['', ' ', '\n', 'null', '""', '0', '[]', '[{}]', 'true'])),
  'many keys': () => Buffer.from(`{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(',')}}`),
  'over the limit': (_, random) => Buffer.from(`{"x":"${'a'.repeat(1024 * 1024 + random.int(-12, 3))}"}`),
};

const RARE = new Set(['many keys', 'over the limit', 'nested deeply']);

const CONTENT_TYPES = [
  ...[
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'x',
    ';',
    '/',
  ],
  ...['application/json; charset=utf-16', 'APPLICATION/JSON', 'application/json;;;', 'application/json, text/plain'],
  ...['application/vnd.api+json', 'application/json; charset="', `application/json; a=${'b'.repeat(2000)}`],
];

/** Headers that are odd, or that ask for something that the service does not do. */
const HEADERS: readonly [string, string][] = [
  ...(['', ' ', 'k', 'k'.repeat(255), 'k'.repeat(256), 'a b', '__proto__', '\xe9', '"', 'a,b'].map((key) => [
    'X-IDEMPOTENCY-KEY',
    key,
  ]) as [string, string][]),
  ...(['', '0', '1', '-1', '1e9', 'abc', '1, 2', 'Infinity', '3600.5'].map((lag) => ['X-Max-Lag', lag]) as [
    string,
    string,
  ][]),
  ...(['', 'short', 'a'.repeat(64), 'a'.repeat(65), '../../x', '<b>', '\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9'].map((id) => [
    'X-Request-Id',
    id,
  ]) as [string, string][]),
  ...([
    ['Origin', 'https://evil.example'],
    ['Origin', 'null'],
    ['Authorization', 'Basic eDp5'],
    ['Authorization', 'Bearer'],
    ['Authorization', `Bearer at_1_${'x'.repeat(43)}`],
    ['Authorization', `Bearer ${'x'.repeat(5000)}`],
    ['X-API-KEY', 'ak_other'],
    ['X-API-SECRET', 'sk_other'],
    ['X-Forwarded-For', "1.1.1.1, '"],
    ['X-Forwarded-Host', 'evil.example'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Accept', 'text/html'],
    ['Accept', ''],
    ['Accept', 'application/jsonl'],
    ['trpc-accept', 'application/jsonl'],
    ['trpc-batch-mode', 'stream'],
    ['Accept-Encoding', 'gzip;q=0, *;q=x'],
    ['Accept-Language', 'x'.repeat(3000)],
    ['Range', 'bytes=0-1'],
    ['If-None-Match', '*'],
    ['If-Modified-Since', 'yesterday'],
    ['Expect', '100-continue'],
    ['Expect', 'the unexpected'],
    ['Upgrade', 'websocket'],
    ['Cookie', `a=${'b'.repeat(4000)}`],
    ['Cookie', '__Host-albaran_session=x; albaran_session=%zz; albaran_form='],
    ['Content-Encoding', 'gzip'],
    ['Content-Encoding', 'nothing'],
    ['traceparent', '00-zz-zz-zz'],
    ['mcp-protocol-version', '1999-01-01'],
    ['mcp-session-id', 'x'],
    ['Sec-Fetch-Site', 'cross-site'],
    ['__proto__', 'x'],
    ['constructor', 'x'],
  ] as [string, string][]),
];

const METHODS = [
  'GET',
  'HEAD',
  'OPTIONS',
  'PUT',
  'POST',
  'DELETE',
  'PATCH',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'PURGE',
  'M-SEARCH',
];

const PATH_ENDS = [
  ...[
    '/',
    '//',
    '/.',
    '/..',
    '/%2e%2e/',
    '/%2f',
    '%00',
    '%zz',
    '%',
    '%ff',
    '%c0%af',
    ';a=b',
    '?',
    '??',
    '?&',
    '?=',
    '?a',
    '?a=%ff',
    '/x',
  ],
  ...[
    '?a[b]=c',
    '?a[]=1',
    '?__proto__[x]=1',
    '?constructor=1',
    '?pagina=1&pagina=2',
    '?fecha_inicio=2026-01-01&fecha_inicio=x',
  ],
  ...[
    '?pagina=%31',
    '?pagina=+1',
    '?pagina=1e3',
    '?batch=1',
    '?batch=1&input=%7B',
    '?input=%7B%22json%22',
    '?input=',
    '?areas=x',
  ],
  `?busqueda=${'a'.repeat(8000)}`,
  `?x=${'%F0%9F%99%82'.repeat(1000)}`,
];

const OTHERS = [
  ...[
    '/',
    '/docs',
    '/docs/x',
    '/api/v1',
    '/api/v1/openapi.json',
    '/api/v2/clients',
    '/health/live',
    '/metrics',
    '/favicon.ico',
  ],
  ...[
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource/mcp',
    '/oauth/register',
    '/oauth/token',
  ],
  ...[
    '/oauth/revoke',
    '/oauth/authorize',
    '/oauth/authorize?client_id=x&response_type=code',
    '/signin',
    '/signin?next=//evil.example',
  ],
  ...[
    '/settings/integrations',
    '/settings/integrations/keys',
    '/files/1.2.3.x',
    '/files/%00',
    '/files/x',
    '/pages/style-x.css',
    '/trpc',
  ],
  ...[
    '/trpc/',
    '/trpc/nope',
    '/trpc/__proto__',
    '/trpc/clients.list,clients.list',
    '/mcp/x',
    '/consultar',
    '/.git/config',
    '/.env',
  ],
];
const FORMS = [
  'grant_type=x',
  'grant_type=authorization_code&code=x',
  'a=%zz',
  'email=a&email=b',
  '&&&',
  'csrf=%00',
  `a=${'b'.repeat(70_000)}`,
];

/** Bytes that are hardly HTTP. */
const RAW: readonly string[] = [
  'x',
  '\r\n\r\n',
  '\0\0\0\0',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  'GET /\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: \0\r\nConnection: close\r\n\r\n',
  'GET /é HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'GET http://evil.example/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'GET * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  'POST /consultarClientes HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\nConnection: close\r\n\r\n{}',
  'POST /consultarClientes HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{}',
  'POST /consultarClientes HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n',
  'POST /consultarClientes HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\n{}',
  'POST /consultarClientes HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
  'POST /consultarClientes HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nffffffffffffffff\r\n{}',
  'POST /consultarClientes HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\nConnection: close\r\n\r\n{',
  'GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\nConnection: close\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nX : a\r\nConnection: close\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nX\r\nConnection: close\r\n\r\n',
  'GET / HTTP/1.1\nHost: a\nConnection: close\n\n',
  `GET / HTTP/1.1\r\nHost: a\r\n${'X: a\r\n'.repeat(2500)}Connection: close\r\n\r\n`,
  `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(40_000)}\r\nConnection: close\r\n\r\n`,
];

/** The request of this number. Credentials are headers of the company that the examples fit. */
export function makeRequest(
  seed: number,
  number: number,
  document: OpenApi,
  credentials: Record<string, string>,
): FuzzRequest {
  const random = new Random(seed, number);
  const kind = random.next();
  const key: [string, string][] = Object.entries(credentials);
  if (kind < 0.01) return rawRequest(random, key);
  if (kind < 0.06) return otherRequest(random, key);

  const { operation, input, about } = inputFor(document, random);
  const request: FuzzRequest = { about, shape: 'envelope', method: 'POST', path: '', headers: [...key] };
  const door = random.next();
  let body: string | undefined;
  if (door < 0.35) {
    ({ method: request.method, path: request.path, body } = routeCall(random.pick(operation.routes), input));
  } else if (door < 0.65) {
    request.path = `/${operation.alias}`;
    body = JSON.stringify(input);
  } else if (door < 0.8) {
    request.shape = 'tRPC';
    const wrapped = random.chance(0.95) ? input : junk(random);
    ({ method: request.method, path: request.path, body } = trpcCall(operation, wrapped));
  } else {
    request.shape = 'MCP';
    request.path = '/mcp';
    request.headers.push(['Accept', 'application/json, text/event-stream']);
    body = JSON.stringify(mcpMessage(operation.tool, input, random));
  }
  if (body !== undefined) {
    request.body = Buffer.from(body);
    request.headers.push(['Content-Type', 'application/json']);
  }
  if (request.body && random.chance(0.15)) {
    const names = Object.keys(BREAKS).filter((name) => !RARE.has(name) || random.chance(0.03));
    const name = random.pick(names);
    about.push(`body: ${name}`);
    request.body = BREAKS[name]?.(request.body, random) ?? request.body;
  }
  oddHeaders(request, random);
  oddAddress(request, random);
  if (request.body && random.chance(0.004)) {
    request.pieces = random.int(2, 8);
    about.push('slowly');
  }
  return request;
}

function mcpMessage(tool: string, input: Input, random: Random): unknown {
  const message = toolCall(tool, input);
  const odd = random.next();
  if (odd < 0.8) return message;
  if (odd < 0.84) return { ...message, id: junk(random) };
  if (odd < 0.88)
    return {
      ...message,
      method: random.pick(['tools/list', 'initialize', 'ping', 'x', '__proto__', 'resources/list']),
    };
  if (odd < 0.92) return { ...message, params: junk(random) };
  if (odd < 0.94) return { ...message, params: { name: random.pick(TEXTS), arguments: input } };
  if (odd < 0.96) return [message, toolCall(tool, input, 2), junk(random)];
  if (odd < 0.98) return { ...message, jsonrpc: junk(random) };
  return junk(random);
}

function oddHeaders(request: FuzzRequest, random: Random): void {
  const { about } = request;
  const set = (name: string, value: string) => {
    request.headers = request.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase());
    request.headers.push([name, value]);
  };
  if (random.chance(0.03)) {
    const type = random.pick(CONTENT_TYPES);
    about.push(`Content-Type: ${type}`);
    set('Content-Type', type);
  }
  if (random.chance(0.12)) {
    const [name, value] = random.pick(HEADERS);
    about.push(`${name}: ${value.slice(0, 40)}`);
    if (random.chance(0.2)) request.headers.push([name, value]);
    else set(name, value);
    if (value === 'gzip' && request.body && random.chance(0.5)) request.body = gzipSync(request.body);
  }
  if (random.chance(0.02)) {
    about.push('without credentials');
    request.headers = request.headers.filter(([name]) => !name.startsWith('x-api'));
  }
}

function oddAddress(request: FuzzRequest, random: Random): void {
  const { about } = request;
  if (random.chance(0.02)) {
    request.method = random.pick(METHODS);
    about.push(request.method);
  }
  if (random.chance(0.04)) {
    const end = random.pick(PATH_ENDS);
    about.push(`address${end.slice(0, 40)}`);
    const [path = '', query] = request.path.split('?');
    request.path = end.startsWith('?') && query ? `${path}${end}&${query}` : `${path}${end}${query ? `?${query}` : ''}`;
    if (request.shape !== 'envelope') request.shape = 'any';
    if (/\.\./.test(end)) request.shape = 'any';
  }
}

function otherRequest(random: Random, key: [string, string][]): FuzzRequest {
  const path = random.pick(OTHERS) + (random.chance(0.2) ? random.pick(PATH_ENDS) : '');
  const method = random.chance(0.7) ? random.pick(['GET', 'POST']) : random.pick(METHODS);
  const request: FuzzRequest = {
    about: ['another address'],
    shape: 'any',
    method,
    path,
    headers: random.chance(0.5) ? key : [],
  };
  if (method !== 'GET' && method !== 'HEAD') {
    const asForm = random.chance(0.6);
    request.body = Buffer.from(asForm ? random.pick(FORMS) : (JSON.stringify(junk(random)) ?? ''));
    request.headers = [
      ...request.headers,
      ['Content-Type', asForm ? 'application/x-www-form-urlencoded' : 'application/json'],
    ];
  }
  oddHeaders(request, random);
  return request;
}

/** Bytes: hardly HTTP, or a call whose body does not come. */
function rawRequest(random: Random, key: [string, string][]): FuzzRequest {
  const request: FuzzRequest = { about: ['bytes'], shape: 'any', method: '', path: '', headers: [] };
  if (random.chance(0.6)) return { ...request, raw: Buffer.from(random.pick(RAW), 'latin1') };
  const operation = random.pick(operations);
  const body = JSON.stringify(examples[operation.path] ?? {});
  const head = [
    `POST /${operation.alias} HTTP/1.1`,
    'Host: a',
    ...key.map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/json',
    `Content-Length: ${body.length + 100}`,
  ];
  const text = `${head.join('\r\n')}\r\n\r\n${body.slice(0, random.int(0, body.length))}`;
  return { ...request, about: ['hung up in the middle of a body'], raw: Buffer.from(text) };
}
