// Recurring services: listed, read, changed, and their renewals settled by hand.
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T10:00:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const client: FileRecord = { coleccion: 'clientes', ref: 'cli', id: 1, nombre_fiscal: 'Bar Nilo, S.L.' };
const records: FileRecord[] = [
  client,
  { coleccion: 'clientes', ref: 'luz', id: 2, nombre_fiscal: 'Luz y Calor', nombre_comercial: 'Camión' },
  {
    coleccion: 'articulos',
    ref: 'filtro',
    id: 7,
    descripcion: 'Filtro',
    stock: 50,
    precios: [{ tarifa: 1, precio: 8 }],
  },
];
const recurring = (ref: string, more: object = {}): FileRecord => ({
  coleccion: 'recurrentes',
  ref,
  descripcion: ref,
  cliente: 'cli',
  periodicidad: 'mensual',
  fecha_creacion: '2026-02-15',
  lineas: [{ descripcion: 'Cuota', cantidad: 2, importe_unitario: 10.05 }],
  ...more,
});

const read = async (company: Company, id: string | number) =>
  (await company.get(`/recurring-invoices/${id}`)).body.data?.recurrente;
const update = (company: Company, id: string | number, datos: object) =>
  company.put(`/recurring-invoices/${id}`, { datos });
const renew = (company: Company, id: string | number, how: object, headers?: Record<string, string>) =>
  company.post(`/recurring-invoices/${id}/renew`, how, headers);
const notes = async (company: Company) => (await company.get('/delivery-notes')).body.data;

test('[REN-02] [ISS-01] [PAG-02] the list tells what is due and when the next renewal is', async () => {
  const acme = await server.company([
    ...records,
    recurring('Mantenimiento'),
    recurring('Revisión de cámaras', { cliente: 'luz', periodicidad: 'anual', fecha_inicio: '2027-01-31' }),
    recurring('Caducado', { fecha_caducidad: '2026-03-20' }),
    recurring('Verano', { meses_activos: [7], ultima_facturacion: '2025-07-15' }),
  ]);
  const list = async (query: object = {}) =>
    (await acme.get('/recurring-invoices', { ...query })).body.data.recurrentes.map(
      (one: { descripcion: string }) => one.descripcion,
    );
  const { status, body } = await acme.get('/recurring-invoices');
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ total_recurrentes: 4, pagina: 1, por_pagina: 100, num_paginas: 1 });
  const shown = ({ descripcion, pendientes, proxima_renovacion }: Record<string, unknown>) => [
    descripcion,
    pendientes,
    proxima_renovacion,
  ];
  expect(body.data.recurrentes.map(shown)).toEqual([
    ['Caducado', 2, null],
    ['Mantenimiento', 3, '2026-05-15'],
    ['Revisión de cámaras', 0, '2027-01-31'],
    ['Verano', 0, '2026-07-15'],
  ]);
  expect(body.data.recurrentes[2]).toEqual({
    recurrenteId: expect.stringMatching(/^[\w-]{23}$/),
    descripcion: 'Revisión de cámaras',
    cliente: { clienteId: expect.any(String), nombre_fiscal: 'Luz y Calor' },
    ...{ periodicidad: 'anual', periodicidad_dias: 365, importe_por_renovacion: 20.1 },
    ...{ fecha_inicio: '2027-01-31', fecha_caducidad: null, proxima_renovacion: '2027-01-31', pendientes: 0 },
  });
  expect(await list({ busqueda: 'CAMARAS' })).toEqual(['Revisión de cámaras']);
  expect(await list({ busqueda: 'camion' })).toEqual(['Revisión de cámaras']);
  expect(await list({ busqueda: '%' })).toEqual([]);
  expect(await list({ clienteId: 2 })).toEqual(['Revisión de cámaras']);
  expect(await list({ vigentes: true })).toEqual(['Mantenimiento', 'Revisión de cámaras', 'Verano']);
  expect(await list({ vigentes: false })).toEqual(['Caducado']);
  expect(await list({ pagina: 2, por_pagina: 3 })).toEqual(['Verano']);
  expect((await acme.get('/recurring-invoices', { vigentes: 'sí' })).status).toBe(400);
});

