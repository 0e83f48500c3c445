import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';
import { booksOf, busyCompany, busyDay, economicsOf, part } from './plain-books.ts';

const server = await startServer();
afterAll(() => server.stop());

const clock = (local: string) => ({ fecha: local.slice(0, 10), hora: local.slice(11), metodo: 'app' });
const entry = (from: string, to: string | null, more: object): FileRecord => ({
  coleccion: 'fichajes',
  ref: from,
  empleado: 'ana',
  entrada: clock(from),
  salida: to && clock(to),
  ...more,
});
const records: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana', apellidos: 'Gil' },
  { coleccion: 'proyectos', ref: 'p', id: 10, numero: '1', descripcion: 'P' },
  { coleccion: 'proyectos', ref: 'q', id: 11, numero: '2', descripcion: 'Q' },
  { coleccion: 'tareas', ref: 'lijar', titulo: 'Lijar', proyecto: 'p' },
  { coleccion: 'tareas', ref: 'borrada', titulo: 'Borrada', proyecto: 'p', eliminada: true },
  entry('2026-01-31 22:00', '2026-02-01 06:20', { proyecto: 'p', pausa_minutos: 30, observaciones: 'Noche' }),
  entry('2026-02-02 08:00', '2026-02-02 08:20', { tarea: 'lijar' }),
  entry('2026-02-03 08:00', '2026-02-03 08:20', { tarea: 'borrada' }),
  entry('2026-02-04 08:00', '2026-02-04 08:20', { proyecto: 'p', tarea: 'lijar' }),
  entry('2026-02-05 08:00', null, { proyecto: 'p' }),
  // Of another project, and of none.
  entry('2026-02-06 08:00', '2026-02-06 09:00', { proyecto: 'q', tarea: 'lijar' }),
  entry('2026-02-07 08:00', '2026-02-07 09:00', {}),
];
const times = async (company: Company, query: object = {}, project: unknown = 10) => {
  const { status, body } = await company.get(`/projects/${project}/times`, { ...query });
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data;
};
const days = (data: { fichajes: { entrada: { fecha: string } }[] }) =>
  data.fichajes.map(({ entrada }) => entrada.fecha);

