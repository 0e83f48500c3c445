// What a person or a tool meets first: GET / says what this is, GET /api/v1/openapi.json describes it, and GET /docs shows
// that to people (Scalar's reference, served from its package). All of it is public and asks no other host for anything.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import manifest from '../package.json' with { type: 'json' };
import { ApiError } from '../platform/errors.ts';
import { success } from './envelope.ts';
import { openApiDocument } from './openapi.ts';

const PATHS = { docs: '/docs', openapi: '/api/v1/openapi.json' };

const JSON_TYPE = 'application/json; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const REVALIDATED = 'public, no-cache';
const FOR_A_DAY = 'public, max-age=86400';

// Scalar writes style elements and attributes as it draws; scripts are files of this server and nothing else.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='3' fill='%230f766e'/><path d='M4 4h8M4 8h8M4 12h5' stroke='white' stroke-width='1.6'/></svg>";

const PAGE = `<!doctype html>
<html lang="es">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Albaran: API</title>
<link rel="icon" href="${ICON}">
</head>
<body>
<noscript>Esta página necesita JavaScript. La descripción de la API está en <a href="${PATHS.openapi}">${PATHS.openapi}</a>.</noscript>
<div id="reference"></div>
<script src="${PATHS.docs}/scalar.js"></script>
<script src="${PATHS.docs}/start.js"></script>
</body>
</html>
`;

const START = `Scalar.createApiReference('#reference', ${JSON.stringify({
  url: PATHS.openapi,
  localization: { locale: 'es', translations: { apiClient: { authSelector: { selectedType: '{type}' } } } },
  hideModels: true,
  customCss: '.operation-auth { flex-wrap: wrap } .section:focus { outline: none }',
  // What would ask another host, or send the reader there.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
})});
`;

export interface DocsOptions {
  /** Where the service is reached from outside; without it the document names the host it was asked from. */
  baseUrl?: string;
}

/** Adds `/`, `/docs` and `/api/v1/openapi.json`. None needs a key or counts in the quota (LIM-01). */
export function addDocs(app: FastifyInstance, { baseUrl }: DocsOptions = {}): void {
  const about = { nombre: 'Albaran', version: manifest.version, documentacion: PATHS.docs, openapi: PATHS.openapi };
  serve(app, '/', { type: JSON_TYPE, cache: REVALIDATED, load: () => JSON.stringify(success(about)) });
  serve(app, PATHS.openapi, {
    type: JSON_TYPE,
    cache: REVALIDATED,
    load: () => JSON.stringify(openApiDocument(baseUrl)),
  });
  serve(app, PATHS.docs, {
    type: 'text/html; charset=utf-8',
    cache: REVALIDATED,
    headers: { 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Referrer-Policy': 'no-referrer' },
    load: () => PAGE,
  });
  serve(app, `${PATHS.docs}/start.js`, { type: SCRIPT_TYPE, cache: REVALIDATED, load: () => START });
  serve(app, `${PATHS.docs}/scalar.js`, { type: SCRIPT_TYPE, cache: FOR_A_DAY, load: scalarScript });
}

/** The script, which its package gives away only through a Fastify plugin; it is large, so it is not read before it is asked for. */
async function scalarScript(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(scalar, { routePrefix: '/', configuration: { url: PATHS.openapi } });
  const { statusCode, body } = await app.inject('/js/scalar.js');
  if (statusCode !== 200) throw new Error(`The package of the docs page answered ${statusCode} for its script`);
  return body;
}

interface Resource {
  type: string;
  cache: string;
  headers?: Record<string, string>;
  load(): string | Promise<string>;
}

/** A text that does not change while the process runs, made when it is first asked for. */
function serve(app: FastifyInstance, url: string, { type, cache, headers = {}, load }: Resource): void {
  let loaded: ReturnType<typeof packed> | undefined;
  app.route({
    method: ['GET', 'HEAD'],
    url,
    async handler(request, reply) {
      loaded ??= packed(load).catch((error: unknown) => {
        loaded = undefined;
        throw error;
      });
      const { plain, zipped, etag } = await loaded;
      reply.headers({ ...headers, ETag: etag, 'Cache-Control': cache, Vary: 'Accept-Encoding' });
      if (isKnown(request, etag)) return reply.code(304).send();
      return sendText(request, reply.type(type), plain, zipped);
    },
  });
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'GET' && method !== 'HEAD'),
    url,
    async onRequest(_request, reply) {
      reply.header('Allow', 'GET, HEAD');
      throw new ApiError('methodNotAllowed', 'Método no admitido en esta dirección; se admite GET, HEAD');
    },
    handler: () => {},
  });
}

async function packed(load: Resource['load']) {
  const plain = Buffer.from(await load());
  const zipped = await promisify(gzip)(plain);
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  // Weak: the same for the text and for its compressed form.
  return { plain, zipped, etag: `W/"${digest}"` };
}

const isKnown = ({ headers }: FastifyRequest, etag: string) =>
  headers['if-none-match']?.split(',').some((known) => known.trim() === etag || known.trim() === '*') === true;

function sendText({ headers }: FastifyRequest, reply: FastifyReply, plain: Buffer, zipped: Buffer) {
  return /\bgzip\b(?!\s*;\s*q=0)/.test(headers['accept-encoding'] ?? '')
    ? reply.header('Content-Encoding', 'gzip').send(zipped)
    : reply.send(plain);
}
