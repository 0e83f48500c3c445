// What one API key or connection called: by day, by operation, what was refused, and the last calls of an assistant.

import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { dateIn } from '../../platform/clock.ts';
import type { Service } from '../../platform/context.ts';
import type { Db } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import { type Role, requireMember } from '../../platform/identity/users.ts';
import { type Html, html, languageOf } from './layout.ts';
import { addPage, HOME, type SignedInVisit, signedIn } from './visit.ts';

const DAYS = 30;
const LAST_CALLS = 100;

/** What the page of integrations lends to this one. */
export interface Lent {
  requireAdmin(db: Db, visit: SignedInVisit, accountId: number): Promise<void>;
  idInPath(visit: SignedInVisit): number;
  /** Whose connections a person of this role sees. */
  whose(role: Role, visit: SignedInVisit): { userId?: number };
  moments(visit: SignedInVisit, timeZone: string): (moment: string) => Html;
}

/** Adds a page for each key, for administrators, and for each connection. */
export function addActivity(app: FastifyInstance, service: Service, lent: Lent): void {
  const page = (
    url: string,
    kind: 'key' | 'token',
    nameOf: (db: Db, visit: SignedInVisit, accountId: number, id: number) => Promise<string | undefined>,
  ) =>
    addPage(app, service, url, {
      get: signedIn(async (visit) => {
        const company = visit.company(visit.query('company'));
        const { accountId } = company;
        const id = lent.idInPath(visit);
        await service.activity.flush(accountId);
        const found = await service.database.transaction(accountId, {}, async (db) => {
          const name = await nameOf(db, visit, accountId, id);
          if (name === undefined) throw notFound('id');
          const { time_zone } = await db
            .selectFrom('accounts')
            .select('time_zone')
            .where('id', '=', accountId)
            .executeTakeFirstOrThrow();
          const today = dateIn(time_zone, service.clock.now());
          return { name, time_zone, today, use: await readUse(db, accountId, `${kind}:${id}`, today) };
        });
        const { say } = visit;
        const title = say('Actividad', 'Activity');
        const back = `${HOME}?${new URLSearchParams({ company: company.slug })}`;
        return visit.sendWithMenu(
          {
            title: `${title} · ${found.name}`,
            body: html`<div class="title"><p class="company">${company.name}</p><h1>${found.name}</h1>
<p class="lead">${kind === 'key' ? say('Lo que se ha llamado con esta clave.', 'What was called with this key.') : say('Lo que ha llamado este asistente.', 'What this assistant called.')} <a href="${back}">${say('Todas las integraciones', 'All integrations')}</a></p></div>
${callsSection(visit, found.use, found.today)}
${operationsSection(visit, found.use)}
${kind === 'token' || found.use.last.length > 0 ? lastSection(visit, found.use, lent.moments(visit, found.time_zone)) : ''}`,
          },
          'integrations',
          company,
        );
      }),
    });

  page(`${HOME}/keys/:id`, 'key', async (db, visit, accountId, id) => {
    await lent.requireAdmin(db, visit, accountId);
    const key = await db
      .selectFrom('api_keys')
      .select('name')
      .where('account_id', '=', accountId)
      .where('id', '=', id)
      .executeTakeFirst();
    return key?.name;
  });
  page(`${HOME}/connections/:id`, 'token', async (db, visit, accountId, id) => {
    const { userId } = lent.whose(await requireMember(db, accountId, visit.user.userId), visit);
    const grant = await db
      .selectFrom('grants')
      .select(['client_name', 'user_id'])
      .where('account_id', '=', accountId)
      .where('id', '=', id)
      .executeTakeFirst();
    return grant && (userId === undefined || grant.user_id === userId) ? grant.client_name : undefined;
  });
}

interface Use {
  days: { day: string; calls: number; refused: number }[];
  operations: { operation: string; calls: number; refused: number }[];
  /** Calls that were refused or failed, by the status of HTTP. */
  refusals: { status: number; calls: number }[];
  last: { operation: string; answered_rows: number | null; created_at: string }[];
}

async function readUse(db: Db, accountId: number, actor: string, today: Temporal.PlainDate): Promise<Use> {
  const first = today.subtract({ days: DAYS - 1 }).toString();
  const counted = sql`from call_counts c
    where c.account_id = ${accountId} and c.actor = ${actor} and c.day between ${first}::date and ${today.toString()}::date`;
  const sums = sql`sum(c.calls)::bigint as calls, coalesce(sum(c.calls) filter (where c.status >= 400), 0)::bigint as refused`;
  const [days, operations, refusals, last] = await Promise.all([
    sql<Use['days'][number]>`select c.day, ${sums} ${counted} group by c.day order by c.day`.execute(db),
    sql<Use['operations'][number]>`select c.operation, ${sums} ${counted}
      group by c.operation order by calls desc, c.operation`.execute(db),
    sql<Use['refusals'][number]>`select c.status, sum(c.calls)::bigint as calls ${counted} and c.status >= 400
      group by c.status order by c.status`.execute(db),
    sql<Use['last'][number]>`select a.operation, a.answered_rows, a.created_at from assistant_calls a
      where a.account_id = ${accountId} and a.actor = ${actor}
      order by a.created_at desc, a.id desc limit ${LAST_CALLS}`.execute(db),
  ]);
  return { days: days.rows, operations: operations.rows, refusals: refusals.rows, last: last.rows };
}

const numbers = ({ request }: SignedInVisit) => {
  const language = languageOf(request);
  return (value: number) => value.toLocaleString(language);
};

