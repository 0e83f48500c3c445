// The pages for signing in and out.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { endSession, type SignedIn, signIn } from '../../platform/identity/users.ts';
import { html } from './layout.ts';
import { currentUser, keepKnownBrowser, keepSession, LONGEST_ADDRESS } from './session.ts';
import { addPage, HOME, notice, problemOf, type Visit } from './visit.ts';

/** Adds the pages. */
export function addSignIn(app: FastifyInstance, service: Service): void {
  addPage(app, service, '/signin', {
    async get(visit) {
      const next = localPath(visit.query('next'));
      const user = await currentUser(service, visit.request);
      return user ? visit.seeOther(next) : sendForm(visit, { next });
    },
    async post(visit) {
      const next = localPath(visit.field('next'));
      const email = visit.field('email').trim();
      const password = visit.field('password');
      const { ip: address, id: requestId, page } = visit.request;
      let opened: SignedIn | undefined;
      const problem = await problemOf(async () => {
        const attempt = { email, password, address, requestId, knownBrowser: page?.knownBrowser };
        opened = await signIn(service, attempt);
      });
      if (!opened) return sendForm(visit, { next, email, problem: problem ?? wrong() });
      // Signing in always creates a new session and ends the browser's previous one.
      await endCurrentSession(visit);
      keepSession(service, visit.reply, opened.token);
      keepKnownBrowser(service, visit.reply, opened.knownBrowser);
      return visit.seeOther(next);
    },
  });
  addPage(app, service, '/signout', {
    async post(visit) {
      await endCurrentSession(visit);
      keepSession(service, visit.reply, undefined);
      return visit.seeOther('/signin?bye=1');
    },
  });
}

const wrong = () => new ApiError('badInput', 'El correo o la contraseña no son correctos');

async function endCurrentSession({ service, request }: Visit): Promise<void> {
  const token = request.page?.token;
  if (token) await endSession(service.database, token);
}

/** `next` if it is a path of this service, else the home page. */
export function localPath(next: string): string {
  const base = 'http://local.invalid';
  const url = URL.parse(next, base);
  if (!url || url.origin !== base || !next.startsWith('/')) return HOME;
  const path = url.pathname + url.search + url.hash;
  // `/.//host` normalises to `//host`, which is another host.
  return path.startsWith('//') || path.length > LONGEST_ADDRESS ? HOME : path;
}

function sendForm(
  visit: Visit,
  { next, email = '', problem }: { next: string; email?: string; problem?: ApiError },
): FastifyReply {
  const { say, reply } = visit;
  if (problem?.retryAfterSeconds) reply.header('Retry-After', String(problem.retryAfterSeconds));
  const complaint =
    problem?.kind === 'quotaSpent'
      ? say(problem.message, 'Too many attempts: wait a few minutes before trying again')
      : problem && say(problem.message, 'The e-mail or the password is wrong');
  const title = say('Entrar', 'Sign in');
  return visit.send({
    title: problem ? say(`Error: ${title}`, `Error: ${title}`) : title,
    status: problem?.status ?? 200,
    narrow: true,
    body: html`<section class="card">
<h1>${title}</h1>
${complaint ? notice('bad', complaint) : ''}
${visit.query('bye') && !problem ? notice('good', say('Ha salido.', 'You have signed out.')) : ''}
<form method="post" action="/signin">
${visit.csrfField()}
<input type="hidden" name="next" value="${next}">
<label for="email">${say('Correo electrónico', 'E-mail')}</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${email}"${email ? '' : html` autofocus`}>
<label for="password">${say('Contraseña', 'Password')}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1000"${email ? html` autofocus` : ''}>
<button class="wide">${title}</button>
</form>
</section>
<p class="quiet center">${say('¿Sin cuenta o contraseña? Pídala a quien administra el servicio.', 'No account or password? Ask whoever runs the service.')}</p>`,
  });
}
