// The integrations of one company: its API keys (administrators), the connections that were authorised, the use of the
// quota, and what an assistant needs to be connected. A company is named in the address and in every form, so that two
// tabs may show two companies.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { createKey, liveKeys, revokeKey } from '../../platform/api-keys.ts';
import { noteWrite } from '../../platform/audit.ts';
import type { Service } from '../../platform/context.ts';
import type { Db } from '../../platform/database.ts';
import { ApiError, badField } from '../../platform/errors.ts';
import { type Connection, listGrants, revokeGrant } from '../../platform/grants.ts';
import type { QuotaUse } from '../../platform/quota.ts';
import { type Membership, namesOf, type Role, requireMember } from '../../platform/users.ts';
import { connectorSection } from './connector.ts';
import { type Html, html, languageOf } from './layout.ts';
import { keepNewKey, type NewlyMade, takeNewKey } from './new-key.ts';
import { addPage, HOME, inside, notice, problemOf, type Stay } from './visit.ts';

const KEYS = `${HOME}/keys`;
const NAME_LENGTH = 80;

export function addIntegrations(app: FastifyInstance, service: Service): void {
  addPage(app, service, '/settings', { get: (visit) => visit.seeOther(HOME) });
  addPage(app, service, HOME, {
    get: inside((stay) => {
      const slug = stay.query('company');
      const [first, second] = stay.companies;
      if (slug === '' && (!first || second)) return stay.seeOther('/companies');
      return sendIntegrations(stay, slug === '' && first ? first : stay.company(slug));
    }),
  });
  addPage(app, service, KEYS, {
    post: inside(async (stay) => {
      const company = stay.company(stay.field('company'));
      const { accountId } = company;
      let made: NewlyMade | undefined;
      const problem = await problemOf(async () => {
        made = await service.database.transaction(accountId, { write: true }, async (db) => {
          await requireAdmin(db, stay, accountId);
          const asked = await readNewKey(db, stay, accountId);
          return { accountId, ...(await createKey(db, accountId, asked, stay.author)) };
        });
      });
      if (problem || !made) return sendIntegrations(stay, company, problem);
      keepNewKey(service, stay.reply, made);
      return stay.seeOther(`${address(company)}#new-key`);
    }),
  });
  addPage(app, service, `${KEYS}/:id/revoke`, {
    post: inside(async (stay) => {
      const company = stay.company(stay.field('company'));
      const { accountId } = company;
      await service.database.transaction(accountId, { write: true }, async (db) => {
        await requireAdmin(db, stay, accountId);
        if (!(await revokeKey(db, accountId, idInPath(stay), stay.author))) throw gone();
      });
      return stay.seeOther(`${address(company)}&done=key`);
    }),
  });
  addPage(app, service, `${HOME}/connections/:id/withdraw`, {
    post: inside(async (stay) => {
      const company = stay.company(stay.field('company'));
      const { accountId } = company;
      const id = idInPath(stay);
      await service.database.transaction(accountId, { write: true }, async (db) => {
        const role = await requireMember(db, accountId, stay.user.userId);
        const now = service.clock.now();
        if (!(await revokeGrant(db, accountId, id, { ...whose(role, stay), now }))) throw gone();
        await noteWrite(db, accountId, stay.author, { operation: 'connection withdraw', kind: 'grant', id });
      });
      return stay.seeOther(`${address(company)}&done=connection`);
    }),
  });
}

const address = ({ slug }: Membership) => `${HOME}?${new URLSearchParams({ company: slug })}`;

const gone = () => new ApiError('notFound', 'Ya no existe: puede que se haya retirado antes');

/** Administrators see to all connections of the company, members to their own. */
const whose = (role: Role, { user }: Stay) => (role === 'admin' ? {} : { userId: user.userId });

/** 403 for who is no administrator of this company, at this moment. */
async function requireAdmin(db: Db, { user }: Stay, accountId: number): Promise<void> {
  if ((await requireMember(db, accountId, user.userId)) === 'admin') return;
  throw new ApiError('forbidden', 'Solo quien administra la empresa puede ver y cambiar sus claves');
}

function idInPath({ request }: Stay): number {
  const { params } = request;
  const text: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, 'id') : undefined;
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text)) throw gone();
  return Number(text);
}

