// The authorization server of the connector (OAuth 2.1): an application that can't send API keys gets a token for one company, with
// the permissions that a person granted. OAU-01..07
import type { FastifyInstance } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { addAuthorizePage } from './authorize.ts';
import type { ClientOptions } from './clients.ts';
import { addApplicationRoutes } from './token.ts';

/** Settings of the authorization server. */
export type OAuthOptions = ClientOptions;

/** Adds its routes and page. */
export async function addOAuthRoutes(
  app: FastifyInstance,
  service: Service,
  options: OAuthOptions = {},
): Promise<void> {
  await addApplicationRoutes(app, service, options);
  await addAuthorizePage(app, service);
}
