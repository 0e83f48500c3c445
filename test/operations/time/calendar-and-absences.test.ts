import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', id: 1, nombre: 'Ana', apellidos: 'Ruiz' },
  { coleccion: 'empleados', ref: 'leo', id: 2, nombre: 'Leo', apellidos: 'Sanz' },
  {
    coleccion: 'calendario',
    ref: 'navidad',
    titulo: 'Navidad',
    tipo: 'festivo',
    fecha_inicio: '2026-12-25',
    fecha_fin: '2026-12-25',
  },
  {
    coleccion: 'calendario',
    ref: 'cierre',
    titulo: 'Cierre',
    tipo: 'cierre',
    fecha_inicio: '2026-12-28',
    fecha_fin: '2027-01-05',
  },
];
const absence = (
  ref: string,
  empleado: string,
  fecha_inicio: string,
  fecha_fin: string,
  more: object = {},
): FileRecord => ({
  coleccion: 'ausencias',
  ref,
  empleado,
  titulo: ref,
  tipo: 'vacaciones',
  fecha_inicio,
  fecha_fin,
  ...more,
});
const december = { fecha_inicio: '2026-12-01', fecha_fin: '2026-12-31' };

test('[CAL-01] [CAL-02] [CAL-04] without a person only the company’s days, those inside the range counted', async () => {
  const acme = await server.company([...records, absence('Viaje', 'ana', '2026-12-10', '2026-12-12')]);
  const { status, body } = await acme.get('/work-calendar', december);
  expect(status).toBe(200);
  expect(body.data).toEqual({
    periodo: { desde: '2026-12-01', hasta: '2026-12-31' },
    total_dias: 2,
    dias_empresa: 2,
    dias_empleado: 0,
    dias: [
      {
        diaId: expect.any(String),
        ambito: 'empresa',
        titulo: 'Navidad',
        tipo: 'festivo',
        tipo_titulo: 'Festivo',
        fecha_inicio: '2026-12-25',
        fecha_fin: '2026-12-25',
        dias_en_periodo: 1,
        autorizada: null,
      },
      expect.objectContaining({
        titulo: 'Cierre',
        tipo_titulo: 'Cierre de empresa',
        fecha_fin: '2027-01-05',
        dias_en_periodo: 4,
      }),
    ],
  });
});

test('[CAL-01] [CAL-03] [CAL-04] with a person also theirs, mixed by date; rejected ones when asked for', async () => {
  const acme = await server.company([
    ...records,
    absence('Puente', 'ana', '2026-12-25', '2026-12-28', { autorizada: true }),
    absence('Antes', 'ana', '2026-11-29', '2026-12-02'),
    absence('Rechazada', 'ana', '2026-12-20', '2026-12-21', { rechazada: true }),
    absence('Ajena', 'leo', '2026-12-10', '2026-12-10'),
  ]);
  const own = await acme.get('/employees/1/work-calendar', december);
  expect(own.body.data).toMatchObject({
    empleado: { nombre: 'Ana', apellidos: 'Ruiz' },
    total_dias: 4,
    dias_empresa: 2,
    dias_empleado: 2,
    dias: [
      { titulo: 'Antes', ambito: 'empleado', dias_en_periodo: 2, autorizada: false },
      { titulo: 'Navidad', ambito: 'empresa', autorizada: null },
      { titulo: 'Puente', ambito: 'empleado', dias_en_periodo: 4, autorizada: true },
      { titulo: 'Cierre' },
    ],
  });
  const same = await acme.get('/work-calendar', { ...december, empleadoId: own.body.data.empleado.empleadoId });
  expect(same.body).toEqual(own.body);
  const all = await acme.get('/work-calendar', { ...december, empleadoId: 1, incluir_rechazadas: true });
  expect(all.body.data).toMatchObject({ dias_empresa: 2, dias_empleado: 3 });
});

test('[CAL-05] [TEN-01] both dates are required; a person outside the account is a 404 on both paths', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const { empleadoId } = (await acme.get('/work-calendar', { ...december, empleadoId: 1 })).body.data.empleado;
  expect((await acme.get('/work-calendar', { fecha_inicio: '2026-12-01' })).body.data).toMatchObject([
    { campo: 'fecha_fin' },
  ]);
  expect((await acme.get('/work-calendar', {})).body.data).toHaveLength(2);
  for (const foreign of [empleadoId, 1, 99]) {
    expect((await other.get('/work-calendar', { ...december, empleadoId: foreign })).status).toBe(404);
    expect((await other.get(`/employees/${foreign}/work-calendar`, december)).status).toBe(404);
  }
  expect((await other.get('/work-calendar', december)).body.data.dias).toEqual([]);
});

