// Webhooks as a receiver sees them: signed, in order, at least once, whatever fails in between.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebhookSender } from '../../server/webhooks.ts';
import { connect, type OwnDatabase, ownDatabase, untilWaiting } from '../helpers/own-database.ts';
import { KEEP_WAITING, startReceiver } from '../helpers/receiver.ts';
import { type Company, type Server, type ServerOptions, startServer, TestClock } from '../helpers/world.ts';

/** Senders take what is due of every company of the database. */
let database: OwnDatabase;
let server: Server;
let clock: TestClock;
beforeAll(async () => {
  database = await ownDatabase();
  // The library of the receiver compares with the machine's clock.
  clock = new TestClock(new Date().toISOString());
  server = await start({ clock });
});
afterAll(async () => {
  await server.stop();
  await database[Symbol.asyncDispose]();
});

const start = (options: ServerOptions) =>
  startServer({ alone: true, database: { url: database.url }, webhooks: { allowPrivate: true }, ...options });

const newSender = (of = server) => new WebhookSender({ ...of.service });
/** Sends what is due now. */
async function sendDue(sender: WebhookSender): Promise<void> {
  await sender.poll();
  await sender.idle();
}

async function newWebhook(company: Company, url: string, more: Record<string, unknown> = {}) {
  const { status, body } = await company.post('/webhooks', { url, ...more });
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data as { webhookId: string; secreto: string };
}
const newClient = async (company: Company, nombre_fiscal: string) =>
  (await company.post('/clients', { datos: { nombre_fiscal } })).body.data;
const newClients = async (company: Company, count: number) => {
  for (let index = 0; index < count; index++) await newClient(company, `Cliente ${index}`);
};
const webhookOf = async (company: Company, webhookId: string) =>
  (await company.get('/webhooks')).body.data.webhooks.find(
    (each: { webhookId: string }) => each.webhookId === webhookId,
  );
const lastChange = async (company: Company) => (await company.get('/changes')).body.data.ultimo;
const deliveriesOf = async (company: Company, id: string) =>
  (await company.get(`/webhooks/${id}/deliveries`)).body.data.entregas;

test('[JRN-05] a change is sent as consultarCambios shows it, signed as Standard Webhooks say', async () => {
  await using receiver = await startReceiver();
  const acme = await server.company();
  const { webhookId, secreto } = await newWebhook(acme, receiver.url);
  const desde = await lastChange(acme);
  await newClient(acme, 'Café Sol');
  const sender = newSender();
  await sendDue(sender);
  const { epoca, cambios } = (await acme.get('/changes', { desde })).body.data;
  expect(receiver.received).toHaveLength(1);
  const [message] = receiver.received;
  expect(message).toMatchObject({ epoca, cambios, id: `${epoca}-${desde + 1}-${desde + 1}` });
  expect(message?.headers['content-type']).toBe('application/json');
  const text = message?.text ?? '';
  const headers = Object.fromEntries(
    Object.entries(message?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  );
  expect(new Webhook(secreto).verify(text, headers)).toMatchObject({ type: 'cambios', timestamp: cambios[0].momento });
  expect(() => new Webhook(secreto).verify(`${text} `, headers)).toThrow('No matching signature');
  const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 301) };
  expect(() => new Webhook(secreto).verify(text, old)).toThrow('too old');
  const other = await server.company();
  const { secreto: foreign } = await newWebhook(other, receiver.url);
  expect(() => new Webhook(foreign).verify(text, headers)).toThrow('No matching signature');

  expect(await webhookOf(acme, webhookId)).toMatchObject({ entregado_hasta: desde + 1, fallos_seguidos: 0 });
  expect(await deliveriesOf(acme, webhookId)).toEqual([
    {
      entregaId: message?.id,
      desde: desde + 1,
      hasta: desde + 1,
      momento: expect.any(String),
      intento: 1,
      estado: 204,
      milisegundos: 0,
      error: '',
    },
  ]);
  // Nothing is left.
  await sendDue(sender);
  expect(receiver.received).toHaveLength(1);
});

