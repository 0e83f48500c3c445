// The integrations page of a company: its API keys (for administrators), authorised connections, automatic issuing of renewals, use
// of the quota, and how to connect an assistant. The URL and every form name the company, so that two tabs can show two companies.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { noteWrite } from '../../platform/audit.ts';
import { switchAutomaticIssuing } from '../../platform/automatic-issuing.ts';
import { dateIn } from '../../platform/clock.ts';
import type { Service } from '../../platform/context.ts';
import type { Db } from '../../platform/database.ts';
import { ApiError, badField } from '../../platform/errors.ts';
import { createKey, liveKeys, revokeKey } from '../../platform/identity/api-keys.ts';
import { type Connection, listGrants, revokeGrant } from '../../platform/identity/grants.ts';
import { type Membership, namesOf, type Role, requireMember } from '../../platform/identity/users.ts';
import { changeOf, writeJournal } from '../../platform/journal.ts';
import type { QuotaUse } from '../../platform/quota.ts';
import { summariseDue } from '../../routers/shared/renewals/issue-renewals.ts';
import { addActivity } from './activity.ts';
import { connectorSection } from './connector.ts';
import { type Html, html, languageOf } from './layout.ts';
import { keepNewKey, type NewlyMade, takeNewKey } from './new-key.ts';
import { addPage, HOME, notice, problemOf, type SignedInVisit, signedIn } from './visit.ts';
import { addWebhookForms, newSecretSection, readWebhooks, webhooksSection } from './webhooks.ts';

const KEYS = `${HOME}/keys`;
const ISSUING = `${HOME}/automatic-issuing`;
const NAME_LENGTH = 80;

/** Adds the page and its forms. */
export function addIntegrations(app: FastifyInstance, service: Service): void {
  addActivity(app, service, { requireAdmin, idInPath, whose, moments });
  addWebhookForms(app, service, { requireAdmin, idInPath, address, show: sendIntegrations });
  addPage(app, service, '/settings', { get: (visit) => visit.seeOther(HOME) });
  addPage(app, service, HOME, {
    get: signedIn((visit) => {
      const slug = visit.query('company');
      const [first, second] = visit.companies;
      if (slug === '' && (!first || second)) return visit.seeOther('/companies');
      return sendIntegrations(visit, slug === '' && first ? first : visit.company(slug));
    }),
  });
  addPage(app, service, KEYS, {
    post: signedIn(async (visit) => {
      const company = visit.company(visit.field('company'));
      const { accountId } = company;
      let made: NewlyMade | undefined;
      const problem = await problemOf(async () => {
        made = await service.database.transaction(accountId, { write: true }, async (db) => {
          await requireAdmin(db, visit, accountId);
          const asked = await readNewKey(db, visit, accountId);
          return { accountId, ...(await createKey(db, accountId, asked, visit.author)) };
        });
      });
      if (problem || !made) return sendIntegrations(visit, company, { problem });
      keepNewKey(service, visit.reply, made);
      return visit.seeOther(`${address(company)}#new-key`);
    }),
  });
  addPage(app, service, `${KEYS}/:id/revoke`, {
    post: signedIn(async (visit) => {
      const company = visit.company(visit.field('company'));
      const { accountId } = company;
      await service.database.transaction(accountId, { write: true }, async (db) => {
        await requireAdmin(db, visit, accountId);
        if (!(await revokeKey(db, accountId, idInPath(visit), visit.author))) throw gone();
      });
      return visit.seeOther(`${address(company)}&done=key`);
    }),
  });
  addPage(app, service, ISSUING, {
    post: signedIn(async (visit) => {
      const company = visit.company(visit.field('company'));
      const { accountId } = company;
      const state = visit.field('state');
      if (state !== 'on' && state !== 'off') throw badField('state', 'se esperaba on u off');
      await service.database.transaction(accountId, { write: true }, async (db) => {
        await requireAdmin(db, visit, accountId);
        await switchAutomaticIssuing(db, accountId, state === 'on', service.clock.now());
        const origin = { ...visit.author, operation: `automatic issuing ${state}`, now: service.clock.now() };
        await writeJournal(db, accountId, origin, [changeOf('modify', 'account', accountId)]);
      });
      return visit.seeOther(`${address(company)}&done=issuing`);
    }),
  });
  addPage(app, service, `${HOME}/connections/:id/withdraw`, {
    post: signedIn(async (visit) => {
      const company = visit.company(visit.field('company'));
      const { accountId } = company;
      const id = idInPath(visit);
      await service.database.transaction(accountId, { write: true }, async (db) => {
        const role = await requireMember(db, accountId, visit.user.userId);
        const now = service.clock.now();
        if (!(await revokeGrant(db, accountId, id, { ...whose(role, visit), now }))) throw gone();
        await noteWrite(db, accountId, visit.author, { operation: 'connection withdraw', kind: 'grant', id });
      });
      return visit.seeOther(`${address(company)}&done=connection`);
    }),
  });
}

