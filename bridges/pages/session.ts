// Who is in front of a page: the cookies that say so, and the token that a form has to bring back (CSRF).
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import cookie, { type CookieSerializeOptions } from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { SESSION_HOURS, type SessionUser, userOfSession } from '../../platform/users.ts';
import { knownError } from '../envelope.ts';
import { html, sendPage, speaker } from './layout.ts';

export type { SessionUser } from '../../platform/users.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the routes of pages. */
    page?: PageCookies;
  }
}

interface PageCookies {
  /** The session's token, if the browser has one. */
  token: string | undefined;
  /** The browser's own secret, which the tokens of its forms are made from. */
  secret: string;
}

/** Behind https, cookies go over https alone. */
export const isSecure = ({ baseUrl }: Service) => baseUrl.startsWith('https:');
/** Behind https no other host of the domain can set these, nor can they travel in the clear. */
const cookieName = (service: Service, name: string) => `${isSecure(service) ? '__Host-' : ''}albaran_${name}`;
const cookieOptions = (service: Service): CookieSerializeOptions => ({
  path: '/',
  httpOnly: true,
  sameSite: 'lax',
  secure: isSecure(service),
});

/**
 * Makes a scope one of pages: cookies and forms are read, a form's token can be made and checked, and what fails is shown
 * to the person. Call it once in `app.register(async (scope) => { await preparePages(scope, service); ... })`.
 */
export async function preparePages(scope: FastifyInstance, service: Service): Promise<void> {
  await scope.register(cookie);
  await scope.register(formbody, { bodyLimit: 64 * 1024 });
  scope.addHook('onRequest', async (request, reply) => {
    const name = cookieName(service, 'form');
    let secret = request.cookies[name];
    if (!secret || !/^[\w-]{43}$/.test(secret)) {
      secret = randomBytes(32).toString('base64url');
      reply.setCookie(name, secret, cookieOptions(service));
    }
    request.page = { token: request.cookies[cookieName(service, 'session')], secret };
  });
  scope.setErrorHandler((error: FastifyError, request, reply) => sendFailure(error, request, reply));
}

/** The person who is signed in in this browser. */
export async function currentUser(service: Service, request: FastifyRequest): Promise<SessionUser | undefined> {
  const { token } = cookiesOf(request);
  return token ? userOfSession(service, token) : undefined;
}

/** Keeps a session in the browser; undefined ends what is kept there. */
export function keepSession(service: Service, reply: FastifyReply, token: string | undefined): void {
  const name = cookieName(service, 'session');
  if (token) reply.setCookie(name, token, { ...cookieOptions(service), maxAge: SESSION_HOURS * 3600 });
  else reply.clearCookie(name, cookieOptions(service));
}

/** Of an address that is sent in a header: browsers and proxies refuse heads of more than some 8 to 16 kB. */
export const LONGEST_ADDRESS = 4_000;

/** Where a person signs in and then goes on to `next`, a path of ours; one that is too long, encoded, is forgotten. */
export function signInAddress(next: string): string {
  const address = `/signin?${new URLSearchParams({ next })}`;
  return address.length > LONGEST_ADDRESS ? '/signin' : address;
}

/** The value of a form's hidden field `csrf`: of this browser and this session alone. */
export function csrfToken(request: FastifyRequest): string {
  const { secret, token = '' } = cookiesOf(request);
  return createHmac('sha256', secret).update(token).digest('base64url');
}

/** 403 for a form that was not made for this browser and this session. */
export function checkCsrf(request: FastifyRequest): void {
  const given = Buffer.from(formField(request, 'csrf'));
  const expected = Buffer.from(csrfToken(request));
  const site = request.headers['sec-fetch-site'];
  const foreign = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (foreign || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new ApiError('forbidden', 'El formulario ha caducado: vuelva atrás, cargue la página de nuevo y repítalo');
  }
}

/** A field of the form that was sent, without spaces around it; empty when it is not there. */
export function formField({ body }: FastifyRequest, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : '';
}

function cookiesOf({ page }: FastifyRequest): PageCookies {
  if (!page) throw new Error('A page outside preparePages');
  return page;
}

const ENGLISH: Record<number, string> = {
  400: 'The request is not valid.',
  403: 'You may not do this, or the form has expired: go back, reload the page and try again.',
  404: 'There is nothing here.',
  405: 'This address does not take that method.',
  413: 'The form is too large.',
  415: 'This is not a form.',
  429: 'Too many attempts: wait a few minutes before trying again.',
  503: 'The service is not available at the moment.',
};

/** What failed, as a page. */
function sendFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message, cause, retryAfterSeconds } = knownError(error);
  if (status >= 500) request.log.error({ err: cause ?? error, requestId: request.id }, message);
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds));
  const say = speaker(request);
  const title = say('No se ha podido', 'That did not work');
  return sendPage(request, reply, {
    status,
    title,
    narrow: true,
    body: html`<section class="card"><h1>${title}</h1>
<p>${say(message, ENGLISH[status] ?? 'Something went wrong on our side.')}</p>
<p class="quiet">${status} · ${request.id}</p>
<p><a href="/settings/integrations">${say('Volver a Integraciones', 'Back to Integrations')}</a></p></section>`,
  });
}
