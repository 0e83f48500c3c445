import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { demoCompany } from '../../../account-file/demo/index.ts';
import { arbitraryCompany } from '../../account-file/arbitrary-company.ts';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';
import { expectResultsAsBooks } from './as-books.ts';
import { booksOf, busyCompany, busyDay } from './plain-books.ts';

const server = await startServer();
afterAll(() => server.stop());

const line = (importe_unitario: number, more: object = {}) => ({
  descripcion: 'x',
  cantidad: 1,
  importe_unitario,
  ...more,
});
const clock = (fecha: string, hora: string) => ({ fecha, hora, metodo: 'app' });
const entry = (from: string, to: string | null, more: object = {}): FileRecord => ({
  coleccion: 'fichajes',
  ref: from,
  empleado: 'ana',
  entrada: clock(from.slice(0, 10), from.slice(11)),
  salida: to && clock(to.slice(0, 10), to.slice(11)),
  ...more,
});
const people: FileRecord[] = [
  { coleccion: 'tipos_contrato', ref: 't', titulo: 'Indefinido' },
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana' },
  { coleccion: 'contratos', ref: 'c', empleado: 'ana', tipo_contrato: 't', fecha_alta: '2025-01-01', coste_hora: 10 },
];
const records: FileRecord[] = [
  ...people,
  { coleccion: 'clientes', ref: 'bar', nombre_fiscal: 'Bar' },
  { coleccion: 'proveedores', ref: 'pro', nombre_fiscal: 'Maderas' },
  { coleccion: 'proyectos', ref: 'p', numero: '26-001', descripcion: 'Reforma' },
  { coleccion: 'proyectos', ref: 'q', numero: '26-002', descripcion: 'Nave' },
  { coleccion: 'proyectos', ref: 'nada', numero: '26-003', descripcion: 'Sin movimiento' },
  { coleccion: 'tareas', ref: 'lijar', titulo: 'Lijar', proyecto: 'q' },
  { coleccion: 'maquinas', ref: 'grua', titulo: 'Grúa', coste_hora: 30 },
  // A night shift that counts in January.
  entry('2026-01-31 22:00', '2026-02-01 06:30', { pausa_minutos: 30, tarea: 'lijar' }),
  entry('2026-03-10 08:00', '2026-03-10 10:00', { maquina: 'grua' }),
  entry('2026-03-11 08:00', null, { proyecto: 'p' }),
  { coleccion: 'albaranes', ref: 'a', fecha: '2026-01-05', cliente: 'bar', proyecto: 'p', lineas: [line(100)] },
  {
    coleccion: 'facturas',
    ref: 'f',
    fecha: '2026-01-31',
    cliente: 'bar',
    lineas: [line(100, { proyecto: 'p', proviene_albaranes: true }), line(7.5, { proyecto: 'p' }), line(900)],
  },
  { coleccion: 'albaranes_compra', ref: 'ac', fecha: '2026-03-04', proveedor: 'pro', lineas: [line(40)] },
  {
    coleccion: 'facturas_compra',
    ref: 'fc',
    numero: '7',
    fecha: '2026-03-30',
    proveedor: 'pro',
    proyecto: 'q',
    lineas: [line(40, { proviene_albaranes: true }), line(5.25)],
  },
];
const quarter = { fecha_inicio: '2026-01-01', fecha_fin: '2026-03-31' };
const economico = (more: object = {}) => ({
  ventas: 0,
  compras: 0,
  coste_personal: 0,
  coste_maquinaria: 0,
  costes: 0,
  resultado: 0,
  margen: 0,
  horas: 0,
  ...more,
});
const whole = economico({
  ventas: 1007.5,
  compras: 45.25,
  coste_personal: 100,
  coste_maquinaria: 60,
  costes: 205.25,
  resultado: 802.25,
  margen: 79.63,
  horas: 10,
});
const report = async (company: Company, query: object) => {
  const { status, body } = await company.get('/reports/results', { ...query });
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data;
};

test('[PRJ-01] [FIC-02] the company: with a project and without, open entries left out', async () => {
  const acme = await server.company(records);
  expect(await report(acme, quarter)).toEqual({ ...quarter, economico: whole });
});