const address = ({ slug }: Membership) => `${HOME}?${new URLSearchParams({ company: slug })}`;

const gone = () => new ApiError('notFound', 'Ya no existe: puede que se haya retirado antes');

/** Administrators manage all connections of the company, members their own. */
const whose = (role: Role, { user }: SignedInVisit) => (role === 'admin' ? {} : { userId: user.userId });

/** Throws 403 unless the person is an administrator of this company now. */
export async function requireAdmin(db: Db, { user }: SignedInVisit, accountId: number): Promise<void> {
  if ((await requireMember(db, accountId, user.userId)) === 'admin') return;
  throw new ApiError('forbidden', 'Solo quien administra la empresa puede ver y cambiar esto');
}

function idInPath({ request }: SignedInVisit): number {
  const { params } = request;
  const text: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, 'id') : undefined;
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text)) throw gone();
  return Number(text);
}

/** Reads the form of a new key. Throws 400 that names the field. */
async function readNewKey(db: Db, visit: SignedInVisit, accountId: number) {
  const name = visit.field('name').trim();
  if (name === '' || name.length > NAME_LENGTH) throw badField('name', `se esperaban de 1 a ${NAME_LENGTH} caracteres`);
  const { time_zone } = await db
    .selectFrom('accounts')
    .select('time_zone')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  const expiresAt = lastMoment(visit.field('expires'), time_zone);
  if (expiresAt && Temporal.Instant.compare(expiresAt, visit.service.clock.now()) <= 0) {
    throw badField('expires', 'ya ha pasado');
  }
  return { name, readOnly: visit.field('scope') !== 'write', expiresAt };
}

/** The end of a day in a company's time zone. */
function lastMoment(day: string, timeZone: string): Temporal.Instant | undefined {
  if (day === '') return undefined;
  try {
    if (/^\d{4}-\d\d-\d\d$/.test(day)) {
      return Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(timeZone).toInstant();
    }
  } catch {
    // Not a calendar day.
  }
  throw badField('expires', 'se esperaba una fecha AAAA-MM-DD');
}

async function sendIntegrations(
  visit: SignedInVisit,
  company: Membership,
  { problem, fresh }: { problem?: ApiError | undefined; fresh?: Html } = {},
): Promise<FastifyReply> {
  const { service, user, say } = visit;
  const { accountId } = company;
  const now = service.clock.now();
  const made = takeNewKey(service, visit.request, visit.reply, accountId);
  const { account, role, keys, connections, webhooks } = await service.database.transaction(
    accountId,
    {},
    async (db) => {
      const role = await requireMember(db, accountId, user.userId);
      const [account, keys, connections, webhooks] = await Promise.all([
        db
          .selectFrom('accounts')
          .select(['time_zone', 'quota_per_minute', 'automatic_issuing_since'])
          .where('id', '=', accountId)
          .executeTakeFirstOrThrow(),
        role === 'admin' ? liveKeys(db, accountId) : [],
        listGrants(db, accountId, { ...whose(role, visit), now }),
        role === 'admin' ? readWebhooks(db, accountId) : undefined,
      ]);
      return { account, role, keys, connections, webhooks };
    },
  );
  const [people, quota] = await Promise.all([
    namesOf(service.database, [...new Set(connections.map(({ userId }) => userId))]),
    service.quota.look({ accountId, quotaPerMinute: account.quota_per_minute, timeZone: account.time_zone }),
  ]);
  const today = dateIn(account.time_zone, now);
  const due = await summariseDue({
    database: service.database,
    accountId,
    today,
    until: today,
    since: 'entered',
  });
  const when = moments(visit, account.time_zone);
  const done: Record<string, string> = {
    key: say('Clave revocada: ya no abre nada.', 'Key revoked: it opens nothing any more.'),
    connection: say('Conexión retirada: ha perdido el acceso.', 'Connection withdrawn: it has lost access.'),
    webhook: say('Hecho: el webhook ha cambiado.', 'Done: the webhook has changed.'),
    issuing: account.automatic_issuing_since
      ? say('Emisión automática activada.', 'Automatic issuing switched on.')
      : say('Emisión automática desactivada.', 'Automatic issuing switched off.'),
  };
  const said = done[visit.query('done')];
  const title = say('Integraciones', 'Integrations');
  return visit.sendWithMenu(
    {
      title: problem ? `Error: ${title}` : `${title} · ${company.name}`,
      status: problem?.status ?? 200,
      body: html`<div class="title"><p class="company">${company.name}</p><h1>${title}</h1>
<p class="lead">${say('Lo que trabaja con los datos de la empresa sin estar en ella: claves de la API y asistentes.', 'What works with the company’s data from outside: API keys and assistants.')}</p></div>
${said && !problem ? notice('good', said) : ''}
${made ? (made.webhook ? newSecretSection(visit, made.secret) : newKeySection(visit, made)) : ''}
${fresh ?? ''}
${connectionsSection(visit, company, role, connections, people, when)}
${connectorSection(visit)}
${role === 'admin' ? keysSection(visit, company, keys, when, now, account.time_zone, problem) : ''}
${
  webhooks
    ? webhooksSection(visit, company, webhooks, {
        when,
        confirm: (action, ask, sure, about) => confirm(visit, company, action, ask, sure, about),
        problem: visit.request.url.startsWith(`${HOME}/webhooks`) ? problem : undefined,
      })
    : ''
}
${issuingSection(visit, company, role, account.automatic_issuing_since, due.renewals)}
${quotaSection(visit, quota)}`,
    },
    'integrations',
    company,
  );
}

