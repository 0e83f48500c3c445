// The webhooks of a company, on its page of integrations: how far each is, and its forms. Administrators manage them.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sql } from 'kysely';
import type { Service } from '../../platform/context.ts';
import type { Db } from '../../platform/database.ts';
import type { ApiError } from '../../platform/errors.ts';
import type { Membership } from '../../platform/identity/users.ts';
import { journalHead } from '../../routers/account/changes.ts';
import {
  changeWebhook,
  makeWebhook,
  removeWebhook,
  rotateSecret,
  type Stored,
  storedWebhooks,
  testWebhook,
  type WebhookCall,
} from '../../routers/account/webhooks/webhook.ts';
import { type Html, html } from './layout.ts';
import { keepNewKey } from './new-key.ts';
import { addPage, HOME, problemOf, type SignedInVisit, signedIn } from './visit.ts';

const WEBHOOKS = `${HOME}/webhooks`;
const SHOWN_DELIVERIES = 5;
const LONGEST_URL = 2000;

/** What the page of integrations does for its sections. */
export interface Surroundings {
  requireAdmin(db: Db, visit: SignedInVisit, accountId: number): Promise<void>;
  idInPath(visit: SignedInVisit): number;
  address(company: Membership): string;
  /** The page with what is wrong in a form, or with the outcome of one. */
  show(visit: SignedInVisit, company: Membership, more: { problem?: ApiError; fresh?: Html }): Promise<FastifyReply>;
}

/** Adds the forms. */
export function addWebhookForms(app: FastifyInstance, service: Service, page: Surroundings): void {
  /** A form: what it does as an administrator, in a transaction; answers a new secret where it makes one. */
  const form = (
    url: string,
    work: (call: WebhookCall, visit: SignedInVisit) => Promise<{ id: number; secret: string } | undefined>,
  ) =>
    addPage(app, service, url, {
      post: signedIn(async (visit) => {
        const company = visit.company(visit.field('company'));
        const { accountId } = company;
        let made: { id: number; secret: string } | undefined;
        await service.webhooks.enqueue(accountId);
        const problem = await problemOf(async () => {
          made = await service.database.transaction(accountId, { write: true }, async (db) => {
            await page.requireAdmin(db, visit, accountId);
            const { webhooks, clock } = service;
            return work({ db, accountId, now: clock.now(), author: visit.author, webhooks }, visit);
          });
        });
        if (problem) return page.show(visit, company, { problem });
        if (made) {
          keepNewKey(service, visit.reply, { accountId, key: '', webhook: true, ...made });
          return visit.seeOther(`${page.address(company)}#new-webhook-secret`);
        }
        return visit.seeOther(`${page.address(company)}&done=webhook#webhooks`);
      }),
    });

  form(WEBHOOKS, async (call, visit) => {
    const url = visit.field('url').trim().slice(0, LONGEST_URL);
    return makeWebhook(call, 'webhook create', { url });
  });
  form(`${WEBHOOKS}/:id/stop`, async (call, visit) => {
    await changeWebhook(call, 'webhook stop', page.idInPath(visit), { activo: false });
    return undefined;
  });
  form(`${WEBHOOKS}/:id/resume`, async (call, visit) => {
    await changeWebhook(call, 'webhook resume', page.idInPath(visit), { activo: true });
    return undefined;
  });
  form(`${WEBHOOKS}/:id/rotate`, async (call, visit) => {
    const id = page.idInPath(visit);
    return { id, secret: await rotateSecret(call, 'webhook rotate', id) };
  });
  form(`${WEBHOOKS}/:id/delete`, async (call, visit) => {
    await removeWebhook(call, 'webhook delete', page.idInPath(visit));
    return undefined;
  });
  addPage(app, service, `${WEBHOOKS}/:id/test`, {
    post: signedIn(async (visit) => {
      const company = visit.company(visit.field('company'));
      const { accountId } = company;
      const timeZone = await service.database.transaction(accountId, {}, async (db) => {
        await page.requireAdmin(db, visit, accountId);
        const { time_zone } = await db
          .selectFrom('accounts')
          .select('time_zone')
          .where('id', '=', accountId)
          .executeTakeFirstOrThrow();
        return time_zone;
      });
      const attempt = await testWebhook(service, { accountId, timeZone }, page.idInPath(visit));
      const { say } = visit;
      const fresh = html`<p class="notice ${attempt?.error === '' ? 'good' : 'bad'}" role="status">${
        attempt?.error === ''
          ? say(
              `La prueba ha llegado: ha respondido ${attempt.status}.`,
              `The test has arrived: it answered ${attempt.status}.`,
            )
          : say(`La prueba no ha llegado. ${attempt?.error ?? ''}`, `The test has not arrived. ${attempt?.error ?? ''}`)
      }</p>`;
      return page.show(visit, company, { fresh });
    }),
  });
}

/** A new secret, which is shown once. */
export const newSecretSection = ({ say }: SignedInVisit, secret: string) =>
  html`<section class="card fresh" id="new-webhook-secret" aria-labelledby="new-webhook-title">
<h2 id="new-webhook-title">${say('Secreto del webhook', 'Secret of the webhook')}</h2>
<p>${say('Cópielo ahora: no volverá a mostrarse. Con él comprueba el receptor que lo que llega es de aquí.', 'Copy it now: it won’t be shown again. The receiver uses it to check that what arrives is from here.')}</p>
<dl class="secret"><dt>${say('Secreto', 'Secret')}</dt><dd><code>${secret}</code></dd></dl>
</section>`;

