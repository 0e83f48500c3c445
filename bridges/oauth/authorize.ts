// Where a person lets an application act on a company: /oauth/authorize. Who is not signed in does so first; who agrees, or
// does not, is sent back to the application. What can't be sent back safely is shown to the person. OAU-03, OAU-07
import OAuth2Server from '@node-oauth/oauth2-server';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { companiesOf, type Membership, type SessionUser } from '../../platform/users.ts';
import { html } from '../pages/layout.ts';
import { currentUser, preparePages, signInAddress } from '../pages/session.ts';
import { addPage, notice, type Visit } from '../pages/visit.ts';
import { type Client, findClient } from './clients.ts';
import { behind, isOAuthError, oauthError } from './errors.ts';
import { isResource, resourceOf } from './metadata.ts';
import { authorizing } from './model.ts';
import { given, theOne } from './parameters.ts';

/** An application that is known, and a place of its own to answer to. */
interface Asker {
  client: Client;
  redirectUri: string;
  state: string | undefined;
}

interface Wish {
  codeChallenge: string;
  /** It asks for svc.write; svc.read is always granted. */
  write: boolean;
}

/** Adds the page. */
export async function addAuthorizePage(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(async (scope) => {
    await preparePages(scope, service);
    addPage(scope, service, '/oauth/authorize', { get: handled(showConsent), post: handled(decide) });
  });
}

type Step = (visit: Visit, asker: Asker, wish: Wish, user: SessionUser) => Promise<FastifyReply> | FastifyReply;

/** What comes before both the page and the decision: the asker, the wish, the person. */
const handled = (step: Step) => async (visit: Visit) => {
  const { service, request } = visit;
  const query = typeof request.query === 'object' && request.query !== null ? request.query : {};
  const asker = await askerOf(service, query);
  if (typeof asker === 'string') return sendRefusal(visit, asker);
  try {
    const wish = wishOf(service, query);
    const user = await currentUser(service, request);
    return user ? await step(visit, asker, wish, user) : visit.seeOther(signInAddress(request.url));
  } catch (error) {
    if (!isOAuthError(error)) throw error instanceof Error ? behind(error) : error;
    return sendBack(visit, asker, { error: error.name, error_description: error.message });
  }
};

/** Who asks; or what is wrong, where there is nobody to answer to but the person. */
async function askerOf(service: Service, query: object): Promise<Asker | 'client' | 'redirect'> {
  const [clientId = '', ...otherClients] = given(query, 'client_id');
  const client = otherClients.length === 0 ? await findClient(service, clientId) : undefined;
  if (!client) return 'client';
  const [redirectUri = '', ...otherUris] = given(query, 'redirect_uri');
  if (otherUris.length > 0 || !client.redirectUris.includes(redirectUri)) return 'redirect';
  const [state, ...otherStates] = given(query, 'state');
  return { client, redirectUri, state: otherStates.length === 0 ? state : undefined };
}

/** What is asked for. An OAuth error, to be sent back, for a request that is not in order. */
function wishOf(service: Service, query: object): Wish {
  theOne(query, 'state');
  const responseType = theOne(query, 'response_type');
  if (!responseType) throw oauthError('invalid_request', 'Missing parameter: response_type');
  if (responseType !== 'code') throw oauthError('unsupported_response_type', 'response_type has to be code');
  const mode = theOne(query, 'response_mode');
  if (mode && mode !== 'query') throw oauthError('invalid_request', 'response_mode has to be query');
  const codeChallenge = theOne(query, 'code_challenge') ?? '';
  if (theOne(query, 'code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(codeChallenge)) {
    throw oauthError('invalid_request', 'PKCE is required: code_challenge, and code_challenge_method=S256');
  }
  if (!given(query, 'resource').every((resource) => isResource(service, resource))) {
    throw oauthError('invalid_target', 'resource is not the connector of this service');
  }
  const scopes = (theOne(query, 'scope') ?? '').split(' ').filter((scope) => scope !== '');
  // Scopes of other services, which some applications add to what they ask of every one, are passed over.
  if (scopes.length > 0 && !scopes.some((scope) => scope === 'svc.read' || scope === 'svc.write')) {
    throw oauthError('invalid_scope', 'scope has to hold svc.read or svc.write');
  }
  return { codeChallenge, write: scopes.includes('svc.write') };
}

/** Sends the person on to the application, with the answer beside what its redirect URI already holds. RFC 9207 */
function sendBack(
  { service, seeOther }: Visit,
  { redirectUri, state }: Asker,
  answer: Record<string, string>,
): FastifyReply {
  const parameters = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: service.baseUrl });
  const joint = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return seeOther(`${redirectUri}${joint}${parameters}`);
}

