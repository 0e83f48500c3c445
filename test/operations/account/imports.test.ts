import { afterAll, expect, test } from 'vitest';
import { COLLECTIONS } from '../../../account-file/format.ts';
import { ROLLUPS } from '../../../figures/figures.ts';
import { differences } from '../../../figures/rollups.ts';
import { KINDS, type Kind } from '../../../platform/ids.ts';
import { KIND_OF } from '../../../routers/account/records.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T10:00:00Z') });
afterAll(() => server.stop());

const load = (company: Company, registros: object[], headers?: Record<string, string>) =>
  company.post('/imports', { registros }, headers);
const lines = ({ headers }: Company, body: string | Uint8Array, path = '/api/v1/imports') =>
  server.request(path, { method: 'POST', headers: { ...headers, 'content-type': 'application/x-ndjson' }, body });
const find = (company: Company, coleccion: string, ref: string) =>
  company.get(`/records/${coleccion}/${encodeURIComponent(ref)}`);
const wrongFigures = ({ id }: Company) =>
  server.service.database.transaction(id, {}, async (db) =>
    (await Promise.all(ROLLUPS.map((figure) => differences(db, id, figure)))).flat(),
  );

const id = expect.stringMatching(/^[\w-]{23}$/);
const shop: FileRecord[] = [
  { coleccion: 'clientes', ref: 'cliente 1', nombre_fiscal: 'Bar Nilo', cif: 'B1' },
  { coleccion: 'familias', ref: 'f', titulo: 'Tazas' },
  {
    ...{ coleccion: 'articulos', ref: 'sku/7 "ñ"', descripcion: 'Taza', familia: 'f', stock: 4 },
    precios: [{ tarifa: 1, precio: 8 }],
  },
  { coleccion: 'proyectos', ref: 'p', numero: '26-041', descripcion: 'Reforma' },
  {
    ...{
      coleccion: 'albaranes',
      ref: 'a',
      numero: 'A2026-0007',
      fecha: '2026-03-01',
      cliente: 'cliente 1',
      proyecto: 'p',
    },
    lineas: [{ descripcion: 'Taza', cantidad: 2, importe_unitario: 8, articulo: 'sku/7 "ñ"' }],
  },
];

test('records are created, found by the caller’s own keys, and all that follows from them is right', async () => {
  const acme = await server.company();
  const { status, body } = await load(acme, shop);
  expect([status, body.data]).toEqual([
    200,
    {
      ...{ nuevos: 5, cambiados: 0, iguales: 0 },
      ids: {
        clientes: { 'cliente 1': id },
        familias: { f: id },
        articulos: { 'sku/7 "ñ"': id },
        proyectos: { p: id },
        albaranes: { a: id },
      },
    },
  ]);
  for (const [coleccion, byRef] of Object.entries<Record<string, string>>(body.data.ids)) {
    for (const [ref, known] of Object.entries(byRef)) {
      expect((await find(acme, coleccion, ref)).body.data).toBe(known);
    }
  }
  const { articulo } = (await acme.get(`/products/${encodeURIComponent(body.data.ids.articulos['sku/7 "ñ"'])}`)).body
    .data;
  expect(articulo).toMatchObject({ descripcion: 'Taza', stock: 4, familia: { titulo: 'Tazas' } });
  expect((await acme.get(`/projects/${body.data.ids.proyectos.p}`)).body.data.proyecto.economico.ventas).toBe(16);
  expect(await wrongFigures(acme)).toEqual([]);
  // Numbers go on from those that came.
  const next = await acme.post('/delivery-notes', {
    ...{ cliente: { id: body.data.ids.clientes['cliente 1'] }, pedido: { obra: 'x' } },
    detalles: [{ cantidad: 1, descripcion: 'x', importe_unitario: 1 }],
  });
  expect((await acme.get(`/delivery-notes/${next.body.data}`)).body.data.numero).toBe('A2026-0008');
});

