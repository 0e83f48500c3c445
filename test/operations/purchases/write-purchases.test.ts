import { afterAll, expect, test } from 'vitest';
import { ROLLUPS } from '../../../figures/figures.ts';
import { differences } from '../../../figures/rollups.ts';
import { ownDatabase, untilWaiting } from '../../helpers/own-database.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z'), quotaPerMinute: 1_000_000 });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'proveedores', ref: 'hilados', id: 1, nombre_fiscal: 'Hilados SA', cif: 'A-11', email: 'a@example.com' },
  { coleccion: 'proveedores', ref: 'cables', id: 2, nombre_fiscal: 'Cables SA', cif: 'A22' },
  {
    ...{ coleccion: 'articulos', ref: 'hilo', id: 10, descripcion: 'Hilo', coste: 0.5, iva: 10, stock: 3 },
    formatos: [
      { ref: 'bobina', id: 21, titulo: 'Bobina', factor: 100, defecto_venta: true, peso_variable: true },
      { ref: 'carrete', id: 22, titulo: 'Carrete', factor: 10, compra: false },
    ],
    variaciones: [{ ref: 'rojo', id: 31, descripcion: 'Rojo' }],
  },
  { coleccion: 'articulos', ref: 'grua', id: 11, descripcion: 'Grúa', modo: 'alquiler', coste: 900, stock: 2 },
  { coleccion: 'proyectos', ref: 'nave', id: 41, numero: '1', descripcion: 'Nave' },
  { coleccion: 'proyectos', ref: 'casa', id: 42, numero: '2', descripcion: 'Casa' },
];
const cuenta = { stock_multiformato: true };
const newCompany = () => server.company(records, { cuenta });
const MANUAL = { descripcion: 'Portes', cantidad: 1, importe_unitario: 20 };

const created = async (company: Company, path: string, body: object): Promise<string> => {
  const answer = await company.post(path, body);
  expect([answer.status, answer.body.errorMsg]).toEqual([200, '']);
  return answer.body.data;
};
const note = (company: Company, more: object = {}) =>
  created(company, '/purchase-delivery-notes', {
    proveedor: { id: 1 },
    detalles: [{ cantidad: 2, articulo_fk: 10 }],
    ...more,
  });
const bill = { proveedor: { id: 1 }, numero: 'F-1', fecha: '2026-03-09' };
const invoice = (company: Company, more: object) => created(company, '/purchase-invoices', { ...bill, ...more });
const problem = async (company: Company, path: string, body: object) => {
  const { status, body: told } = await company.post(path, body);
  return [status, told.data?.map?.(({ campo }: { campo: string }) => campo) ?? told.errorMsg];
};
const read = async (company: Company, path: string) => (await company.get(path)).body.data;
const stockOf = async (company: Company, id = 10) => (await read(company, `/products/${id}`)).articulo.stock;
const purchasesOf = async (company: Company) =>
  (await read(company, '/projects')).proyectos.map(
    ({ economico }: { economico: { compras: number } }) => economico.compras,
  );
/** Kept figures that are not those of the records. */
const wrongFigures = (company: Company) =>
  server.service.database.transaction(company.id, {}, async (db) =>
    (await Promise.all(ROLLUPS.map((figure) => differences(db, company.id, figure)))).flat(),
  );

