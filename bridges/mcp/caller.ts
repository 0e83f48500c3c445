// Who a message of the connector comes from: an API key, or an access token, which is taken here and at no other door (AUTH-02).
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import type { CallContext } from '../../platform/context.ts';
import { principalOf } from '../../platform/grants.ts';
import type { Principal } from '../../platform/principal.ts';
import { confirm } from '../../routers/operation.ts';
import { Answers } from '../answers.ts';
import { resourceOf } from '../oauth/metadata.ts';
import type { Operation } from '../operations.ts';

/** The caller as the SDK carries it from the request to the handlers of its messages. */
export class Caller implements AuthInfo {
  readonly token = '';
  readonly clientId: string;
  readonly scopes: string[];
  readonly call: CallContext;
  readonly principal: Principal;
  /** The areas whose tools it wants listed. */
  areas: ReadonlySet<string> = new Set();
  readonly answers = new Answers();
  /** Whether the call of a tool succeeded, which looks into its credential itself. */
  confirmed = false;

  constructor(call: CallContext, principal: Principal) {
    this.call = call;
    this.principal = principal;
    this.clientId = principal.actor;
    this.scopes = [...principal.scopes];
  }
}

/**
 * The principal of a request. 401 for no or wrong credentials (AUTH-01, OAU-06). A token, where there is one, is what counts.
 * 429 as in AUTH-05. What is remembered of a key has to be confirmed before anything is answered.
 */
export async function authenticate(request: FastifyRequest, call: CallContext): Promise<Principal> {
  const { service } = call;
  const token = bearerToken(request);
  if (token !== undefined) {
    return principalOf(service.database, token, resourceOf(service), service.clock.now());
  }
  return service.keys.authenticate(call.credentials);
}

/** 401 for a key that was withdrawn a moment ago (AUTH-03), unless a call has found it live; of tokens nothing is remembered. */
export async function confirmKey({ call: { service }, principal, confirmed }: Caller): Promise<void> {
  if (principal.credential.kind === 'key' && !confirmed) await confirm(service, principal);
}

/** What stands behind `Authorization: Bearer`, which may be nothing; undefined without it. */
export function bearerToken({ headers }: FastifyRequest): string | undefined {
  return /^bearer\b\s*(.*)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Whether the caller may use this operation's tool; those it may not are left out of its list. MCP-01, MCP-02 */
export const mayUse = (principal: Principal, operation: Operation) =>
  principal.scopes.has(operation.scope) && !isForKeysAlone(principal, operation);

/** A write that no token may make, whatever was granted. MCP-02 */
export const isForKeysAlone = ({ credential }: Principal, { write, oauthWrite }: Operation) =>
  credential.kind === 'token' && write && !oauthWrite;
