import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const people: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', id: 11, nombre: 'Ana', apellidos: 'Ruiz Pérez' },
  { coleccion: 'empleados', ref: 'leo', id: 12, nombre: 'Leo' },
  { coleccion: 'proyectos', ref: 'obra', id: 21, numero: '26-001', descripcion: 'Reforma' },
];
const entry = (empleado: string, entrada: string, salida: string | null, more: object = {}): FileRecord => {
  const clocking = (local: string) => ({ fecha: local.slice(0, 10), hora: local.slice(11), metodo: 'app' });
  return {
    coleccion: 'fichajes',
    ref: `${empleado} ${entrada}`,
    empleado,
    entrada: clocking(entrada),
    salida: salida && clocking(salida),
    ...more,
  };
};
const times = '/employees/times';
const january = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };

test('[FIC-01] a night shift that starts on the 31st belongs to the 31st', async () => {
  const acme = await server.company([...people, entry('ana', '2026-01-31 22:00', '2026-02-01 06:00')]);
  const last = await acme.get(times, { fecha_inicio: '2026-01-31', fecha_fin: '2026-01-31' });
  expect(last.status).toBe(200);
  expect(last.body.data).toMatchObject({ total_fichajes: 1, pagina: 1, por_pagina: 200, num_paginas: 1 });
  expect(last.body.data.fichajes[0]).toEqual({
    fichajeId: expect.any(String),
    empleado: { empleadoId: expect.any(String), nombre: 'Ana', apellidos: 'Ruiz Pérez' },
    entrada: { fecha: '2026-01-31', hora: '22:00', metodo: 'app' },
    salida: { fecha: '2026-02-01', hora: '06:00', metodo: 'app' },
    abierto: false,
    horas: 8,
    proyectoId: null,
    tareaId: null,
    observaciones: null,
  });
  const next = await acme.get(times, { fecha_inicio: '2026-02-01', fecha_fin: '2026-02-28' });
  expect(next.body.data).toMatchObject({ total_fichajes: 0, num_paginas: 0, fichajes: [] });
});

test('[FIC-02] an open entry has no exit and no hours', async () => {
  const acme = await server.company([...people, entry('leo', '2026-01-15 08:00', null)]);
  const { body } = await acme.get(times, january);
  expect(body.data.fichajes[0]).toMatchObject({
    abierto: true,
    horas: 0,
    salida: { fecha: null, hora: null, metodo: null },
    empleado: { nombre: 'Leo', apellidos: '' },
  });
});

