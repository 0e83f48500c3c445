// The pages for people: sign-in, companies, a company's integrations and fiscal data, password, and documents for whoever has a link to one.
import type { FastifyInstance } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { addCompanies } from './companies.ts';
import { addCompany } from './company.ts';
import { addDocumentPages } from './document.ts';
import { addIntegrations } from './integrations.ts';
import { STYLE, STYLE_PATH } from './layout.ts';
import { addPassword } from './password.ts';
import { preparePages } from './session.ts';
import { addSignIn } from './sign-in.ts';

/** Adds every page and the stylesheet. */
export async function addPages(app: FastifyInstance, service: Service): Promise<void> {
  app.get(STYLE_PATH, (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('Cache-Control', 'public, max-age=31536000, immutable').send(STYLE),
  );
  await addDocumentPages(app, service);
  await app.register(async (pages) => {
    await preparePages(pages, service);
    for (const add of [addSignIn, addCompanies, addIntegrations, addCompany, addPassword]) add(pages, service);
  });
}