/** Formats moments in the company's time zone and the reader's language. */
function moments({ request, say }: SignedInVisit, timeZone: string) {
  const locale = languageOf(request) === 'en' ? 'en-GB' : 'es';
  return (moment: Temporal.Instant | string | null, none = say('nunca', 'never')): Html => {
    if (moment === null) return html`${none}`;
    const instant = Temporal.Instant.from(moment);
    const text = instant
      .toZonedDateTimeISO(timeZone)
      .toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
    return html`<time datetime="${instant.toString({ smallestUnit: 'second' })}">${text}</time>`;
  };
}
type Moments = ReturnType<typeof moments>;

const newKeySection = (
  { say }: SignedInVisit,
  { key, secret }: NewlyMade,
) => html`<section class="card fresh" id="new-key" aria-labelledby="new-key-title">
<h2 id="new-key-title">${say('Clave creada', 'Key created')}</h2>
<p>${say('Copie el secreto ahora: no se guarda y no volverá a mostrarse.', 'Copy the secret now: it is not kept and won’t be shown again.')}</p>
<dl class="secret">
<dt>X-API-KEY</dt><dd><code>${key}</code></dd>
<dt>X-API-SECRET</dt><dd><code>${secret}</code></dd>
</dl>
</section>`;

/** A button that asks for confirmation, without a script. */
const confirm = (
  visit: SignedInVisit,
  company: Membership,
  action: string,
  ask: string,
  sure: string,
  about: string,
  more: Html | '' = '',
) => html`<details class="confirm">
<summary aria-label="${ask}: ${about}">${ask}</summary>
<form method="post" action="${action}">${visit.csrfField()}<input type="hidden" name="company" value="${company.slug}">${more}
<button class="danger">${sure}</button></form>
</details>`;

/** The page of what a key or connection called. */
const activityLink = ({ say }: SignedInVisit, { slug }: Membership, page: string, about: string) =>
  html`<a class="plain" href="${page}?${new URLSearchParams({ company: slug }).toString()}" aria-label="${say('Actividad', 'Activity')}: ${about}">${say('Actividad', 'Activity')}</a>`;

const permissions = ({ say }: SignedInVisit, canWrite: boolean) =>
  canWrite
    ? html`<span class="tag strong">${say('Lectura y escritura', 'Read and write')}</span>`
    : html`<span class="tag">${say('Solo lectura', 'Read only')}</span>`;

