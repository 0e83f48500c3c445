import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';
import { expectBreakdownsToAddUp } from './as-books.ts';
import { busyCompany, busyDay } from './plain-books.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T10:00:00Z') });
afterAll(() => server.stop());

const entry = (ref: string, day: string, from: string, to: string, more: object = {}): FileRecord => ({
  coleccion: 'fichajes',
  ref,
  empleado: 'ana',
  proyecto: 'p',
  entrada: { fecha: day, hora: from, metodo: 'app' },
  salida: { fecha: day, hora: to, metodo: 'app' },
  ...more,
});
const document = (coleccion: string, ref: string, fecha: string, more: object): FileRecord => ({
  coleccion,
  ref,
  numero: ref,
  fecha,
  lineas: [{ descripcion: `Línea de ${ref}`, cantidad: 3, importe_unitario: 10.1, proyecto: 'p' }],
  ...more,
});
const records: FileRecord[] = [
  { coleccion: 'tipos_contrato', ref: 'fijo', titulo: 'Indefinido' },
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana' },
  {
    coleccion: 'contratos',
    ref: 'c',
    empleado: 'ana',
    tipo_contrato: 'fijo',
    fecha_alta: '2025-01-01',
    coste_hora: 10,
  },
  { coleccion: 'clientes', ref: 'bar', nombre_fiscal: 'Bar' },
  { coleccion: 'proveedores', ref: 'mad', nombre_fiscal: 'Maderas' },
  { coleccion: 'proyectos', ref: 'p', id: 10, numero: '26-001', descripcion: 'Reforma' },
  { coleccion: 'proyectos', ref: 'q', id: 11, numero: '26-002', descripcion: 'Nave' },
  { coleccion: 'tareas', ref: 't', titulo: 'Pintar', proyecto: 'p' },
  { coleccion: 'maquinas', ref: 'grua', titulo: 'Grúa', coste_hora: 7 },
  entry('1', '2026-01-30', '08:00', '08:20'),
  entry('2', '2026-01-31', '08:00', '08:20', { proyecto: null, tarea: 't' }),
  entry('3', '2026-02-02', '08:00', '08:20', { maquina: 'grua' }),
  entry('4', '2026-02-02', '09:00', '09:20', { maquina: 'grua' }),
  entry('de otro', '2026-02-02', '10:00', '12:00', { proyecto: 'q' }),
  document('albaranes', 'A1', '2026-01-15', { cliente: 'bar' }),
  document('facturas', 'F1', '2026-02-15', {
    cliente: 'bar',
    lineas: [
      { descripcion: 'Del albarán', cantidad: 1, importe_unitario: 30.3, proyecto: 'p', proviene_albaranes: true },
      { descripcion: 'Nueva', cantidad: 1, importe_unitario: 5, proyecto: 'p' },
      { descripcion: 'De otro', cantidad: 1, importe_unitario: 1000, proyecto: 'q' },
    ],
  }),
  document('albaranes_compra', 'AC1', '2026-01-10', { proveedor: 'mad' }),
  document('facturas_compra', 'FC1', '2026-01-11', { proveedor: 'mad' }),
];

const breakdown = (company: Company, query: object = {}, id: string | number = 10) =>
  company.get(`/projects/${id}/breakdown`, { ...query });
const id = expect.stringMatching(/^[\w-]{23}$/);

