// Webhooks as callers set them up. What is sent to them: test/server/webhooks.test.ts.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isPublic } from '../../../platform/public-addresses.ts';
import { startReceiver } from '../../helpers/receiver.ts';
import { type Company, type Server, startServer, TestClock } from '../../helpers/world.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer({ clock: new TestClock('2026-03-02T10:00:00Z') });
});
afterAll(() => server.stop());

const URL = 'https://example.com/cambios';
const create = async (company: Company, more: Record<string, unknown> = {}) =>
  (await company.post('/webhooks', { url: URL, ...more })).body.data;
const all = async (company: Company) => (await company.get('/webhooks')).body.data.webhooks;
const audited = async ({ id }: Company) => {
  const { rows } = await server.service.database.pool.query(
    `select operation from audit_records where account_id = $1 and record_kind = 'webhook' order by id`,
    [id],
  );
  return rows.map(({ operation }) => operation);
};

test('[JRN-05] created, listed, changed and deleted; its secret is shown once; who did it is audited, not journalled', async () => {
  const acme = await server.company();
  const { ultimo } = (await acme.get('/changes')).body.data;
  const { webhookId, secreto } = await create(acme, { tipos: ['clientes'], descripcion: 'Tienda' });
  expect(secreto).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const shown = {
    webhookId,
    url: URL,
    tipos: ['clientes'],
    descripcion: 'Tienda',
    activo: true,
    entregado_hasta: ultimo,
    fallos_seguidos: 0,
    proximo_intento: null,
  };
  const listed = await acme.get('/webhooks');
  expect([listed.status, listed.body.data]).toEqual([200, { webhooks: [shown] }]);
  expect(listed.text).not.toContain('whsec_');
  const put = (datos: Record<string, unknown>) => acme.put(`/webhooks/${webhookId}`, { datos });
  const changed = await put({ url: 'https://example.org/', tipos: [], descripcion: '', activo: false, desde: 0 });
  expect([changed.status, changed.body.data]).toEqual([
    200,
    { ...shown, url: 'https://example.org/', tipos: [], descripcion: '', activo: false, entregado_hasta: 0 },
  ]);
  expect(await all(acme)).toEqual([changed.body.data]);
  // What is left out stays.
  expect((await put({ descripcion: 'Web' })).body.data).toEqual({ ...changed.body.data, descripcion: 'Web' });
  const gone = { webhookId, eliminado: true };
  for (let time = 0; time < 2; time++) {
    const { status, body } = await acme.delete(`/webhooks/${webhookId}`);
    expect([status, body.data]).toEqual([200, gone]);
  }
  expect((await acme.alias('eliminarWebhook', { webhookId })).body.data).toEqual(gone);
  expect(await all(acme)).toEqual([]);
  expect((await put({ descripcion: 'Otra' })).status).toBe(404);
  for (const [path, method] of [
    ['deliveries', 'get'],
    ['test', 'post'],
    ['secret', 'post'],
  ] as const) {
    expect((await acme[method](`/webhooks/${webhookId}/${path}`, {})).status, path).toBe(404);
  }
  const { rows } = await server.service.database.pool.query(
    'select secret, earlier_secret from webhooks where account_id = $1',
    [acme.id],
  );
  expect(rows).toEqual([{ secret: '', earlier_secret: null }]);
  expect(await audited(acme)).toEqual(['crearWebhook', 'actualizarWebhook', 'actualizarWebhook', 'eliminarWebhook']);
  expect((await acme.get('/changes')).body.data.ultimo).toBe(ultimo);
});

test('[JRN-05] what is stored does not sign: the secret is sealed, for its company', async () => {
  const acme = await server.company();
  const { secreto } = await create(acme);
  const { rows } = await server.service.database.pool.query('select secret from webhooks where account_id = $1', [
    acme.id,
  ]);
  const bytes = Buffer.from(secreto.slice('whsec_'.length), 'base64');
  expect(Buffer.from(rows[0].secret, 'base64url').includes(bytes)).toBe(false);
  await using receiver = await startReceiver();
  await using lax = await startServer({ webhooks: { allowPrivate: true } });
  const { webhooks } = lax.service;
  const { secret, sealed } = webhooks.newSecret(acme.id);
  const to = { url: receiver.url, secret: sealed, earlier_secret: null, earlier_secret_until: null };
  expect(await webhooks.send(acme.id + 1, to, 'm', '{}')).toMatchObject({
    status: 0,
    error: expect.stringContaining('rotarlo'),
  });
  expect(receiver.received).toEqual([]);
  expect(() => new Webhook(secret)).not.toThrow();
});

