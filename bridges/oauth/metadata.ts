// Metadata by which applications discover the authorization server (RFC 9728, RFC 8414). OAU-01
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Service } from '../../platform/context.ts';
import type { Scope } from '../../platform/principal.ts';

const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';
const SCOPES: readonly Scope[] = ['svc.read', 'svc.write'];
/** The paths by which applications may name the connector. */
const RESOURCE_PATHS = new Set(['/', '/mcp', '/mcp/']);

/** The resource that tokens are issued for and checked against. */
export const resourceOf = ({ baseUrl }: Service) => `${baseUrl}/mcp`;

/** Whether a resource indicator names the connector (RFC 8707). */
export function isResource({ baseUrl }: Service, text: string): boolean {
  const url = URL.parse(text);
  return url?.origin === new URL(baseUrl).origin && url.hash === '' && RESOURCE_PATHS.has(url.pathname);
}

/** The scopes as OAuth text. */
export const scopeText = (canWrite: boolean) => (canWrite ? SCOPES.join(' ') : 'svc.read');

/** The connector's `WWW-Authenticate`: where to learn how to get a token, and what is wrong with the one sent. */
export function challenge(
  service: Service,
  request: FastifyRequest,
  error?: { code: string; text: string; scope?: Scope },
) {
  const [path = ''] = request.url.split('?');
  const parameters = {
    ...(error && { error: error.code, error_description: error.text }),
    scope: error?.scope ?? SCOPES.join(' '),
    resource_metadata: `${service.baseUrl}${PROTECTED_RESOURCE}/mcp${path.endsWith('/') ? '/' : ''}`,
  };
  return `Bearer ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}

/** Adds the documents. They contain the public address, so they are generated on request. */
export function addMetadata(scope: FastifyInstance, service: Service): void {
  const serve = (path: string, document: (request: FastifyRequest) => object) =>
    scope.route({
      method: ['GET', 'HEAD'],
      url: path,
      config: { cors: false },
      handler: (request, reply) => reply.header('Cache-Control', 'public, max-age=300').send(document(request)),
    });

  // Name the resource as requested: clients compare it with the address that they were given.
  const resource = ({ url }: FastifyRequest) => ({
    resource: service.baseUrl + url.slice(PROTECTED_RESOURCE.length),
    resource_name: 'Albaran',
    resource_documentation: `${service.baseUrl}/docs`,
    authorization_servers: [service.baseUrl],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
  });
  serve(PROTECTED_RESOURCE, resource);
  serve(`${PROTECTED_RESOURCE}/mcp`, resource);

  serve('/.well-known/oauth-authorization-server', () => ({
    issuer: service.baseUrl,
    authorization_endpoint: `${service.baseUrl}/oauth/authorize`,
    token_endpoint: `${service.baseUrl}/oauth/token`,
    registration_endpoint: `${service.baseUrl}/oauth/register`,
    revocation_endpoint: `${service.baseUrl}/oauth/revoke`,
    service_documentation: `${service.baseUrl}/docs`,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }));
}