test('[JRN-05] for a day after a rotation both secrets sign, then the new one alone', async () => {
  await using receiver = await startReceiver();
  const now = new TestClock(new Date().toISOString());
  await using own = await start({ clock: now });
  const acme = await own.company();
  const { webhookId, secreto } = await newWebhook(acme, receiver.url);
  const rotated = (await acme.post(`/webhooks/${webhookId}/secret`, {})).body.data.secreto;
  expect(rotated).not.toBe(secreto);
  const sender = newSender(own);
  const signatures = async () => {
    await newClient(acme, 'Sol');
    await sendDue(sender);
    const { headers, text = '', id = '' } = receiver.received.at(-1) ?? {};
    const at = new Date(1000 * Number(headers?.['webhook-timestamp']));
    const given = String(headers?.['webhook-signature']).split(' ');
    return [
      given.length,
      ...[secreto, rotated].map((secret) => given.includes(new Webhook(secret).sign(id, at, text))),
    ];
  };
  expect(await signatures()).toEqual([2, true, true]);
  now.advance({ hours: 23, minutes: 59 });
  expect(await signatures()).toEqual([2, true, true]);
  now.advance({ minutes: 1 });
  expect(await signatures()).toEqual([1, false, true]);
});

test('[JRN-05] in order and at most a hundred at a time; of some collections those alone', async () => {
  await using all = await startReceiver();
  await using some = await startReceiver();
  const acme = await server.company(
    Array.from({ length: 150 }, (_, index) => ({
      coleccion: 'familias',
      ref: `f${index}`,
      titulo: `Familia ${index}`,
    })),
  );
  const { webhookId } = await newWebhook(acme, all.url, { desde: 0 });
  const { webhookId: onlyClients } = await newWebhook(acme, some.url, { desde: 0, tipos: ['clientes'] });
  const sender = newSender();
  await newClient(acme, 'Sol');
  await sendDue(sender);
  const last = await lastChange(acme);
  expect(all.numbers()).toEqual(Array.from({ length: last }, (_, index) => index + 1));
  expect(all.received.map(({ cambios }) => cambios.length)).toEqual([100, last - 100]);
  expect(some.received.map(({ id, epoca }) => id.slice(epoca.length))).toEqual([`-${last}-${last}`]);
  // Nothing of this is wanted: it counts as delivered, without a delivery.
  await acme.post('/product-families', { datos: { titulo: 'Otra' } });
  await sendDue(sender);
  expect(some.received).toHaveLength(1);
  for (const id of [webhookId, onlyClients]) expect((await webhookOf(acme, id)).entregado_hasta).toBe(last + 1);
});