test('[FIC-03] hours are those that really passed, less pauses, also when the clock changes', async () => {
  const acme = await server.company([
    ...people,
    entry('ana', '2026-03-28 22:00', '2026-03-29 06:00'), // the clock jumps from 2 to 3
    entry('ana', '2026-10-24 22:00', '2026-10-25 06:00'), // 2 to 3 happens twice
    entry('ana', '2026-06-01 08:00', '2026-06-01 16:10', { pausa_minutos: 30 }),
  ]);
  const { body } = await acme.get(times, { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' });
  expect(body.data.fichajes.map((found: { horas: number }) => found.horas)).toEqual([7, 7.67, 9]);
});

test('[FIC-01] [FIC-03] local times and days are the company’s, wherever it is', async () => {
  for (const [zona_horaria, spring, spent] of [
    ['Europe/Madrid', '2026-03-28', 8],
    ['Atlantic/Canary', '2026-03-28', 8],
    ['America/Santo_Domingo', '2026-03-28', 9],
  ] as const) {
    const acme = await server.company(
      [
        ...people,
        entry('ana', `${spring} 20:00`, '2026-03-29 05:00'),
        entry('leo', '2026-01-01 00:00', '2026-01-01 00:30'),
      ],
      { cuenta: { zona_horaria } },
    );
    const shift = (await acme.get(times, { fecha_inicio: spring, fecha_fin: spring })).body.data.fichajes;
    expect(shift).toMatchObject([
      { entrada: { hora: '20:00' }, salida: { fecha: '2026-03-29', hora: '05:00' }, horas: spent },
    ]);
    const newYear = await acme.get(times, { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-01' });
    expect(newYear.body.data.fichajes).toMatchObject([{ entrada: { fecha: '2026-01-01', hora: '00:00' }, horas: 0.5 }]);
    expect(
      (await acme.get(times, { fecha_inicio: '2025-12-31', fecha_fin: '2025-12-31' })).body.data.total_fichajes,
    ).toBe(0);
  }
});

test('[FIC-04] person and project filter, also together; order is the entry instant, then id', async () => {
  const acme = await server.company([
    ...people,
    entry('leo', '2026-01-12 08:00', '2026-01-12 15:00', { proyecto: 'obra' }),
    entry('ana', '2026-01-12 07:00', '2026-01-12 15:00', { proyecto: 'obra', observaciones: 'Zanja' }),
    entry('ana', '2026-01-11 08:00', '2026-01-11 15:00'),
  ]);
  const all = await acme.get(times, january);
  const sealed = all.body.data.fichajes[1];
  expect(all.body.data.fichajes.map((found: { entrada: object }) => found.entrada)).toMatchObject([
    { fecha: '2026-01-11', hora: '08:00' },
    { fecha: '2026-01-12', hora: '07:00' },
    { fecha: '2026-01-12', hora: '08:00' },
  ]);
  expect((await acme.get(times, { ...january, empleadoId: 11 })).body.data.total_fichajes).toBe(2);
  expect((await acme.get(`/employees/${sealed.empleado.empleadoId}/times`, january)).body.data.total_fichajes).toBe(2);
  expect((await acme.get(times, { ...january, proyectoId: sealed.proyectoId })).body.data.total_fichajes).toBe(2);
  const both = await acme.get(times, { ...january, proyectoId: 21, empleadoId: sealed.empleado.empleadoId });
  expect(both.body.data.fichajes).toEqual([sealed]);
  expect(sealed.observaciones).toBe('Zanja');
});

test('[PAG-01] [PAG-02] pages of 200 unless asked otherwise, 1000 at most', async () => {
  const days = Array.from({ length: 30 }, (_, day) => `2026-01-${String(day + 1).padStart(2, '0')}`);
  const acme = await server.company([...people, ...days.map((day) => entry('ana', `${day} 08:00`, `${day} 15:00`))]);
  const pages = await Promise.all(
    [1, 2, 3, 4].map((pagina) => acme.get(times, { ...january, pagina, por_pagina: 13 })),
  );
  expect(pages.map(({ body }) => body.data.fichajes.length)).toEqual([13, 13, 4, 0]);
  expect(pages.map(({ body }) => body.data.num_paginas)).toEqual([3, 3, 3, 3]);
  const seen = pages.flatMap(({ body }) => body.data.fichajes.map((found: { fichajeId: string }) => found.fichajeId));
  expect(new Set(seen).size).toBe(30);
  expect((await acme.get(times, { ...january, por_pagina: 5000 })).body.data.por_pagina).toBe(1000);
});

test('[DATE-01] dates are required, real and in order', async () => {
  const acme = await server.company();
  for (const [query, campo] of [
    [{ fecha_fin: '2026-01-31' }, 'fecha_inicio'],
    [{ fecha_inicio: '2026-01-31' }, 'fecha_fin'],
    [{ fecha_inicio: '2025-02-29', fecha_fin: '2026-01-31' }, 'fecha_inicio'],
    [{ fecha_inicio: '2025-1-5', fecha_fin: '2026-01-31' }, 'fecha_inicio'],
    [{ fecha_inicio: '05/01/2025', fecha_fin: '2026-01-31' }, 'fecha_inicio'],
    [{ fecha_inicio: '2026-02-01', fecha_fin: '2026-01-31' }, 'fecha_fin'],
  ] as const) {
    const { status, body } = await acme.get(times, query);
    expect(status).toBe(400);
    expect(body.errorMsg).toContain(campo);
    expect(body.data).toMatchObject([{ campo }]);
  }
});

test('[TEN-01] [ID-05] another company sees and finds nothing', async () => {
  const acme = await server.company([...people, entry('ana', '2026-01-12 08:00', '2026-01-12 15:00')]);
  const other = await server.company();
  const { empleadoId } = (await acme.get(times, january)).body.data.fichajes[0].empleado;
  expect((await other.get(times, january)).body.data.total_fichajes).toBe(0);
  for (const foreign of [empleadoId, 11]) {
    expect((await other.get(times, { ...january, empleadoId: foreign })).status).toBe(404);
    expect((await other.get(`/employees/${foreign}/times`, january)).status).toBe(404);
  }
  expect((await other.get(times, { ...january, proyectoId: 21 })).status).toBe(404);
});

test('[AUTH-01] without a key nothing is told', async () => {
  const { status, body } = await server.request('/api/v1/employees/times');
  expect(status).toBe(401);
  expect(body.errorMsg).toBe('Error on service call: API key authentication required');
});
