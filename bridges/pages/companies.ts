// The page on which a person chooses one of their companies.
import type { FastifyInstance } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { html } from './layout.ts';
import { addPage, HOME, signedIn } from './visit.ts';

/** Adds the page. */
export function addCompanies(app: FastifyInstance, service: Service): void {
  addPage(app, service, '/companies', {
    get: signedIn((visit) => {
      const { say, companies } = visit;
      const title = say('Elija una empresa', 'Choose a company');
      const list = html`<ul class="choices">${companies.map(
        ({ slug, name, role }) => html`<li><a href="${HOME}?${new URLSearchParams({ company: slug }).toString()}">
<span class="initial" aria-hidden="true">${[...name][0]?.toUpperCase()}</span>
<span><strong>${name}</strong><span class="quiet">${role === 'admin' ? say('Administra', 'Administrator') : say('Miembro', 'Member')}</span></span>
</a></li>`,
      )}</ul>`;
      const none = html`<p>${say(
        'No pertenece a ninguna empresa todavía. Quien administra el servicio puede darle acceso.',
        'You don’t belong to any company yet. Whoever runs the service can let you in.',
      )}</p>`;
      return visit.sendWithMenu(
        {
          title,
          narrow: true,
          body: html`<section class="card"><h1>${title}</h1>${companies.length > 0 ? list : none}</section>`,
        },
        'companies',
      );
    }),
  });
}
