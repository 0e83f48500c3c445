import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T10:00:00Z');
const server = await startServer({ clock });
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

test('[TEN-01] another company’s estimate has no attachments to list', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const { presupuestoId } = (await acme.get('/estimates/44')).body.data;
  for (const id of [presupuestoId, 44]) expect((await other.get(`/estimates/${id}/attachments`)).status).toBe(404);
});
