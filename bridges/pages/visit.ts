// One request for a page, as the page's code sees it; and how a page's address answers.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Author } from '../../platform/audit.ts';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { companiesOf, type Membership, type SessionUser } from '../../platform/users.ts';
import { type Html, html, type Page, sendPage, speaker } from './layout.ts';
import { checkCsrf, csrfToken, currentUser, formField, signInAddress } from './session.ts';

/** Where a person comes to who asked for nothing else. */
export const HOME = '/settings/integrations';

export class Visit {
  readonly service: Service;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The Spanish or the English text, as the reader prefers. */
  readonly say: (es: string, en: string) => string;

  constructor(service: Service, request: FastifyRequest, reply: FastifyReply) {
    this.service = service;
    this.request = request;
    this.reply = reply;
    this.say = speaker(request);
  }

  /** A parameter of the address; empty when it is not there. */
  query(name: string): string {
    const { query } = this.request;
    const value: unknown = typeof query === 'object' && query !== null ? Reflect.get(query, name) : undefined;
    return typeof value === 'string' ? value : '';
  }

  field = (name: string) => formField(this.request, name);

  /** The hidden field that every form brings back. */
  csrfField = () => html`<input type="hidden" name="csrf" value="${csrfToken(this.request)}">`;

  /** After a form, so that loading the page again sends nothing twice. */
  seeOther = (address: string) => this.reply.redirect(address, 303);

  send = (page: Page) => sendPage(this.request, this.reply, page);
}

/** The same for somebody who is signed in. */
export class Stay extends Visit {
  readonly user: SessionUser;
  /** The companies that the person belongs to. */
  readonly companies: Membership[];

  constructor({ service, request, reply }: Visit, user: SessionUser, companies: Membership[]) {
    super(service, request, reply);
    this.user = user;
    this.companies = companies;
  }

  get author(): Author {
    return { actor: `user:${this.user.userId}`, door: 'pages', requestId: this.request.id };
  }

  /** The company named by its slug. 404 for one the person does not belong to, as for one that is not there. */
  company(slug: string): Membership {
    const company = this.companies.find((each) => each.slug === slug);
    if (!company) throw new ApiError('notFound', 'No existe esa empresa');
    return company;
  }

  /** A page with the menu; `here` is the part of it that the page is. */
  sendInside(page: Page, here: 'integrations' | 'password' | 'companies', company?: Membership): FastifyReply {
    const { say } = this;
    const slug = company ? `?${new URLSearchParams({ company: company.slug })}` : '';
    const link = (part: typeof here, address: string, text: string) =>
      html`<a href="${address}"${part === here ? html` aria-current="page"` : ''}>${text}</a>`;
    const menu = html`<nav aria-label="${say('Principal', 'Main')}">
${link('integrations', `${HOME}${slug}`, say('Integraciones', 'Integrations'))}
${this.companies.length > 1 ? link('companies', '/companies', say('Empresas', 'Companies')) : ''}
${link('password', `/settings/password${slug}`, say('Contraseña', 'Password'))}
</nav>
<form method="post" action="/signout">${this.csrfField()}<button class="plain">${say('Salir', 'Sign out')}</button></form>`;
    return this.send({ ...page, menu });
  }
}

type Handler<V> = (visit: V) => Promise<FastifyReply> | FastifyReply;

/** Adds a page's address: what is sent to it is checked to come from one of our forms; other methods are a 405. */
export function addPage(
  app: FastifyInstance,
  service: Service,
  url: string,
  { get, post }: { get?: Handler<Visit>; post?: Handler<Visit> },
): void {
  if (get) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: (request, reply) => get(new Visit(service, request, reply)),
    });
  }
  if (post) {
    app.post(url, (request, reply) => {
      checkCsrf(request);
      return post(new Visit(service, request, reply));
    });
  }
  const allowed = [...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])];
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    async onRequest(_request, reply) {
      reply.header('Allow', allowed.join(', '));
      throw new ApiError('methodNotAllowed', `Método no admitido en esta dirección; se admite ${allowed.join(', ')}`);
    },
    handler: () => {},
  });
}

/** A handler for people who are signed in; the others go and do so first. */
export const inside =
  (handler: Handler<Stay>): Handler<Visit> =>
  async (visit) => {
    const { service, request } = visit;
    const user = await currentUser(service, request);
    if (!user) return visit.seeOther(signInAddress(request.method === 'POST' ? HOME : request.url));
    return handler(new Stay(visit, user, await companiesOf(service.database, user.userId)));
  };

/** What a person did wrong, to be shown beside the form; any other error goes on its way. */
export async function problemOf(work: () => Promise<void>): Promise<ApiError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && (error.kind === 'badInput' || error.kind === 'quotaSpent')) return error;
    throw error;
  }
}

/** A message on top of a page. */
export const notice = (kind: 'good' | 'bad', text: string | Html) =>
  html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`;
