// Browser sessions: the cookies that identify the person, and the CSRF token of forms.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import cookie, { type CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { SESSION_HOURS, type SessionUser, userOfSession } from '../../platform/identity/users.ts';
import { KNOWN_BROWSER_DAYS } from '../../platform/known-browsers.ts';
import { knownError } from '../envelope.ts';
import { prepareAnonymous } from '../forms.ts';
import { html, sendPage, speaker } from './layout.ts';

export type { SessionUser } from '../../platform/identity/users.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the routes of pages. */
    page?: PageCookies;
  }
}

interface PageCookies {
  /** The session's token, if the browser has one. */
  token: string | undefined;
  /** The text that the browser stored at an earlier sign-in. */
  knownBrowser: string | undefined;
  /** The browser's secret, from which its CSRF tokens are derived. */
  secret: string;
}

/** Whether the service is served over https; then cookies are sent only over https. */
export const isSecure = ({ baseUrl }: Service) => baseUrl.startsWith('https:');
/** With https, the `__Host-` prefix keeps other hosts of the domain from setting these cookies. */
const cookieName = (service: Service, name: string) => `${isSecure(service) ? '__Host-' : ''}albaran_${name}`;
const cookieOptions = (service: Service): CookieSerializeOptions => ({
  path: '/',
  httpOnly: true,
  sameSite: 'lax',
  secure: isSecure(service),
});

/**
 * Prepares a scope for pages: reads cookies and forms, supports CSRF tokens, and shows errors as pages. Call it once in
 * `app.register(async (scope) => { await preparePages(scope, service); ... })`.
 */
export async function preparePages(scope: FastifyInstance, service: Service): Promise<void> {
  await scope.register(cookie);
  scope.removeContentTypeParser('application/json');
  await prepareAnonymous(scope, service);
  scope.addHook('onRequest', async (request, reply) => {
    const name = cookieName(service, 'form');
    let secret = request.cookies[name];
    if (!secret || !/^[\w-]{43}$/.test(secret)) {
      secret = randomBytes(32).toString('base64url');
      reply.setCookie(name, secret, cookieOptions(service));
    }
    const cookieOf = (cookie: string) => request.cookies[cookieName(service, cookie)];
    request.page = { token: cookieOf('session'), knownBrowser: cookieOf('known'), secret };
  });
  scope.setErrorHandler((error: FastifyError, request, reply) => sendFailure(error, request, reply));
}

/** The person signed in in this browser. */
export async function currentUser(service: Service, request: FastifyRequest): Promise<SessionUser | undefined> {
  const { token } = cookiesOf(request);
  return token ? userOfSession(service, token) : undefined;
}

/** Sets the session cookie; undefined clears it. */
export function keepSession(service: Service, reply: FastifyReply, token: string | undefined): void {
  const name = cookieName(service, 'session');
  if (token) reply.setCookie(name, token, { ...cookieOptions(service), maxAge: SESSION_HOURS * 3600 });
  else reply.clearCookie(name, cookieOptions(service));
}

/** Sets the cookie of a known browser. Signing out does not clear it; a new password invalidates it. */
export function keepKnownBrowser(service: Service, reply: FastifyReply, text: string): void {
  reply.setCookie(cookieName(service, 'known'), text, {
    ...cookieOptions(service),
    maxAge: KNOWN_BROWSER_DAYS * 24 * 3600,
  });
}

/** Maximum length of a URL in a header: browsers and proxies refuse headers of more than about 8 to 16 kB. */
export const LONGEST_ADDRESS = 4_000;

/** The URL for signing in and continuing at `next`, a path of this service. `next` is dropped if the URL would be too long. */
export function signInAddress(next: string): string {
  const address = `/signin?${new URLSearchParams({ next })}`;
  return address.length > LONGEST_ADDRESS ? '/signin' : address;
}

/** The value of a form's hidden field `csrf`, bound to this browser and session. */
export function csrfToken(request: FastifyRequest): string {
  const { secret, token = '' } = cookiesOf(request);
  return createHmac('sha256', secret).update(token).digest('base64url');
}

/** Throws 403 if the form's token is not of this browser and session. */
export function checkCsrf(request: FastifyRequest): void {
  const given = Buffer.from(formField(request, 'csrf'));
  const expected = Buffer.from(csrfToken(request));
  const site = request.headers['sec-fetch-site'];
  const foreign = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (foreign || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new ApiError('forbidden', 'El formulario ha caducado: vuelva atrás, cargue la página de nuevo y repítalo');
  }
}

/** A field of the form, as sent; empty if missing. */
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

/** Shows an error as a page. */
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