test('[AUS-01] absences that overlap, with their days inside; rejected ones when asked for', async () => {
  const acme = await server.company([
    ...records,
    absence('Larga', 'leo', '2026-10-01', '2027-02-01', { tipo: 'baja', porcentaje_imputable: 75 }),
    absence('Dentro', 'ana', '2026-12-10', '2026-12-12', { autorizada: true }),
    absence('No', 'ana', '2026-12-15', '2026-12-15', { rechazada: true }),
    absence('Fuera', 'ana', '2027-01-01', '2027-01-02'),
  ]);
  const { body } = await acme.get('/time-off', december);
  expect(body.data).toEqual({
    periodo: { desde: '2026-12-01', hasta: '2026-12-31' },
    total_ausencias: 2,
    pagina: 1,
    por_pagina: 10_000,
    num_paginas: 1,
    cursor: null,
    ausencias: [
      {
        ausenciaId: expect.any(String),
        empleado: { empleadoId: expect.any(String), nombre: 'Leo', apellidos: 'Sanz' },
        titulo: 'Larga',
        tipo: 'baja',
        tipo_titulo: 'Baja médica',
        fecha_inicio: '2026-10-01',
        fecha_fin: '2027-02-01',
        dias_en_periodo: 31,
        porcentaje_imputable: 75,
        autorizada: false,
        rechazada: false,
      },
      expect.objectContaining({ titulo: 'Dentro', dias_en_periodo: 3, autorizada: true }),
    ],
  });
  const titles = async (query: object) =>
    (await acme.get('/time-off', { ...december, ...query })).body.data.ausencias.map(
      ({ titulo }: { titulo: string }) => titulo,
    );
  expect(await titles({ incluir_rechazadas: true })).toEqual(['Larga', 'Dentro', 'No']);
  expect(await titles({ tipo: 'baja' })).toEqual(['Larga']);
  expect(await titles({ tipo: 'nada' })).toEqual([]);
  expect(await titles({ empleadoId: 1 })).toEqual(['Dentro']);
  expect((await acme.get('/time-off', { ...december, empleadoId: 9 })).status).toBe(404);
});

test('[PAG-01] [PAG-02] pages of absences, those of one day included, repeat and skip none', async () => {
  const acme = await server.company([
    ...records,
    ...Array.from({ length: 5 }, (_, index) => absence(`a${index}`, 'ana', '2026-12-10', '2026-12-10')),
  ]);
  const { ausencias } = (await acme.get('/time-off', december)).body.data;
  const pages = [];
  for (const pagina of [1, 2, 3, 4]) {
    const { body } = await acme.get('/time-off', { ...december, por_pagina: 2, pagina });
    expect(body.data).toMatchObject({ total_ausencias: 5, pagina, por_pagina: 2, num_paginas: 3 });
    pages.push(body.data.ausencias);
  }
  expect(pages).toEqual([ausencias.slice(0, 2), ausencias.slice(2, 4), ausencias.slice(4), []]);
});

test('[AUS-01] [CAL-02] overlap days are those that a count of days finds', async () => {
  const day = (offset: number) => Temporal.PlainDate.from('2026-01-01').add({ days: offset }).toString();
  const span = fc
    .tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 60 }))
    .map(([start, days]) => [start, start + days] as const);
  const spans = fc.sample(span, { numRuns: 40, seed: 7 });
  const acme = await server.company([
    ...records.slice(0, 1),
    ...spans.map(([start, end], index) => absence(`a${index}`, 'ana', day(start), day(end))),
  ]);
  await fc.assert(
    fc.asyncProperty(span, async ([from, to]) => {
      const { body } = await acme.get('/time-off', { fecha_inicio: day(from), fecha_fin: day(to) });
      const expected = Object.fromEntries(
        spans.flatMap(([start, end], index) => {
          let days = 0;
          for (let at = start; at <= end; at++) if (at >= from && at <= to) days++;
          return days > 0 ? [[`a${index}`, days]] : [];
        }),
      );
      const found = body.data.ausencias.map((row: { titulo: string; dias_en_periodo: number }) => [
        row.titulo,
        row.dias_en_periodo,
      ]);
      expect(Object.fromEntries(found)).toEqual(expected);
    }),
    { numRuns: 25 },
  );
});
