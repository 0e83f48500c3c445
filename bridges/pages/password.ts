// The page on which a person changes their password.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { type ApiError, badField } from '../../platform/errors.ts';
import { MIN_PASSWORD } from '../../platform/identity/passwords.ts';
import { changePassword } from '../../platform/identity/users.ts';
import { html } from './layout.ts';
import { keepKnownBrowser } from './session.ts';
import { addPage, notice, problemOf, type SignedInVisit, signedIn } from './visit.ts';

/** Adds the page. */
export function addPassword(app: FastifyInstance, service: Service): void {
  addPage(app, service, '/settings/password', {
    get: signedIn((visit) => sendForm(visit)),
    post: signedIn(async (visit) => {
      const [actual, nueva, repetida] = ['actual', 'nueva', 'repetida'].map(visit.field);
      const problem = await problemOf(async () => {
        if (nueva !== repetida) throw badField('repetida', 'no coincide con la nueva');
        const passwords = { actual: actual ?? '', nueva: nueva ?? '' };
        keepKnownBrowser(service, visit.reply, await changePassword(service, visit.user, passwords, visit.author));
      });
      return problem ? sendForm(visit, problem) : visit.seeOther('/settings/password?done=1');
    }),
  });
}

function sendForm(visit: SignedInVisit, problem?: ApiError): FastifyReply {
  const { say, reply, user } = visit;
  if (problem?.retryAfterSeconds) reply.header('Retry-After', String(problem.retryAfterSeconds));
  const wrong = problem?.fields[0]?.campo;
  const least = say(`De ${MIN_PASSWORD} caracteres o más.`, `${MIN_PASSWORD} characters or more.`);
  const complaints: Record<string, string> = {
    actual: say('No es su contraseña actual.', 'This is not your current password.'),
    nueva: least,
    repetida: say('No coincide con la nueva.', 'This is not the same as the new one.'),
  };
  const field = (name: string, label: string, autocomplete: string, hint?: string) => {
    const complaint = wrong === name ? complaints[name] : undefined;
    const about = complaint ? `${name}-problem` : hint ? `${name}-hint` : undefined;
    return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="password" autocomplete="${autocomplete}" required maxlength="1000"${about ? html` aria-describedby="${about}"` : ''}${complaint ? html` aria-invalid="true" autofocus` : ''}>
${complaint ? html`<p class="problem" id="${name}-problem">${complaint}</p>` : hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : ''}`;
  };
  const title = say('Cambiar la contraseña', 'Change password');
  return visit.sendWithMenu(
    {
      title: problem ? `Error: ${title}` : title,
      status: problem?.status ?? 200,
      narrow: true,
      body: html`<section class="card">
<h1>${title}</h1>
${problem?.kind === 'quotaSpent' ? notice('bad', say(problem.message, 'Too many attempts: wait a few minutes before trying again')) : ''}
${!problem && visit.query('done') ? notice('good', say('Contraseña cambiada. Sus demás sesiones se han cerrado.', 'Password changed. Your other sessions have ended.')) : ''}
<form method="post" action="/settings/password">
${visit.csrfField()}
<label for="username">${say('Correo electrónico', 'E-mail')}</label>
<input id="username" name="username" autocomplete="username" value="${user.email}" readonly>
${field('actual', say('Contraseña actual', 'Current password'), 'current-password')}
${field('nueva', say('Contraseña nueva', 'New password'), 'new-password', least)}
${field('repetida', say('Repita la nueva', 'Repeat the new one'), 'new-password')}
<button class="wide">${title}</button>
</form>
<p class="quiet">${say('Las sesiones abiertas en otros navegadores se cerrarán.', 'Sessions in other browsers will end.')}</p>
</section>`,
    },
    'password',
  );
}