test('[PRJ-01] [CON-02] each line that counts, with its document; staff by months, machines by entries', async () => {
  const acme = await server.company(records);
  const { status, body } = await breakdown(acme);
  expect(status).toBe(200);
  const time = { documento: null, lineaId: null };
  const line = { horas: null, lineaId: id };
  expect(body.data).toEqual({
    totales: { ventas: 35.3, compras: 60.6, coste_personal: 13.33, coste_maquinaria: 4.67 },
    ...{ total_lineas: 8, pagina: 1, por_pagina: 200, num_paginas: 1, cursor: null },
    desglose: [
      {
        ...{ concepto: 'ventas', fecha: '2026-02-15', importe: 5, ...line, descripcion: 'Nueva' },
        documento: { tipo: 'factura', id, numero: 'F1' },
      },
      {
        ...{ concepto: 'coste_maquinaria', fecha: '2026-02-02', importe: 2.333333, horas: 0.333333 },
        ...{ ...time, descripcion: 'Grúa' },
      },
      {
        ...{ concepto: 'coste_maquinaria', fecha: '2026-02-02', importe: 2.333334, horas: 0.333333 },
        ...{ ...time, descripcion: 'Grúa' },
      },
      {
        ...{ concepto: 'coste_personal', fecha: '2026-02-01', importe: 6.666666, horas: 0.666667 },
        ...{ ...time, descripcion: 'Personal, 2026-02' },
      },
      {
        ...{ concepto: 'ventas', fecha: '2026-01-15', importe: 30.3, ...line, descripcion: 'Línea de A1' },
        documento: { tipo: 'albaran', id, numero: 'A1' },
      },
      {
        ...{ concepto: 'compras', fecha: '2026-01-11', importe: 30.3, ...line, descripcion: 'Línea de FC1' },
        documento: { tipo: 'factura_compra', id, numero: 'FC1' },
      },
      {
        ...{ concepto: 'compras', fecha: '2026-01-10', importe: 30.3, ...line, descripcion: 'Línea de AC1' },
        documento: { tipo: 'albaran_compra', id, numero: 'AC1' },
      },
      {
        ...{ concepto: 'coste_personal', fecha: '2026-01-01', importe: 6.666667, horas: 0.666667 },
        ...{ ...time, descripcion: 'Personal, 2026-01' },
      },
    ],
  });
  const [first] = body.data.desglose;
  expect((await acme.get(`/invoices/${first.documento.id}`)).body.data.lineas[1].lineaId).toBe(first.lineaId);
  // Of people there is nothing else: neither who nor at what cost.
  expect(JSON.stringify(body)).not.toContain('Ana');
});

test('[PRJ-01] dates and concept narrow it; staff is dated the first day within the range', async () => {
  const acme = await server.company(records);
  const { body } = await breakdown(acme, { fecha_inicio: '2026-01-31', fecha_fin: '2026-02-14' });
  expect(body.data.totales).toEqual({ ventas: 0, compras: 0, coste_personal: 10, coste_maquinaria: 4.67 });
  expect(body.data.desglose.map(({ concepto, fecha }: FileRecord) => [concepto, fecha])).toEqual([
    ...[1, 2].map(() => ['coste_maquinaria', '2026-02-02']),
    ['coste_personal', '2026-02-01'],
    ['coste_personal', '2026-01-31'],
  ]);
  const staff = await breakdown(acme, { concepto: 'coste_personal' });
  expect(staff.body.data).toMatchObject({ total_lineas: 2, totales: { ventas: 35.3 }, desglose: [{}, {}] });
  expect((await breakdown(acme, {}, 11)).body.data).toMatchObject({ totales: { ventas: 1000 }, total_lineas: 2 });
});

test('[PRJ-01] [PRJ-02] of any company and dates, the lines add up to the figures of the project', async () => {
  const property = fc.asyncProperty(busyCompany, busyDay, busyDay, fc.boolean(), async (company, one, other, whole) => {
    const acme = await server.company(company.filter(({ coleccion }) => coleccion !== 'cuenta'));
    const [fecha_inicio, fecha_fin] = [one, other].toSorted();
    const dates = whole ? {} : { fecha_inicio, fecha_fin };
    await expectBreakdownsToAddUp(acme, dates);
  });
  await fc.assert(property, { numRuns: 12 });
});

test('[DATE-01] [PAG-01] [TEN-01] what is asked wrongly is refused; a project of another company is 404', async () => {
  const acme = await server.company(records);
  for (const [query, campo] of [
    [{ concepto: 'otros' }, 'concepto'],
    [{ fecha_inicio: '2026-02-30' }, 'fecha_inicio'],
    [{ fecha_inicio: '2026-02-02', fecha_fin: '2026-02-01' }, 'fecha_fin'],
    [{ pagina: 0 }, 'pagina'],
  ] as const) {
    const { status, body } = await breakdown(acme, query);
    expect([status, body.data[0].campo], campo).toEqual([400, campo]);
  }
  const other = await server.company();
  expect((await breakdown(other)).status).toBe(404);
  expect((await server.request('/api/v1/projects/10/breakdown')).status).toBe(401);
});