test('records that are there take what is sent; equal ones stay as they are', async () => {
  const acme = await server.company();
  const first = await load(acme, shop);
  const { body } = await load(acme, [
    { ...shop[0], nombre_fiscal: 'Bar Nilo, S.L.' },
    ...shop.slice(1),
    { coleccion: 'familias', ref: 'g', titulo: 'Platos' },
  ]);
  expect(body.data).toMatchObject({ nuevos: 1, cambiados: 1, iguales: 4 });
  expect(body.data.ids).toEqual({ ...first.body.data.ids, familias: { ...first.body.data.ids.familias, g: id } });
  const [client] = (await acme.get('/clients')).body.data.clientes;
  expect(client).toMatchObject({ clienteId: body.data.ids.clientes['cliente 1'], nombre_fiscal: 'Bar Nilo, S.L.' });
});

test('the lines of a file are taken as they are, by REST as a body of their own', async () => {
  const acme = await server.company();
  const file = shop.map((record) => JSON.stringify(record)).join('\r\n');
  const answer = await lines(acme, `\uFEFF${file}\n\n`);
  expect([answer.status, answer.body.data]).toMatchObject([200, { nuevos: 5 }]);
  const again = await lines(acme, file, '/importarDatos');
  expect(again.body.data).toMatchObject({ iguales: 5 });
  expect((await acme.post('/imports', { lineas: file })).body.data).toMatchObject({ iguales: 5 });
  // What is exported comes back, but for the company itself.
  const known = await find(acme, 'clientes', 'cliente 1');
  expect(known.body.data).toBe((await lines(acme, file)).body.data.ids.clientes['cliente 1']);
});

test('[W-02] [TIM-01] issued documents are not changed; working time and the company itself do not come', async () => {
  const acme = await server.company([{ coleccion: 'empleados', ref: 'ana', nombre: 'Ana' }]);
  await load(acme, shop);
  const changed = { ...shop[4], concepto: 'Otro' };
  const { status, body } = await load(acme, [changed]);
  expect([status, body.data]).toEqual([
    400,
    [{ campo: 'registros[0]', mensaje: 'albaranes a: ya está, con otros datos: un documento emitido no se cambia' }],
  ]);
  expect((await acme.get('/delivery-notes')).body.data.documentos[0].concepto).toBe('');
  for (const coleccion of ['cuenta', 'fichajes', 'contratos', 'ausencias', 'calendario', 'empleados']) {
    const refused = await load(acme, [{ coleccion, ref: 'x', nombre: 'x' }]);
    expect([refused.status, refused.body.data[0].campo], coleccion).toEqual([400, 'registros[0].coleccion']);
  }
  const { body: later } = await load(acme, [{ coleccion: 'cuenta', ref: 'x', nombre: 'x', formato: 3 }]);
  expect(later.data[0]).toEqual({ campo: 'registros[0].formato', mensaje: 'cuenta x: se esperaba uno de: 1, 2' });
});

test('all or nothing: each problem with its record or line, and what was expected', async () => {
  const acme = await server.company();
  const wrong = [
    { coleccion: 'clientes', ref: 'bien', nombre_fiscal: 'Bien' },
    { coleccion: 'clientes', ref: 'mal', nombre_fiscal: '', nif: 'B1' },
    { coleccion: 'proyectos', ref: 'p', numero: '1', descripcion: 'x', cliente: 'nadie' },
    { coleccion: 'barcos', ref: 'b' },
    { coleccion: 'clientes', ref: 'bien', nombre_fiscal: 'Otra vez' },
    { coleccion: 'familias', ref: 'f', id: 5_000_000_000, titulo: 'x' },
  ];
  const { status, body } = await load(acme, wrong);
  expect([status, body.errorMsg]).toEqual([400, 'Hay 6 errores y no se ha importado nada']);
  expect(body.data.map(({ campo }: { campo: string }) => campo)).toEqual([
    ...['registros[1].nombre_fiscal', 'registros[1].nif', 'registros[2].cliente', 'registros[3].coleccion'],
    ...['registros[4].ref', 'registros[5].id'],
  ]);
  const text = await lines(acme, wrong.map((record) => JSON.stringify(record)).join('\n'));
  const { data } = text.body;
  expect(data[0]).toEqual({
    campo: 'lineas',
    mensaje: expect.stringMatching(/^Línea 2: clientes mal: nombre_fiscal: /),
  });
  expect((await lines(acme, 'no es JSON')).body.data[0].mensaje).toContain('Línea 1: no es JSON');
  expect((await acme.get('/clients')).body.data.total_clientes).toBe(0);
});