test('[JRN-05] 400 for an address that is not https, names a user or leads inside', async () => {
  const acme = await server.company();
  const refused = [
    ...['http://example.com/', 'ftp://example.com/', 'example.com', '', 'https://', 'https://a:b@example.com/'],
    ...['https://user@example.com/', 'https://localhost/', 'https://LOCALHOST./', 'https://a.localhost:8443/'],
    ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f.0.0.1/', 'https://10.0.0.1/'],
    ...['https://[::1]/', 'https://[::ffff:127.0.0.1]/', 'https://[fd00::1]/', 'https://[fe80::1]/'],
    ...['https://169.254.169.254/latest/meta-data', 'https://0.0.0.0/', 'https://100.64.0.1/', 'https://224.0.0.1/'],
    `https://example.com/${'x'.repeat(2000)}`,
  ];
  for (const url of refused) {
    const { status, body } = await acme.post('/webhooks', { url });
    expect([status, body.data?.[0]?.campo], url).toEqual([400, 'url']);
  }
  const { webhookId } = await create(acme);
  for (const url of refused.filter((each) => each !== '')) {
    const { status, body } = await acme.put(`/webhooks/${webhookId}`, { datos: { url } });
    expect([status, body.data?.[0]?.campo], url).toEqual([400, 'datos.url']);
  }
  for (const url of ['https://example.com:8443/a?b=c', 'https://93.184.215.14/', 'https://[2606:4700::1111]/']) {
    expect((await acme.post('/webhooks', { url })).status, url).toBe(200);
  }
  await using lax = await startServer({ webhooks: { allowPrivate: true } });
  const open = await lax.company();
  for (const url of ['http://10.0.0.1:8080/', 'https://localhost/', 'http://example.com/']) {
    expect((await open.post('/webhooks', { url })).status, url).toBe(200);
  }
  expect((await open.post('/webhooks', { url: 'ftp://localhost/' })).status).toBe(400);
});