test('[DLV-03] [DLV-04] [DLV-05] [DLV-08] goods come in with a note: by base units, by formats for purchase, by their weight', async () => {
  const acme = await newCompany();
  const id = await note(acme, {
    numero: 'AC-9',
    fecha: '2026-03-08',
    detalles: [
      { cantidad: 2, articulo_fk: 10 },
      { cantidad: 3, articulo_fk: 10, formatoId: 21, variacion_articulo_fk: 31 },
      { cantidad: 1, articulo_fk: 10, formatoId: 21, cantidad_base_real: 98.5, importe_unitario: 40, descuento: 10 },
      { cantidad: -1, articulo_fk: 10 },
      { cantidad: 1, articulo_fk: 11 },
      MANUAL,
    ],
  });
  const found = await read(acme, `/purchase-delivery-notes/${id}`);
  const sealed = expect.stringMatching(/^[\w-]{23}$/);
  expect(found).toMatchObject({
    ...{ tipo: 'albaran_compra', albaranCompraId: id, numero: 'AC-9', fecha: '2026-03-08', concepto: '' },
    contraparte: { proveedorId: sealed, nombre_fiscal: 'Hilados SA', cif: 'A-11', email: 'a@example.com' },
    ...{ base_imponible: 1106.5, proyectoId: null, facturado: false, anulado: false, num_lineas: 6 },
  });
  expect(found.lineas).toMatchObject([
    { descripcion: 'Hilo', cantidad: 2, importe_unitario: 0.5, iva: 10, importe: 1, formatoId: null },
    { importe_unitario: 50, importe: 150, formatoId: sealed, variacionId: sealed },
    { importe_unitario: 40, descuento: 10, importe: 36, cantidad_base_real: 98.5 },
    { importe: -0.5 },
    { importe_unitario: 900 },
    { iva: 21, importe: 20, articuloId: null },
  ]);
  expect([await stockOf(acme), await stockOf(acme, 11)]).toEqual([3 + 2 + 300 + 98.5 - 1, 2]);
  const { movimientos } = await read(acme, '/products/10/stock-movements?fecha_fin=2026-03-10');
  const documento = { tipo: 'albaran_compra', id, numero: 'AC-9' };
  expect(movimientos).toMatchObject(
    [-1, 98.5, 300, 2].map((cantidad) => ({ cantidad, fecha: '2026-03-10 10:00:00', motivo: '', documento })),
  );
  expect(await wrongFigures(acme)).toEqual([]);
  const { documentos } = await read(acme, '/purchase-delivery-notes');
  expect(documentos).toMatchObject([{ albaranCompraId: id, numero: 'AC-9', base_imponible: 1106.5, anulado: false }]);
});

test('[DLV-04] [DLV-05] [DLV-07] what does not fit is 400, and nothing is written', async () => {
  const acme = await newCompany();
  const wrong: [object, string][] = [
    [{ proveedor: undefined }, 'proveedor'],
    [{ proveedor: { cif: 'B99' } }, 'proveedor.nombre_fiscal'],
    [{ fecha: '2026-03-11' }, 'fecha'],
    [{ detalles: [] }, 'detalles'],
    [{ detalles: [{ cantidad: 1, articulo_fk: 10, formatoId: 22 }] }, 'detalles[0].formatoId'],
    [{ detalles: [{ cantidad: 1, articulo_fk: 11, formatoId: 21 }] }, 'detalles[0].formatoId'],
    [{ detalles: [{ cantidad: 1, articulo_fk: 10, cantidad_base_real: 3 }] }, 'detalles[0].cantidad_base_real'],
    [{ detalles: [{ cantidad: 1, descripcion: 'x' }] }, 'detalles[0].importe_unitario'],
    [{ detalles: [{ cantidad: 1e9, articulo_fk: 11 }] }, 'detalles[0].cantidad'],
  ];
  for (const [more, field] of wrong) {
    const body = { proveedor: { id: 1 }, detalles: [MANUAL], ...more };
    expect(await problem(acme, '/purchase-delivery-notes', body), JSON.stringify(more)).toEqual([400, [field]]);
  }
  expect((await read(acme, '/purchase-delivery-notes')).total_albaranes).toBe(0);
  expect(await stockOf(acme)).toBe(3);
});

test('[DLV-01] the supplier is the one named, the one of the tax id brought up to date, or a new one, created once', async () => {
  const acme = await newCompany();
  const party = async (proveedor: object) =>
    (await read(acme, `/purchase-delivery-notes/${await note(acme, { proveedor })}`)).contraparte;
  expect(await party({ id: 1, nombre_fiscal: 'Otro', cif: 3 })).toMatchObject({ nombre_fiscal: 'Hilados SA' });
  const known = await party({ cif: 'es a.11', nombre_fiscal: 'Hilados e Hijos SA', email: '', telefono: '910000000' });
  expect(known).toMatchObject({ nombre_fiscal: 'Hilados e Hijos SA', cif: 'A-11', email: 'a@example.com' });
  expect((await read(acme, `/suppliers/${known.proveedorId}`)).proveedor.telefono).toBe('910000000');
  expect((await read(acme, '/suppliers?busqueda=hijos')).total_proveedores).toBe(1);
  const nuevos = await Promise.all([1, 2, 3].map(() => party({ cif: 'B33', nombre_fiscal: 'Nuevo SL' })));
  expect(new Set(nuevos.map(({ proveedorId }) => proveedorId)).size).toBe(1);
  expect((await read(acme, '/suppliers')).total_proveedores).toBe(3);
  expect((await party({ nombre_fiscal: 'Sin CIF' })).nombre_fiscal).toBe('Sin CIF');
});

