// A new key on its way from the form that made it to the page that shows it, once: a cookie that lives a minute, since the
// service itself keeps no secret.
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CreatedKey } from '../../platform/api-keys.ts';
import type { Service } from '../../platform/context.ts';
import { isSecure } from './session.ts';
import { HOME } from './visit.ts';

const newlyMade = z.object({ accountId: z.number(), id: z.number(), key: z.string(), secret: z.string() });
export type NewlyMade = CreatedKey & { accountId: number };

const nameOf = (service: Service) => `${isSecure(service) ? '__Secure-' : ''}albaran_new_key`;
const options = (service: Service): CookieSerializeOptions => ({
  path: HOME,
  httpOnly: true,
  sameSite: 'strict',
  secure: isSecure(service),
});

export function keepNewKey(service: Service, reply: FastifyReply, made: NewlyMade): void {
  const value = Buffer.from(JSON.stringify(made)).toString('base64url');
  reply.setCookie(nameOf(service), value, { ...options(service), maxAge: 60 });
}

/** The key that was made just now for this company; it is gone with that. */
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