test('[JRN-05] failures are tried again later and later, with the same webhook-id, and switch it off in the end', async () => {
  await using receiver = await startReceiver((response) => {
    response.statusCode = 500;
  });
  const lines: string[] = [];
  const now = new TestClock('2026-03-02T10:00:00Z');
  await using own = await start({ clock: now, logTo: (line) => lines.push(line) });
  const acme = await own.company();
  const { webhookId } = await newWebhook(acme, receiver.url);
  const before = (await webhookOf(acme, webhookId)).entregado_hasta;
  await newClient(acme, 'Sol');
  const sender = newSender(own);
  const waits = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  for (const [index, wait] of waits.entries()) {
    await sendDue(sender);
    const { fallos_seguidos, proximo_intento, activo } = await webhookOf(acme, webhookId);
    expect([fallos_seguidos, activo]).toEqual([index + 1, true]);
    const next = Temporal.Instant.from(proximo_intento);
    const seconds = next.since(now.now()).total('seconds');
    expect(seconds, `after failure ${index + 1}`).toBeGreaterThanOrEqual(wait);
    expect(seconds).toBeLessThanOrEqual(1.1 * wait);
    // What came meanwhile waits behind it, and not a moment too early.
    if (index === 0) await newClient(acme, 'Luna');
    now.set(next.subtract({ milliseconds: 1 }).toString());
    await sendDue(sender);
    expect(receiver.received).toHaveLength(index + 1);
    now.set(next.toString());
  }
  expect(lines.join('')).not.toContain('switched off');
  await sendDue(sender);
  expect(receiver.received).toHaveLength(10);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
  expect(await webhookOf(acme, webhookId)).toMatchObject({
    activo: false,
    proximo_intento: null,
    entregado_hasta: before,
  });
  expect(lines.filter((line) => line.includes('a webhook was switched off'))).toHaveLength(1);
  const attempts = await deliveriesOf(acme, webhookId);
  expect(attempts.map(({ intento }: { intento: number }) => intento)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect(attempts[0]).toMatchObject({ estado: 500, error: 'Ha respondido 500' });
  now.advance({ hours: 48 });
  await sendDue(sender);
  expect(receiver.received).toHaveLength(10);
});

test('[JRN-05] one that was off goes on from where it was, and nothing is lost; desde sends again', async () => {
  await using receiver = await startReceiver();
  const acme = await server.company();
  const { webhookId } = await newWebhook(acme, receiver.url);
  const before = await lastChange(acme);
  const sender = newSender();
  const put = async (datos: Record<string, unknown>) =>
    expect((await acme.put(`/webhooks/${webhookId}`, { datos })).status).toBe(200);
  await put({ activo: false });
  await newClients(acme, 2);
  await sendDue(sender);
  expect(receiver.received).toEqual([]);
  await put({ activo: true });
  await sendDue(sender);
  expect(receiver.numbers()).toEqual([before + 1, before + 2]);
  await put({ desde: before + 1 });
  await sendDue(sender);
  expect(receiver.numbers()).toEqual([before + 1, before + 2, before + 2]);
  await acme.delete(`/webhooks/${webhookId}`);
  await newClients(acme, 1);
  await sendDue(sender);
  expect(receiver.received).toHaveLength(2);
});

describe('[JRN-05] what a receiver answers:', () => {
  test.each([
    ['410 switches it off at once', 410, {}, undefined],
    ['503 with Retry-After is heeded', 503, { 'retry-after': '3600' }, 3600],
    ['429 with a date too', 429, { 'retry-after': new Date(Date.now() + 7_200_000).toUTCString() }, 7195],
    ['but not beyond a day', 503, { 'retry-after': '999999' }, 86_400],
    ['Retry-After of another answer is not', 500, { 'retry-after': '3600' }, 5],
    ['a redirect is not followed', 302, { location: 'http://127.0.0.1:1/' }, 5],
  ])('%s', async (_, status, headers, wait) => {
    await using receiver = await startReceiver((response) => response.writeHead(status, headers));
    const acme = await server.company();
    const { webhookId } = await newWebhook(acme, receiver.url);
    await newClient(acme, 'Sol');
    await sendDue(newSender());
    expect(receiver.received).toHaveLength(1);
    const { activo, proximo_intento } = await webhookOf(acme, webhookId);
    expect((await deliveriesOf(acme, webhookId))[0].estado).toBe(status);
    expect(activo).toBe(wait !== undefined);
    if (wait === undefined) return;
    const seconds = Temporal.Instant.from(proximo_intento).since(clock.now()).total('seconds');
    expect(seconds).toBeGreaterThanOrEqual(wait - 5);
    expect(seconds).toBeLessThanOrEqual(wait * 1.1 + 5);
  });

  test('a long answer is not read to its end', async () => {
    const MOST = 2 ** 25;
    let sent = 0;
    let hasEnded = false;
    await using receiver = await startReceiver(async (response) => {
      response.writeHead(200);
      const part = 'x'.repeat(2 ** 16);
      while (!response.destroyed && sent < MOST) {
        sent += part.length;
        if (!response.write(part)) await new Promise((go) => response.once('drain', go).once('close', go));
      }
      hasEnded = true;
      return KEEP_WAITING;
    });
    const acme = await server.company();
    const { webhookId } = await newWebhook(acme, receiver.url);
    await newClient(acme, 'Sol');
    await sendDue(newSender());
    expect((await deliveriesOf(acme, webhookId))[0]).toMatchObject({ estado: 200, error: '' });
    await expect.poll(() => hasEnded).toBe(true);
    expect(sent).toBeLessThan(MOST);
  });

  test('one that says nothing in time has failed; meanwhile the other webhooks of all companies are served', async () => {
    await using mute = await startReceiver(() => KEEP_WAITING);
    await using receiver = await startReceiver();
    await using own = await start({ clock, webhooks: { allowPrivate: true, answersWithinMs: 500 } });
    const [slow, acme] = [await own.company(), await own.company()];
    const hooks = [];
    for (let index = 0; index < 6; index++) hooks.push(await newWebhook(slow, mute.url));
    const healthy = await newWebhook(acme, receiver.url);
    const sender = newSender(own);
    await Promise.all([newClient(slow, 'Sol'), newClient(acme, 'Sol')]);
    await sender.poll();
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(await webhookOf(slow, hooks[0]?.webhookId ?? '')).toMatchObject({ fallos_seguidos: 0 });
    // No more than four of a company at a time.
    expect(mute.received.length).toBeLessThanOrEqual(4);
    await sender.idle();
    expect((await webhookOf(acme, healthy.webhookId)).fallos_seguidos).toBe(0);
    expect((await deliveriesOf(slow, hooks[0]?.webhookId ?? ''))[0]).toMatchObject({
      estado: 0,
      error: 'No ha respondido a tiempo',
    });
  });
});

describe('[JRN-05] an address inside is not reached:', () => {
  const outside = [{ address: '93.184.215.14', family: 4 }];
  const inside = [{ address: '127.0.0.1', family: 4 }];

  test('by a name that leads inside, at first or later', async () => {
    await using receiver = await startReceiver();
    const asked: string[] = [];
    let found = [...outside, ...inside];
    await using own = await start({
      clock,
      webhooks: {
        lookup: (hostname, _options, callback) => {
          asked.push(hostname);
          callback(null, found);
        },
      },
    });
    const acme = await own.company();
    const { webhookId } = await newWebhook(acme, `https://receptor.example.com:${receiver.port}/`);
    await newClient(acme, 'Sol');
    await sendDue(newSender(own));
    expect((await deliveriesOf(acme, webhookId))[0]).toMatchObject({
      estado: 0,
      error: 'La dirección lleva a una red privada',
    });
    // Of each attempt the name is asked for once: what was found is what is connected to.
    expect(asked).toEqual(['receptor.example.com']);
    found = inside;
    expect((await acme.post(`/webhooks/${webhookId}/test`, {})).body.data).toMatchObject({
      estado: 0,
      error: 'La dirección lleva a una red privada',
    });
    expect(receiver.received).toEqual([]);
  });

  test('by an address that was stored while the operator allowed it', async () => {
    await using receiver = await startReceiver();
    const acme = await server.company();
    const { webhookId } = await newWebhook(acme, receiver.url);
    await using strict = await start({ clock, webhooks: {} });
    await newClient(acme, 'Sol');
    // The queue is one for all: this process takes what the other noted.
    await strict.service.webhooks.enqueue(acme.id);
    await sendDue(newSender(strict));
    expect(receiver.received).toEqual([]);
    expect((await deliveriesOf(acme, webhookId))[0]).toMatchObject({ estado: 0 });
  });
});

test('[JRN-05] a process that dies between delivery and note: another sends the same again, none is lost', async () => {
  await using receiver = await startReceiver();
  const acme = await server.company();
  const { webhookId } = await newWebhook(acme, receiver.url);
  const before = await lastChange(acme);
  await newClients(acme, 2);
  // It delivers, and never comes to note it.
  const { webhooks } = server.service;
  const dead = Object.create(webhooks, {
    send: {
      value: (...message: Parameters<typeof webhooks.send>) =>
        webhooks.send(...message).then(() => new Promise(() => {})),
    },
  });
  const dying = new WebhookSender({ ...server.service, webhooks: dead });
  await dying.poll();
  await expect.poll(() => receiver.received.length).toBe(1);
  const next = newSender();
  await server.service.webhooks.enqueue(acme.id);
  await sendDue(next);
  expect(receiver.received).toHaveLength(1);
  await newClient(acme, 'Luna');
  clock.advance({ seconds: 61 });
  await sendDue(next);
  expect(receiver.numbers()).toEqual([before + 1, before + 2, before + 1, before + 2, before + 3]);
  const [first, second] = receiver.received;
  expect([second?.id, second?.text]).toEqual([first?.id, first?.text]);
  expect((await webhookOf(acme, webhookId)).entregado_hasta).toBe(before + 3);
});

test('[JRN-05] several processes send each change once and in order', async () => {
  await using receiver = await startReceiver();
  const companies = await Promise.all(Array.from({ length: 5 }, () => server.company()));
  for (const company of companies) await newWebhook(company, receiver.url, { desde: 0, descripcion: company.slug });
  const senders = [newSender(), newSender(), newSender()];
  let isWriting = true;
  const polling = senders.map(async (sender) => {
    while (isWriting) {
      await sender.poll();
      await server.service.webhooks.enqueue(companies[0]?.id ?? 0);
    }
  });
  await Promise.all(companies.map((company) => newClients(company, 15)));
  isWriting = false;
  await Promise.all(polling);
  for (let round = 0; round < 3; round++) {
    for (const company of companies) await server.service.webhooks.enqueue(company.id);
    clock.advance({ seconds: 3 });
    for (const sender of senders) await sendDue(sender);
  }
  const byEpoch = Map.groupBy(receiver.received, ({ epoca }) => epoca);
  expect(byEpoch.size).toBe(5);
  for (const company of companies) {
    const { epoca, ultimo } = (await company.get('/changes')).body.data;
    const numbers = (byEpoch.get(epoca) ?? []).flatMap(({ cambios }) => cambios.map(({ n }) => n));
    expect(numbers).toEqual(Array.from({ length: ultimo }, (_, index) => index + 1));
  }
});

test('[JRN-05] processes that have written to the same companies don’t wait for each other', async () => {
  await using receiver = await startReceiver();
  const companies = [await server.company(), await server.company()];
  for (const company of companies.toReversed()) await newWebhook(company, receiver.url);
  const [lower, higher] = companies.map(({ id }) => id).sort((one, other) => one - other);
  await using other = await connect(database);
  // In the table, the higher one lies first.
  for (const id of [higher, lower]) {
    await other.query(`update webhook_queue set look_at = 'infinity' where company = $1`, [id]);
  }
  for (const company of companies) await newClient(company, 'Sol');
  await other.query('begin');
  await other.query('select from webhook_queue where company = $1 for update', [lower]);
  const polled = newSender().poll();
  await untilWaiting(other);
  await other.query(`set local lock_timeout = '500ms'`);
  await other.query('select from webhook_queue where company = $1 for update', [higher]);
  await other.query('rollback');
  await polled;
});

test('[JRN-05] a sender that stops ends what is under way and leaves the rest to others', async () => {
  const answers: (() => void)[] = [];
  await using receiver = await startReceiver(() => new Promise<void>((answer) => answers.push(answer)));
  const acme = await server.company();
  await newWebhook(acme, receiver.url);
  await newClient(acme, 'Sol');
  const [first, second] = [newSender(), newSender()];
  await first.poll();
  await expect.poll(() => receiver.received.length).toBe(1);
  const stopping = first.stop();
  await newClient(acme, 'Luna');
  answers[0]?.();
  await stopping;
  expect(receiver.received).toHaveLength(1);
  await second.poll();
  await expect.poll(() => receiver.received.length).toBe(2);
  answers[1]?.();
  await second.idle();
  expect(receiver.received.at(-1)?.cambios).toHaveLength(1);
});
