// The context of a request for a page, and the function that adds pages.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Author } from '../../platform/audit.ts';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { companiesOf, type Membership, type SessionUser } from '../../platform/identity/users.ts';
import { type Html, html, type Page, sendPage, speaker } from './layout.ts';
import { checkCsrf, csrfToken, currentUser, formField, signInAddress } from './session.ts';

/** The default page. */
export const HOME = '/settings/integrations';
/** What a company says of itself on its documents. */
export const COMPANY = '/settings/company';

/** A request for a page. */
export class Visit {
  readonly service: Service;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Chooses the Spanish or the English text. */
  readonly say: (es: string, en: string) => string;

  constructor(service: Service, request: FastifyRequest, reply: FastifyReply) {
    this.service = service;
    this.request = request;
    this.reply = reply;
    this.say = speaker(request);
  }

  /** A query parameter; empty if missing. */
  query(name: string): string {
    const { query } = this.request;
    const value: unknown = typeof query === 'object' && query !== null ? Reflect.get(query, name) : undefined;
    return typeof value === 'string' ? value : '';
  }

  /** A field of the form; empty if missing. */
  field = (name: string) => formField(this.request, name);

  /** The hidden CSRF field of every form. */
  csrfField = () => html`<input type="hidden" name="csrf" value="${csrfToken(this.request)}">`;

  /** Redirects after a form, so that reloading the page does not send it again. */
  seeOther = (address: string) => this.reply.redirect(address, 303);

  /** Sends a page. */
  send = (page: Page) => sendPage(this.request, this.reply, page);
}

/** A request of a person who is signed in. */
export class SignedInVisit extends Visit {
  readonly user: SessionUser;
  /** The companies that the person belongs to. */
  readonly companies: Membership[];

  constructor({ service, request, reply }: Visit, user: SessionUser, companies: Membership[]) {
    super(service, request, reply);
    this.user = user;
    this.companies = companies;
  }

  /** The author of the person's writes in the audit. */
  get author(): Author {
    return { actor: `user:${this.user.userId}`, door: 'pages', requestId: this.request.id };
  }

  /** The person's company with this slug. Throws 404 if it does not exist or the person does not belong to it. */
  company(slug: string): Membership {
    const company = this.companies.find((each) => each.slug === slug);
    if (!company) throw new ApiError('notFound', 'No existe esa empresa');
    return company;
  }

  /** Sends a page with the menu; `here` is the current entry. */
  sendWithMenu(
    page: Page,
    here: 'integrations' | 'company' | 'password' | 'companies',
    company?: Membership,
  ): FastifyReply {
    const { say } = this;
    const slug = company ? `?${new URLSearchParams({ company: company.slug })}` : '';
    const link = (part: typeof here, address: string, text: string) =>
      html`<a href="${address}"${part === here ? html` aria-current="page"` : ''}>${text}</a>`;
    const menu = html`<nav aria-label="${say('Principal', 'Main')}">
${link('integrations', `${HOME}${slug}`, say('Integraciones', 'Integrations'))}
${link('company', `${COMPANY}${slug}`, say('Datos fiscales', 'Fiscal data'))}
${this.companies.length > 1 ? link('companies', '/companies', say('Empresas', 'Companies')) : ''}
${link('password', `/settings/password${slug}`, say('Contraseña', 'Password'))}
</nav>
<form method="post" action="/signout">${this.csrfField()}<button class="plain">${say('Salir', 'Sign out')}</button></form>`;
    return this.send({ ...page, menu });
  }
}

type Handler<V> = (visit: V) => Promise<FastifyReply> | FastifyReply;

/** Adds a page. Forms are checked for their CSRF token; other methods are a 405. */
export function addPage(
  app: FastifyInstance,
  service: Service,
  url: string,
  { get, post, ...options }: { get?: Handler<Visit>; post?: Handler<Visit>; bodyLimit?: number },
): void {
  if (get) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: (request, reply) => get(new Visit(service, request, reply)),
    });
  }
  if (post) {
    app.post(url, options, (request, reply) => {
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

/** A handler for signed-in people; others are redirected to the sign-in page. */
export const signedIn =
  (handler: Handler<SignedInVisit>): Handler<Visit> =>
  async (visit) => {
    const { service, request } = visit;
    const user = await currentUser(service, request);
    if (!user) return visit.seeOther(signInAddress(request.method === 'POST' ? HOME : request.url));
    return handler(new SignedInVisit(visit, user, await companiesOf(service.database, user.userId)));
  };

/** Runs `work` and returns an input or limit error to show beside the form; rethrows other errors. */
export async function problemOf(work: () => Promise<void>): Promise<ApiError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && (error.kind === 'badInput' || error.kind === 'quotaSpent')) return error;
    throw error;
  }
}

/** A message at the top of a page. */
export const notice = (kind: 'good' | 'bad', text: string | Html) =>
  html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`;
