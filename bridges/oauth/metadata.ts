// How an application finds its way: what protects the connector and where (RFC 9728, RFC 8414). OAU-01
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Service } from '../../platform/context.ts';
import type { Scope } from '../../platform/principal.ts';

const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';
const SCOPES: readonly Scope[] = ['svc.read', 'svc.write'];
/** The connector is one resource, by whichever of these an application knows it. */
const RESOURCE_PATHS = new Set(['/', '/mcp', '/mcp/']);

/** What tokens are for, and what they are held to. */
export const resourceOf = ({ baseUrl }: Service) => `${baseUrl}/mcp`;

/** Whether an application that names this resource means the connector (RFC 8707). */
export function isResource({ baseUrl }: Service, text: string): boolean {
  const url = URL.parse(text);
  return url?.origin === new URL(baseUrl).origin && url.hash === '' && RESOURCE_PATHS.has(url.pathname);
}

/** What may be asked for, as OAuth writes it. */
export const scopeText = (canWrite: boolean) => (canWrite ? SCOPES.join(' ') : 'svc.read');

/** The `WWW-Authenticate` of the connector: where to find out how to get a token, and what is wrong with this one. */
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

/** Adds the documents. They name the address that callers reach the service at, so they are made when asked for. */
export function addMetadata(scope: FastifyInstance, service: Service): void {
  const serve = (path: string, document: (request: FastifyRequest) => object) =>
    scope.route({
      method: ['GET', 'HEAD'],
      url: path,
      config: { cors: false },
      handler: (request, reply) => reply.header('Cache-Control', 'public, max-age=300').send(document(request)),
    });

  // The resource is named as it was asked for: clients compare it with the address that they were given.
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