function connectionsSection(
  visit: SignedInVisit,
  company: Membership,
  role: Role,
  connections: Connection[],
  people: Map<number, string>,
  when: Moments,
): Html {
  const { say } = visit;
  const list = html`<ul class="rows">${connections.map(
    ({ id, clientName, redirectHost, canWrite, createdAt, lastUsedAt, userId }) => html`<li>
<div class="what"><strong>${clientName}</strong> ${permissions(visit, canWrite)}
<p class="quiet">${redirectHost}${role === 'admin' ? html` · ${people.get(userId)}` : ''}</p>
<p class="quiet">${say('Desde', 'Since')} ${when(createdAt)} · ${say('Último uso', 'Last used')}: ${when(lastUsedAt)}</p></div>
<div class="actions">${activityLink(visit, company, `${HOME}/connections/${id}`, clientName)}
${confirm(visit, company, `${HOME}/connections/${id}/withdraw`, say('Retirar', 'Withdraw'), say('Sí, retirar el acceso', 'Yes, withdraw access'), clientName)}</div>
</li>`,
  )}</ul>`;
  return html`<section class="card" aria-labelledby="connections">
<h2 id="connections">${say('Conexiones autorizadas', 'Authorized connections')}</h2>
<p class="quiet">${
    role === 'admin'
      ? say(
          'Asistentes a los que alguien de la empresa ha dado acceso. Retirarlo surte efecto al momento.',
          'Assistants that somebody of the company gave access to. Withdrawing takes effect at once.',
        )
      : say(
          'Asistentes a los que usted ha dado acceso. Retirarlo surte efecto al momento.',
          'Assistants that you gave access to. Withdrawing takes effect at once.',
        )
  }</p>
${connections.length > 0 ? list : html`<p class="empty">${say('Ninguna todavía.', 'None yet.')}</p>`}
</section>`;
}

type Keys = Awaited<ReturnType<typeof liveKeys>>;

function keysSection(
  visit: SignedInVisit,
  company: Membership,
  keys: Keys,
  when: Moments,
  now: Temporal.Instant,
  timeZone: string,
  problem?: ApiError,
): Html {
  const { say } = visit;
  const isPast = (moment: string | null) => moment !== null && Temporal.Instant.compare(moment, now) <= 0;
  const list = html`<ul class="rows">${keys.map(
    ({ id, key, name, can_write, created_at, expires_at, last_used_at }) => html`<li>
<div class="what"><strong>${name}</strong> ${permissions(visit, can_write)}${isPast(expires_at) ? html` <span class="tag over">${say('Caducada', 'Expired')}</span>` : ''}
<p class="quiet"><code>${key}</code></p>
<p class="quiet">${say('Creada', 'Created')} ${when(created_at)} · ${say('Último uso', 'Last used')}: ${when(last_used_at)} · ${say('Caduca', 'Expires')}: ${when(expires_at)}</p></div>
<div class="actions">${activityLink(visit, company, `${KEYS}/${id}`, name)}
${confirm(visit, company, `${KEYS}/${id}/revoke`, say('Revocar', 'Revoke'), say('Sí, revocar la clave', 'Yes, revoke the key'), name)}</div>
</li>`,
  )}</ul>`;
  const wrong = problem?.fields[0]?.campo;
  const complaint = (field: string, text: string) =>
    wrong === field ? html`<p class="problem" id="${field}-problem">${text}</p>` : '';
  const marked = (field: string) =>
    wrong === field ? html` aria-invalid="true" aria-describedby="${field}-problem" autofocus` : '';
  const write = problem !== undefined && visit.field('scope') === 'write';
  const today = dateIn(timeZone, now).toString();
  return html`<section class="card" aria-labelledby="keys">
<h2 id="keys">${say('Claves de la API', 'API keys')}</h2>
<p class="quiet">${say('Cada programa, con la suya: así se puede revocar una sin parar los demás.', 'One for each program, so that one can be revoked without stopping the others.')} <a href="/docs">${say('Documentación de la API', 'API documentation')}</a></p>
${keys.length > 0 ? list : html`<p class="empty">${say('Ninguna todavía.', 'None yet.')}</p>`}
<form method="post" action="${KEYS}" class="new" aria-labelledby="new">
<h3 id="new">${say('Clave nueva', 'New key')}</h3>
${visit.csrfField()}<input type="hidden" name="company" value="${company.slug}">
<div class="fields">
<div><label for="name">${say('Nombre', 'Name')}</label>
<input id="name" name="name" required maxlength="${NAME_LENGTH}" autocomplete="off" value="${problem ? visit.field('name') : ''}"${marked('name')}>
${complaint('name', say(`De 1 a ${NAME_LENGTH} caracteres.`, `1 to ${NAME_LENGTH} characters.`))}</div>
<div><label for="expires">${say('Último día (opcional)', 'Last day (optional)')}</label>
<input id="expires" name="expires" type="date" min="${today}" value="${problem ? visit.field('expires') : ''}"${marked('expires')}>
${complaint('expires', say('Elija un día que no haya pasado.', 'Choose a day that is not over.'))}</div>
</div>
<fieldset><legend>${say('Permiso', 'Permission')}</legend>
<label class="radio"><input type="radio" name="scope" value="read"${write ? '' : html` checked`}> <span>${say('Solo lectura', 'Read only')}</span></label>
<label class="radio"><input type="radio" name="scope" value="write"${write ? html` checked` : ''}> <span>${say('Lectura y escritura', 'Read and write')}</span></label>
</fieldset>
<button>${say('Crear la clave', 'Create key')}</button>
</form>
</section>`;
}