test('[PRJ-01] [FIC-01] by month every month is there, and a night shift is its entry’s', async () => {
  const acme = await server.company(records);
  const { agrupacion, ...rest } = await report(acme, { ...quarter, agrupar: 'mes' });
  expect(rest).toEqual({ ...quarter, economico: whole });
  expect(agrupacion).toEqual({
    por: 'mes',
    grupos: [
      {
        mes: '2026-01',
        economico: economico({
          ventas: 1007.5,
          coste_personal: 80,
          costes: 80,
          resultado: 927.5,
          margen: 92.06,
          horas: 8,
        }),
      },
      { mes: '2026-02', economico: economico() },
      {
        mes: '2026-03',
        economico: economico({
          compras: 45.25,
          coste_personal: 20,
          coste_maquinaria: 60,
          costes: 125.25,
          resultado: -125.25,
          margen: -100,
          horas: 2,
        }),
      },
    ],
  });
});

test('[PRJ-01] by project, the highest number first and what has none last', async () => {
  const acme = await server.company(records);
  const { agrupacion, ...rest } = await report(acme, { ...quarter, agrupar: 'proyecto' });
  expect(rest).toEqual({ ...quarter, economico: whole });
  expect(agrupacion).toEqual({
    por: 'proyecto',
    grupos: [
      {
        proyectoId: expect.any(String),
        numero: '26-002',
        descripcion: 'Nave',
        economico: economico({
          compras: 5.25,
          coste_personal: 80,
          costes: 85.25,
          resultado: -85.25,
          margen: -100,
          horas: 8,
        }),
      },
      {
        proyectoId: expect.any(String),
        numero: '26-001',
        descripcion: 'Reforma',
        economico: economico({ ventas: 107.5, resultado: 107.5, margen: 100 }),
      },
      {
        proyectoId: null,
        numero: '',
        descripcion: 'Sin proyecto',
        economico: economico({
          ventas: 900,
          compras: 40,
          coste_personal: 20,
          coste_maquinaria: 60,
          costes: 120,
          resultado: 780,
          margen: 86.67,
          horas: 2,
        }),
      },
    ],
  });
  // Equal to each project's own report.
  const { proyectos } = (await acme.get('/projects', quarter)).body.data;
  for (const { numero, proyectoId, economico: own } of agrupacion.grupos.slice(0, 2)) {
    expect(proyectos).toContainEqual(expect.objectContaining({ numero, proyectoId, economico: own }));
  }
});

test('[PRJ-01] the whole is computed exactly, not summed from what is rounded', async () => {
  // Twenty minutes are 3.333... of cost and 0.333... hours in every grouping.
  const acme = await server.company([
    ...people,
    { coleccion: 'proyectos', ref: 'p', numero: '1', descripcion: 'P' },
    { coleccion: 'proyectos', ref: 'q', numero: '2', descripcion: 'Q' },
    entry('2026-01-10 08:00', '2026-01-10 08:20'),
    entry('2026-02-10 08:00', '2026-02-10 08:20', { proyecto: 'p' }),
    entry('2026-03-10 08:00', '2026-03-10 08:20', { proyecto: 'q' }),
  ]);
  for (const agrupar of ['mes', 'proyecto']) {
    const { agrupacion, economico: total } = await report(acme, { ...quarter, agrupar });
    expect(total).toMatchObject({ coste_personal: 10, horas: 1 });
    for (const group of agrupacion.grupos) expect(group.economico).toMatchObject({ coste_personal: 3.33, horas: 0.33 });
  }
});