test('[PRJ-01] [FIC-02] [FIC-03] the project’s entries and its tasks’, and their exact hours', async () => {
  const acme = await server.company(records);
  const data = await times(acme);
  expect(data).toEqual({
    // 7 h 50 min and three times 20 min: 8.83, although the rounded ones add up to 8.82.
    total_horas: 8.83,
    total_fichajes: 5,
    pagina: 1,
    por_pagina: 200,
    num_paginas: 1,
    cursor: null,
    fichajes: expect.any(Array),
  });
  expect(days(data)).toEqual(['2026-01-31', '2026-02-02', '2026-02-03', '2026-02-04', '2026-02-05']);
  expect(data.fichajes[0]).toEqual({
    fichajeId: expect.any(String),
    empleado: { empleadoId: expect.any(String), nombre: 'Ana', apellidos: 'Gil' },
    entrada: { fecha: '2026-01-31', hora: '22:00', metodo: 'app' },
    salida: { fecha: '2026-02-01', hora: '06:20', metodo: 'app' },
    abierto: false,
    horas: 7.83,
    proyectoId: expect.any(String),
    tareaId: null,
    observaciones: 'Noche',
  });
  expect(data.fichajes[1]).toMatchObject({ horas: 0.33, proyectoId: null, tareaId: expect.any(String) });
  expect(data.fichajes[4]).toMatchObject({
    abierto: true,
    horas: 0,
    salida: { fecha: null, hora: null, metodo: null },
  });
  const { fichajes } = (await acme.get('/employees/times', { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' }))
    .body.data;
  expect(fichajes).toEqual(expect.arrayContaining(data.fichajes));
  expect(await times(acme, {}, 11)).toMatchObject({ total_horas: 1, total_fichajes: 1 });
});

test('[FIC-01] [PRJ-02] the dates are of the entry, both included, either one alone', async () => {
  const acme = await server.company(records);
  const found = async (query: object) => {
    const data = await times(acme, query);
    return [data.total_horas, data.total_fichajes];
  };
  expect(await found({ fecha_inicio: '2026-02-01', fecha_fin: '2026-02-02' })).toEqual([0.33, 1]);
  expect(await found({ fecha_fin: '2026-01-31' })).toEqual([7.83, 1]);
  expect(await found({ fecha_inicio: '2026-02-04' })).toEqual([0.33, 2]);
  expect(await found({ fecha_inicio: '2026-02-05' })).toEqual([0, 1]);
  expect(await found({ fecha_inicio: '2027-01-01' })).toEqual([0, 0]);
});

test('[PAG-01] [PAG-02] pages of 200, 1000 at most; the totals are the whole’s on every page', async () => {
  const acme = await server.company(records);
  const second = await times(acme, { por_pagina: 2, pagina: 2 });
  expect(second).toMatchObject({ total_horas: 8.83, total_fichajes: 5, pagina: 2, por_pagina: 2, num_paginas: 3 });
  expect(days(second)).toEqual(['2026-02-03', '2026-02-04']);
  expect(await times(acme, { pagina: 9 })).toMatchObject({ total_horas: 8.83, total_fichajes: 5, fichajes: [] });
  expect(await times(acme, { por_pagina: 5000 })).toMatchObject({ por_pagina: 1000 });
});

test('[CON-02] no money in it, nor a machine', async () => {
  const acme = await server.company([
    ...records,
    { coleccion: 'tipos_contrato', ref: 't', titulo: 'Indefinido' },
    {
      coleccion: 'contratos',
      ref: 'c',
      empleado: 'ana',
      tipo_contrato: 't',
      fecha_alta: '2026-01-01',
      coste_hora: 777,
    },
  ]);
  const data = await times(acme);
  expect(JSON.stringify(data)).not.toMatch(/cost|importe|777/i);
});

test('[DATE-01] [ID-05] [TEN-01] bad dates are named; an unknown project, or another company’s, is 404', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const bad = await acme.get('/projects/10/times', { fecha_fin: '2026-02-30' });
  expect([bad.status, bad.body.data[0].campo]).toEqual([400, 'fecha_fin']);
  const { proyectoId } = (await acme.get('/projects/10')).body.data.proyecto;
  expect(await times(acme, {}, proyectoId)).toMatchObject({ total_fichajes: 5 });
  for (const id of [proyectoId, '10', 'nada']) expect((await other.get(`/projects/${id}/times`)).status).toBe(404);
});

test('[FIC-01] [PRJ-02] the first hour of a day that begins twice is that day’s, in every list of hours', async () => {
  // In the Azores, 26 October 2025 begins at 00:00 UTC and once more an hour later.
  const acme = await server.company([...records, entry('2025-10-26 00:15', '2025-10-26 08:00', { proyecto: 'p' })], {
    cuenta: { zona_horaria: 'Atlantic/Azores' },
  });
  const found = async (path: string, day: string) => {
    const { data } = (await acme.get(path, { fecha_inicio: day, fecha_fin: day })).body;
    return data.total_fichajes;
  };
  for (const path of ['/projects/10/times', '/employees/times']) {
    expect([await found(path, '2025-10-25'), await found(path, '2025-10-26')]).toEqual([0, 1]);
  }
});

test('[PRJ-01] the same hours as the project’s economics and as a slow sum over the records', async () => {
  await fc.assert(
    fc.asyncProperty(busyCompany, busyDay, busyDay, async ([cuenta, ...company], one, other) => {
      const [from = '', to = ''] = [one, other].sort();
      const dates = { fecha_inicio: from, fecha_fin: to };
      const acme = await server.company(company, { cuenta });
      const books = booksOf([cuenta as FileRecord, ...company]);
      for (const { numero, proyectoId, economico } of (await acme.get('/projects', dates)).body.data.proyectos) {
        const own = part(books, from, to, ({ project }) => books.of('proyectos', project)?.numero === numero);
        expect(economico).toEqual(economicsOf(own));
        const { total_horas, fichajes } = await times(acme, dates, proyectoId);
        expect(total_horas).toBe(economico.horas);
        expect(fichajes.filter(({ abierto }: { abierto: boolean }) => !abierto)).toHaveLength(own.shifts.length);
      }
    }),
    { numRuns: 10 },
  );
}, 60_000);
