// The consent page, /oauth/authorize, where a person lets an application act on a company. The person signs in first if necessary.
// The decision is sent back to the application; errors that can't be sent back safely are shown to the person. OAU-03, OAU-07
import OAuth2Server from '@node-oauth/oauth2-server';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { companiesOf, type Membership, type SessionUser } from '../../platform/identity/users.ts';
import { html } from '../pages/layout.ts';
import { currentUser, preparePages, signInAddress } from '../pages/session.ts';
import { addPage, notice, type Visit } from '../pages/visit.ts';
import { type Client, findClient } from './clients.ts';
import { innerError, isOAuthError, oauthError } from './errors.ts';
import { isResource, resourceOf } from './metadata.ts';
import { authorizing } from './model.ts';
import { single, valuesOf } from './parameters.ts';

/** A registered application, and one of its redirect URIs. */
interface Application {
  client: Client;
  redirectUri: string;
  state: string | undefined;
}

interface AuthorizationRequest {
  codeChallenge: string;
  /** Requests svc.write; svc.read is always granted. */
  write: boolean;
}

/** Adds the page. */
export async function addAuthorizePage(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(async (scope) => {
    await preparePages(scope, service);
    addPage(scope, service, '/oauth/authorize', { get: handled(showConsent), post: handled(decide) });
  });
}

type Step = (
  visit: Visit,
  application: Application,
  asked: AuthorizationRequest,
  user: SessionUser,
) => Promise<FastifyReply> | FastifyReply;

/** Reads the application, the request and the person, for both the page and the decision. */
const handled = (step: Step) => async (visit: Visit) => {
  const { service, request } = visit;
  const query = typeof request.query === 'object' && request.query !== null ? request.query : {};
  const application = await applicationOf(service, query);
  if (typeof application === 'string') return sendRefusal(visit, application);
  try {
    const asked = requestOf(service, query);
    const user = await currentUser(service, request);
    return user ? await step(visit, application, asked, user) : visit.seeOther(signInAddress(request.url));
  } catch (error) {
    if (!isOAuthError(error)) throw error instanceof Error ? innerError(error) : error;
    return sendBack(visit, application, { error: error.name, error_description: error.message });
  }
};

/** The application; or what is wrong, if the error can't be sent to a redirect URI and must be shown to the person. */
async function applicationOf(service: Service, query: object): Promise<Application | 'client' | 'redirect'> {
  const [clientId = '', ...otherClients] = valuesOf(query, 'client_id');
  const client = otherClients.length === 0 ? await findClient(service, clientId) : undefined;
  if (!client) return 'client';
  const [redirectUri = '', ...otherUris] = valuesOf(query, 'redirect_uri');
  if (otherUris.length > 0 || !client.redirectUris.includes(redirectUri)) return 'redirect';
  const [state, ...otherStates] = valuesOf(query, 'state');
  return { client, redirectUri, state: otherStates.length === 0 ? state : undefined };
}

/** The validated request. Throws an OAuth error to send back if it is invalid. */
function requestOf(service: Service, query: object): AuthorizationRequest {
  single(query, 'state');
  const responseType = single(query, 'response_type');
  if (!responseType) throw oauthError('invalid_request', 'Missing parameter: response_type');
  if (responseType !== 'code') throw oauthError('unsupported_response_type', 'response_type has to be code');
  const mode = single(query, 'response_mode');
  if (mode && mode !== 'query') throw oauthError('invalid_request', 'response_mode has to be query');
  const codeChallenge = single(query, 'code_challenge') ?? '';
  if (single(query, 'code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(codeChallenge)) {
    throw oauthError('invalid_request', 'PKCE is required: code_challenge, and code_challenge_method=S256');
  }
  if (!valuesOf(query, 'resource').every((resource) => isResource(service, resource))) {
    throw oauthError('invalid_target', 'resource is not the connector of this service');
  }
  const scopes = (single(query, 'scope') ?? '').split(' ').filter((scope) => scope !== '');
  // Ignore unknown scopes: some applications request scopes of other services too.
  if (scopes.length > 0 && !scopes.some((scope) => scope === 'svc.read' || scope === 'svc.write')) {
    throw oauthError('invalid_scope', 'scope has to hold svc.read or svc.write');
  }
  return { codeChallenge, write: scopes.includes('svc.write') };
}

/** Redirects the person to the application, adding the answer to the redirect URI's own parameters. RFC 9207 */
function sendBack(
  { service, seeOther }: Visit,
  { redirectUri, state }: Application,
  answer: Record<string, string>,
): FastifyReply {
  const parameters = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: service.baseUrl });
  const joint = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return seeOther(`${redirectUri}${joint}${parameters}`);
}

/** Handles the person's decision. Throws 403 for a company that the person does not belong to. */
async function decide(
  visit: Visit,
  application: Application,
  { codeChallenge, write }: AuthorizationRequest,
  user: SessionUser,
) {
  const { service, field } = visit;
  if (field('decision') !== 'allow') throw oauthError('access_denied', 'The person did not agree');
  const companies = await companiesOf(service.database, user.userId);
  const company = companies.find(({ slug }) => slug === field('company'));
  if (!company) throw new ApiError('forbidden', 'No puede autorizar el acceso a esa empresa');
  const { client, redirectUri } = application;
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
  return sendBack(visit, application, { code: authorizationCode });
}

const hostOf = (uri: string) => new URL(uri).host;

/** The page: the application, the company and the permissions. */
async function showConsent(visit: Visit, application: Application, { write }: AuthorizationRequest, user: SessionUser) {
  const { service, request, say } = visit;
  const { client, redirectUri } = application;
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
      'Clientes, presupuestos y ventas con sus documentos, servicios recurrentes, compras y proveedores, tesorería, CRM, productos y existencias, proyectos, plantilla y control horario, y el consumo de la cuenta y su actividad. No se puede quitar.',
      'Clients, estimates and sales with their documents, recurring services, purchases and suppliers, treasury, CRM, products and stock, projects, staff and time control, and the use of the account and its activity. It can’t be removed.',
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

/** Shows the error: redirecting to an unregistered address would be unsafe. */
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
