// Errors for applications: RFC 6749's error codes with ASCII descriptions. OAU-07
import OAuth2Server from '@node-oauth/oauth2-server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { knownError } from '../envelope.ts';

/** The errors thrown by our code; the library throws others itself. */
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

/** An OAuth error with status 400. */
export const oauthError = (name: OAuthErrorName, message: string) =>
  new OAuth2Server.OAuthError(message, { name, code: 400 });

/** The original error that the library wrapped in a `server_error`; other errors unchanged. */
export function innerError(error: Error): Error {
  const inner: unknown = error instanceof OAuth2Server.ServerError ? Reflect.get(error, 'inner') : undefined;
  return inner instanceof Error ? inner : error;
}

/** Whether the application must receive the error by its code. */
export const isOAuthError = (error: unknown): error is OAuth2Server.OAuthError =>
  error instanceof OAuth2Server.OAuthError && !(error instanceof OAuth2Server.ServerError);

/** Answers an error in RFC 6749's form. Internal details are only logged. */
export function sendError(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (isOAuthError(error)) {
    return reply.code(error.code).send({ error: error.name, error_description: error.message });
  }
  const { status, message, retryAfterSeconds, cause } = knownError(innerError(error));
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
  400: 'The body is not a form or JSON in UTF-8, has too many fields, or holds NUL',
  405: 'This address takes POST',
  413: 'The body is over 64 KiB',
  415: 'The body is neither a form nor JSON',
  429: 'Too many requests from this address, or too many registrations',
};