test('[W-05] [TEN-01] one is read with its lines; that of another company is 404', async () => {
  const acme = await server.company([
    ...records,
    recurring('Calderas', {
      id: 3,
      ...{ meses_activos: [1, 4], dia_ancla: 31, ultima_facturacion: '2026-04-30' },
      lineas: [
        { descripcion: 'Cuota', cantidad: 2, importe_unitario: 10.05, descuento: 10, descripcion_ampliada: 'Todo' },
        { descripcion: 'Filtro', cantidad: 1, importe_unitario: 8, iva: 10, articulo: 'filtro' },
      ],
    }),
  ]);
  expect(await read(acme, 3)).toMatchObject({
    ...{ descripcion: 'Calderas', periodicidad: 'mensual', importe_por_renovacion: 26.09 },
    ...{ meses_activos: [1, 4], dia_ancla: 31, ultima_facturacion: '2026-04-30', fecha_creacion: '2026-02-15' },
    ...{ proxima_renovacion: '2027-01-31', pendientes: 0 },
    lineas: [
      { descripcion: 'Cuota', descuento: 10, importe: 18.09, articuloId: null, descripcion_ampliada: 'Todo' },
      { descripcion: 'Filtro', iva: 10, articuloId: expect.any(String) },
    ],
  });
  const other = await server.company(records);
  for (const { status, body } of [
    await other.get('/recurring-invoices/3'),
    await update(other, 3, { descripcion: 'x' }),
    await renew(other, 3, { accion: 'saltar' }),
  ]) {
    expect([status, body.data]).toEqual([404, null]);
  }
});

test('[W-01] [REN-02] an update changes what is sent and nothing else, and answers the service as it is read', async () => {
  const acme = await server.company([...records, recurring('Calderas', { id: 3 })]);
  let now = await read(acme, 3);
  const changes = [
    [{ descripcion: 'Gas' }, { descripcion: 'Gas' }],
    [{ periodicidad: 'trimestral' }, { periodicidad: 'trimestral', periodicidad_dias: 90, pendientes: 1 }],
    [{ fecha_inicio: '2026-05-01' }, { fecha_inicio: '2026-05-01', proxima_renovacion: '2026-08-01' }],
    [{ dia_ancla: 31 }, { dia_ancla: 31, pendientes: 0, proxima_renovacion: '2026-05-31' }],
    [{ meses_activos: [8] }, { meses_activos: [8], proxima_renovacion: '2026-08-31' }],
    [{ fecha_caducidad: '2026-08-30' }, { fecha_caducidad: '2026-08-30', proxima_renovacion: null }],
    [
      { fecha_caducidad: '', meses_activos: [], dia_ancla: '' },
      { fecha_caducidad: null, meses_activos: null, dia_ancla: null, pendientes: 1, proxima_renovacion: '2026-08-01' },
    ],
  ] as const;
  for (const [sent, shown] of changes) {
    now = { ...now, ...shown };
    const { status, body } = await update(acme, 3, sent);
    expect([status, body.data?.recurrente], JSON.stringify(sent)).toEqual([
      200,
      {
        ...now,
        ...{ pendientes: expect.any(Number) },
        ...shown,
        proxima_renovacion: body.data.recurrente.proxima_renovacion,
      },
    ]);
    if ('proxima_renovacion' in shown) expect(body.data.recurrente.proxima_renovacion).toBe(shown.proxima_renovacion);
    expect(await read(acme, 3)).toEqual(body.data.recurrente);
  }
});

test('[W-01] [DLV-08] new lines replace those there are; the next renewal has them', async () => {
  const acme = await server.company([...records, recurring('Calderas', { id: 3 })]);
  const detalles = [
    { articulo_fk: 7, cantidad: 3, descuento: 50 },
    { cantidad: 1, descripcion: 'Visita', importe_unitario: 20, iva: 10 },
  ];
  const { body } = await update(acme, 3, { detalles });
  expect(body.data.recurrente).toMatchObject({
    importe_por_renovacion: 32,
    lineas: [
      { descripcion: 'Filtro', cantidad: 3, importe_unitario: 8, descuento: 50, importe: 12 },
      { descripcion: 'Visita', importe: 20, iva: 10 },
    ],
  });
  const { data } = (await renew(acme, 3, { accion: 'emitir' })).body;
  expect((await acme.get(`/delivery-notes/${data.albaranId}`)).body.data).toMatchObject({
    base_imponible: 32,
    num_lineas: 2,
    fecha: '2026-05-10',
  });
  expect((await acme.get('/products/7')).body.data.articulo.stock).toBe(47);
});

