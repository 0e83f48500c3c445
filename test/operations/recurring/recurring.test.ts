import { scheduler } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, expect, test, vi } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T10:00:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const recurring = (ref: string, periodicidad: string, more: object = {}): FileRecord => ({
  coleccion: 'recurrentes',
  ref,
  descripcion: ref,
  cliente: 'cli',
  periodicidad,
  fecha_creacion: '2026-01-15',
  lineas: [
    { descripcion: 'Cuota', cantidad: 2, importe_unitario: 10.05 },
    { descripcion: 'Alta', cantidad: 1, importe_unitario: 3 },
  ],
  ...more,
});
const client: FileRecord = { coleccion: 'clientes', ref: 'cli', id: 1, nombre_fiscal: 'Cliente SL', cif: 'B1' };
const renewals = '/recurring/renewals';

test('[REN-01] [REN-04] forecast against issued, in rows, by periodicity and in all', async () => {
  const acme = await server.company([
    client,
    recurring('Mantenimiento', 'mensual', { ultima_facturacion: '2026-03-31' }),
    recurring('Revisión', 'anual', { fecha_inicio: '2025-06-01' }),
    recurring('Caducado', 'mensual', { fecha_caducidad: '2026-01-31' }),
    {
      coleccion: 'albaranes',
      ref: 'n1',
      fecha: '2026-04-30',
      cliente: 'cli',
      recurrente: 'Mantenimiento',
      lineas: [
        { descripcion: 'Cuota', cantidad: 1, importe_unitario: 20 },
        { descripcion: 'Más', cantidad: 1, importe_unitario: 2.5 },
      ],
    },
    {
      coleccion: 'albaranes',
      ref: 'n2',
      fecha: '2026-05-01',
      cliente: 'cli',
      recurrente: 'Caducado',
      lineas: [{ descripcion: 'Tarde', cantidad: 1, importe_unitario: 9 }],
    },
    {
      coleccion: 'albaranes',
      ref: 'n3',
      fecha: '2026-07-01',
      cliente: 'cli',
      recurrente: 'Mantenimiento',
      lineas: [{ descripcion: 'Fuera', cantidad: 1, importe_unitario: 9 }],
    },
  ]);
  const { status, body } = await acme.get(renewals, { fecha_inicio: '2026-04-01', fecha_fin: '2026-06-30' });
  expect(status).toBe(200);
  expect(body.data).toEqual({
    fecha_inicio: '2026-04-01',
    fecha_fin: '2026-06-30',
    renovaciones_previstas: { num: 4, importe_total: 92.4 },
    renovaciones_generadas: { num: 2, importe_total: 31.5 },
    por_periodicidad: {
      mensual: { periodicidad_dias: 30, previstas_num: 3, previstas_importe: 69.3 },
      anual: { periodicidad_dias: 365, previstas_num: 1, previstas_importe: 23.1 },
    },
    total_recurrentes: 3,
    pagina: 1,
    por_pagina: 10_000,
    num_paginas: 1,
    cursor: null,
    recurrentes: [
      expect.objectContaining({
        descripcion: 'Caducado',
        renovaciones_previstas: { num: 0, fechas: [], importe_total: 0 },
        renovaciones_generadas: { num: 1, importe_total: 9 },
      }),
      {
        recurrenteId: expect.any(String),
        descripcion: 'Mantenimiento',
        periodicidad: 'mensual',
        periodicidad_dias: 30,
        importe_por_renovacion: 23.1,
        cliente: { clienteId: expect.any(String), nombre_fiscal: 'Cliente SL' },
        renovaciones_previstas: { num: 3, fechas: ['2026-04-30', '2026-05-31', '2026-06-30'], importe_total: 69.3 },
        renovaciones_generadas: { num: 1, importe_total: 22.5 },
      },
      expect.objectContaining({
        descripcion: 'Revisión',
        periodicidad_dias: 365,
        renovaciones_previstas: { num: 1, fechas: ['2026-06-01'], importe_total: 23.1 },
      }),
    ],
  });
});

