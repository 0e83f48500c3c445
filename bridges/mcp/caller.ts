// Who a message of the connector comes from. API keys today; a bearer token would become a principal here and nowhere else.
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import type { CallContext } from '../../platform/context.ts';
import { unauthorized } from '../../platform/errors.ts';
import type { Principal } from '../../platform/principal.ts';
import { confirm } from '../../routers/operation.ts';
import type { Operation } from '../operations.ts';

/** The caller as the SDK carries it from the request to the handlers of its messages. */
export class Caller implements AuthInfo {
  readonly token = '';
  readonly clientId: string;
  readonly scopes: string[];
  readonly call: CallContext;
  readonly principal: Principal;
  /** The areas whose tools it wants listed. */
  readonly areas: ReadonlySet<string>;

  constructor(call: CallContext, principal: Principal, areas: ReadonlySet<string>) {
    this.call = call;
    this.principal = principal;
    this.areas = areas;
    this.clientId = principal.actor;
    this.scopes = [...principal.scopes];
  }
}

/**
 * The principal of a request. 401 for no or wrong credentials, and for a key that was revoked a moment ago: what is
 * remembered of a key is checked against the database for each request (AUTH-01, AUTH-03). 429 as in AUTH-05.
 */
export async function authenticate(request: FastifyRequest, call: CallContext): Promise<Principal> {
  // No token is known to this service.
  if (/^bearer\b/i.test(request.headers.authorization ?? '')) throw unauthorized();
  const principal = await call.service.keys.authenticate(call.credentials);
  await confirm(call.service, principal);
  return principal;
}

/** Whether the caller may use this operation's tool; those it may not are left out of its list. MCP-01 */
export const mayUse = (principal: Principal, operation: Operation) => principal.scopes.has(operation.scope);