test('[PRJ-01] purchases count for their project once, an invoice of notes not again', async () => {
  const acme = await newCompany();
  const id = await note(acme, {
    proyectoId: 41,
    detalles: [MANUAL, { ...MANUAL, proyectoId: 42, importe_unitario: 5 }],
  });
  expect(await purchasesOf(acme)).toEqual([5, 20]);
  await invoice(acme, { albaranes: [id] });
  await invoice(acme, { numero: 'F-2', proyectoId: 42, detalles: [MANUAL] });
  expect(await purchasesOf(acme)).toEqual([25, 20]);
  expect(await wrongFigures(acme)).toEqual([]);
});

test('[W-05] [PIN-01] an invoice of notes carries their lines, and is read back whole; stock does not move', async () => {
  const acme = await newCompany();
  const notes = [await note(acme, { numero: 'AC-1' }), await note(acme, { numero: 'AC-2', detalles: [MANUAL] })];
  const stock = await stockOf(acme);
  const id = await invoice(acme, {
    albaranes: notes,
    subtipo: '600',
    vencimientos: [
      { fecha: '2026-04-09', importe: 5.3 },
      { fecha: '2026-05-09', importe: 20 },
    ],
  });
  const found = await read(acme, `/purchase-invoices/${id}`);
  const [one, two] = notes.map((albaran, index) => ({
    tipo: 'albaran_compra',
    id: albaran,
    numero: `AC-${index + 1}`,
  }));
  const sealed = expect.stringMatching(/^[\w-]{23}$/);
  expect(found).toMatchObject({
    ...{
      tipo: 'factura_compra',
      facturaCompraId: id,
      numero: 'F-1',
      fecha: '2026-03-09',
      concepto: '',
      subtipo: '600',
    },
    contraparte: { nombre_fiscal: 'Hilados SA' },
    ...{ base_imponible: 21, total_con_iva: 25.3, saldo: 25.3, pagada: false, anulado: false, num_lineas: 2 },
    vencimientos: [
      { vencimientoId: sealed, fecha: '2026-04-09', importe: 5.3, pendiente: 5.3 },
      { vencimientoId: sealed, fecha: '2026-05-09', importe: 20, pendiente: 20 },
    ],
    albaranes: [one, two],
    lineas: [
      { descripcion: 'Hilo', cantidad: 2, importe_unitario: 0.5, proviene_albaranes: 1 },
      { descripcion: 'Portes', proviene_albaranes: 1 },
    ],
  });
  expect(await stockOf(acme)).toBe(stock);
  expect((await read(acme, `/purchase-delivery-notes/${notes[0]}`)).facturado).toBe(true);
  const { vencimientos } = await read(acme, '/treasury/due-dates?tipo=pago');
  expect(vencimientos).toMatchObject([{ importe: 5.3, tercero: { nombre_fiscal: 'Hilados SA' } }, { importe: 20 }]);
  expect(await wrongFigures(acme)).toEqual([]);
});

test('of new lines: due that day, at the cost, and no stock moves', async () => {
  const acme = await newCompany();
  const id = await invoice(acme, { detalles: [{ cantidad: 1, articulo_fk: 10, formatoId: 21 }, MANUAL] });
  expect(await read(acme, `/purchase-invoices/${id}`)).toMatchObject({
    ...{ base_imponible: 70, total_con_iva: 79.2, saldo: 79.2, subtipo: '', albaranes: [] },
    vencimientos: [{ fecha: '2026-03-09', importe: 79.2 }],
    lineas: [{ importe_unitario: 50, proviene_albaranes: 0 }, {}],
  });
  expect(await stockOf(acme)).toBe(3);
  expect((await read(acme, '/products/10')).articulo.coste).toBe(0.5);
});

