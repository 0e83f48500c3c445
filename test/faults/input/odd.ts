// Mutations of requests for `npm run prove:input`, except of values: broken bodies, odd headers, methods and addresses, and bytes
// that are barely HTTP.
import type { Random } from '../random.ts';

/** Sizes around the limit of a body and far beyond. */
const MANY = [1001, 9_000, 19_000, 20_001, 80_000];

/** Ways to break the text of a body. */
export const BREAKS: Record<string, (body: Buffer, random: Random) => Buffer> = {
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
        .replace(
          /\d+/,
          random.pick(['1e400', '-1e400', '9'.repeat(5000), '9'.repeat(900_000), '0.1e-500', '01', '+1', '1.', 'NaN']),
        ),
    ),
  'odd escapes': (body, random) =>
    Buffer.from(
      body.toString().replace(/":"/, `":"${random.pick(['\\ud800', '\\u0000', '\\x41', '\\u12', '\\', '\n'])}`),
    ),
  'something behind it': (body, random) =>
    Buffer.concat([body, Buffer.from(random.pick(['}', ',', ' 1', '\0', '{}', '//']))]),
  nothing: (_, random) => Buffer.from(random.pick(['', ' ', '\n', 'null', '""', '0', '[]', '[{}]', 'true'])),
  'half a character': (body, random) => {
    const half = random.pick(['\\ud800', '\\uDBFF', '\\udc00', '\\uDFFF', '\\udc00\\ud800', '\\ud83d\\\\ude00']);
    return Buffer.from(body.toString().replace(/"(?=[,}\]:])/, `${half}"`));
  },
  'many keys': (_, random) =>
    Buffer.from(`{${Array.from({ length: random.pick(MANY) }, (_, index) => `"k${index}":1`).join(',')}}`),
  'many keys inside': (_, random) =>
    Buffer.from(`{"datos":{${Array.from({ length: random.pick(MANY) }, (_, index) => `"k${index}":1`).join(',')}}}`),
  'many elements': (_, random) => {
    const one = random.pick(['0', '""', 'null', '[]', '{}', '{"cantidad":1}', '"1"', '1e5']);
    const name = random.pick(['detalles', 'albaranes', 'vencimientos', 'x', 'json', 'params']);
    const list = `[${Array(random.pick(MANY)).fill(one).join(',')}]`;
    return Buffer.from(random.chance(0.5) ? list : `{"${name}":${list}}`);
  },
  'a text without end': (_, random) => {
    const one = random.pick(['x', '\\u00e1', ' ', '\\"', ',[{']);
    return Buffer.from(`{"datos":{"descripcion":"${one.repeat(900_000 / one.length)}"}}`);
  },
  'over the limit': (_, random) => Buffer.from(`{"x":"${'a'.repeat(1024 * 1024 + random.int(-12, 3))}"}`),
};

export const RARE = new Set([
  ...['many keys', 'many keys inside', 'many elements', 'a text without end'],
  ...['over the limit', 'nested deeply'],
]);

export const CONTENT_TYPES = [
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

/** Odd headers, or requests for features that the service does not have. */
export const HEADERS: readonly [string, string][] = [
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

export const METHODS = [
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

export const PATH_ENDS = [
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
    '?modo=x',
    '?modo=catalogo',
  ],
  `?busqueda=${'a'.repeat(8000)}`,
  `?x=${'%F0%9F%99%82'.repeat(1000)}`,
];

export const OTHERS = [
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
    '/oauth/authorize?client_id=%00&response_type=code',
    '/settings/integrations/keys/%00/revoke',
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
export const FORMS = [
  'grant_type=x',
  'grant_type=authorization_code&code=x',
  'a=%zz',
  'email=a&email=b',
  '&&&',
  'csrf=%00',
  'client_id=a%00b&grant_type=refresh_token&refresh_token=rt_1_x',
  'client_id=%00&grant_type=authorization_code&code=x&redirect_uri=https://x.es',
  'token=%00&client_id=%00',
  'email=a%00b%40example.com&password=x',
  'name=a%00b&scope=read',
  'name=%ff%fe',
  'name=%ed%a0%80',
  '\ufeffname=x',
  Array.from({ length: 5000 }, (_, index) => `k${index}=1`).join('&'),
  'a&'.repeat(30_000),
  `a=${'b'.repeat(70_000)}`,
];

/** Bytes that are barely HTTP. */
export const RAW: readonly string[] = [
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
