// Public pages: GET / names the service, GET /api/v1/openapi.json describes the API, and GET /docs shows that description to people
// (Scalar's reference, served from its package). They load nothing from other hosts.
import { createHash } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import manifest from '../package.json' with { type: 'json' };
import { ApiError } from '../platform/errors.ts';
import { compress, encodingFor, SMALLEST } from './compression.ts';
import { success } from './envelope.ts';
import { type DocumentOptions, openApiDocument } from './openapi.ts';

const PATHS = { docs: '/docs', openapi: '/api/v1/openapi.json' };

const JSON_TYPE = 'application/json; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const REVALIDATED = 'public, no-cache';
const FOR_A_DAY = 'public, max-age=86400';

// Scalar needs inline styles; scripts come only from this server.
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
  // Features that contact other hosts or link to them.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
})});
`;

/** Adds `/`, `/docs` and `/api/v1/openapi.json`. None needs a key or counts in the quota (LIM-01). */
export function addDocs(app: FastifyInstance, options: DocumentOptions = {}): void {
  const about = { nombre: 'Albaran', version: manifest.version, documentacion: PATHS.docs, openapi: PATHS.openapi };
  serve(app, '/', { type: JSON_TYPE, cache: REVALIDATED, load: () => JSON.stringify(success(about)) });
  serve(app, PATHS.openapi, {
    type: JSON_TYPE,
    cache: REVALIDATED,
    load: () => JSON.stringify(openApiDocument(options)),
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

/** Scalar's script. The package offers it only through a Fastify plugin. It is large, so it is loaded on first use. */
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

/** Serves a text that does not change while the process runs. It is created on the first request. */
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
      const { etag, ...forms } = await loaded;
      reply.headers({ ...headers, ETag: etag, 'Cache-Control': cache, Vary: 'Accept-Encoding' });
      if (isKnown(request, etag)) return reply.code(304).send();
      const isLong = forms.plain.length >= SMALLEST;
      const encoding = isLong ? encodingFor(request.headers['accept-encoding']) : undefined;
      if (encoding) reply.header('Content-Encoding', encoding);
      return reply.type(type).send(forms[encoding ?? 'plain']);
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
  const effort = { br: 6, gzip: 6 };
  const [br, gzip] = await Promise.all([compress(plain, 'br', effort), compress(plain, 'gzip', effort)]);
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  // A weak ETag, the same for the text and its compressed forms.
  return { plain, br, gzip, etag: `W/"${digest}"` };
}

const isKnown = ({ headers }: FastifyRequest, etag: string) =>
  headers['if-none-match']?.split(',').some((known) => known.trim() === etag || known.trim() === '*') === true;
