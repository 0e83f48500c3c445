// The caller of the connector: an API key or an access token. Only this door accepts access tokens (AUTH-02).
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import type { CallContext } from '../../platform/context.ts';
import { type ApiError, asApiError } from '../../platform/errors.ts';
import { findPrincipal } from '../../platform/identity/grants.ts';
import { JsonText, LONGEST_ANSWER } from '../../platform/json-text.ts';
import { hashSecret, type Principal } from '../../platform/principal.ts';
import { countCall, revalidate } from '../../routers/shared/calls/admission.ts';
import { Answers } from '../answers.ts';
import { resourceOf } from '../oauth/metadata.ts';
import type { Operation } from '../operations.ts';
import { type Tool, tools } from './tools.ts';

/** The caller. The SDK passes it from the request to the handlers of its messages. */
export class Caller implements AuthInfo {
  readonly token = '';
  readonly clientId: string;
  readonly scopes: string[];
  readonly call: CallContext;
  readonly principal: Principal;
  /** The areas whose tools are listed. */
  areas: ReadonlySet<string> = new Set();
  /** Lists the three tools that find and run the others, instead of these. */
  catalogue = false;
  /** Each answer is sent twice, as a value and as text. */
  readonly answers = new Answers(2 * LONGEST_ANSWER);
  /** A tool call succeeded, so its transaction has verified the credential. */
  confirmed = false;
  /** Why the current message was not admitted; usually the quota is spent. */
  refusal: ApiError | undefined;
  /** Whether any message was admitted. */
  admitted = false;
  #toolList: JsonText | undefined;

  constructor(call: CallContext, principal: Principal) {
    this.call = call;
    this.principal = principal;
    this.clientId = principal.actor;
    this.scopes = [...principal.scopes];
  }

  /** Counts a message, whether it succeeds or not. Called once for each message. FAIR-05 */
  async count(): Promise<void> {
    this.refusal = undefined;
    try {
      await countCall(this.call, this.principal);
      this.admitted = true;
    } catch (error) {
      this.refusal = asApiError(error);
    }
  }

  /** The tools of the areas that the caller may use. MCP-01, MCP-02 */
  tools(): Tool[] {
    return tools.filter(({ operation }) => this.areas.has(operation.area) && mayUse(this.principal, operation));
  }

  /** The same tools as JSON text, separated by commas. Built once. */
  toolList(): JsonText {
    this.#toolList ??= new JsonText(
      this.tools()
        .map(({ listed }) => listed)
        .join(','),
    );
    return this.#toolList;
  }
}

/**
 * The principal of a request. Throws 401 for missing or wrong credentials (AUTH-01, OAU-06), and 429 after too many wrong ones, also
 * for tokens (AUTH-05). If there is a token, the key is ignored. Cached keys must be confirmed before answering (`confirmKey`).
 */
export async function authenticate(request: FastifyRequest, call: CallContext): Promise<Principal> {
  const { service } = call;
  const token = bearerToken(request);
  if (token !== undefined) {
    const { database, clock, guesses } = service;
    const find = () => findPrincipal(database, token, resourceOf(service), clock.now());
    return guesses.attempt({
      address: call.credentials.address,
      credential: hashSecret(token).toString('base64'),
      find,
    });
  }
  return service.keys.authenticate(call.credentials);
}

/** Throws 401 for a key that was revoked while cached (AUTH-03), unless a tool call has verified it. Tokens are never cached. */
export async function confirmKey({ call: { service }, principal, confirmed }: Caller): Promise<void> {
  if (principal.credential.kind === 'key' && !confirmed) await revalidate(service, principal);
}

/** The token after `Authorization: Bearer`, possibly empty; undefined without this header. */
export function bearerToken({ headers }: FastifyRequest): string | undefined {
  return /^bearer\b\s*(.*)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Whether the caller may use this operation's tool; other tools are not listed. MCP-01, MCP-02 */
export const mayUse = (principal: Principal, operation: Operation) =>
  principal.scopes.has(operation.scope) && !isForKeysAlone(principal, operation);

/** Whether the operation is a write that tokens can never use, whatever their scope. MCP-02 */
export const isForKeysAlone = ({ credential }: Principal, { write, oauthWrite }: Operation) =>
  credential.kind === 'token' && write && !oauthWrite;