/** The form of a new key. 400 names the field. */
async function readNewKey(db: Db, stay: Stay, accountId: number) {
  const name = stay.field('name').trim();
  if (name === '' || name.length > NAME_LENGTH) throw badField('name', `se esperaban de 1 a ${NAME_LENGTH} caracteres`);
  const { time_zone } = await db
    .selectFrom('accounts')
    .select('time_zone')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  const expiresAt = lastMoment(stay.field('expires'), time_zone);
  if (expiresAt && Temporal.Instant.compare(expiresAt, stay.service.clock.now()) <= 0) {
    throw badField('expires', 'ya ha pasado');
  }
  return { name, readOnly: stay.field('scope') !== 'write', expiresAt };
}

/** The end of a day in a company's time zone. */
function lastMoment(day: string, timeZone: string): Temporal.Instant | undefined {
  if (day === '') return undefined;
  try {
    if (/^\d{4}-\d\d-\d\d$/.test(day)) {
      return Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(timeZone).toInstant();
    }
  } catch {
    // Not a day of the calendar.
  }
  throw badField('expires', 'se esperaba una fecha AAAA-MM-DD');
}

async function sendIntegrations(stay: Stay, company: Membership, problem?: ApiError): Promise<FastifyReply> {
  const { service, user, say } = stay;
  const { accountId } = company;
  const now = service.clock.now();
  const made = takeNewKey(service, stay.request, stay.reply, accountId);
  const { account, role, keys, connections } = await service.database.transaction(accountId, {}, async (db) => {
    const role = await requireMember(db, accountId, user.userId);
    const [account, keys, connections] = await Promise.all([
      db
        .selectFrom('accounts')
        .select(['time_zone', 'quota_per_minute'])
        .where('id', '=', accountId)
        .executeTakeFirstOrThrow(),
      role === 'admin' ? liveKeys(db, accountId) : [],
      listGrants(db, accountId, { ...whose(role, stay), now }),
    ]);
    return { account, role, keys, connections };
  });
  const [people, quota] = await Promise.all([
    namesOf(service.database, [...new Set(connections.map(({ userId }) => userId))]),
    service.quota.look({ accountId, quotaPerMinute: account.quota_per_minute, timeZone: account.time_zone }),
  ]);
  const when = moments(stay, account.time_zone);
  const done: Record<string, string> = {
    key: say('Clave revocada: ya no abre nada.', 'Key revoked: it opens nothing any more.'),
    connection: say('Conexión retirada: ha perdido el acceso.', 'Connection withdrawn: it has lost access.'),
  };
  const said = done[stay.query('done')];
  const title = say('Integraciones', 'Integrations');
  return stay.sendInside(
    {
      title: problem ? `Error: ${title}` : `${title} · ${company.name}`,
      status: problem?.status ?? 200,
      body: html`<div class="title"><p class="company">${company.name}</p><h1>${title}</h1>
<p class="lead">${say('Lo que trabaja con los datos de la empresa sin estar en ella: claves de la API y asistentes.', 'What works with the company’s data from outside: API keys and assistants.')}</p></div>
${said && !problem ? notice('good', said) : ''}
${made ? newKeySection(stay, made) : ''}
${connectionsSection(stay, company, role, connections, people, when)}
${connectorSection(stay)}
${role === 'admin' ? keysSection(stay, company, keys, when, now, account.time_zone, problem) : ''}
${quotaSection(stay, quota)}`,
    },
    'integrations',
    company,
  );
}

/** Moments as people of the company write them. */
function moments({ request, say }: Stay, timeZone: string) {
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
  { say }: Stay,
  { key, secret }: NewlyMade,
) => html`<section class="card fresh" id="new-key" aria-labelledby="new-key-title">
<h2 id="new-key-title">${say('Clave creada', 'Key created')}</h2>
<p>${say('Copie el secreto ahora: no se guarda y no volverá a mostrarse.', 'Copy the secret now: it is not kept and won’t be shown again.')}</p>
<dl class="secret">
<dt>X-API-KEY</dt><dd><code>${key}</code></dd>
<dt>X-API-SECRET</dt><dd><code>${secret}</code></dd>
</dl>
</section>`;

/** What asks once more before it ends something, without a script. */
const confirm = (
  stay: Stay,
  company: Membership,
  action: string,
  ask: string,
  sure: string,
  about: string,
) => html`<details class="confirm">
<summary aria-label="${ask}: ${about}">${ask}</summary>
<form method="post" action="${action}">${stay.csrfField()}<input type="hidden" name="company" value="${company.slug}">
<button class="danger">${sure}</button></form>
</details>`;

