// Links to documents, as callers make them, look at them and revoke them. What they show: test/pages/document.test.ts.
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

// 10 March, 11:00 in Madrid.
const NOW = '2026-03-10T10:00:00Z';
const clock = new TestClock(NOW);
const server = await startServer({ clock });
afterAll(() => server.stop());

const lineas = [{ descripcion: 'Silla', cantidad: 2, importe_unitario: 50 }];
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B12345674' },
  { coleccion: 'presupuestos', ref: 'p', id: 41, numero: 'P/1', fecha: '2026-03-01', cliente: 'nilo', lineas },
  { coleccion: 'albaranes', ref: 'a', id: 42, numero: 'A1', fecha: '2026-03-01', cliente: 'nilo', lineas },
  { coleccion: 'facturas', ref: 'f', id: 43, numero: 'F1', fecha: '2026-03-01', cliente: 'nilo', lineas },
];
const FACTURA = '/documents/factura/43';

const linksOf = async (company: Company, document = FACTURA) =>
  (await company.get(`${document}/links`)).body.data.enlaces;
const makeLink = async (company: Company, document = FACTURA, body = {}) =>
  (await company.post(`${document}/link`, body)).body.data;
const statusOf = async (url: string) => (await fetch(url)).status;

test.each(['factura/43', 'albaran/42', 'presupuesto/41'])(
  '[DOC-03] a link to a %s: made, listed without its address, revoked',
  async (document) => {
    const acme = await server.company(records);
    const path = `/documents/${document}`;
    const { status, body } = await acme.post(`${path}/link`, { dias: 2 });
    expect([status, body.data]).toEqual([
      200,
      {
        enlaceId: expect.any(String),
        url: expect.stringMatching(new RegExp(`^${server.url}/d/${acme.id}_[\\w-]{43}$`)),
        caduca: '2026-03-12T11:00:00.000+01:00',
      },
    ]);
    const { enlaceId, url } = body.data;
    expect(await statusOf(url)).toBe(200);
    const made = {
      ...{ enlaceId, creado: '2026-03-10T11:00:00.000+01:00', caduca: '2026-03-12T11:00:00.000+01:00' },
      ...{ revocado: null, aperturas: 1, primera_apertura: expect.any(String), ultima_apertura: expect.any(String) },
    };
    await expect.poll(() => linksOf(acme, path)).toEqual([made]);
    const listed = await acme.get(`${path}/links`);
    expect(listed.text).not.toContain(url.slice(-43));
    expect(listed.headers.get('etag')).toBeNull();

    const revoke = () => acme.delete(`${path}/links/${enlaceId}`);
    const revoked = await revoke();
    expect([revoked.status, revoked.body.data]).toEqual([200, { enlaceId, revocado: '2026-03-10T11:00:00.000+01:00' }]);
    expect(await statusOf(url)).toBe(404);
    clock.advance({ hours: 1 });
    try {
      expect((await revoke()).body.data).toEqual(revoked.body.data);
      expect(await linksOf(acme, path)).toEqual([{ ...made, revocado: '2026-03-10T11:00:00.000+01:00' }]);
    } finally {
      clock.set(NOW);
    }
  },
);

test('[DOC-03] a link lasts 30 days unless it is said: from 1 to 365, else 400', async () => {
  const acme = await server.company(records);
  expect(await makeLink(acme)).toMatchObject({ caduca: '2026-04-09T12:00:00.000+02:00' });
  for (const dias of [1, 365]) expect((await acme.post(`${FACTURA}/link`, { dias })).status).toBe(200);
  for (const dias of [0, 366, 1.5, -1, 'siempre']) {
    const { status, body } = await acme.post(`${FACTURA}/link`, { dias });
    expect([dias, status, body.data]).toEqual([dias, 400, [{ campo: 'dias', mensaje: expect.any(String) }]]);
  }
});

test('[DOC-03] [IDEM-01] under one idempotency key there is one link, and its address again', async () => {
  const acme = await server.company(records);
  const twice = await Promise.all(
    [1, 2].map(() => acme.post(`${FACTURA}/link`, {}, { 'X-IDEMPOTENCY-KEY': 'enlace-1' })),
  );
  const [url, again] = twice.map(({ body }) => body.data.url);
  expect(again).toBe(url);
  expect(await linksOf(acme)).toHaveLength(1);
});

test('[DOC-03] only the SHA-256 of a link is stored', async () => {
  const acme = await server.company(records);
  const { url } = await makeLink(acme);
  const { rows } = await server.service.database.pool.query(
    `select (l::text like '%' || $2 || '%') as found, octet_length(hash) as bytes from document_links l where account_id = $1`,
    [acme.id, url.slice(-43)],
  );
  expect(rows).toEqual([{ found: false, bytes: 32 }]);
});