test('[PRJ-02] the contract in force on each day, the most recent of several, and none where there is none', async () => {
  const contract = (ref: string, fecha_alta: string, fecha_baja: string | null, coste_hora: number): FileRecord => ({
    coleccion: 'contratos',
    ref,
    empleado: 'ana',
    tipo_contrato: 't',
    fecha_alta,
    fecha_baja,
    coste_hora,
    coste_hora_pension: 1,
    coste_hora_ss: 2,
  });
  const acme = await server.company([
    ...people.slice(0, 2),
    contract('viejo', '2026-01-01', '2026-02-28', 7),
    contract('encima', '2026-01-20', '2026-01-25', 17),
    ...['2025-12-31', '2026-01-19', '2026-01-20', '2026-01-25', '2026-02-28', '2026-03-01'].map((day) =>
      entry(`${day} 08:00`, `${day} 09:00`),
    ),
  ]);
  const { agrupacion } = await report(acme, { fecha_inicio: '2025-12-01', fecha_fin: '2026-03-31', agrupar: 'mes' });
  const costs = agrupacion.grupos.map(
    (group: { economico: { coste_personal: number } }) => group.economico.coste_personal,
  );
  expect(costs).toEqual([0, 10 + 20 + 20, 10, 0]);
});

test('[PRJ-02] the first hour of a day that begins twice is that day’s', async () => {
  // In the Azores, 26 October 2025 begins at 00:00 UTC and once more an hour later.
  const acme = await server.company([...people, entry('2025-10-26 00:15', '2025-10-26 08:00')], {
    cuenta: { zona_horaria: 'Atlantic/Azores' },
  });
  const hours = async (day: string) => (await report(acme, { fecha_inicio: day, fecha_fin: day })).economico.horas;
  expect([await hours('2025-10-25'), await hours('2025-10-26')]).toEqual([0, 8.75]);
});

test('[DATE-01] bad dates and groupings are named; twenty years at most by month; nothing is zeros', async () => {
  const acme = await server.company();
  const problem = async (query: object) => {
    const { status, body } = await acme.get('/reports/results', { ...query });
    expect(status).toBe(400);
    return body.data.map(({ campo }: { campo: string }) => campo);
  };
  expect(await problem({ fecha_fin: '2026-01-01' })).toEqual(['fecha_inicio']);
  expect(await problem({ ...quarter, fecha_fin: '2026-02-30' })).toEqual(['fecha_fin']);
  expect(await problem({ ...quarter, agrupar: 'cliente' })).toEqual(['agrupar']);
  const long = { fecha_inicio: '2006-01-01', fecha_fin: '2026-01-02' };
  expect(await problem({ ...long, agrupar: 'mes' })).toEqual(['fecha_fin']);
  const nothing = { ...long, economico: economico() };
  expect(await report(acme, long)).toEqual(nothing);
  expect(await report(acme, { ...long, agrupar: 'proyecto' })).toEqual({
    ...nothing,
    agrupacion: { por: 'proyecto', grupos: [] },
  });
  const last = { fecha_inicio: '9999-12-01', fecha_fin: '9999-12-31', agrupar: 'mes' };
  expect((await report(acme, last)).agrupacion.grupos).toEqual([{ mes: '9999-12', economico: economico() }]);
});

test('[TEN-01] another company’s documents and hours are none of this one', async () => {
  await server.company(records);
  const other = await server.company();
  expect(await report(other, quarter)).toEqual({ ...quarter, economico: economico() });
});

test('[PRJ-01] [PRJ-02] [FIC-02] the same as a slow sum over the records, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(busyCompany, busyDay, busyDay, async ([cuenta, ...company], one, other) => {
      const [from = '', to = ''] = [one, other].sort();
      const acme = await server.company(company, { cuenta });
      await expectResultsAsBooks(acme, booksOf([cuenta as FileRecord, ...company]), from, to);
    }),
    { numRuns: 15 },
  );
}, 60_000);

test('[PRJ-01] [PRJ-02] the same as a slow sum over any company that a file can hold', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryCompany, async ([cuenta, ...company]) => {
      const acme = await server.company(company, { cuenta });
      await expectResultsAsBooks(acme, booksOf([cuenta as FileRecord, ...company]), '2023-12-01', '2027-04-30');
    }),
    { numRuns: 8 },
  );
}, 60_000);

test('[PRJ-01] [PRJ-02] the same as a slow sum over the demo company', async () => {
  const [, ...demo] = [...demoCompany({ today: Temporal.PlainDate.from('2026-03-10') })] as FileRecord[];
  const acme = await server.company(demo);
  const books = booksOf(demo);
  expect(books.shifts.length).toBeGreaterThan(5000);
  await expectResultsAsBooks(acme, books, '2025-01-17', '2026-12-31');
}, 60_000);