const permissions = ({ say }: Stay, canWrite: boolean) =>
  canWrite
    ? html`<span class="tag strong">${say('Lectura y escritura', 'Read and write')}</span>`
    : html`<span class="tag">${say('Solo lectura', 'Read only')}</span>`;

function connectionsSection(
  stay: Stay,
  company: Membership,
  role: Role,
  connections: Connection[],
  people: Map<number, string>,
  when: Moments,
): Html {
  const { say } = stay;
  const list = html`<ul class="rows">${connections.map(
    ({ id, clientName, redirectHost, canWrite, createdAt, lastUsedAt, userId }) => html`<li>
<div class="what"><strong>${clientName}</strong> ${permissions(stay, canWrite)}
<p class="quiet">${redirectHost}${role === 'admin' ? html` · ${people.get(userId)}` : ''}</p>
<p class="quiet">${say('Desde', 'Since')} ${when(createdAt)} · ${say('Último uso', 'Last used')}: ${when(lastUsedAt)}</p></div>
${confirm(stay, company, `${HOME}/connections/${id}/withdraw`, say('Retirar', 'Withdraw'), say('Sí, retirar el acceso', 'Yes, withdraw access'), clientName)}
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
  stay: Stay,
  company: Membership,
  keys: Keys,
  when: Moments,
  now: Temporal.Instant,
  timeZone: string,
  problem?: ApiError,
): Html {
  const { say } = stay;
  const isPast = (moment: string | null) => moment !== null && Temporal.Instant.compare(moment, now) <= 0;
  const list = html`<ul class="rows">${keys.map(
    ({ id, key, name, can_write, created_at, expires_at, last_used_at }) => html`<li>
<div class="what"><strong>${name}</strong> ${permissions(stay, can_write)}${isPast(expires_at) ? html` <span class="tag over">${say('Caducada', 'Expired')}</span>` : ''}
<p class="quiet"><code>${key}</code></p>
<p class="quiet">${say('Creada', 'Created')} ${when(created_at)} · ${say('Último uso', 'Last used')}: ${when(last_used_at)} · ${say('Caduca', 'Expires')}: ${when(expires_at)}</p></div>
${confirm(stay, company, `${KEYS}/${id}/revoke`, say('Revocar', 'Revoke'), say('Sí, revocar la clave', 'Yes, revoke the key'), name)}
</li>`,
  )}</ul>`;
  const wrong = problem?.fields[0]?.campo;
  const complaint = (field: string, text: string) =>
    wrong === field ? html`<p class="problem" id="${field}-problem">${text}</p>` : '';
  const marked = (field: string) =>
    wrong === field ? html` aria-invalid="true" aria-describedby="${field}-problem" autofocus` : '';
  const write = problem !== undefined && stay.field('scope') === 'write';
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate().toString();
  return html`<section class="card" aria-labelledby="keys">
<h2 id="keys">${say('Claves de la API', 'API keys')}</h2>
<p class="quiet">${say('Cada programa, con la suya: así se puede revocar una sin parar los demás.', 'One for each program, so that one can be revoked without stopping the others.')} <a href="/docs">${say('Documentación de la API', 'API documentation')}</a></p>
${keys.length > 0 ? list : html`<p class="empty">${say('Ninguna todavía.', 'None yet.')}</p>`}
<form method="post" action="${KEYS}" class="new" aria-labelledby="new">
<h3 id="new">${say('Clave nueva', 'New key')}</h3>
${stay.csrfField()}<input type="hidden" name="company" value="${company.slug}">
<div class="fields">
<div><label for="name">${say('Nombre', 'Name')}</label>
<input id="name" name="name" required maxlength="${NAME_LENGTH}" autocomplete="off" value="${problem ? stay.field('name') : ''}"${marked('name')}>
${complaint('name', say(`De 1 a ${NAME_LENGTH} caracteres.`, `1 to ${NAME_LENGTH} characters.`))}</div>
<div><label for="expires">${say('Último día (opcional)', 'Last day (optional)')}</label>
<input id="expires" name="expires" type="date" min="${today}" value="${problem ? stay.field('expires') : ''}"${marked('expires')}>
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

function quotaSection({ say, request }: Stay, { limit, remaining, resetSeconds, days }: QuotaUse): Html {
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

  /** The days with their calls, as bars that are read against the largest. */
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
