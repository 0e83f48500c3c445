// Estimates are created, answered and given attachments.
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z') });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: false },
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B1', email: 'c@nilo.es', tarifa: 2 },
  { coleccion: 'proyectos', ref: 'nave', id: 21, numero: '1', descripcion: 'Nave' },
  { coleccion: 'proyectos', ref: 'patio', id: 22, numero: '2', descripcion: 'Patio' },
  {
    coleccion: 'articulos',
    ref: 'tornillo',
    id: 10,
    descripcion: 'Tornillo',
    iva: 10,
    stock: 1000,
    precios: [
      { tarifa: 1, precio: 0.05 },
      { tarifa: 2, precio: 0.04 },
    ],
    variaciones: [{ ref: 'zincado', id: 61, descripcion: 'Zincado' }],
    formatos: [{ ref: 'kilo', id: 73, titulo: 'Bolsa a peso', factor: 50, peso_variable: true }],
  },
  {
    coleccion: 'articulos',
    ref: 'andamio',
    id: 12,
    descripcion: 'Andamio',
    modo: 'alquiler',
    stock: 4,
    precios: [{ tarifa: 2, precio: 15 }],
  },
  {
    coleccion: 'presupuestos',
    ref: 'p',
    id: 44,
    numero: 'P2026-0007',
    fecha: '2026-03-01',
    cliente: 'nilo',
    lineas: [],
  },
];
const cuenta = { stock_multiformato: true };
const body = (more: object = {}) => ({
  cliente: { id: 1 },
  pedido: { obra: 'Reforma' },
  detalles: [{ cantidad: 2, articulo_fk: 10 }],
  ...more,
});

async function created(company: Company, input: object) {
  const { status, body: answer } = await company.post('/estimates', input);
  expect([status, answer.errorMsg]).toEqual([200, '']);
  return (await company.get(`/estimates/${answer.data}`)).body.data;
}

const campos = ({ body: { data } }: { body: { data: { campo: string }[] } }) => data.map(({ campo }) => campo);

test('[EST-01] [W-05] an estimate is numbered, waits for its answer, and is read back whole', async () => {
  const acme = await server.company(records, { cuenta });
  const line = {
    cantidad: 3,
    descripcion: 'Tornillo zincado',
    importe_unitario: 2,
    iva: 21,
    descuento: 5,
    articulo_fk: 10,
    variacion_articulo_fk: 61,
    formatoId: 73,
    cantidad_base_real: 148.5,
    descripcion_ampliada: 'Bolsa de 3 kg',
  };
  const rented = { cantidad: 1, articulo_fk: 12, startDate: '2026-03-12', endDate: '2026-03-14', proyectoId: 22 };
  const pedido = { obra: 'Reforma', detalles_operacion: '<b>Frágil</b>', promo_code: 'MARZO', proyectoId: 21 };
  const read = await created(acme, { ...body({ pedido, detalles: [line, rented] }), valido_hasta: '2026-04-30' });
  const project = async (id: number) => (await acme.get(`/projects/${id}`)).body.data.proyecto;
  const [nave, patio] = [await project(21), await project(22)];
  expect(read).toMatchObject({
    tipo: 'presupuesto',
    numero: 'P2026-0008',
    fecha: '2026-03-10',
    concepto: 'Reforma',
    contraparte: { nombre_fiscal: 'Café Nilo', cif: 'B1', email: 'c@nilo.es' },
    base_imponible: 20.7,
    estado: 'pendiente',
    valido_hasta: '2026-04-30',
    num_lineas: 2,
    observaciones: '<b>Frágil</b>',
    promo_code: 'MARZO',
    proyectoId: nave.proyectoId,
    lineas: [
      {
        descripcion: 'Tornillo zincado',
        cantidad: 3,
        importe_unitario: 2,
        descuento: 5,
        iva: 21,
        importe: 5.7,
        cantidad_base_real: 148.5,
        descripcion_ampliada: 'Bolsa de 3 kg',
        proyectoId: nave.proyectoId,
      },
      {
        descripcion: 'Andamio',
        importe: 15,
        startDate: '2026-03-12',
        endDate: '2026-03-14',
        proyectoId: patio.proyectoId,
      },
    ],
  });
  // Nothing is sold, moved or reserved by it.
  expect([nave.economico.ventas, patio.economico.ventas]).toEqual([0, 0]);
  expect((await acme.get('/products/10')).body.data.articulo.stock).toBe(1000);
  const days = { fecha_inicio: '2026-03-12', fecha_fin: '2026-03-12' };
  expect((await acme.get('/products/12/availability', days)).body.data.dias).toMatchObject([{ reservado: 0 }]);
  // Listed, and found by what it says.
  const found = (await acme.get('/estimates', { busqueda: 'p2026-0008' })).body.data.presupuestos;
  const { lineas, observaciones, promo_code, proyectoId, ...header } = read;
  expect(found).toEqual([header]);
  expect((await acme.get('/estimates', { busqueda: 'reforma' })).body.data.total_presupuestos).toBe(1);

  const plain = await created(acme, body({ cliente: { nombre_fiscal: 'Nueva SL', cif: 'B2' } }));
  expect(plain).toMatchObject({
    numero: 'P2026-0009',
    contraparte: { nombre_fiscal: 'Nueva SL', cif: 'B2' },
    base_imponible: 0.1,
    valido_hasta: null,
    observaciones: '',
    promo_code: '',
    proyectoId: null,
    lineas: [{ descripcion: 'Tornillo', importe_unitario: 0.05, iva: 10 }],
  });
});