test('[DOC-03] a document has at most 100 live links, also where many are made at once; revoked and ended ones don’t count', async () => {
  const acme = await server.company(records);
  await server.service.database.pool.query(
    `insert into document_links (account_id, record_table, record_id, hash, expires_at, revoked_at)
     select $1, 'invoices', 43, sha256(n::text::bytea), $2::timestamptz + make_interval(days => case when n > 100 then -1 else 1 end),
       case when n = 100 then $2::timestamptz end
     from generate_series(1, 150) n`,
    [acme.id, NOW],
  );
  // 99 of them are live.
  const answers = await Promise.all([1, 2, 3].map(() => acme.post(`${FACTURA}/link`, {})));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
  expect(answers.find(({ status }) => status === 400)?.body.errorMsg).toContain('100');
  expect((await acme.post('/documents/albaran/42/link', {})).status).toBe(200);
  const listed: { enlaceId: string; caduca: string; revocado: string | null }[] = await linksOf(acme);
  const isLive = ({ caduca, revocado }: { caduca: string; revocado: string | null }) =>
    revocado === null && Temporal.Instant.compare(caduca, NOW) > 0;
  expect(listed.map(isLive)).toEqual([...Array(100).fill(true), ...Array(51).fill(false)]);
  const made = answers.find(({ status }) => status === 200)?.body.data;
  expect(listed[0]?.enlaceId).toBe(made.enlaceId);
  await acme.delete(`${FACTURA}/links/${made.enlaceId}`);
  expect((await acme.post(`${FACTURA}/link`, {})).status).toBe(200);
});

test('[DOC-03] [TEN-01] 400, 401, 403 and 404: of no document, of another company, of another document', async () => {
  const [acme, other] = [await server.company(records), await server.company(records)];
  const reader = await server.company(records, { readOnly: true });
  const { enlaceId } = await makeLink(acme);
  expect((await acme.post('/documents/recibo/43/link', {})).body.data).toMatchObject([{ campo: 'tipo' }]);
  expect((await reader.post(`${FACTURA}/link`, {})).status).toBe(403);
  expect((await reader.delete(`${FACTURA}/links/${enlaceId}`)).status).toBe(403);
  expect((await reader.get(`${FACTURA}/links`)).body.data).toEqual({ enlaces: [] });

  const { facturaId } = (await acme.get('/invoices/43')).body.data;
  for (const path of ['/documents/factura/999', '/documents/albaran/43', '/documents/factura/x']) {
    expect([path, (await acme.post(`${path}/link`, {})).status]).toEqual([path, 404]);
    expect([path, (await acme.get(`${path}/links`)).status]).toEqual([path, 404]);
  }
  expect((await other.post(`/documents/factura/${facturaId}/link`, {})).status).toBe(404);
  expect((await other.get(`/documents/factura/${facturaId}/links`)).status).toBe(404);
  for (const [company, path] of [
    [other, `${FACTURA}/links/${enlaceId}`],
    [acme, `/documents/albaran/42/links/${enlaceId}`],
    [acme, `${FACTURA}/links/x`],
  ] as const) {
    expect([path, (await company.delete(path)).status]).toEqual([path, 404]);
  }
  for (const [method, path] of [
    ['POST', 'link'],
    ['GET', 'links'],
    ['DELETE', `links/${enlaceId}`],
  ] as const) {
    expect((await server.request(`/api/v1${FACTURA}/${path}`, { method })).status).toBe(401);
  }
  expect(await linksOf(acme)).toMatchObject([{ enlaceId, revocado: null }]);
  expect(await linksOf(other)).toEqual([]);
});

test('[JRN-01] who made and revoked a link is in the activity, and no document has changed', async () => {
  const acme = await server.company(records);
  const before = (await acme.get('/changes')).body.data.ultimo;
  const { enlaceId } = await makeLink(acme);
  for (const _ of [1, 2]) await acme.delete(`${FACTURA}/links/${enlaceId}`);
  const { registros } = (await acme.get('/audit')).body.data;
  const links = registros.filter(({ operacion }: { operacion: string }) => /Enlace/.test(operacion));
  expect(links).toMatchObject([
    { operacion: 'revocarEnlaceDocumento', puerta: 'v1', origen: { tipo: 'clave' } },
    { operacion: 'crearEnlaceDocumento', puerta: 'v1', origen: { tipo: 'clave' } },
  ]);
  expect((await acme.get('/changes')).body.data.ultimo).toBe(before);
});

test('[AUTH-03] a link outlives the key that made it', async () => {
  const acme = await server.company(records);
  const { url } = await makeLink(acme);
  await server.service.database.pool.query('update api_keys set revoked_at = now() where account_id = $1', [acme.id]);
  expect(await statusOf(url)).toBe(200);
});