test('with actualizar_coste articles cost the net price of a base unit, by the last line of each', async () => {
  const acme = await newCompany();
  await invoice(acme, {
    actualizar_coste: true,
    detalles: [
      { cantidad: 1, articulo_fk: 10, importe_unitario: 9 },
      { cantidad: 2, articulo_fk: 10, formatoId: 21, importe_unitario: 80, descuento: 25 },
      { cantidad: -1, articulo_fk: 10, importe_unitario: 7 },
      { cantidad: 1, articulo_fk: 11, importe_unitario: 0 },
    ],
  });
  const costs = async () =>
    [10, 11].map((id) => read(acme, `/products/${id}`)).map(async (one) => (await one).articulo.coste);
  expect(await Promise.all(await costs())).toEqual([0.6, 900]);
  const real = { cantidad: 1, articulo_fk: 10, formatoId: 21, importe_unitario: 60, cantidad_base_real: 90 };
  await invoice(acme, { numero: 'F-2', actualizar_coste: true, albaranes: [await note(acme, { detalles: [real] })] });
  expect(await Promise.all(await costs())).toEqual([0.666667, 900]);
});

test('a supplier’s number is used once a year, also at the same time; another supplier or year has its own', async () => {
  const acme = await newCompany();
  const all = await Promise.all([1, 2, 3].map(() => acme.post('/purchase-invoices', { ...bill, detalles: [MANUAL] })));
  expect(all.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  const { body } = await acme.post('/purchase-invoices', { ...bill, fecha: '2026-01-01', detalles: [MANUAL] });
  expect(body.errorMsg).toContain('F-1');
  expect(body.data).toMatchObject([{ campo: 'numero' }]);
  await invoice(acme, { fecha: '2025-12-31', detalles: [MANUAL] });
  await invoice(acme, { proveedor: { id: 2 }, detalles: [MANUAL] });
  expect((await read(acme, '/purchase-invoices')).total_facturas).toBe(3);
});

test('[W-04] a note is on one invoice, of its supplier, also at the same time', async () => {
  const acme = await newCompany();
  const id = await note(acme);
  const both = await Promise.all(
    ['A', 'B', 'C'].map((numero) => acme.post('/purchase-invoices', { ...bill, numero, albaranes: [id] })),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  const free = await note(acme);
  const wrong: [object, string][] = [
    [{ albaranes: [id] }, 'albaranes[0]'],
    [{ albaranes: [free, free] }, 'albaranes[1]'],
    [{ albaranes: [free], proveedor: { id: 2 } }, 'albaranes[0]'],
    [{}, 'detalles'],
    [{ detalles: [MANUAL], vencimientos: [{ fecha: '2026-04-01', importe: 24 }] }, 'vencimientos'],
    [{ detalles: [MANUAL], fecha: '2026-03-11' }, 'fecha'],
    [{ detalles: [MANUAL], numero: ' ' }, 'numero'],
  ];
  for (const [more, field] of wrong) {
    const body = { ...bill, numero: 'N', ...more };
    expect(await problem(acme, '/purchase-invoices', body), JSON.stringify(more)).toEqual([400, [field]]);
  }
  const twice = await problem(acme, '/purchase-invoices', {
    ...bill,
    numero: 'N',
    detalles: [MANUAL],
    albaranes: [free],
  });
  expect(twice).toEqual([400, ['detalles', 'albaranes']]);
  expect((await read(acme, '/purchase-invoices')).total_facturas).toBe(1);
});

test('[W-02] an annulled note takes its goods back and counts nowhere; it is not annulled or invoiced again', async () => {
  const acme = await newCompany();
  const id = await note(acme, { numero: 'AC-1', proyectoId: 41 });
  expect([await stockOf(acme), await purchasesOf(acme)]).toEqual([5, [0, 1]]);
  const annul = (motivo = 'Duplicado') => acme.post(`/purchase-delivery-notes/${id}/annul`, { motivo });
  expect((await annul('x')).status).toBe(400);
  const both = await Promise.all([annul(), annul()]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  const done = both.find(({ status }) => status === 200);
  expect(done?.body.data).toEqual({ albaranCompraId: id, numero: 'AC-1', anulado: true });
  expect([await stockOf(acme), await purchasesOf(acme)]).toEqual([3, [0, 0]]);
  const { movimientos } = await read(acme, '/products/10/stock-movements?fecha_fin=2026-03-10');
  const documento = { tipo: 'albaran_compra', id, numero: 'AC-1' };
  expect(movimientos).toMatchObject([
    { cantidad: -2, documento },
    { cantidad: 2, documento },
  ]);
  expect(await read(acme, `/purchase-delivery-notes/${id}`)).toMatchObject({
    numero: 'AC-1',
    anulado: true,
    motivo_anulacion: 'Duplicado',
    num_lineas: 1,
  });
  expect((await read(acme, '/purchase-delivery-notes')).documentos).toMatchObject([{ numero: 'AC-1', anulado: true }]);
  expect(await problem(acme, '/purchase-invoices', { ...bill, albaranes: [id] })).toEqual([400, ['albaranes[0]']]);
  expect(await wrongFigures(acme)).toEqual([]);
  const { rows } = await server.service.database.pool.query(
    'select annulled_by, annulment_reason from purchase_delivery_notes where account_id = $1',
    [acme.id],
  );
  expect(rows).toEqual([{ annulled_by: expect.stringContaining('key:'), annulment_reason: 'Duplicado' }]);
});

test('[W-02] [W-04] of an annulment and an invoice of a note at the same time one wins', async () => {
  const acme = await newCompany();
  const notes = await Promise.all(Array.from({ length: 8 }, () => note(acme)));
  const pairs = notes.map((id, index) =>
    Promise.all([
      acme.post(`/purchase-delivery-notes/${id}/annul`, { motivo: 'Duplicado' }),
      acme.post('/purchase-invoices', { ...bill, numero: `N-${index}`, albaranes: [id] }),
    ]),
  );
  for (const pair of await Promise.all(pairs)) expect(pair.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect(await wrongFigures(acme)).toEqual([]);
});

test('[W-04] an invoice waits for the annulment of its note, and then has none', async () => {
  await using own = await ownDatabase();
  await using one = await startServer({ database: { url: own.url }, clock: new TestClock('2026-03-10T09:00:00Z') });
  const acme = await one.company(records);
  const id = await note(acme);
  const [annulled, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const annulment = one.service.database.transaction(acme.id, { write: true }, async (db) => {
    await db
      .updateTable('purchase_delivery_notes')
      .set({ annulled_at: '2026-03-10T09:00:00Z' })
      .where('account_id', '=', acme.id)
      .execute();
    annulled.resolve();
    await mayEnd.promise;
  });
  await annulled.promise;
  const invoiced = acme.post('/purchase-invoices', { ...bill, albaranes: [id] });
  await untilWaiting(own.admin);
  mayEnd.resolve();
  await annulment;
  expect((await invoiced).body.data).toMatchObject([{ campo: 'albaranes[0]', mensaje: 'está anulado' }]);
});

test('[W-02] an annulled invoice counts nowhere; its notes and its number are free again', async () => {
  const acme = await newCompany();
  const noteId = await note(acme, { proyectoId: 41 });
  const id = await invoice(acme, { albaranes: [noteId] });
  const other = await invoice(acme, { numero: 'F-2', proyectoId: 42, detalles: [MANUAL] });
  expect(await problem(acme, `/purchase-delivery-notes/${noteId}/annul`, { motivo: 'Duplicado' })).toEqual([
    400,
    ['albaranCompraId'],
  ]);
  expect(await purchasesOf(acme)).toEqual([20, 1]);
  const annul = (facturaCompraId: string) =>
    acme.post(`/purchase-invoices/${facturaCompraId}/annul`, { motivo: 'Duplicada' });
  expect((await annul(id)).body.data).toEqual({ facturaCompraId: id, numero: 'F-1', anulado: true });
  expect((await annul(id)).status).toBe(400);
  expect((await annul(other)).status).toBe(200);
  // The note counts, which was on the first.
  expect(await purchasesOf(acme)).toEqual([0, 1]);
  expect(await read(acme, `/purchase-invoices/${id}`)).toMatchObject({
    ...{ numero: 'F-1', anulado: true, motivo_anulacion: 'Duplicada', saldo: 0, pagada: false, total_con_iva: 1.1 },
    vencimientos: [{ importe: 1.1, pendiente: 0 }],
  });
  const march = 'fecha_inicio=2026-03-01&fecha_fin=2026-03-31';
  expect(await read(acme, `/reports/purchases?${march}`)).toMatchObject({ total_compras: 0, num_documentos: 0 });
  expect((await read(acme, '/treasury/due-dates')).total_vencimientos).toBe(0);
  const { periodos } = await read(acme, `/treasury/forecast?${march}&agrupar=mes`);
  expect(periodos).toMatchObject([{ pagos: 0 }]);
  const lists = ['', '?pagada=false', '?pagada=true'].map((query) => read(acme, `/purchase-invoices${query}`));
  const [all, pending, paid] = await Promise.all(lists);
  expect(all.facturas).toMatchObject([{ anulado: true, saldo: 0, pagada: false }, { anulado: true }]);
  expect([pending.total_facturas, paid.total_facturas]).toEqual([0, 0]);
  expect((await read(acme, `/purchase-delivery-notes/${noteId}`)).facturado).toBe(false);
  await invoice(acme, { albaranes: [noteId] });
  expect(await wrongFigures(acme)).toEqual([]);
});

test('[W-02] one of which something was paid is not annulled', async () => {
  const acme = await newCompany();
  await acme.load([
    {
      ...{
        coleccion: 'facturas_compra',
        ref: 'f',
        id: 51,
        numero: 'P-1',
        fecha: '2026-03-01',
        proveedor: 'hilados',
        pagado: 1,
      },
      lineas: [MANUAL],
    },
  ]);
  expect(await problem(acme, '/purchase-invoices/51/annul', { motivo: 'Duplicada' })).toEqual([
    400,
    ['facturaCompraId'],
  ]);
});

test('[AUTH-04] [TEN-01] only with a key that may write; what is another company’s is as none', async () => {
  const acme = await newCompany();
  const other = await server.company();
  const id = await note(acme);
  const invoiceId = await invoice(acme, { detalles: [MANUAL] });
  const json = { 'content-type': 'application/json' };
  const reader = { ...json, ...(await acme.newKey(true)) };
  const writes: [string, object][] = [
    ['/purchase-delivery-notes', { proveedor: { id: 1 }, detalles: [MANUAL] }],
    ['/purchase-invoices', { ...bill, numero: 'Z', detalles: [MANUAL] }],
    [`/purchase-delivery-notes/${id}/annul`, { motivo: 'Duplicado' }],
    [`/purchase-invoices/${invoiceId}/annul`, { motivo: 'Duplicado' }],
  ];
  for (const [path, body] of writes) {
    const init = { method: 'POST', body: JSON.stringify(body) };
    expect((await server.request(`/api/v1${path}`, { ...init, headers: json })).status).toBe(401);
    expect((await server.request(`/api/v1${path}`, { ...init, headers: reader })).status).toBe(403);
    expect((await other.post(path, body)).status, path).toBe(404);
  }
  for (const path of [`/purchase-delivery-notes/${id}`, `/purchase-invoices/${invoiceId}`]) {
    expect((await server.request(`/api/v1${path}`, { headers: reader })).status).toBe(200);
    expect((await server.request(`/api/v1${path}`)).status).toBe(401);
    expect((await other.get(path)).status).toBe(404);
  }
  const mine = { proveedor: { nombre_fiscal: 'Mío' }, numero: 'M', fecha: '2026-03-09' };
  expect((await other.post('/purchase-invoices', { ...mine, albaranes: [id] })).status).toBe(404);
  expect((await other.post('/purchase-invoices', { ...mine, proyectoId: 41, detalles: [MANUAL] })).status).toBe(404);
});