/** A webhook with the latest attempts to send to it. */
interface Shown extends Stored {
  deliveries: { first_n: number; last_n: number; status: number; error: string | null; created_at: string }[];
}

/** The company's webhooks with what was sent last, and the number of its newest change. */
export async function readWebhooks(db: Db, accountId: number): Promise<{ webhooks: Shown[]; last: number }> {
  const [stored, { last }] = await Promise.all([storedWebhooks(db, accountId), journalHead(db, accountId)]);
  const webhooks = stored.map(async (webhook) => {
    const { rows } = await sql<Shown['deliveries'][number]>`
      select first_n, last_n, status, error, created_at from webhook_deliveries
      where account_id = ${accountId} and webhook_id = ${webhook.id} order by id desc limit ${SHOWN_DELIVERIES}`.execute(
      db,
    );
    return { ...webhook, deliveries: rows };
  });
  return { webhooks: await Promise.all(webhooks), last };
}

export function webhooksSection(
  visit: SignedInVisit,
  company: Membership,
  { webhooks, last }: Awaited<ReturnType<typeof readWebhooks>>,
  {
    when,
    confirm,
    problem,
  }: {
    when: (moment: string) => Html;
    confirm: (action: string, ask: string, sure: string, about: string) => Html;
    problem: ApiError | undefined;
  },
): Html {
  const { say } = visit;
  const button = (action: string, text: string, about: string) =>
    html`<form method="post" action="${action}">${visit.csrfField()}<input type="hidden" name="company" value="${company.slug}"><button class="plain" aria-label="${text}: ${about}">${text}</button></form>`;
  const lag = ({ delivered_up_to }: Shown) => {
    const behind = last - delivered_up_to;
    if (behind <= 0) return say('Al día', 'Up to date');
    return behind === 1
      ? say('1 cambio por enviar', '1 change to send')
      : say(`${behind} cambios por enviar`, `${behind} changes to send`);
  };
  const deliveries = (
    webhook: Shown,
  ) => html`<details class="setting"><summary>${say('Últimas entregas', 'Last deliveries')}</summary>
${webhook.deliveries.map(
  ({ first_n, last_n, status, error, created_at }) =>
    html`<p class="quiet">${when(created_at)} · ${first_n === last_n ? first_n : `${first_n}–${last_n}`} · ${status === 0 ? '' : `${status} `}${error ?? ''}</p>`,
)}</details>`;
  const list = html`<ul class="rows">${webhooks.map((webhook) => {
    const { id, url, types, description, active, failures, next_attempt_at } = webhook;
    const at = `${WEBHOOKS}/${id}`;
    return html`<li><div class="what"><strong>${description ?? new URL(url).host}</strong> ${
      active
        ? html`<span class="tag strong">${say('Activo', 'Active')}</span>`
        : html`<span class="tag over">${say('Parado', 'Stopped')}</span>`
    }
<p class="quiet"><code>${url}</code></p>
<p class="quiet">${types ? types.join(', ') : say('Todos los cambios', 'All changes')} · ${lag(webhook)}${
      failures > 0 ? html` · ${say('Fallos seguidos', 'Failures in a row')}: ${failures}` : ''
    }${next_attempt_at ? html` · ${say('Próximo intento', 'Next attempt')}: ${when(next_attempt_at)}` : ''}</p>
${webhook.deliveries.length > 0 ? deliveries(webhook) : ''}
</div>
<div class="actions">${button(`${at}/test`, say('Probar', 'Test'), url)}
${active ? button(`${at}/stop`, say('Parar', 'Stop'), url) : button(`${at}/resume`, say('Reanudar', 'Resume'), url)}
${confirm(`${at}/rotate`, say('Rotar el secreto', 'Rotate the secret'), say('Sí, dar otro secreto', 'Yes, give another secret'), url)}
${confirm(`${at}/delete`, say('Eliminar', 'Delete'), say('Sí, eliminar el webhook', 'Yes, delete the webhook'), url)}</div>
</li>`;
  })}</ul>`;
  const wrong = problem?.fields[0]?.campo === 'url' || (problem !== undefined && problem.fields.length === 0);
  return html`<section class="card" aria-labelledby="webhooks">
<h2 id="webhooks">Webhooks</h2>
<p class="quiet">${say('Direcciones a las que se envía, firmado, cada cambio de los datos de la empresa.', 'Addresses to which each change of the company’s data is sent, signed.')}</p>
${webhooks.length > 0 ? list : html`<p class="empty">${say('Ninguno todavía.', 'None yet.')}</p>`}
<form method="post" action="${WEBHOOKS}" class="new" aria-labelledby="new-webhook">
<h3 id="new-webhook">${say('Webhook nuevo', 'New webhook')}</h3>
${visit.csrfField()}<input type="hidden" name="company" value="${company.slug}">
<div class="fields"><div><label for="url">${say('Dirección (https://)', 'Address (https://)')}</label>
<input id="url" name="url" type="url" required maxlength="${LONGEST_URL}" autocomplete="off" value="${wrong ? visit.field('url') : ''}"${wrong ? html` aria-invalid="true" aria-describedby="url-problem" autofocus` : ''}>
${wrong ? html`<p class="problem" id="url-problem">${problem?.message}</p>` : ''}</div></div>
<button>${say('Crear el webhook', 'Create webhook')}</button>
</form>
</section>`;
}