/** A bar for each day, what was refused on top of it; the same as a table. */
function callsSection(visit: SignedInVisit, { days, refusals }: Use, today: Temporal.PlainDate): Html {
  const { say, request } = visit;
  const number = numbers(visit);
  const locale = languageOf(request) === 'en' ? 'en-GB' : 'es';
  const shown = (day: Temporal.PlainDate) => day.toLocaleString(locale, { day: 'numeric', month: 'short' });
  const byDay = new Map(days.map((each) => [each.day, each]));
  const all = Array.from({ length: DAYS }, (_, index) => {
    const day = today.subtract({ days: DAYS - 1 - index });
    const { calls, refused } = byDay.get(day.toString()) ?? { calls: 0, refused: 0 };
    return { day, calls, refused };
  });
  const most = Math.max(1, ...all.map(({ calls }) => calls));
  const height = (calls: number) => (100 * calls) / most;
  const total = days.reduce((sum, { calls }) => sum + calls, 0);
  const bar = ({ day, calls, refused }: (typeof all)[number], index: number) =>
    html`<g><title>${shown(day)}: ${number(calls)}</title><rect x="${index * 10 + 1}" y="${100 - height(calls)}" width="8" height="${height(calls)}"/><rect class="refused" x="${index * 10 + 1}" y="${100 - height(calls)}" width="8" height="${height(refused)}"/></g>`;
  const chart = html`<svg class="chart" viewBox="0 0 300 100" preserveAspectRatio="none" role="img" aria-label="${say('Llamadas por día', 'Calls by day')}">${all.map(bar)}</svg>
<p class="quiet ends"><span>${shown(today.subtract({ days: DAYS - 1 }))}</span><span>${say('Hoy', 'Today')}</span></p>
<details class="setting"><summary>${say('Día a día', 'Day by day')}</summary>
<table class="counts"><thead><tr><th scope="col">${say('Día', 'Day')}</th><th scope="col" class="number">${say('Llamadas', 'Calls')}</th><th scope="col" class="number">${say('Rechazadas', 'Refused')}</th></tr></thead>
<tbody>${all
    .filter(({ calls }) => calls > 0)
    .toReversed()
    .map(
      ({ day, calls, refused }) =>
        html`<tr><th scope="row"><time datetime="${day.toString()}">${shown(day)}</time></th><td class="number">${number(calls)}</td><td class="number">${number(refused)}</td></tr>`,
    )}</tbody></table></details>`;
  return html`<section class="card" aria-labelledby="calls">
<h2 id="calls">${say(`Llamadas de los últimos ${DAYS} días`, `Calls of the last ${DAYS} days`)}</h2>
${
  total === 0
    ? html`<p class="empty">${say('Ninguna.', 'None.')}</p>`
    : html`<p><strong>${number(total)}</strong> ${total === 1 ? say('llamada', 'call') : say('llamadas', 'calls')}${refusals.map(
        ({ status, calls }) =>
          html` · <span class="quiet">${number(calls)} ${say('con', 'with')} ${status} (${reason(visit, status)})</span>`,
      )}</p>
${chart}`
}
</section>`;
}

/** Why calls are answered so. */
function reason({ say }: SignedInVisit, status: number): string {
  const reasons: Record<number, string> = {
    400: say('datos no válidos', 'wrong input'),
    403: say('sin permiso', 'not allowed'),
    404: say('no existe', 'not found'),
    409: say('en curso', 'under way'),
    410: say('ya no se conserva', 'no longer kept'),
    429: say('cuota gastada', 'quota spent'),
  };
  return (
    reasons[status] ??
    (status >= 500 ? say('fallo del servicio', 'failure of the service') : say('rechazada', 'refused'))
  );
}

function operationsSection(visit: SignedInVisit, { operations }: Use): Html {
  const { say } = visit;
  const number = numbers(visit);
  if (operations.length === 0) return html``;
  return html`<section class="card" aria-labelledby="operations">
<h2 id="operations">${say('Por operación', 'By operation')}</h2>
<table class="counts"><thead><tr><th scope="col">${say('Operación', 'Operation')}</th><th scope="col" class="number">${say('Llamadas', 'Calls')}</th><th scope="col" class="number">${say('Rechazadas', 'Refused')}</th></tr></thead>
<tbody>${operations.map(
    ({ operation, calls, refused }) =>
      html`<tr><th scope="row"><code>${operation}</code></th><td class="number">${number(calls)}</td><td class="number">${number(refused)}</td></tr>`,
  )}</tbody></table>
</section>`;
}

function lastSection(visit: SignedInVisit, { last }: Use, when: (moment: string) => Html): Html {
  const { say } = visit;
  const number = numbers(visit);
  const rows = (answered: number | null) =>
    answered === null ? html`<span class="quiet">${say('escritura', 'write')}</span>` : number(answered);
  return html`<section class="card" aria-labelledby="last">
<h2 id="last">${say('Últimas llamadas como asistente', 'Last calls as an assistant')}</h2>
<p class="quiet">${say(`Las ${LAST_CALLS} últimas que respondió el conector, y cuántas filas leyó cada una.`, `The last ${LAST_CALLS} that the connector answered, and how many rows each read.`)}</p>
${
  last.length === 0
    ? html`<p class="empty">${say('Ninguna todavía.', 'None yet.')}</p>`
    : html`<table class="counts"><thead><tr><th scope="col">${say('Momento', 'Moment')}</th><th scope="col">${say('Operación', 'Operation')}</th><th scope="col" class="number">${say('Filas', 'Rows')}</th></tr></thead>
<tbody>${last.map(
        ({ operation, answered_rows, created_at }) =>
          html`<tr><td>${when(created_at)}</td><td><code>${operation}</code></td><td class="number">${rows(answered_rows)}</td></tr>`,
      )}</tbody></table>`
}
</section>`;
}