test('[FAIR-03] [W-10] what is neither is refused: nothing, both, too many, too long, not UTF-8, another path', async () => {
  const acme = await server.company();
  const family = { coleccion: 'familias', ref: 'f', titulo: 'x' };
  for (const [input, campo] of [
    [{}, 'registros'],
    [{ registros: [] }, 'registros'],
    [{ registros: [family], lineas: '{}' }, 'registros'],
    [{ registros: ['f'] }, 'registros[0]'],
    [{ registros: Array.from({ length: 1001 }, () => family) }, 'registros'],
    [{ lineas: ' \n ' }, 'lineas'],
  ] as const) {
    const { status, body } = await acme.post('/imports', input);
    expect([status, body.data[0].campo], JSON.stringify(input).slice(0, 60)).toEqual([400, campo]);
  }
  expect((await lines(acme, ' '.repeat(5 * 1024 ** 2 + 1))).status).toBe(413);
  expect((await lines(acme, Buffer.from([0x7b, 0xff]))).status).toBe(400);
  expect((await lines(acme, '{}', '/api/v1/clients')).status).toBe(415);
});

test('a thousand records, and 5 MB of lines, are taken', async () => {
  const acme = await server.company();
  const families = Array.from({ length: 1000 }, (_, index) => ({
    coleccion: 'familias',
    ref: `f${index}`,
    titulo: 'x',
  }));
  expect((await load(acme, families)).body.data).toMatchObject({ nuevos: 1000 });
  const text = families
    .map(({ ref }) => JSON.stringify({ coleccion: 'familias', ref, titulo: 'x'.repeat(5_000) }))
    .join('\n');
  expect((await lines(acme, text)).body.data).toMatchObject({ cambiados: 1000 });
});

test('[IDEM-01] [TEN-01] a replay answers the first answer; keys are of one company', async () => {
  const [acme, other] = [await server.company(), await server.company()];
  const key = { 'x-idempotency-key': 'una' };
  const first = await load(acme, shop, key);
  const again = await load(acme, shop, key);
  expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
  expect((await find(other, 'clientes', 'cliente 1')).status).toBe(404);
  expect((await load(other, shop)).body.data).toMatchObject({ nuevos: 5 });
  expect((await find(acme, 'clientes', 'nadie')).status).toBe(404);
  expect((await find(acme, 'fichas', 'x')).body.data[0].campo).toBe('coleccion');
});

test('every collection whose records have ids on the wire can be asked for', () => {
  const tables = new Map<string, Kind>(
    Object.entries(KINDS).flatMap(([kind, { table }]) => (Object.hasOwn(KINDS, kind) ? [[table, kind as Kind]] : [])),
  );
  const having = COLLECTIONS.flatMap(({ name, table }) => {
    const kind = tables.get(table);
    return kind ? [[name, kind]] : [];
  });
  expect(Object.entries(KIND_OF)).toEqual(expect.arrayContaining(having));
  expect(having).toHaveLength(Object.keys(KIND_OF).length);
});

test('[ENV-03] without a key 401; with one that may only read 403', async () => {
  const reader = await server.company([], { readOnly: true });
  expect((await load(reader, shop)).status).toBe(403);
  expect((await find(reader, 'clientes', 'x')).status).toBe(404);
  expect((await server.request('/api/v1/imports', { method: 'POST', body: '{}' })).status).toBe(401);
});