test('[W-01] what does not fit is 400, names the field, and changes nothing', async () => {
  const acme = await server.company([...records, recurring('Calderas', { id: 3, fecha_caducidad: '2026-12-31' })]);
  const before = await read(acme, 3);
  const line = { cantidad: 1, descripcion: 'x', importe_unitario: 1 };
  const wrong = [
    [{}, 'datos'],
    [{ descripcion: '' }, 'datos.descripcion'],
    [{ periodicidad: 'diaria' }, 'datos.periodicidad'],
    [{ fecha_inicio: '2027-01-01' }, 'datos.fecha_caducidad'],
    [{ fecha_inicio: '2026-02-30' }, 'datos.fecha_inicio'],
    [{ meses_activos: [13] }, 'datos.meses_activos[0]'],
    [{ meses_activos: [1, 1] }, 'datos.meses_activos'],
    [{ dia_ancla: 32 }, 'datos.dia_ancla'],
    [{ detalles: [] }, 'datos.detalles'],
    [{ detalles: [{ cantidad: 0, descripcion: 'x', importe_unitario: 1 }] }, 'datos.detalles[0].cantidad'],
    [{ detalles: [{ ...line, importe_unitario: 1e9, cantidad: 2 }] }, 'datos.detalles[0].importe_unitario'],
  ] as const;
  for (const [datos, campo] of wrong) {
    const { status, body } = await update(acme, 3, datos);
    expect([status, body.data?.[0]?.campo], JSON.stringify(datos)).toEqual([400, campo]);
  }
  expect((await update(acme, 3, { detalles: [{ cantidad: 1, articulo_fk: 99 }] })).status).toBe(404);
  expect(await read(acme, 3)).toEqual(before);
});

test('[REC-01] [REN-02] a new one may say its own schedule and discounts', async () => {
  const acme = await server.company(records);
  const create = (pedido: object) =>
    acme.post('/recurring-invoices', {
      cliente: { id: 1 },
      pedido: { obra: 'Piscina', ...pedido },
      detalles: [{ cantidad: 1, descripcion: 'Cuota', importe_unitario: 40, descuento: 25 }],
    });
  const { body } = await create({
    ...{ periodicidad: 'quincenal', fecha_inicio: '2026-06-01', fecha_caducidad: '2026-09-30', meses_activos: [7] },
    dia_ancla: 5,
  });
  expect(await read(acme, body.data)).toMatchObject({
    ...{ periodicidad: 'quincenal', fecha_inicio: '2026-06-01', fecha_caducidad: '2026-09-30', meses_activos: [7] },
    ...{ dia_ancla: 5, importe_por_renovacion: 30, pendientes: 0, proxima_renovacion: '2026-07-13' },
  });
  const plain = await create({});
  expect(await read(acme, plain.body.data)).toMatchObject({
    ...{ periodicidad: 'anual', fecha_inicio: null, meses_activos: null, dia_ancla: null, pendientes: 1 },
  });
  const wrong = await create({ fecha_inicio: '2026-06-02', fecha_caducidad: '2026-06-01' });
  expect([wrong.status, wrong.body.data[0].campo]).toEqual([400, 'pedido.fecha_caducidad']);
});

