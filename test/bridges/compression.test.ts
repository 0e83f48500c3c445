// Encodings on the wire, seen by node:http, which neither asks for one nor decodes it.
import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodingFor } from '../../bridges/compression.ts';
import { type Company, type FileRecord, type Server, startServer } from '../helpers/world.ts';

const FILE = 'una y otra vez lo mismo '.repeat(1000);
const records: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana' },
  ...Array.from({ length: 30 }, (_, day) => {
    const entrada = { fecha: `2026-01-${String(day + 1).padStart(2, '0')}`, hora: '09:00', metodo: 'web' };
    return { coleccion: 'fichajes', empleado: 'ana', entrada, observaciones: 'niño, camión y ñandú' };
  }),
  { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL' },
  { coleccion: 'presupuestos', ref: 'p', id: 44, fecha: '2026-03-01', cliente: 'cli', lineas: [] },
  {
    coleccion: 'adjuntos',
    ref: 'a',
    presupuesto: 'p',
    nombre: 'a.txt',
    tipo_mime: 'text/plain',
    fecha_subida: '2026-03-01 09:30:15',
    contenido: Buffer.from(FILE).toString('base64'),
  },
];
const JANUARY = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };

let server: Server;
let acme: Company;
beforeAll(async () => {
  server = await startServer();
  acme = await server.company(records);
});
afterAll(() => server.stop());

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** The headers and the raw bytes of a response. */
function ask(path: string, accepted: string | undefined, { method = 'GET', headers = {}, body }: Sent = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{ headers: IncomingHttpHeaders; bytes: Buffer }>();
  const all = { ...headers, ...(accepted !== undefined && { 'accept-encoding': accepted }) };
  const asked = request(server.url + path, { method, headers: all }, async (answer) => {
    resolve({ headers: answer.headers, bytes: Buffer.concat(await answer.toArray()) });
  });
  asked.on('error', reject);
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

const json = { 'content-type': 'application/json' };
const times = `/api/v1/employees/times?${new URLSearchParams(JANUARY)}`;
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' };

describe('a text of 1 kB or more is compressed for who asks for it', () => {
  const doors: [string, () => [string, Sent]][] = [
    ['REST', () => [times, { headers: acme.headers }]],
    ['v0', () => ['/consultarFichajes', { method: 'POST', headers: { ...acme.headers, ...json }, body: JANUARY }]],
    [
      'tRPC',
      () => [
        `/trpc/timeEntries.list?input=${encodeURIComponent(JSON.stringify({ json: JANUARY }))}`,
        { headers: acme.headers },
      ],
    ],
    [
      'MCP',
      () => [
        '/mcp',
        {
          method: 'POST',
          headers: { ...acme.headers, ...json, accept: 'application/json, text/event-stream' },
          body: { ...call, params: { name: 'consultar_fichajes', arguments: JANUARY } },
        },
      ],
    ],
    ['the OpenAPI document', () => ['/api/v1/openapi.json', {}]],
    ['the script of the documentation', () => ['/docs/scalar.js', {}]],
  ];

  test.each(doors)('%s', async (_door, sent) => {
    const [path, init] = sent();
    const plain = await ask(path, undefined, init);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers.vary).toContain('Accept-Encoding');
    for (const [encoding, undo] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const { headers, bytes } = await ask(path, encoding, init);
      expect(headers).toMatchObject({
        'content-encoding': encoding,
        'content-length': String(bytes.length),
        'content-type': plain.headers['content-type'],
        vary: plain.headers.vary,
      });
      expect(bytes.length).toBeLessThan(plain.bytes.length / 1.5);
      expect(undo(bytes).toString()).toBe(plain.bytes.toString());
    }
  });

  test('HEAD tells what GET sends', async () => {
    for (const accepted of ['gzip', 'br', undefined]) {
      const [got, asked] = await Promise.all([
        ask(times, accepted, { headers: acme.headers }),
        ask(times, accepted, { headers: acme.headers, method: 'HEAD' }),
      ]);
      const shown = ({ headers }: typeof got) => [headers['content-encoding'], headers['content-length'], headers.vary];
      expect(shown(asked)).toEqual(shown(got));
      expect(asked.bytes).toHaveLength(0);
    }
  });
});

test('what is short, no text, or a page with the tokens of its forms, is sent as it is', async () => {
  const { body } = await acme.get('/estimates/44/attachments');
  const { pathname } = new URL(body.data.adjuntos[0].url);
  for (const [path, size] of [
    ['/', 0],
    ['/docs', 0],
    ['/signin', 1024],
    [pathname, FILE.length],
  ] as const) {
    const { headers, bytes } = await ask(path, 'gzip, br');
    expect([path, headers['content-encoding'], headers['content-length']]).toEqual([
      path,
      undefined,
      String(bytes.length),
    ]);
    expect(bytes.length).toBeGreaterThanOrEqual(size);
  }
});

test('a browser of another origin finds both reasons why answers differ', async () => {
  await using open = await startServer({ corsOrigins: ['https://app.example'] });
  const answer = await fetch(`${open.url}/api/v1/openapi.json`);
  expect(answer.headers.get('vary')).toContain('Accept-Encoding');
  const company = await open.company(records);
  const { headers } = await company.get('/employees/times', JANUARY, { origin: 'https://app.example' });
  expect(headers.get('vary')).toMatch(/Origin.*Accept-Encoding/);
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['GZIP ; Q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['*;q=0', undefined],
  ['identity', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['deflate, zstd', undefined],
  ['gzip;q=none', undefined],
])('Accept-Encoding: %s is answered with %s', (accepted, encoding) => {
  expect(encodingFor(accepted)).toBe(encoding);
});
