import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-05-10T10:00:00Z') });
afterAll(() => server.stop());

type Due = Record<string, string | number>;
const lineas = [{ descripcion: 'Obra', cantidad: 1, importe_unitario: 100 }];
const sale = (ref: string, vencimientos: Due[], more: object = {}): FileRecord => ({
  coleccion: 'facturas',
  ref,
  numero: ref,
  fecha: '2026-04-01',
  cliente: 'cli',
  lineas,
  vencimientos,
  ...more,
});
const purchase = (ref: string, vencimientos: Due[], pagado = 0): FileRecord => ({
  coleccion: 'facturas_compra',
  ref,
  numero: ref,
  fecha: '2026-04-01',
  proveedor: 'pro',
  lineas,
  pagado,
  vencimientos,
});
const parties: FileRecord[] = [
  { coleccion: 'clientes', ref: 'cli', id: 1, nombre_fiscal: 'Cliente SL', cif: 'B1', email: 'c@example.com' },
  { coleccion: 'proveedores', ref: 'pro', id: 2, nombre_fiscal: 'Proveedor SA' },
];
const url = '/treasury/due-dates';

test('what is to collect and to pay, the soonest first, with what is left of each, VAT included', async () => {
  const acme = await server.company([
    ...parties,
    sale('V-1', [
      { fecha: '2026-06-01', importe: 60.5 },
      { fecha: '2026-05-09', importe: 60.5, cobrado: 20.2 },
    ]),
    purchase(
      'C-1',
      [
        { fecha: '2026-05-10', importe: 100 },
        { fecha: '2026-05-01', importe: 21, pagado: 21 },
      ],
      21,
    ),
    sale('V-2', [{ fecha: '2026-05-02', importe: -121 }], { numero: null }),
  ]);
  const { status, body } = await acme.get(url);
  expect(status).toBe(200);
  const [vencimientoId, id] = [expect.any(String), expect.any(String)];
  const cliente = { clienteId: expect.any(String), nombre_fiscal: 'Cliente SL', cif: 'B1', email: 'c@example.com' };
  const proveedor = { proveedorId: expect.any(String), nombre_fiscal: 'Proveedor SA', cif: '', email: '' };
  const cobro = { vencimientoId, tipo: 'cobro', tercero: cliente };
  const pago = { vencimientoId, tipo: 'pago', tercero: proveedor };
  const venta = { tipo: 'factura', id, numero: 'V-1' };
  const compra = { tipo: 'factura_compra', id, numero: 'C-1' };
  expect(body.data).toEqual({
    suma_importe: 121,
    suma_pendiente: 79.8,
    total_vencimientos: 5,
    pagina: 1,
    por_pagina: 100,
    num_paginas: 1,
    cursor: null,
    vencimientos: [
      { ...pago, fecha: '2026-05-01', importe: 21, pendiente: 0, vencido: false, documento: compra },
      // A credit note: money to return is not overdue.
      {
        ...cobro,
        fecha: '2026-05-02',
        importe: -121,
        pendiente: -121,
        vencido: false,
        documento: { ...venta, numero: '' },
      },
      { ...cobro, fecha: '2026-05-09', importe: 60.5, pendiente: 40.3, vencido: true, documento: venta },
      // Due today is not overdue.
      { ...pago, fecha: '2026-05-10', importe: 100, pendiente: 100, vencido: false, documento: compra },
      { ...cobro, fecha: '2026-06-01', importe: 60.5, pendiente: 60.5, vencido: false, documento: venta },
    ],
  });
  const ids = body.data.vencimientos.map((due: { vencimientoId: string }) => due.vencimientoId);
  expect(new Set(ids).size).toBe(5);
  // The ids of parties are valid in other operations.
  const [payment, , collection] = body.data.vencimientos;
  expect((await acme.get(`/clients/${collection.tercero.clienteId}`)).status).toBe(200);
  const { proveedorId } = payment.tercero;
  const { facturas } = (await acme.get('/purchase-invoices', { proveedorId })).body.data;
  expect(facturas[0].facturaCompraId).toBe(payment.documento.id);
});

test('[DATE-01] filters: dates of the due date with both ends, kind, and whether anything is left', async () => {
  const acme = await server.company([
    ...parties,
    sale('V-1', [
      { fecha: '2026-05-01', importe: 10, cobrado: 10 },
      { fecha: '2026-05-31', importe: 11, cobrado: 10 },
      { fecha: '2026-06-01', importe: 12, cobrado: 13 },
    ]),
    purchase(
      'C-1',
      [
        { fecha: '2026-04-30', importe: 13 },
        { fecha: '2026-05-01', importe: 14, pagado: 14 },
      ],
      14,
    ),
  ]);
  const amounts = async (query: object) => {
    const { data } = (await acme.get(url, { ...query })).body;
    const found = data.vencimientos.map(({ importe }: { importe: number }) => importe);
    expect(data.total_vencimientos).toBe(found.length);
    return found;
  };
  const may = { fecha_inicio: '2026-05-01', fecha_fin: '2026-05-31' };
  expect((await amounts(may)).toSorted()).toEqual([10, 11, 14]);
  expect(await amounts({ fecha_inicio: '2026-05-31' })).toEqual([11, 12]);
  expect(await amounts({ tipo: 'cobro' })).toEqual([10, 11, 12]);
  expect(await amounts({ tipo: 'pago' })).toEqual([13, 14]);
  // More was collected than due: the rest is to return.
  expect(await amounts({ pendiente: true })).toEqual([13, 11, 12]);
  expect((await amounts({ pendiente: false })).toSorted()).toEqual([10, 14]);
  expect(await amounts({ ...may, tipo: 'pago', pendiente: true })).toEqual([]);
  for (const [query, campo] of [
    [{ tipo: 'cobros' }, 'tipo'],
    [{ pendiente: 'si' }, 'pendiente'],
    [{ fecha_inicio: '2026-05-02', fecha_fin: '2026-05-01' }, 'fecha_fin'],
  ] as const) {
    const { status, body } = await acme.get(url, query);
    expect([status, body.data]).toMatchObject([400, [{ campo }]]);
  }
});