test('[W-07] [W-08] [DLV-07] what an estimate may not be: 400 and nothing is written', async () => {
  const acme = await server.company(records, { cuenta });
  for (const [more, campo] of [
    [{ valido_hasta: '2026-03-09' }, 'valido_hasta'],
    [{ valido_hasta: '2026-02-30' }, 'valido_hasta'],
    [{ pedido: { obra: 'Obra', fecha: '2026-03-11' } }, 'pedido.fecha'],
    [{ pedido: { obra: 'Obra', fecha: '2026-02-28' } }, 'pedido.fecha'],
    [{ pedido: {} }, 'pedido.obra'],
    [{ detalles: [] }, 'detalles'],
    [{ detalles: [{ cantidad: 1 }] }, 'detalles[0].descripcion'],
    [{ detalles: [{ cantidad: 1e6, descripcion: 'Torre', importe_unitario: 1e6 }] }, 'detalles[0].importe_unitario'],
    [{ cliente: {} }, 'cliente.nombre_fiscal'],
  ] as const) {
    const { status, body: answer } = await acme.post('/estimates', body(more));
    expect([status, answer.data[0].campo], campo).toEqual([400, campo]);
  }
  expect((await acme.get('/estimates')).body.data.total_presupuestos).toBe(1);
  const last = await created(acme, body({ pedido: { obra: 'Obra', fecha: '2026-03-01' }, valido_hasta: '2026-03-01' }));
  expect(last).toMatchObject({ numero: 'P2026-0008', fecha: '2026-03-01', valido_hasta: '2026-03-01' });
  expect((await acme.post('/estimates', body({ cliente: { id: 999 } }))).status).toBe(404);
});

test('an estimate is answered, with any state after any other; the same one changes nothing', async () => {
  const acme = await server.company(records);
  const answer = (estado: string) => acme.put('/estimates/44/state', { estado });
  const stored = async () => {
    const [row] = await server.service.database.transaction(acme.id, {}, (db) =>
      db.selectFrom('estimates').select(['state', 'version']).where('account_id', '=', acme.id).execute(),
    );
    return row;
  };
  const { presupuestoId } = (await acme.get('/estimates/44')).body.data;
  for (const [estado, state, version] of [
    ['aceptado', 'accepted', 2],
    ['aceptado', 'accepted', 2],
    ['rechazado', 'rejected', 3],
    ['pendiente', 'pending', 4],
  ] as const) {
    const { status, body: answered } = await answer(estado);
    expect([status, answered.data]).toEqual([200, { presupuestoId, numero: 'P2026-0007', estado }]);
    expect(await stored()).toEqual({ state, version });
    expect((await acme.get('/estimates/44')).body.data).toMatchObject({ estado });
    expect((await acme.get('/estimates')).body.data.presupuestos).toMatchObject([{ estado }]);
  }
  for (const wrong of [{}, { estado: 'ganado' }]) {
    const refused = await acme.put('/estimates/44/state', wrong);
    expect([refused.status, campos(refused)]).toEqual([400, ['estado']]);
  }
});

test('[EST-01] a file is attached to an estimate and downloaded from it; 700,000 bytes at most', async () => {
  const acme = await server.company(records);
  const attach = (more: object = {}) =>
    acme.post('/estimates/44/attachments', {
      nombre: 'plano ático.pdf',
      tipo_mime: 'application/pdf',
      contenido: Buffer.alloc(700_000, 'ñ').toString('base64'),
      ...more,
    });
  const { status, body: answer } = await attach();
  expect([status, answer.errorMsg]).toEqual([200, '']);
  const { adjuntos } = (await acme.get('/estimates/44/attachments')).body.data;
  expect(adjuntos).toMatchObject([
    {
      adjuntoId: answer.data,
      nombre: 'plano ático.pdf',
      tipo_mime: 'application/pdf',
      tamano: 700_000,
      fecha_subida: '2026-03-10 10:00:00',
    },
  ]);
  const download = await fetch(adjuntos[0].url);
  expect(Buffer.from(await download.arrayBuffer()).equals(Buffer.alloc(700_000, 'ñ'))).toBe(true);
  for (const [more, campo] of [
    [{ contenido: Buffer.alloc(700_001).toString('base64') }, 'contenido'],
    [{ contenido: '' }, 'contenido'],
    [{ contenido: 'aG9' }, 'contenido'],
    [{ contenido: 'no es base64' }, 'contenido'],
    [{ nombre: ' ' }, 'nombre'],
    [{ tipo_mime: 'pdf' }, 'tipo_mime'],
    [{ tipo_mime: 'text/html\r\nx: y' }, 'tipo_mime'],
  ] as const) {
    const refused = await attach(more);
    expect([refused.status, campos(refused)]).toEqual([400, [campo]]);
  }
  expect((await acme.get('/estimates/44/attachments')).body.data.total_adjuntos).toBe(1);
});

test('[AUTH-04] [TEN-01] a read-only key writes none of it (403), no key nothing (401), another company’s is not there (404)', async () => {
  const calls = (id: number | string) =>
    [
      ['POST', '/estimates', body()],
      ['PUT', `/estimates/${id}/state`, { estado: 'aceptado' }],
      ['POST', `/estimates/${id}/attachments`, { nombre: 'a', tipo_mime: 'text/plain', contenido: 'YQ==' }],
      ['POST', `/estimates/${id}/convert`, { destino: 'albaran' }],
    ] as const;
  const readOnly = await server.company(records, { readOnly: true });
  const other = await server.company([]);
  const { presupuestoId } = (await readOnly.get('/estimates/44')).body.data;
  for (const [method, path, input] of calls(presupuestoId)) {
    const send = (company: Company) => (method === 'PUT' ? company.put(path, input) : company.post(path, input));
    expect((await send(readOnly)).status, path).toBe(403);
    const nobody = await server.request(`/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    expect(nobody.status, path).toBe(401);
    expect((await send(other)).status, path).toBe(404);
  }
});