test('[REN-04] a recurring without either does not appear', async () => {
  const acme = await server.company([client, recurring('Futuro', 'mensual', { fecha_inicio: '2027-01-01' })]);
  const { body } = await acme.get(renewals, { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' });
  expect(body.data).toMatchObject({
    recurrentes: [],
    por_periodicidad: {},
    renovaciones_previstas: { num: 0, importe_total: 0 },
  });
});

test('[PAG-01] [PAG-02] pages of recurring services that renew, with the totals of all', async () => {
  const acme = await server.company([
    client,
    ...['A', 'B', 'C', 'D', 'E'].map((ref) => recurring(ref, 'mensual')),
    recurring('Aún no', 'mensual', { fecha_inicio: '2027-01-01' }),
  ]);
  const range = { fecha_inicio: '2026-04-01', fecha_fin: '2026-06-30' };
  const {
    recurrentes,
    pagina: _,
    por_pagina: __,
    num_paginas: ___,
    cursor: ____,
    ...whole
  } = (await acme.get(renewals, range)).body.data;
  expect(whole).toMatchObject({ total_recurrentes: 5, renovaciones_previstas: { num: 15 } });
  const pages = [];
  for (const pagina of [1, 2, 3]) {
    const { body } = await acme.get(renewals, { ...range, por_pagina: 3, pagina });
    const { recurrentes: rows, ...counters } = body.data;
    const cursor = pagina === 1 ? expect.any(String) : null;
    expect(counters).toEqual({ ...whole, pagina, por_pagina: 3, num_paginas: 2, cursor });
    pages.push(rows);
  }
  expect(pages).toEqual([recurrentes.slice(0, 3), recurrentes.slice(3), []]);
});

/** A company with this many weekly services from 2026 on. */
async function withServices(count: number) {
  const acme = await server.company([client]);
  await server.service.database.transaction(acme.id, { write: true }, (db) =>
    sql`insert into recurrings (account_id, description, client_id, periodicity, created_on)
      select ${acme.id}, n, c.id, 'weekly', '2026-01-01'
      from clients c, generate_series(1, ${count}::int) n where c.account_id = ${acme.id} returning id`.execute(db),
  );
  return acme;
}

test('[FAIR-03] renewals that would be over 8 MB are refused with what to ask less of; their pages are not', async () => {
  const acme = await withServices(2600);
  const range = { fecha_inicio: '2026-01-01', fecha_fin: '2030-12-31' };
  const refused = await acme.get(renewals, range);
  expect([refused.status, refused.body.data]).toEqual([
    400,
    [
      { campo: 'por_pagina', mensaje: 'pide páginas más pequeñas' },
      { campo: 'fecha_fin', mensaje: 'pide menos días' },
    ],
  ]);
  const { body } = await acme.get(renewals, { ...range, por_pagina: 100, pagina: 26 });
  const { recurrentes, ...counters } = body.data;
  expect(counters).toMatchObject({
    total_recurrentes: 2600,
    num_paginas: 26,
    renovaciones_previstas: { num: 2600 * 261 },
  });
  expect(recurrentes).toHaveLength(100);
});

test('[FAIR-02] renewals and forecast compute in slices, between which the event loop turns', async () => {
  const acme = await withServices(300);
  const range = { fecha_inicio: '2026-05-10', fecha_fin: '2027-05-10' };
  // A clock by which each service takes a millisecond on any machine.
  let now = 0;
  const time = vi.spyOn(performance, 'now').mockImplementation(() => now++);
  const turned = vi.spyOn(scheduler, 'yield');
  try {
    for (const path of [renewals, '/treasury/forecast']) {
      turned.mockClear();
      expect((await acme.get(path, range)).status).toBe(200);
      expect(turned.mock.calls.length, path).toBeGreaterThan(30);
    }
  } finally {
    time.mockRestore();
    turned.mockRestore();
  }
});

test('[FAIR-02] [REN-02] what an ancient service owes is reckoned, not gone through: the forecast has all of it', async () => {
  const lineas = [{ descripcion: 'Cuota', cantidad: 1, importe_unitario: 10, iva: 0 }];
  const acme = await server.company([
    client,
    recurring('Semanal', 'semanal', { fecha_inicio: '0001-01-01', lineas }),
    recurring('De verano', 'quincenal', { fecha_inicio: '1000-01-01', meses_activos: [7, 8], lineas }),
    recurring('Fin de mes', 'mensual', { fecha_inicio: '1999-12-31', meses_activos: [2, 5], lineas }),
  ]);
  const { body } = await acme.get('/treasury/forecast', { fecha_inicio: '2026-05-01', fecha_fin: '2026-07-31' });
  const every = (from: string, days: number, to: string, month?: number[]) => {
    let count = 0;
    for (let at = Temporal.PlainDate.from(from); at.toString() <= to; at = at.add({ days })) {
      if (!month || month.includes(at.month)) count++;
    }
    return count;
  };
  const summer = (to: string) => every('1000-01-01', 14, to, [7, 8]);
  // Today is the 10th of May: overdue cycles count in their month.
  const due = (to: string) => every('0001-01-01', 7, to) + summer(to);
  expect(body.data.periodos.map(({ recurrentes }: { recurrentes: number }) => recurrentes / 10)).toEqual([
    due('2026-05-31') + 27 * 2, // The ends of 27 Februaries and 27 Mays, from 2000 to 2026.
    due('2026-06-30') - due('2026-05-31'),
    due('2026-07-31') - due('2026-06-30'),
  ]);
});

test('[REN-05] dates absent, malformed or reversed, and ranges over five years', async () => {
  const acme = await server.company();
  expect((await acme.get(renewals)).body.data).toMatchObject([{ campo: 'fecha_inicio' }, { campo: 'fecha_fin' }]);
  expect((await acme.get(renewals, { fecha_inicio: '2026-02-30', fecha_fin: '2026-03-01' })).body.data).toMatchObject([
    { campo: 'fecha_inicio' },
  ]);
  expect((await acme.get(renewals, { fecha_inicio: '2026-03-02', fecha_fin: '2026-03-01' })).status).toBe(400);
  expect((await acme.get(renewals, { fecha_inicio: '2024-02-29', fecha_fin: '2029-02-28' })).status).toBe(200);
  expect((await acme.get(renewals, { fecha_inicio: '2021-01-01', fecha_fin: '2026-01-01' })).status).toBe(200);
  const long = await acme.get(renewals, { fecha_inicio: '2021-01-01', fecha_fin: '2026-01-02' });
  expect(long.body).toMatchObject({ errorCode: 400, errorMsg: 'El rango máximo es de 5 años' });
  const noKey = await server.request('/api/v1/recurring/renewals');
  expect(noKey.body.errorMsg).toBe('Error on service call: API key authentication required');
});

test('[NEW-01] those created in the range, grouped, with the amount of one cycle', async () => {
  const acme = await server.company([
    client,
    recurring('Semanal B', 'semanal', { fecha_caducidad: '2027-01-01' }),
    recurring('Semanal A', 'semanal', { fecha_inicio: '2026-02-01' }),
    recurring('Anual', 'anual', { fecha_creacion: '2026-01-31' }),
    recurring('Antes', 'anual', { fecha_creacion: '2025-12-31' }),
  ]);
  const { body } = await acme.get('/recurring/new', { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' });
  expect(body.data).toMatchObject({ num_recurrentes: 3, importe_total: 69.3 });
  expect(Object.keys(body.data.por_periodicidad)).toEqual(['semanal', 'anual']);
  expect(body.data.por_periodicidad.semanal).toEqual({
    periodicidad_dias: 7,
    num: 2,
    importe_total: 46.2,
    recurrentes: [
      {
        recurrenteId: expect.any(String),
        descripcion: 'Semanal A',
        importe: 23.1,
        fecha_creacion: '2026-01-15',
        fecha_inicio: '2026-02-01',
        fecha_caducidad: null,
        cliente: { clienteId: expect.any(String), nombre_fiscal: 'Cliente SL' },
      },
      expect.objectContaining({ descripcion: 'Semanal B', fecha_inicio: null, fecha_caducidad: '2027-01-01' }),
    ],
  });
  expect((await acme.get('/recurring/new', { fecha_inicio: '2026-01-01' })).body.data).toMatchObject([
    { campo: 'fecha_fin' },
  ]);
  const other = await server.company();
  expect(
    (await other.get('/recurring/new', { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' })).body.data,
  ).toMatchObject({ num_recurrentes: 0, importe_total: 0, por_periodicidad: {} });
});

test('[REC-01] [ID-04] a yearly recurring of today; prices, VAT and texts from the article on list 1', async () => {
  const acme = await server.company([
    { coleccion: 'tarifas', ref: 't2', tarifa: 2 },
    { ...client, tarifa: 2 },
    {
      coleccion: 'articulos',
      ref: 'a',
      id: 7,
      descripcion: 'Revisión caldera',
      iva: 10,
      precios: [
        { tarifa: 1, precio: 80 },
        { tarifa: 2, precio: 60 },
      ],
    },
  ]);
  const create = (detalles: object[], cliente: object = { cif: 'ES-B1' }) =>
    acme.post('/recurring-invoices', { cliente, pedido: { obra: 'Calderas' }, detalles });
  const { status, body } = await create([
    { cantidad: 2, articulo_fk: 7 },
    { cantidad: 1, articulo_fk: 7, importe_unitario: 70, iva: 21, descripcion: 'Extra' },
    { cantidad: 1, descripcion: 'Portes', importe_unitario: 5 },
  ]);
  expect(status).toBe(200);
  const created = await acme.get('/recurring/new', { fecha_inicio: '2026-05-10', fecha_fin: '2026-05-10' });
  expect(created.body.data.por_periodicidad.anual.recurrentes).toMatchObject([
    {
      recurrenteId: body.data,
      descripcion: 'Calderas',
      importe: 235,
      fecha_creacion: '2026-05-10',
      cliente: { nombre_fiscal: 'Cliente SL' },
    },
  ]);
  const lines = await server.service.database.transaction(acme.id, {}, (db) =>
    db.selectFrom('recurring_lines').selectAll().where('account_id', '=', acme.id).orderBy('position').execute(),
  );
  expect(lines).toMatchObject([
    { description: 'Revisión caldera', unit_price: 80, vat: 10, product_id: 7 },
    { description: 'Extra', unit_price: 70, vat: 21 },
    { description: 'Portes', unit_price: 5, vat: 21, product_id: null },
  ]);
  const year = await acme.get(renewals, { fecha_inicio: '2027-05-10', fecha_fin: '2027-05-10' });
  expect(year.body.data.renovaciones_previstas).toEqual({ num: 1, importe_total: 235 });

  for (const [detalles, campo] of [
    [[], 'detalles'],
    [[{ articulo_fk: 7 }], 'detalles[0].cantidad'],
    [[{ cantidad: 1, importe_unitario: 3 }], 'detalles[0].descripcion'],
    [[{ cantidad: 1, descripcion: 'x' }], 'detalles[0].importe_unitario'],
  ] as const) {
    const refused = await create([...detalles]);
    expect([refused.status, refused.body.data]).toMatchObject([400, [{ campo }]]);
  }
  expect(
    (await acme.post('/recurring-invoices', { detalles: [{ cantidad: 1, articulo_fk: 7 }] })).body.data,
  ).toMatchObject([{ campo: 'cliente' }, { campo: 'pedido' }]);
  expect((await create([{ cantidad: 1, articulo_fk: 8 }])).status).toBe(404);
});

test('[AUTH-04] [TEN-01] a read-only key or another company creates nothing', async () => {
  const acme = await server.company([client], { readOnly: true });
  const other = await server.company();
  const body = {
    cliente: { id: 1 },
    pedido: { obra: 'x' },
    detalles: [{ cantidad: 1, descripcion: 'x', importe_unitario: 1 }],
  };
  expect((await acme.post('/recurring-invoices', body)).status).toBe(403);
  expect((await other.post('/recurring-invoices', body)).status).toBe(404);
});