test('[ISS-01] [REN-04] renewals are issued or skipped one by one; a later one leaves the earlier ones due', async () => {
  const acme = await server.company([...records, recurring('Calderas', { id: 3 })]);
  expect(await read(acme, 3)).toMatchObject({ pendientes: 3, proxima_renovacion: '2026-05-15' });
  const late = await renew(acme, 3, { accion: 'emitir', ciclo: '2026-04-15' });
  expect([late.status, late.body.data]).toEqual([200, { ciclo: '2026-04-15', albaranId: expect.any(String) }]);
  expect((await acme.get(`/delivery-notes/${late.body.data.albaranId}`)).body.data).toMatchObject({
    ...{ numero: 'A2026-0001', fecha: '2026-05-10', concepto: 'Calderas', base_imponible: 20.1 },
  });
  expect(await read(acme, 3)).toMatchObject({ pendientes: 2, ultima_facturacion: '2026-04-15' });
  expect((await renew(acme, 3, { accion: 'saltar', ciclo: '2026-03-15' })).body.data).toEqual({
    ...{ ciclo: '2026-03-15', albaranId: null },
  });
  expect((await renew(acme, 3, { accion: 'emitir' })).body.data).toEqual({
    ...{ ciclo: '2026-02-15', albaranId: expect.any(String) },
  });
  expect(await read(acme, 3)).toMatchObject({ pendientes: 0, ultima_facturacion: '2026-04-15' });
  for (const how of [
    { accion: 'emitir' },
    { accion: 'saltar' },
    ...['2026-02-15', '2026-03-15', '2026-04-15', '2026-05-15', '2026-04-16'].map((ciclo) => ({
      accion: 'emitir',
      ciclo,
    })),
  ]) {
    const { status, body } = await renew(acme, 3, how);
    expect([status, body.data[0].campo], JSON.stringify(how)).toEqual([400, 'ciclo']);
  }
  for (const [how, campo] of [
    [{}, 'accion'],
    [{ accion: 'borrar' }, 'accion'],
    [{ accion: 'emitir', ciclo: 'hoy' }, 'ciclo'],
  ] as const) {
    expect((await renew(acme, 3, how)).body.data[0].campo).toBe(campo);
  }
  expect((await notes(acme)).total_albaranes).toBe(2);
});

test('[W-02] the renewal of an annulled note counts as skipped, and is issued again where it is named', async () => {
  const acme = await server.company([...records, recurring('Calderas', { id: 3 })]);
  const first = await renew(acme, 3, { accion: 'emitir' });
  expect(await read(acme, 3)).toMatchObject({ pendientes: 2 });
  await acme.post(`/delivery-notes/${first.body.data.albaranId}/annul`, { motivo: 'Emitido por error' });
  expect(await read(acme, 3)).toMatchObject({ pendientes: 2 });
  expect((await renew(acme, 3, { accion: 'saltar', ciclo: '2026-02-15' })).status).toBe(400);
  const again = await renew(acme, 3, { accion: 'emitir', ciclo: '2026-02-15' });
  expect(again.body.data).toEqual({ ciclo: '2026-02-15', albaranId: expect.any(String) });
  expect(again.body.data.albaranId).not.toBe(first.body.data.albaranId);
  expect((await renew(acme, 3, { accion: 'emitir', ciclo: '2026-02-15' })).status).toBe(400);
  expect(await read(acme, 3)).toMatchObject({ pendientes: 2 });
});

test('[ISS-03] a renewal of nothing may be issued on purpose', async () => {
  const acme = await server.company([
    ...records,
    recurring('Cortesía', { id: 3, lineas: [{ descripcion: 'Nada', cantidad: 1, importe_unitario: 0 }] }),
  ]);
  expect((await renew(acme, 3, { accion: 'emitir' })).status).toBe(200);
});

test('[W-04] [IDEM-01] calls at once issue each renewal once', async () => {
  const acme = await server.company([...records, recurring('Calderas', { id: 3 })]);
  const answers = await Promise.all(Array.from({ length: 8 }, () => renew(acme, 3, { accion: 'emitir' })));
  expect(
    answers
      .filter(({ status }) => status === 200)
      .map(({ body }) => body.data.ciclo)
      .toSorted(),
  ).toEqual(['2026-02-15', '2026-03-15', '2026-04-15']);
  expect((await notes(acme)).total_albaranes).toBe(3);
  await acme.load([recurring('Gas', { id: 4 })]);
  const key = { 'x-idempotency-key': 'una' };
  const [first, again] = [
    await renew(acme, 4, { accion: 'emitir' }, key),
    await renew(acme, 4, { accion: 'emitir' }, key),
  ];
  expect(again.body).toEqual(first.body);
  expect(await read(acme, 4)).toMatchObject({ pendientes: 2 });
});

test('[ENV-03] without a key 401; with one that may only read 403', async () => {
  const reader = await server.company([...records, recurring('Calderas', { id: 3 })], { readOnly: true });
  expect((await update(reader, 3, { descripcion: 'x' })).status).toBe(403);
  expect((await renew(reader, 3, { accion: 'saltar' })).status).toBe(403);
  expect((await reader.get('/recurring-invoices/3')).status).toBe(200);
  expect((await fetch(new URL('/api/v1/recurring-invoices', server.url))).status).toBe(401);
});
