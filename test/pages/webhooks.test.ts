// Webhooks on the integrations page of a company.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../helpers/receiver.ts';
import { type Server, startServer } from '../helpers/world.ts';
import { auditOf, HOME, signedIn } from './browser.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer({ webhooks: { allowPrivate: true } });
});
afterAll(() => server.stop());

const WEBHOOKS = `${HOME}/webhooks`;

test('[JRN-05] an administrator creates, tests, stops, resumes, rotates and deletes a webhook; its secret is shown once', async () => {
  await using receiver = await startReceiver();
  const acme = await server.company();
  const { browser, person } = await signedIn(server, [{ accountId: acme.id }]);
  const page = `${HOME}?company=${acme.slug}`;
  await browser.get(page);
  const send = (path: string, fields: Record<string, string> = {}) =>
    browser.submit(`${WEBHOOKS}${path}`, { company: acme.slug, ...fields });
  const refused = await send('', { url: 'ftp://example.com/' });
  expect([refused.status, refused.text.includes('id="url-problem"')]).toEqual([400, true]);
  const made = await send('', { url: receiver.url });
  expect([made.status, made.location]).toEqual([303, `${page}#new-webhook-secret`]);
  const shown = await browser.get(page);
  const [secret = ''] = /whsec_[\w+/]{43}=/.exec(shown.text) ?? [];
  expect(secret).not.toBe('');
  expect((await browser.get(page)).text).not.toContain('whsec_');
  const [, id = ''] = new RegExp(`${WEBHOOKS}/(\\d+)/test`).exec(shown.text) ?? [];
  const { text } = await send(`/${id}/test`);
  expect(text).toContain('ha respondido 204');
  expect(receiver.received).toHaveLength(1);

  await acme.post('/clients', { datos: { nombre_fiscal: 'Sol' } });
  expect((await browser.get(page)).text).toContain('1 cambio por enviar');
  const stored = async () => (await acme.get('/webhooks')).body.data.webhooks;
  const stopped = await send(`/${id}/stop`);
  expect((await browser.get(stopped.location ?? '')).text).toContain('Parado');
  expect((await stored())[0].activo).toBe(false);
  await send(`/${id}/resume`);
  expect((await stored())[0].activo).toBe(true);
  expect((await send(`/${id}/rotate`)).status).toBe(303);
  const rotated = await browser.get(page);
  expect(rotated.text).toContain('whsec_');
  expect(rotated.text).not.toContain(secret);
  await send(`/${id}/delete`);
  expect(await stored()).toEqual([]);
  expect((await send(`/${id}/stop`)).status).toBe(404);
  const records = await auditOf(server, acme.id);
  expect(records.filter(({ actor }) => actor === `user:${person.id}`)).toEqual(
    ['create', 'stop', 'resume', 'rotate', 'delete'].map((verb) => ({
      actor: `user:${person.id}`,
      door: 'pages',
      operation: `webhook ${verb}`,
      record_kind: 'webhook',
      record_id: Number(id),
    })),
  );
});

test('[JRN-05] members see none and change none, nor do administrators of another company', async () => {
  const acme = await server.company();
  await acme.post('/webhooks', { url: 'https://example.com/' });
  const { rows } = await server.service.database.pool.query('select id from webhooks where account_id = $1', [acme.id]);
  const id = Number(rows[0].id);
  const { browser: member } = await signedIn(server, [{ accountId: acme.id, role: 'member' }]);
  expect((await member.get(`${HOME}?company=${acme.slug}`)).text).not.toContain('Webhooks');
  const other = await server.company();
  const { browser: stranger } = await signedIn(server, [{ accountId: other.id }]);
  await stranger.get(`${HOME}?company=${other.slug}`);
  for (const verb of ['test', 'stop', 'resume', 'rotate']) {
    expect((await member.submit(`${WEBHOOKS}/${id}/${verb}`, { company: acme.slug })).status, verb).toBe(403);
    expect((await stranger.submit(`${WEBHOOKS}/${id}/${verb}`, { company: acme.slug })).status, verb).toBe(404);
    if (verb === 'test') continue;
    expect((await stranger.submit(`${WEBHOOKS}/${id}/${verb}`, { company: other.slug })).status, verb).toBe(404);
  }
  expect((await member.submit(WEBHOOKS, { company: acme.slug, url: 'https://example.com/' })).status).toBe(403);
  expect((await acme.get('/webhooks')).body.data.webhooks).toMatchObject([{ activo: true }]);
});
