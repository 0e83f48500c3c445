import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { recordStatements } from '../../helpers/statements.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T10:00:00Z');
// Downloads are counted by process. However slow the machine, no answer ends since nobody reads it for long.
const server = await startServer({ clock, alone: true, giveUpAfterMs: 3_600_000 });
afterAll(() => server.stop());

const page = '<script>alert(1)</script>ñ';
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL' },
  { coleccion: 'presupuestos', ref: 'p', id: 44, fecha: '2026-03-01', cliente: 'cli', lineas: [] },
  { coleccion: 'presupuestos', ref: 'q', id: 45, fecha: '2026-03-01', cliente: 'cli', lineas: [] },
  {
    coleccion: 'adjuntos',
    ref: 'b',
    presupuesto: 'p',
    nombre: 'plano "ático".html',
    tipo_mime: 'text/html',
    fecha_subida: '2026-03-02 10:00:00',
    contenido: Buffer.from(page).toString('base64'),
  },
  {
    coleccion: 'adjuntos',
    ref: 'a',
    presupuesto: 'p',
    nombre: 'a.bin',
    tipo_mime: 'application/octet-stream',
    fecha_subida: '2026-03-01 09:30:15',
    contenido: Buffer.from([0, 255, 10]).toString('base64'),
  },
];

test('[EST-01] the attachments of an estimate, each with an address that downloads it', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/estimates/44/attachments');
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    total_adjuntos: 2,
    adjuntos: [{ nombre: 'a.bin', tamano: 3, fecha_subida: '2026-03-01 09:30:15' }, {}],
  });
  const [, html] = body.data.adjuntos;
  expect(html).toEqual({
    adjuntoId: expect.any(String),
    nombre: 'plano "ático".html',
    tipo_mime: 'text/html',
    tamano: Buffer.byteLength(page),
    fecha_subida: '2026-03-02 10:00:00',
    url: expect.stringContaining(`${server.url}/files/`),
  });
  const download = await fetch(html.url);
  expect(await download.text()).toBe(page);
  expect(Object.fromEntries(download.headers)).toMatchObject({
    'content-type': expect.stringContaining('text/html'),
    'content-disposition': "attachment; filename*=UTF-8''plano%20%22%C3%A1tico%22.html",
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'private, no-store',
  });
  expect((await acme.get('/estimates/45/attachments')).body.data).toEqual({ total_adjuntos: 0, adjuntos: [] });
});

test('an altered or expired address opens nothing', async () => {
  const acme = await server.company(records);
  const { url } = (await acme.get('/estimates/44/attachments')).body.data.adjuntos[0];
  const path = new URL(url).pathname;
  const [account = '', attachment = '', until = '', signature = ''] = path.slice('/files/'.length).split('.');
  for (const token of [
    `${account}.${attachment}.${until}.${signature.slice(1)}A`,
    `${account}1.${attachment}.${until}.${signature}`,
    `${account}.${attachment}1.${until}.${signature}`,
    `${account}.${attachment}.${until}z.${signature}`,
    account,
    'x',
  ]) {
    expect([token, (await server.request(`/files/${token}`)).status]).toEqual([token, 404]);
  }
  clock.advance({ minutes: 9, seconds: 59 });
  expect((await server.request(path)).status).toBe(200);
  clock.advance({ seconds: 1 });
  expect((await server.request(path)).body).toMatchObject({ errorCode: 404 });
});

/** An attachment of an estimate and its address. */
async function attachmentOf(acme: Company, content: Buffer): Promise<string> {
  const { presupuesto, nombre, tipo_mime, fecha_subida } = { ...records[3] };
  const contenido = content.toString('base64');
  await acme.load([{ coleccion: 'adjuntos', ref: 'large', presupuesto, nombre, tipo_mime, fecha_subida, contenido }]);
  const { body } = await acme.get('/estimates/44/attachments');
  const { url } = body.data.adjuntos.find(({ tamano }: { tamano: number }) => tamano === content.length);
  return url;
}

/** Bytes that are no text, without a pattern, longer than one part. */
const large = randomBytes(3 * 1024 ** 2 + 17);

test('[FAIR-03] a large attachment comes whole, in parts, its length said before; HEAD says the same', async () => {
  const acme = await server.company(records);
  const url = await attachmentOf(acme, large);
  const statements = recordStatements(server.service);
  const got = await fetch(url);
  expect(Buffer.from(await got.arrayBuffer()).equals(large)).toBe(true);
  expect(got.headers.get('content-length')).toBe(String(large.length));
  expect(statements.take().filter(({ text }) => text.includes('substring(content')).length).toBeGreaterThan(2);
  const asked = await fetch(url, { method: 'HEAD' });
  const shown = ({ status, headers }: Response) => ({
    ...Object.fromEntries(headers),
    status,
    date: '',
    'x-request-id': '',
    connection: '',
    'keep-alive': '',
  });
  expect(shown(asked)).toEqual(shown(got));
  expect(await asked.text()).toBe('');
  expect((await fetch(`${server.url}/files/x`, { method: 'HEAD' })).status).toBe(404);
});

