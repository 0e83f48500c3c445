// What an application is told when something is wrong: RFC 6749's errors, by name, in the ASCII that they allow. OAU-07
import OAuth2Server from '@node-oauth/oauth2-server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { knownError } from '../envelope.ts';

/** The errors that are thrown here; those of the library beside them come from the library. */
export type OAuthErrorName =
  | 'access_denied'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

/** An error with its name on the wire, and 400. */
export const oauthError = (name: OAuthErrorName, message: string) =>
  new OAuth2Server.OAuthError(message, { name, code: 400 });

/** What failed, of which the library makes a `server_error`; any other error as it is. */
export function behind(error: Error): Error {
  const inner: unknown = error instanceof OAuth2Server.ServerError ? Reflect.get(error, 'inner') : undefined;
  return inner instanceof Error ? inner : error;
}

/** Whether it is an error that the application has to be told of by its name. */
export const isOAuthError = (error: unknown): error is OAuth2Server.OAuthError =>
  error instanceof OAuth2Server.OAuthError && !(error instanceof OAuth2Server.ServerError);

/** Answers whatever failed in RFC 6749's form. What happened inside is logged and not told. */
export function sendError(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (isOAuthError(error)) {
    return reply.code(error.code).send({ error: error.name, error_description: error.message });
  }
  const { status, message, retryAfterSeconds, cause } = knownError(behind(error));
  if (status >= 500) request.log.error({ err: cause ?? error, requestId: request.id }, message);
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds));
  return reply.code(status).send(
    status >= 500
      ? {
          error: status === 503 ? 'temporarily_unavailable' : 'server_error',
          error_description: `Request ${request.id}`,
        }
      : { error: 'invalid_request', error_description: DESCRIPTIONS[status] ?? 'The request is not valid' },
  );
}

const DESCRIPTIONS: Record<number, string> = {
  405: 'This address takes POST',
  413: 'The body is too large',
  415: 'The body is neither a form nor JSON',
  429: 'Too many registrations from this address',
};