/** Whether automatic issuing is on, since when, and how many renewals are due. ISS-01 */
function issuingSection(
  visit: SignedInVisit,
  company: Membership,
  role: Role,
  since: string | null,
  due: number,
): Html {
  const { say, request } = visit;
  const language = languageOf(request);
  const on = (day: string) =>
    html`<strong>${say('Activada', 'On')}</strong> <span class="quiet">${say('desde el', 'since')} <time datetime="${day}">${Temporal.PlainDate.from(day).toLocaleString(language === 'en' ? 'en-GB' : 'es', { dateStyle: 'medium' })}</time></span>`;
  const state = since === null ? html`<strong>${say('Desactivada', 'Off')}</strong>` : on(since);
  const number = due.toLocaleString(language);
  const ask = since === null ? say('Activar', 'Switch on') : say('Desactivar', 'Switch off');
  const sure =
    since === null
      ? say('Sí, emitir desde hoy', 'Yes, issue from today on')
      : say('Sí, desactivarla', 'Yes, switch it off');
  const title = say('Emisión automática de renovaciones', 'Automatic issuing of renewals');
  return html`<section class="card" aria-labelledby="issuing">
<h2 id="issuing">${title}</h2>
<p class="quiet">${say(
    'Activada, cada renovación de un servicio recurrente se emite sola en su fecha, como albarán, desde el día en que se activa. Las anteriores quedan pendientes hasta que alguien las emita o las salte; las de 0 o menos, también.',
    'Switched on, each renewal of a recurring service becomes a delivery note by itself on its date, from the day it is switched on. Earlier ones stay due until somebody issues or skips them, and so do those of 0 or less.',
  )}</p>
<ul class="rows"><li><div class="what">${state}
<p id="due"><strong>${number}</strong> ${due === 1 ? say('renovación pendiente de emitir', 'renewal due and not issued') : say('renovaciones pendientes de emitir', 'renewals due and not issued')}</p></div>
${
  role === 'admin'
    ? confirm(
        visit,
        company,
        ISSUING,
        ask,
        sure,
        title,
        html`<input type="hidden" name="state" value="${since === null ? 'on' : 'off'}">`,
      )
    : ''
}
</li></ul>
</section>`;
}

function quotaSection({ say, request }: SignedInVisit, { limit, remaining, resetSeconds, days }: QuotaUse): Html {
  const language = languageOf(request);
  const number = (value: number) => value.toLocaleString(language);
  const used = limit - remaining;
  const today = days.at(-1)?.calls ?? 0;
  return html`<section class="card" aria-labelledby="quota">
<h2 id="quota">${say('Cuota', 'Quota')}</h2>
<p class="quiet">${say('La comparten todas las claves y conexiones de la empresa; se renueva cada minuto.', 'Shared by all of the company’s keys and connections; it starts afresh every minute.')}</p>
<p id="used"><strong>${number(used)}</strong> ${say(`de ${number(limit)} llamadas en este minuto`, `of ${number(limit)} calls this minute`)} <span class="quiet">· ${say(`quedan ${resetSeconds} s`, `${resetSeconds} s left`)}</span></p>
<meter min="0" max="${limit}" value="${used}" aria-labelledby="used"></meter>
<p id="today"><strong>${number(today)}</strong> ${today === 1 ? say('llamada hoy', 'call today') : say('llamadas hoy', 'calls today')}</p>
${days.some(({ calls }, index) => calls > 0 && index < days.length - 1) ? daysTable() : ''}
</section>`;

  /** The days with their calls, as bars relative to the largest. */
  function daysTable(): Html {
    const most = Math.max(...days.map(({ calls }) => calls));
    const name = (day: Temporal.PlainDate, index: number) =>
      index === days.length - 1
        ? say('Hoy', 'Today')
        : day.toLocaleString(language === 'en' ? 'en-GB' : 'es', { weekday: 'short', day: 'numeric', month: 'short' });
    return html`<table class="days">
<caption>${say('Llamadas de los últimos siete días', 'Calls of the last seven days')}</caption>
<tbody>${days.map(
      ({ day, calls }, index) => html`<tr>
<th scope="row"><time datetime="${day.toString()}">${name(day, index)}</time></th>
<td><svg aria-hidden="true"><rect width="${(100 * calls) / most}%" height="100%" rx="3"/></svg></td>
<td>${number(calls)}</td>
</tr>`,
    )}</tbody>
</table>`;
  }
}