test('an empty attachment is downloaded too', async () => {
  const acme = await server.company(records);
  const answer = await fetch(await attachmentOf(acme, Buffer.alloc(0)));
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '0', '']);
});

/** A download that is not read, with the server's side of it. */
async function unread(url: string): Promise<{ answer: IncomingMessage; ours: ServerResponse }> {
  const name = randomUUID();
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const find = ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (headers['x-request-id'] === name) resolve(response);
  };
  server.http.server.on('request', find);
  const asked = request(url, { agent: false, headers: { 'x-request-id': name } });
  asked.end();
  const [answer]: [IncomingMessage] = await once(asked, 'response').then(([response]) => [response]);
  answer.on('error', () => {});
  const ours = await promise;
  server.http.server.off('request', find);
  return { answer, ours };
}

/** Until no work of the service has a connection to the database. */
async function untilIdle(): Promise<void> {
  const { pool } = server.service.database;
  while (pool.idleCount < pool.totalCount || pool.waitingCount > 0) await once(pool, 'release');
}

test('[FAIR-05] an address is downloaded four times at once; the fifth is told to wait', async () => {
  const acme = await server.company(records);
  // More than the kernel buffers for a connection.
  const url = await attachmentOf(acme, randomBytes(16 * 1024 ** 2));
  const open = await Promise.all(Array.from({ length: 4 }, () => unread(url)));
  expect(open.map(({ answer }) => answer.statusCode)).toEqual([200, 200, 200, 200]);
  // Callers who don't read hold no database connection, once what they leave unread is full.
  await untilIdle();
  expect(open.map(({ ours }) => ours.closed)).toEqual([false, false, false, false]);
  const fifth = await server.request(new URL(url).pathname);
  expect([fifth.status, fifth.headers.get('retry-after')]).toEqual([429, '5']);
  expect(fifth.body).toEqual({ errorCode: 429, errorMsg: 'Hay demasiadas descargas a la vez', data: null });
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  const [first] = open;
  if (!first) throw new Error('Nothing is under way');
  const closed = once(first.ours, 'close');
  first.answer.destroy();
  await closed;
  const next = await unread(url);
  expect(next.answer.statusCode).toBe(200);
  for (const { answer } of [...open, next]) answer.destroy();
});

test('[FAIR-05] sixteen downloads of a company are under way at once, whatever their addresses', async () => {
  const [acme, other] = await Promise.all([server.company(records), server.company(records)]);
  const content = randomBytes(16 * 1024 ** 2);
  await attachmentOf(acme, content);
  const open: Awaited<ReturnType<typeof unread>>[] = [];
  for (let times = 0; times < 5; times++) {
    clock.advance({ milliseconds: 1 });
    const { body } = await acme.get('/estimates/44/attachments');
    const { url } = body.data.adjuntos.find(({ tamano }: { tamano: number }) => tamano === content.length);
    for (let each = 0; each < 4; each++) {
      open.push(await unread(url));
      // What is read for one delays no other until it gives up.
      await untilIdle();
    }
  }
  expect(open.map(({ answer }) => answer.statusCode)).toEqual([...Array(16).fill(200), ...Array(4).fill(429)]);
  expect(open.map(({ ours }) => ours.closed)).toEqual([...Array(16).fill(false), ...Array(4).fill(true)]);
  const { url } = (await other.get('/estimates/44/attachments')).body.data.adjuntos[0];
  expect((await fetch(url)).status).toBe(200);
  for (const { answer } of open) answer.destroy();
});

test('a download whose file is replaced meanwhile ends short, and is never half of one and half of the other', async () => {
  const acme = await server.company(records);
  const url = await attachmentOf(acme, randomBytes(16 * 1024 ** 2));
  const { answer } = await unread(url);
  await acme.load([{ ...records[3], ref: 'large', contenido: Buffer.from('otro').toString('base64') } as FileRecord]);
  await expect(answer.toArray()).rejects.toThrow();
  answer.destroy();
});

test('[TEN-01] another company’s estimate has no attachments to list', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const { presupuestoId } = (await acme.get('/estimates/44')).body.data;
  for (const id of [presupuestoId, 44]) expect((await other.get(`/estimates/${id}/attachments`)).status).toBe(404);
});