test('[JRN-05] which addresses are public', () => {
  const inside = [
    ...['0.0.0.1', '10.255.255.255', '100.127.0.1', '127.0.0.2', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
    ...['192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.19.255.255', '198.51.100.7', '203.0.113.9'],
    ...['224.0.0.251', '239.1.1.1', '240.0.0.1', '255.255.255.255', '::', '::1', '::127.0.0.1', '::ffff:8.8.8.8'],
    ...['64:ff9b::10.0.0.1', '64:ff9b:1::1', '100::1', '2001::1', '2001:10::1', '2001:db8::1', '2002:7f00:1::'],
    ...['3fff::1', '5f00::1', 'fc00::1', 'fd12::1', 'fe80::1', 'fe80::1%lo', 'fec0::1', 'ff02::1', 'no address', ''],
  ];
  const outside = [
    '1.1.1.1',
    '8.8.8.8',
    '172.32.0.1',
    '192.0.1.1',
    '198.20.0.1',
    '223.255.255.1',
    '2606:4700::1111',
    '2a00:1450::1',
  ];
  expect(inside.filter(isPublic)).toEqual([]);
  expect(outside.filter((address) => !isPublic(address))).toEqual([]);
});

test('[JRN-05] 400 for a place beyond the journal, an unknown collection, and the twenty-first; 410 for one too old', async () => {
  const acme = await server.company([{ coleccion: 'familias', ref: 'f', titulo: 'Sillas' }]);
  const { ultimo } = (await acme.get('/changes')).body.data;
  for (const [more, campo] of [
    [{ desde: ultimo + 1 }, 'desde'],
    [{ desde: -1 }, 'desde'],
    [{ tipos: ['fantasmas'] }, 'tipos[0]'],
    [{ descripcion: 'x'.repeat(201) }, 'descripcion'],
    [{ url: undefined }, 'url'],
  ] as const) {
    const { status, body } = await acme.post('/webhooks', { url: URL, ...more });
    expect([status, body.data?.[0]?.campo], campo).toEqual([400, campo]);
  }
  // At once: each is counted.
  const statuses = await Promise.all(
    Array.from({ length: 25 }, async () => (await acme.post('/webhooks', { url: URL })).status),
  );
  expect(statuses.toSorted()).toEqual([...Array(20).fill(200), ...Array(5).fill(400)]);
  const [first] = await all(acme);
  await acme.delete(`/webhooks/${first.webhookId}`);
  const { webhookId } = await create(acme, { desde: ultimo });
  const put = (datos: Record<string, unknown>) => acme.put(`/webhooks/${webhookId}`, { datos });
  expect((await put({ desde: ultimo + 1 })).body.data).toMatchObject([{ campo: 'datos.desde' }]);
  expect((await put({})).status).toBe(400);
  await acme.post('/clients', { datos: { nombre_fiscal: 'Sol' } });
  await server.service.database.pool.query('delete from journal_entries where account_id = $1 and n <= $2', [
    acme.id,
    ultimo,
  ]);
  expect((await put({ desde: ultimo - 1 })).status).toBe(410);
  expect((await put({ desde: ultimo })).status).toBe(200);
});

test('[JRN-05] a test is one signed delivery without changes, also to one that is off', async () => {
  await using receiver = await startReceiver((response) => {
    response.statusCode = receiver.received.length > 2 ? 418 : 200;
  });
  await using own = await startServer({
    clock: new TestClock(new Date().toISOString()),
    webhooks: { allowPrivate: true },
  });
  const acme = await own.company();
  const { webhookId, secreto } = (await acme.post('/webhooks', { url: receiver.url })).body.data;
  const probe = (more?: Record<string, string>) => acme.post(`/webhooks/${webhookId}/test`, {}, more);
  expect((await probe()).body.data).toEqual({ estado: 200, milisegundos: 0, error: '' });
  const [message] = receiver.received;
  expect(message?.cambios).toEqual([]);
  expect(message?.epoca).toBe((await acme.get('/changes')).body.data.epoca);
  const headers = Object.fromEntries(
    Object.entries(message?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  );
  expect(new Webhook(secreto).verify(message?.text ?? '', headers)).toMatchObject({ type: 'cambios' });
  await acme.put(`/webhooks/${webhookId}`, { datos: { activo: false } });
  // With the same idempotency key nothing is sent again.
  for (let time = 0; time < 2; time++) expect((await probe({ 'idempotency-key': 'k' })).body.data.estado).toBe(200);
  expect(receiver.received).toHaveLength(2);
  expect((await probe()).body.data).toEqual({ estado: 418, milisegundos: 0, error: 'Ha respondido 418' });
  expect((await acme.get('/webhooks')).body.data.webhooks[0]).toMatchObject({ fallos_seguidos: 0 });
  expect((await acme.get(`/webhooks/${webhookId}/deliveries`)).body.data.total_entregas).toBe(0);
  await receiver[Symbol.asyncDispose]();
  expect((await probe()).body.data).toEqual({
    estado: 0,
    milisegundos: 0,
    error: 'No se ha podido enviar (ECONNREFUSED)',
  });
});

describe('[TEN-01] [AUTH-02] who may', () => {
  const call = async (company: Company, id: string) => ({
    list: (await company.get('/webhooks')).status,
    create: (await company.post('/webhooks', { url: URL })).status,
    update: (await company.put(`/webhooks/${id}`, { datos: { descripcion: 'x' } })).status,
    deliveries: (await company.get(`/webhooks/${id}/deliveries`)).status,
    test: (await company.post(`/webhooks/${id}/test`, {})).status,
    rotate: (await company.post(`/webhooks/${id}/secret`, {})).status,
    delete: (await company.delete(`/webhooks/${id}`)).status,
  });

  test('401 without a key, 403 with one that only reads, 404 for another company’s', async () => {
    const acme = await server.company();
    const { webhookId } = await create(acme);
    const nobody: Company = { ...acme, ...methodsWith(acme, { 'x-api-secret': 'sk_wrong' }) };
    expect(new Set(Object.values(await call(nobody, webhookId)))).toEqual(new Set([401]));
    const reader: Company = { ...acme, ...methodsWith(acme, await acme.newKey(true)) };
    const refused = { create: 403, update: 403, test: 403, rotate: 403, delete: 403 };
    expect(await call(reader, webhookId)).toEqual({ list: 200, deliveries: 200, ...refused });
    const other = await server.company();
    const missing = { update: 404, deliveries: 404, test: 404, rotate: 404, delete: 404 };
    expect(await call(other, webhookId)).toEqual({ list: 200, create: 200, ...missing });
    expect(await all(acme)).toHaveLength(1);
  });

  /** The company's calls with other credentials. */
  const methodsWith = (company: Company, headers: Record<string, string>): Partial<Company> => ({
    get: (path, query) => company.get(path, query, headers),
    post: (path, body) => company.post(path, body, headers),
    put: (path, body) => company.put(path, body, headers),
    delete: (path) => company.delete(path, headers),
  });
});
