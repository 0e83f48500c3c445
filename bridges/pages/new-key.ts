// Passes a new key, or the secret of a webhook, from the form that created it to the page that shows it once, in a cookie that lasts a minute: the service does
// not store the secret.
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Service } from '../../platform/context.ts';
import type { CreatedKey } from '../../platform/identity/api-keys.ts';
import { isSecure } from './session.ts';
import { HOME } from './visit.ts';

const newlyMade = z.object({
  accountId: z.number(),
  id: z.number(),
  key: z.string(),
  secret: z.string(),
  webhook: z.boolean().optional(),
});
/** A new key and its company; of a webhook, its address in place of the key. */
export type NewlyMade = CreatedKey & { accountId: number; webhook?: boolean | undefined };

const nameOf = (service: Service) => `${isSecure(service) ? '__Secure-' : ''}albaran_new_key`;
const options = (service: Service): CookieSerializeOptions => ({
  path: HOME,
  httpOnly: true,
  sameSite: 'strict',
  secure: isSecure(service),
});

/** Sets the cookie. */
export function keepNewKey(service: Service, reply: FastifyReply, made: NewlyMade): void {
  const value = Buffer.from(JSON.stringify(made)).toString('base64url');
  reply.setCookie(nameOf(service), value, { ...options(service), maxAge: 60 });
}

/** The new key of this company, if there is one. Clears the cookie. */
export function takeNewKey(
  service: Service,
  request: FastifyRequest,
  reply: FastifyReply,
  accountId: number,
): NewlyMade | undefined {
  const value = request.cookies[nameOf(service)];
  if (value === undefined) return undefined;
  reply.clearCookie(nameOf(service), options(service));
  try {
    const made = newlyMade.parse(JSON.parse(Buffer.from(value, 'base64url').toString()));
    return made.accountId === accountId ? made : undefined;
  } catch {
    return undefined;
  }
}
