import { createHash } from 'node:crypto';
import { extractText, getDocumentProxy } from 'unpdf';
import { afterAll, describe, expect, test } from 'vitest';
import { png } from '../../documents/pictures.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-03-10T10:00:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const lineas = [{ descripcion: 'Silla', cantidad: 2, importe_unitario: 50 }];
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B12345674' },
  { coleccion: 'presupuestos', ref: 'p', id: 41, numero: 'P/1', fecha: '2026-03-01', cliente: 'nilo', lineas },
  { coleccion: 'albaranes', ref: 'a', id: 42, numero: 'A1', fecha: '2026-03-01', cliente: 'nilo', lineas },
  { coleccion: 'facturas', ref: 'f', id: 43, numero: 'F1', fecha: '2026-03-01', cliente: 'nilo', lineas },
];
const KINDS = [
  {
    path: '/estimates/41/pdf',
    campo: 'presupuestoId',
    alias: 'descargarPresupuesto',
    id: 41,
    title: 'Presupuesto P/1',
  },
  { path: '/delivery-notes/42/pdf', campo: 'albaranId', alias: 'descargarAlbaran', id: 42, title: 'Albarán A1' },
  { path: '/invoices/43/pdf', campo: 'facturaId', alias: 'descargarFactura', id: 43, title: 'Factura F1' },
];
const PDF = { Accept: 'application/pdf' };

const fileOf = async (company: Company, path: string, more: Record<string, string> = PDF, init: RequestInit = {}) =>
  fetch(`${server.url}/api/v1${path}`, { ...init, headers: { ...company.headers, ...more } });
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const textOf = async (bytes: Buffer) =>
  (await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: true })).text.replaceAll(
    '\u00a0',
    ' ',
  );

