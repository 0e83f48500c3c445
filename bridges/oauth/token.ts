// Endpoints that applications call: registration, tokens and revocation. Pages of any origin may call them, because they use no
// cookies.
import OAuth2Server from '@node-oauth/oauth2-server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { ACCESS_TOKEN_SECONDS, revokeToken } from '../../platform/identity/grants.ts';
import { prepareAnonymous } from '../forms.ts';
import { type ClientOptions, GRANT_TYPES, registerClient } from './clients.ts';
import { oauthError, sendError } from './errors.ts';
import { addMetadata, isResource } from './metadata.ts';
import { exchanging } from './model.ts';
import { single, valuesOf } from './parameters.ts';

type Handler = (request: FastifyRequest) => Promise<{ status: number; body?: object }>;

/** Adds /oauth/register, /oauth/token, /oauth/revoke and the metadata, with CORS for all origins. */
export async function addApplicationRoutes(app: FastifyInstance, service: Service, options: ClientOptions) {
  await app.register(async (scope) => {
    scope.setErrorHandler(sendError);
    await prepareAnonymous(scope, service);
    scope.addHook('onRequest', async (_request, reply) => {
      reply.headers({
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After, X-Request-Id',
      });
    });
    addMetadata(scope, service);
    addPost(scope, '/oauth/register', async ({ body, ip }) => ({
      status: 201,
      body: await registerClient(service, body, ip, options),
    }));
    addPost(scope, '/oauth/token', async (request) => ({ status: 200, body: await exchange(service, request) }));
    addPost(scope, '/oauth/revoke', async (request) => {
      const form = formOf(request);
      const token = single(form, 'token');
      if (!token) throw oauthError('invalid_request', 'Missing parameter: token');
      await revokeToken(service.database, token, single(form, 'client_id'), service.clock.now());
      return { status: 200 };
    });
    scope.options('/.well-known/*', { config: { cors: false } }, (_request, reply) =>
      reply.headers(PREFLIGHT('GET, HEAD')).code(204).send(),
    );
  });
}

const PREFLIGHT = (methods: string) => ({
  'Access-Control-Allow-Methods': methods,
  'Access-Control-Allow-Headers': 'Content-Type, Authorization, MCP-Protocol-Version',
  'Access-Control-Max-Age': '3600',
});

function addPost(scope: FastifyInstance, url: string, handler: Handler): void {
  const config = { cors: false };
  scope.post(url, { config }, async (request, reply) => {
    reply.headers({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    const { status, body } = await handler(request);
    return reply.code(status).send(body);
  });
  scope.options(url, { config }, (_request, reply) => reply.headers(PREFLIGHT('POST')).code(204).send());
  scope.route({
    method: scope.supportedMethods.filter((method) => method !== 'POST' && method !== 'OPTIONS'),
    url,
    config,
    async onRequest(_request, reply) {
      reply.header('Allow', 'POST');
      throw new ApiError('methodNotAllowed', 'Método no admitido en esta dirección; se admite POST');
    },
    handler: () => {},
  });
}

/** Exchanges a code or a refresh token for a pair of tokens. All errors have RFC 6749's form. OAU-04, OAU-07 */
async function exchange(service: Service, request: FastifyRequest): Promise<object> {
  const form = formOf(request);
  const grantType = single(form, 'grant_type');
  if (!grantType) throw oauthError('invalid_request', 'Missing parameter: grant_type');
  if (!GRANT_TYPES.includes(grantType)) {
    throw oauthError('unsupported_grant_type', `grant_type has to be one of ${GRANT_TYPES.join(', ')}`);
  }
  if (!valuesOf(form, 'resource').every((resource) => isResource(service, resource))) {
    throw oauthError('invalid_target', 'resource is not the one of the authorization');
  }
  const redirectUri = single(form, 'redirect_uri');
  if (grantType === 'authorization_code' && !redirectUri) {
    throw oauthError('invalid_request', 'Missing parameter: redirect_uri');
  }
  const names = Object.keys(form).filter((name) => name !== 'resource');
  const body = Object.fromEntries(names.map((name) => [name, single(form, name)]));
  const { accessToken, refreshToken, scope } = await exchanging(service, redirectUri).token(
    new OAuth2Server.Request({ method: 'POST', headers: libraryHeaders(request), query: {}, body }),
    new OAuth2Server.Response(),
  );
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    refresh_token: refreshToken,
    scope: scope?.join(' '),
  };
}

/** The headers that the library reads. */
function libraryHeaders({ headers }: FastifyRequest): Record<string, string> {
  const names = ['authorization', 'content-type', 'content-length', 'transfer-encoding'];
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

function formOf({ body, headers }: FastifyRequest): object {
  const isForm = /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '');
  if (!isForm || typeof body !== 'object' || body === null) {
    throw oauthError('invalid_request', 'The body has to be application/x-www-form-urlencoded');
  }
  return body;
}