test('by party, by sale invoice and by what is overdue, with the sums of the whole selection', async () => {
  const acme = await server.company([
    ...parties,
    { coleccion: 'clientes', ref: 'otro', id: 3, nombre_fiscal: 'Otro' },
    { coleccion: 'proveedores', ref: 'mas', id: 4, nombre_fiscal: 'Otro' },
    sale('V-1', [
      { fecha: '2026-05-01', importe: 10, cobrado: 4.5 },
      { fecha: '2026-05-10', importe: 11 },
    ]),
    sale('V-2', [{ fecha: '2026-05-02', importe: 12, cobrado: 12 }]),
    sale('V-3', [{ fecha: '2026-05-03', importe: 13 }], { cliente: 'otro' }),
    purchase('C-1', [{ fecha: '2026-05-04', importe: 14 }]),
    { ...purchase('C-2', [{ fecha: '2026-05-05', importe: 15 }]), proveedor: 'mas' },
  ]);
  const list = async (query: object) => {
    const { data } = (await acme.get(url, { ...query })).body;
    const amounts = data.vencimientos.map(({ importe }: { importe: number }) => importe);
    return [amounts, data.suma_importe, data.suma_pendiente];
  };
  expect(await list({})).toEqual([[10, 12, 13, 14, 15, 11], 75, 58.5]);
  expect(await list({ pagina: 3, por_pagina: 3 })).toEqual([[], 75, 58.5]);
  expect(await list({ clienteId: 1 })).toEqual([[10, 12, 11], 33, 16.5]);
  expect(await list({ clienteId: 3 })).toEqual([[13], 13, 13]);
  expect(await list({ proveedorId: 2 })).toEqual([[14], 14, 14]);
  expect(await list({ clienteId: 1, proveedorId: 2 })).toEqual([[], 0, 0]);
  expect(await list({ clienteId: 1, tipo: 'pago' })).toEqual([[], 0, 0]);
  const { facturaId } = (await acme.get('/invoices', { numero: 'V-1' })).body.data.facturas[0];
  expect(await list({ facturaId })).toEqual([[10, 11], 21, 16.5]);
  expect(await list({ facturaId, clienteId: 3 })).toEqual([[], 0, 0]);
  expect(await list({ facturaId, vencidos: true })).toEqual([[10], 10, 5.5]);
  expect(await list({ vencidos: true, tipo: 'cobro' })).toEqual([[10, 13], 23, 18.5]);
  // Due today is not overdue, nor what is collected.
  expect(await list({ vencidos: false })).toEqual([[12, 11], 23, 11]);
  expect((await acme.get(url, { vencidos: 'si' })).body.data).toMatchObject([{ campo: 'vencidos' }]);
  const other = await server.company();
  for (const query of [{ clienteId: 1 }, { proveedorId: 2 }, { facturaId }]) {
    expect((await other.get(url, query)).status).toBe(404);
  }
});

test('[PAG-02] pages of both kinds together neither repeat nor skip, though their numbers may be the same', async () => {
  const fechas = ['2026-05-01', '2026-05-02', '2026-05-01', '2026-05-03'];
  const acme = await server.company([
    ...parties,
    sale(
      'V-1',
      fechas.map((fecha) => ({ fecha, importe: 1 })),
    ),
    purchase(
      'C-1',
      fechas.map((fecha) => ({ fecha, importe: 2 })),
    ),
  ]);
  const { pool } = server.service.database;
  for (const table of ['invoice_due_dates', 'purchase_invoice_due_dates']) {
    await pool.query(`update ${table} set id = position + 1 where account_id = $1`, [acme.id]);
  }
  const whole = (await acme.get(url)).body.data.vencimientos;
  expect(whole.map(({ fecha, tipo }: { fecha: string; tipo: string }) => `${fecha.slice(8)} ${tipo}`)).toEqual([
    '01 cobro',
    '01 pago',
    '01 cobro',
    '01 pago',
    '02 cobro',
    '02 pago',
    '03 cobro',
    '03 pago',
  ]);
  expect(new Set(whole.map(({ vencimientoId }: { vencimientoId: string }) => vencimientoId)).size).toBe(8);
  const pages = [];
  for (const pagina of [1, 2, 3])
    pages.push(...(await acme.get(url, { pagina, por_pagina: 3 })).body.data.vencimientos);
  expect(pages).toEqual(whole);
  expect((await acme.get(url, { pagina: 4, por_pagina: 3 })).body.data).toMatchObject({
    total_vencimientos: 8,
    num_paginas: 3,
    vencimientos: [],
  });
});

test('[TEN-01] another company has due dates of its own', async () => {
  await server.company([...parties, sale('V-1', [{ fecha: '2026-05-01', importe: 1 }])]);
  const other = await server.company();
  expect((await other.get(url)).body.data).toMatchObject({ total_vencimientos: 0, vencimientos: [] });
});