describe.each(KINDS)('[DOC-03] $alias', ({ path, campo, alias, id, title }) => {
  test('200: what the file is, a link that opens it without a key, and the file itself where it is asked for', async () => {
    const acme = await server.company(records);
    const { status, body, headers } = await acme.get(path);
    expect([status, headers.get('vary')]).toEqual([200, expect.stringContaining('Accept')]);
    expect(body.data).toEqual({
      url: expect.stringContaining(`${server.url}/files/`),
      nombre: `${title.replace('/', '-')}.pdf`,
      tipo_mime: 'application/pdf',
      tamano: expect.any(Number),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const linked = await fetch(body.data.url);
    const bytes = await bytesOf(linked);
    expect([linked.status, linked.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([
      body.data.tamano,
      body.data.sha256,
    ]);
    expect(await textOf(bytes)).toMatch(new RegExp(`${title}[\\s\\S]*Café Nilo[\\s\\S]*Silla[\\s\\S]*121,00 €`));

    const itself = await fileOf(acme, path);
    expect(Object.fromEntries(itself.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(body.data.nombre)}`,
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    });
    expect((await bytesOf(itself)).equals(bytes)).toBe(true);
    const head = await fileOf(acme, path, PDF, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);

    const old = { ...acme.headers, ...PDF, 'Content-Type': 'application/json' };
    const v0 = await fetch(`${server.url}/${alias}`, {
      method: 'POST',
      headers: old,
      body: JSON.stringify({ [campo]: id }),
    });
    expect((await bytesOf(v0)).equals(bytes)).toBe(true);
  });

  test('401, 404 of another company and of none: as JSON, also where the file is asked for', async () => {
    const [acme, other] = [await server.company(records), await server.company([])];
    const unknown = await fileOf(acme, path, { ...PDF, 'x-api-secret': 'no' });
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([401, expect.stringContaining('json')]);
    const { body } = await acme.get(path.replace('/pdf', ''));
    for (const [company, at] of [
      [other, path],
      [other, path.replace(String(id), String(body.data[campo]))],
      [acme, path.replace(String(id), '999')],
      [acme, path.replace(String(id), 'x')],
    ] as const) {
      const refused = await fileOf(company, at);
      expect([at, refused.status, refused.headers.get('content-type')]).toEqual([
        at,
        404,
        expect.stringContaining('json'),
      ]);
    }
  });
});

test('the file is given only where its type is preferred to JSON', async () => {
  const acme = await server.company(records);
  const typeFor = async (Accept: string) =>
    (await fileOf(acme, '/invoices/43/pdf', { Accept })).headers.get('content-type')?.split(';')[0];
  for (const accept of ['application/pdf', 'APPLICATION/PDF;q=0.5, */*', 'application/json;q=0.1, application/pdf']) {
    expect([accept, await typeFor(accept)]).toEqual([accept, 'application/pdf']);
  }
  for (const accept of [
    '*/*',
    'application/json, application/pdf',
    'application/pdf;q=0',
    'application/xml',
    'text/html',
  ]) {
    expect([accept, await typeFor(accept)]).toEqual([accept, 'application/json']);
  }
  const clients = await fileOf(acme, '/clients');
  expect(clients.headers.get('content-type')).toContain('json');
});

test('[DOC-03] a file stays the same when its client or the company is renamed and when it is annulled', async () => {
  const acme = await server.company(records);
  const before = await acme.get('/delivery-notes/42/pdf');
  clock.advance({ hours: 30 });
  expect((await acme.put('/clients/1', { datos: { nombre_fiscal: 'Otro' } })).status).toBe(200);
  await server.service.database.pool.query(`update accounts set name = 'Otra' where id = $1`, [acme.id]);
  expect((await acme.post('/delivery-notes/42/annul', { motivo: 'Duplicado' })).status).toBe(200);
  expect((await acme.get('/delivery-notes/42/pdf')).body.data.sha256).toBe(before.body.data.sha256);
});

test('[DOC-03] a document has the logo and colour of the day on which it was issued', async () => {
  const pictures = (bytes: Buffer) => bytes.toString('latin1').split('/Subtype /Image').length - 1;
  const hashOf = async (path: string) => (await acme.get(path)).body.data.sha256;
  const issued = async () => {
    const { body } = await acme.post('/delivery-notes', {
      cliente: { id: 1 },
      pedido: { obra: 'Sala' },
      detalles: [{ cantidad: 1, descripcion: 'Mesa', importe_unitario: 80 }],
    });
    const path = `/delivery-notes/${body.data}/pdf`;
    const { rows } = await server.service.database.pool.query<{ content: string }>(
      `select content from seals where account_id = $1 order by n desc limit 1`,
      [acme.id],
    );
    const bytes = await bytesOf(await fileOf(acme, path));
    return { path, pictures: pictures(bytes), emisor: JSON.parse(rows[0]?.content ?? '').emisor };
  };
  const logo = (bytes: Buffer) => ({ tipo_mime: 'image/png', contenido: bytes.toString('base64') });
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

  const acme = await server.company(records);
  const plain = await issued();
  expect(plain.pictures).toBe(0);
  expect(Object.keys(plain.emisor).filter((name) => name === 'logo' || name === 'color')).toEqual([]);
  const plainHash = await hashOf(plain.path);

  const [one, two] = [png(), png({ kind: 2, sample: () => 200 })];
  await acme.load([], { logo: logo(one), color: '#7c3aed' });
  const first = await issued();
  expect(first).toMatchObject({ pictures: 2, emisor: { logo: sha256(one), color: '#7c3aed' } });
  const firstHash = await hashOf(first.path);

  await acme.load([], { logo: logo(two), color: '#0f766e' });
  const second = await issued();
  expect(second).toMatchObject({ pictures: 1, emisor: { logo: sha256(two), color: '#0f766e' } });
  await acme.load([], { logo: null, color: null });
  expect(await issued()).toMatchObject({ pictures: 0 });
  expect([await hashOf(plain.path), await hashOf(first.path)]).toEqual([plainHash, firstHash]);
  expect(firstHash).not.toBe(await hashOf(second.path));
  expect((await acme.get('/documents/verify')).body.data).toMatchObject({ fallos: [] });
});

test('a link opens its own document, for ten minutes', async () => {
  const acme = await server.company(records);
  const links = await Promise.all(KINDS.map(async ({ path }) => (await acme.get(path)).body.data.url));
  const texts = await Promise.all(links.map(async (url) => textOf(await bytesOf(await fetch(url)))));
  for (const [index, { title }] of KINDS.entries()) expect(texts[index]).toContain(title);
  const [url] = links;
  for (const [from, to] of [
    ['~3', '~1'],
    ['.~3', ''],
  ] as const) {
    expect(url).toContain(from);
    expect((await fetch(url.replace(from, to))).status).toBe(404);
  }
  clock.advance({ minutes: 10 });
  expect((await fetch(url)).status).toBe(404);
});