/** The person decided. A company that is not the person's is refused, whatever the form says. */
async function decide(visit: Visit, asker: Asker, { codeChallenge, write }: Wish, user: SessionUser) {
  const { service, field } = visit;
  if (field('decision') !== 'allow') throw oauthError('access_denied', 'The person did not agree');
  const companies = await companiesOf(service.database, user.userId);
  const company = companies.find(({ slug }) => slug === field('company'));
  if (!company) throw new ApiError('forbidden', 'No puede autorizar el acceso a esa empresa');
  const { client, redirectUri } = asker;
  const server = authorizing(service, {
    client,
    requestId: visit.request.id,
    accountId: company.accountId,
    userId: user.userId,
    redirectHost: hostOf(redirectUri),
    canWrite: write && field('write') === 'svc.write',
    resource: resourceOf(service),
  });
  const query = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  };
  const { authorizationCode } = await server.authorize(
    new OAuth2Server.Request({ method: 'GET', headers: {}, query, body: {} }),
    new OAuth2Server.Response(),
  );
  return sendBack(visit, asker, { code: authorizationCode });
}

const hostOf = (uri: string) => new URL(uri).host;

/** The page: who asks, for which company, what for. */
async function showConsent(visit: Visit, asker: Asker, { write }: Wish, user: SessionUser) {
  const { service, request, say } = visit;
  const { client, redirectUri } = asker;
  const companies = await companiesOf(service.database, user.userId);
  const title = say('Autorizar una aplicación', 'Authorise an application');
  if (companies.length === 0) return sendWithoutCompany(visit);
  return visit.send({
    title,
    narrow: true,
    formOrigins: [new URL(redirectUri).origin],
    body: html`<section class="card">
<h1>${title}</h1>
<p>${say('Esta aplicación pide acceso a los datos de una empresa:', 'This application asks for access to a company’s data:')}</p>
<p><strong>${client.name}</strong><br><span class="quiet">${say('La respuesta se enviará a', 'The answer will be sent to')} <strong>${hostOf(redirectUri)}</strong></span></p>
<p class="quiet">${say(
      'El nombre lo ha elegido la propia aplicación. Continúe solo si es usted quien la está conectando.',
      'The application chose this name itself. Go on only if it is you who is connecting it.',
    )}</p>
<form method="post" action="${request.url}">
${visit.csrfField()}
${companyChoice(visit, companies)}
<fieldset>
<legend>${say('Permisos', 'Permissions')}</legend>
<label class="radio"><input type="checkbox" checked disabled> <span><strong>${say('Consultar', 'Read')}</strong> <code>svc.read</code><br><span class="quiet">${say(
      'Ventas, tesorería, CRM, productos, proyectos y control horario. No se puede quitar.',
      'Sales, treasury, CRM, products, projects and time control. It can’t be removed.',
    )}</span></span></label>
${
  write &&
  html`<label class="radio"><input type="checkbox" name="write" value="svc.write" checked> <span><strong>${say('Escribir en el CRM', 'Write in the CRM')}</strong> <code>svc.write</code><br><span class="quiet">${say(
    'Crear contactos y oportunidades, y mover oportunidades entre etapas. Nada más.',
    'Create contacts and opportunities, and move opportunities between stages. Nothing else.',
  )}</span></span></label>`
}
</fieldset>
<button class="wide" name="decision" value="allow">${say('Autorizar', 'Authorise')}</button>
<button class="wide secondary" name="decision" value="deny">${say('Cancelar', 'Cancel')}</button>
</form>
</section>
<p class="quiet center">${say('Ha entrado como', 'You are signed in as')} ${user.email}. ${say(
      'Podrá retirar el acceso en Integraciones.',
      'You can withdraw the access in Integrations.',
    )}</p>`,
  });
}

function companyChoice({ say }: Visit, companies: readonly Membership[]) {
  const [only, ...others] = companies;
  if (only && others.length === 0) {
    return html`<p>${say('Empresa:', 'Company:')} <strong>${only.name}</strong></p><input type="hidden" name="company" value="${only.slug}">`;
  }
  return html`<fieldset>
<legend>${say('Empresa', 'Company')}</legend>
${companies.map(
  ({ slug, name }) =>
    html`<label class="radio"><input type="radio" name="company" value="${slug}" required> <span>${name}</span></label>`,
)}
</fieldset>`;
}

function sendWithoutCompany(visit: Visit): FastifyReply {
  const { say } = visit;
  const title = say('Sin empresa', 'No company');
  return visit.send({
    title,
    status: 403,
    narrow: true,
    body: html`<section class="card"><h1>${title}</h1><p>${say(
      'No pertenece a ninguna empresa a la que pueda dar acceso.',
      'You don’t belong to any company that you could give access to.',
    )}</p></section>`,
  });
}

/** Nobody is redirected to where nobody registered. */
function sendRefusal(visit: Visit, wrong: 'client' | 'redirect'): FastifyReply {
  const { say } = visit;
  const title = say('No se puede autorizar', 'This can’t be authorised');
  const reason =
    wrong === 'client'
      ? say(
          'La aplicación no está registrada en este servicio, o su registro ha caducado. Vuelva a conectarla desde el principio.',
          'The application is not registered with this service, or its registration has expired. Connect it again from the start.',
        )
      : say(
          'La dirección de respuesta no es ninguna de las que registró la aplicación.',
          'The address to answer to is none of those that the application registered.',
        );
  return visit.send({
    title,
    status: 400,
    narrow: true,
    body: html`<section class="card"><h1>${title}</h1>${notice('bad', reason)}</section>`,
  });
}
