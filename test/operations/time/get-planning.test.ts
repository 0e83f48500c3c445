import { scheduler } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

interface Day {
  fecha: string;
  laborable: boolean;
  horas_previstas: number;
  ausencia: { titulo: string; tipo: string; tipo_titulo: string; autorizada: boolean } | null;
  tareas: { tareaId: string; titulo: string }[];
}
interface Planned {
  nombre: string;
  dias: Day[];
}

let made = 0;
const record = (coleccion: string, fields: object): FileRecord => ({ coleccion, ref: `n${made++}`, ...fields });
const person = (ref: string, more: object = {}) => record('empleados', { ref, nombre: ref, ...more });
const contract = (empleado: string, fecha_alta: string, fecha_baja: string | null, horas: number) =>
  record('contratos', { empleado, tipo_contrato: 'fijo', fecha_alta, fecha_baja, minimo_horas_dia_laborable: horas });
const absence = (empleado: string, titulo: string, fecha_inicio: string, fecha_fin: string, more: object = {}) =>
  record('ausencias', { empleado, titulo, tipo: 'vacaciones', fecha_inicio, fecha_fin, ...more });
const closed = (fecha_inicio: string, fecha_fin: string) =>
  record('calendario', { titulo: 'Fiesta', tipo: 'festivo', fecha_inicio, fecha_fin });
const task = (titulo: string, responsable: string | null, more: object = {}) =>
  record('tareas', { titulo, responsable, ...more });

const base: FileRecord[] = [
  { coleccion: 'tipos_contrato', ref: 'fijo', titulo: 'Indefinido' },
  { coleccion: 'proyectos', ref: 'p', id: 5, numero: '1', descripcion: 'Reforma' },
  { coleccion: 'proyectos', ref: 'q', id: 6, numero: '2', descripcion: 'Otra' },
];

async function planning(company: Company, fecha_inicio: string, fecha_fin: string, more: object = {}) {
  const { status, body } = await company.get('/planning', { fecha_inicio, fecha_fin, ...more });
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data.empleados as Planned[];
}
const names = (people: Planned[]) => people.map(({ nombre }) => nombre);
/** The only person's days by date. */
const daysOf = ([only]: Planned[]) => new Map(only?.dias.map((day) => [day.fecha, day]));
const titlesOn = (people: Planned[]) =>
  Object.fromEntries([...daysOf(people)].map(([date, { tareas }]) => [date, tareas.map(({ titulo }) => titulo)]));

test('[TSK-02] [CAL-01] [AUS-01] a person’s days: whether worked, for how long, absence and tasks', async () => {
  const acme = await server.company([
    ...base,
    person('Ana', { apellidos: 'Ruiz' }),
    contract('Ana', '2026-01-01', null, 7.5),
    closed('2026-03-04', '2026-03-04'),
    absence('Ana', 'Playa', '2026-03-05', '2026-03-06', { autorizada: true }),
    task('Lijar', 'Ana', { fecha_inicio: '2026-03-06', fecha_prevista_fin: '2026-03-07' }),
  ]);
  const query = { fecha_inicio: '2026-03-03', fecha_fin: '2026-03-08' };
  const { status, body } = await acme.get('/planning', query);
  expect(status).toBe(200);
  const day = (fecha: string, more: object = {}) => ({
    fecha,
    laborable: true,
    horas_previstas: 7.5,
    ausencia: null,
    tareas: [],
    ...more,
  });
  const off = { laborable: false, horas_previstas: 0 };
  const ausencia = { titulo: 'Playa', tipo: 'vacaciones', tipo_titulo: 'Vacaciones', autorizada: true };
  const tareas = [{ tareaId: expect.any(String), titulo: 'Lijar' }];
  expect(body.data).toEqual({
    periodo: { desde: '2026-03-03', hasta: '2026-03-08' },
    total_empleados: 1,
    pagina: 1,
    por_pagina: 10_000,
    num_paginas: 1,
    cursor: null,
    empleados: [
      {
        empleadoId: expect.any(String),
        nombre: 'Ana',
        apellidos: 'Ruiz',
        dias: [
          day('2026-03-03'),
          day('2026-03-04', off),
          day('2026-03-05', { ausencia }),
          day('2026-03-06', { ausencia, tareas }),
          day('2026-03-07', { ...off, tareas }),
          day('2026-03-08', off),
        ],
      },
    ],
  });
  const listed = (await acme.get('/tasks')).body.data.tareas[0];
  expect(body.data.empleados[0].dias[4].tareas[0].tareaId).toBe(listed.tareaId);
  expect((await acme.alias('consultarPlanificacion', query)).body).toEqual(body);
});

test('[PRJ-02] the hours follow the contracts: the most recent in force each day, none outside them', async () => {
  const acme = await server.company([
    ...base,
    person('Ana'),
    contract('Ana', '2026-02-25', '2026-03-02', 4),
    contract('Ana', '2026-02-27', '2026-02-27', 6),
    contract('Ana', '2026-02-27', '2026-02-27', 5),
    contract('Ana', '2026-03-04', null, 8),
  ]);
  const days = daysOf(await planning(acme, '2026-02-24', '2026-03-05'));
  expect(Object.fromEntries([...days].map(([date, { horas_previstas }]) => [date, horas_previstas]))).toEqual({
    '2026-02-24': 0,
    '2026-02-25': 4,
    '2026-02-26': 4,
    '2026-02-27': 5, // two begin on one day: the later record
    '2026-02-28': 0, // Saturday
    '2026-03-01': 0,
    '2026-03-02': 4,
    '2026-03-03': 0,
    '2026-03-04': 8,
    '2026-03-05': 8,
  });
});

test('[AUS-01] rejected absences are none; of several the authorised one, then the earliest', async () => {
  const acme = await server.company([
    ...base,
    person('Ana'),
    absence('Ana', 'Rechazada', '2026-03-01', '2026-03-31', { rechazada: true }),
    absence('Ana', 'Segunda', '2026-03-03', '2026-03-06'),
    absence('Ana', 'Primera', '2026-03-02', '2026-03-04'),
    absence('Ana', 'Concedida', '2026-03-04', '2026-03-05', { tipo: 'baja', autorizada: true }),
  ]);
  const days = daysOf(await planning(acme, '2026-03-01', '2026-03-07'));
  expect([...days.values()].map(({ ausencia }) => ausencia?.titulo ?? null)).toEqual([
    null,
    'Primera',
    'Primera',
    'Concedida',
    'Concedida',
    'Segunda',
    null,
  ]);
  expect(days.get('2026-03-04')?.ausencia).toEqual({
    titulo: 'Concedida',
    tipo: 'baja',
    tipo_titulo: 'Baja médica',
    autorizada: true,
  });
});

test('[TSK-02] tasks are the person’s own, not finished and not deleted; a missing start or end is open', async () => {
  const acme = await server.company([
    ...base,
    person('Ana'),
    task('sin fechas', 'Ana', { progreso: 99 }),
    task('desde', 'Ana', { fecha_inicio: '2026-03-03' }),
    task('hasta', 'Ana', { fecha_prevista_fin: '2026-03-02' }),
    task('acabada', 'Ana', { progreso: 100 }),
    task('borrada', 'Ana', { eliminada: true }),
    task('de nadie', null),
  ]);
  expect(titlesOn(await planning(acme, '2026-03-02', '2026-03-03'))).toEqual({
    '2026-03-02': ['hasta', 'sin fechas'],
    '2026-03-03': ['sin fechas', 'desde'],
  });
});

test('active people and those under contract in the range are planned; a person asked for always is', async () => {
  const acme = await server.company([
    ...base,
    person('Nueva', { apellidos: 'Ávila' }),
    person('Fue', { id: 21, apellidos: 'Zapata', activo: false }),
    contract('Fue', '2025-01-01', '2026-03-10', 8),
    person('Nunca', { id: 22, apellidos: 'Mas', activo: false }),
  ]);
  expect(names(await planning(acme, '2026-03-10', '2026-03-12'))).toEqual(['Nueva', 'Fue']);
  expect(names(await planning(acme, '2026-03-11', '2026-03-12'))).toEqual(['Nueva']);
  expect(names(await planning(acme, '2024-12-01', '2024-12-31'))).toEqual(['Nueva']);
  const [left] = await planning(acme, '2026-03-11', '2026-03-12', { empleadoId: 22 });
  expect(left).toMatchObject({ nombre: 'Nunca', dias: [{ horas_previstas: 0 }, { horas_previstas: 0 }] });
  expect(left?.dias).toHaveLength(2);
});

test('[TSK-02] a project leaves its own tasks, and the people who have one of them alive in the range', async () => {
  const acme = await server.company([
    ...base,
    person('Ana', { id: 31 }),
    person('Leo', { id: 32 }),
    person('Sol', { id: 33 }),
    task('p1', 'Ana', { proyecto: 'p', fecha_inicio: '2026-03-02', fecha_prevista_fin: '2026-03-02' }),
    task('q1', 'Ana', { proyecto: 'q' }),
    task('suelta', 'Leo'),
    task('q2', 'Leo', { proyecto: 'q' }),
    task('p2', 'Sol', { proyecto: 'p', fecha_inicio: '2026-04-01' }),
  ]);
  const ofProject = await planning(acme, '2026-03-02', '2026-03-03', { proyectoId: 5 });
  expect(names(ofProject)).toEqual(['Ana']);
  expect(titlesOn(ofProject)).toEqual({ '2026-03-02': ['p1'], '2026-03-03': [] });
  expect(names(await planning(acme, '2026-03-02', '2026-04-01', { proyectoId: 5 }))).toEqual(['Ana', 'Sol']);
  expect(names(await planning(acme, '2026-03-02', '2026-04-01', { proyectoId: 5, empleadoId: 33 }))).toEqual(['Sol']);
  expect(await planning(acme, '2026-03-02', '2026-04-01', { proyectoId: 5, empleadoId: 32 })).toEqual([]);
});

test('[DATE-01] 92 days are the longest range: one more is 400 and names the end', async () => {
  const acme = await server.company([...base, person('Ana')]);
  const [ana] = await planning(acme, '2026-01-01', '2026-04-02');
  expect(ana?.dias).toHaveLength(92);
  expect(ana?.dias.at(-1)?.fecha).toBe('2026-04-02');
  const { status, body } = await acme.get('/planning', { fecha_inicio: '2026-01-01', fecha_fin: '2026-04-03' });
  expect([status, body.data]).toEqual([400, [{ campo: 'fecha_fin', mensaje: 'el rango máximo es de 92 días' }]]);
});

test('[TEN-01] another company plans its own; its people and projects are not found here', async () => {
  const acme = await server.company([...base, person('Ana', { id: 41 }), closed('2026-03-02', '2026-03-02')]);
  const other = await server.company([person('Otra')]);
  const people = await planning(other, '2026-03-02', '2026-03-02');
  expect(people).toMatchObject([{ nombre: 'Otra', dias: [{ laborable: true }] }]);
  const range = { fecha_inicio: '2026-03-02', fecha_fin: '2026-03-02' };
  const [{ empleadoId }] = (await acme.get('/planning', range)).body.data.empleados;
  for (const query of [{ empleadoId }, { empleadoId: 41 }, { proyectoId: 5 }]) {
    expect((await other.get('/planning', { ...range, ...query })).status).toBe(404);
  }
});

test('[PAG-01] [PAG-02] pages are of people, with their own days and nobody else’s', async () => {
  const acme = await server.company([
    ...base,
    ...['Ana', 'Eva', 'Leo', 'Sol'].flatMap((ref) => [
      person(ref),
      task(`de ${ref}`, ref),
      contract(ref, '2026-01-01', null, 8),
    ]),
    person('Fue', { activo: false }),
  ]);
  const range = { fecha_inicio: '2026-03-02', fecha_fin: '2026-03-03' };
  const whole = await planning(acme, range.fecha_inicio, range.fecha_fin);
  const counters = async (query: object) => {
    const { empleados, periodo, ...rest } = (await acme.get('/planning', { ...range, ...query })).body.data;
    return { ...rest, empleados };
  };
  expect(await counters({ por_pagina: 3 })).toEqual({
    total_empleados: 4,
    pagina: 1,
    por_pagina: 3,
    num_paginas: 2,
    cursor: expect.any(String),
    empleados: whole.slice(0, 3),
  });
  expect(await counters({ por_pagina: 3, pagina: 2 })).toMatchObject({ pagina: 2, empleados: whole.slice(3) });
  expect(await counters({ por_pagina: 3, pagina: 3 })).toMatchObject({ total_empleados: 4, empleados: [] });
  expect(await counters({ por_pagina: 10_001 })).toMatchObject({ por_pagina: 10_000, empleados: whole });
  expect((await acme.get('/planning', { ...range, por_pagina: 0 })).body.data).toMatchObject([{ campo: 'por_pagina' }]);
});

test('[FAIR-03] what would be over 8 MB is refused with what to ask less of; pages and days make it fit', async () => {
  const many = (count: number, responsable: string) =>
    Array.from({ length: count }, (_, index) => task(`${index} ${'ñ'.repeat(500)}`, responsable));
  const acme = await server.company([
    ...base,
    ...['Ana', 'Eva', 'Leo'].flatMap((ref) => [person(ref), ...many(30, ref)]),
    person('Sol', { id: 51 }),
    ...many(100, 'Sol'),
  ]);
  const range = { fecha_inicio: '2026-01-01', fecha_fin: '2026-04-02' };
  const refused = await acme.get('/planning', { ...range, por_pagina: 3 });
  expect([refused.status, refused.body.errorMsg, refused.body.data]).toEqual([
    400,
    'La respuesta pasaría de 8 MB, lo máximo: pide páginas más pequeñas (por_pagina) o pide menos días (fecha_fin)',
    [
      { campo: 'por_pagina', mensaje: 'pide páginas más pequeñas' },
      { campo: 'fecha_fin', mensaje: 'pide menos días' },
    ],
  ]);
  const page = await acme.get('/planning', { ...range, por_pagina: 2 });
  expect(page.status).toBe(200);
  expect(page.body.data.empleados.map(({ dias }: Planned) => dias.map(({ tareas }) => tareas.length))).toEqual(
    Array(2).fill(Array(92).fill(30)),
  );
  // For one person only the number of days matters.
  const alone = { ...range, empleadoId: 51 };
  expect((await acme.get('/planning', alone)).status).toBe(400);
  expect((await acme.get('/planning', { ...alone, fecha_fin: '2026-02-28' })).status).toBe(200);
});

test('[FAIR-02] a long answer is sealed in slices, between which the event loop turns', async () => {
  const acme = await server.company([
    ...base,
    person('Ana'),
    ...Array.from({ length: 20 }, () => task('x'.repeat(1000), 'Ana')),
  ]);
  // A clock by which everything takes a millisecond on any machine.
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now++);
  const turned = vi.spyOn(scheduler, 'yield');
  try {
    const [ana] = await planning(acme, '2026-01-01', '2026-04-02');
    const ids = new Set(ana?.dias.flatMap(({ tareas }) => tareas.map(({ tareaId }) => tareaId)));
    const { tareas } = (await acme.get('/tasks')).body.data;
    expect(ids).toEqual(new Set(tareas.map(({ tareaId }: { tareaId: string }) => tareaId)));
    expect(turned.mock.calls.length).toBeGreaterThan(2);
  } finally {
    clock.mockRestore();
    turned.mockRestore();
  }
});

// The same computed naively: every record for every day.
test('[TSK-02] [AUS-01] [PRJ-02] every day of generated companies is what a look at each record finds', async () => {
  const date = (offset: number) => Temporal.PlainDate.from('2026-01-20').add({ days: offset }).toString();
  const span = fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 25 }))
    .map(([start, days]) => ({ start: date(start), end: date(start + days) }));
  const who = fc.constantFrom('a', 'b', 'c');
  const open = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 });
  const company = fc.record({
    active: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    contracts: fc.array(fc.record({ who, span, endless: fc.boolean(), hours: fc.constantFrom(0, 4, 6.25, 8) }), {
      maxLength: 8,
    }),
    closed: fc.array(span, { maxLength: 3 }),
    absences: fc.array(fc.record({ who, span, state: fc.constantFrom('pending', 'granted', 'rejected') }), {
      maxLength: 8,
    }),
    tasks: fc.array(
      fc.record({
        who: open(who),
        span,
        noStart: fc.boolean(),
        noEnd: fc.boolean(),
        project: open(fc.constantFrom('p', 'q')),
        progress: fc.constantFrom(0, 50, 100),
        deleted: fc.constantFrom(false, false, true),
      }),
      { maxLength: 10 },
    ),
    range: span,
    onlyProject: fc.boolean(),
  });

  await fc.assert(
    fc.asyncProperty(company, async (world) => {
      const contracts = world.contracts.map((each) => ({ ...each, end: each.endless ? null : each.span.end }));
      const tasks = world.tasks.map((each) => ({
        ...each,
        start: each.noStart ? null : each.span.start,
        end: each.noEnd ? null : each.span.end,
      }));
      const acme = await server.company([
        ...base,
        ...world.active.map((activo, index) => person('abc'.charAt(index), { activo })),
        ...contracts.map((each) => contract(each.who, each.span.start, each.end, each.hours)),
        ...world.closed.map(({ start, end }) => closed(start, end)),
        ...world.absences.map((each, index) =>
          absence(each.who, String(index), each.span.start, each.span.end, {
            autorizada: each.state === 'granted',
            rechazada: each.state === 'rejected',
          }),
        ),
        ...tasks.map((each, index) =>
          task(String(index), each.who, {
            proyecto: each.project,
            fecha_inicio: each.start,
            fecha_prevista_fin: each.end,
            progreso: each.progress,
            eliminada: each.deleted,
          }),
        ),
      ]);
      const { start, end } = world.range;
      const found = await planning(acme, start, end, { proyectoId: world.onlyProject ? 5 : undefined });

      const within = (day: string, from: string | null, to: string | null) =>
        (from === null || day >= from) && (to === null || day <= to);
      const days: string[] = [];
      for (let at = Temporal.PlainDate.from(start); at.toString() <= end; at = at.add({ days: 1 })) {
        days.push(at.toString());
      }
      const expected = ['a', 'b', 'c'].flatMap((name, person) => {
        let underContract = false;
        let withTask = false;
        const dias = days.map((fecha) => {
          let hours = 0;
          let since = '';
          for (const each of contracts) {
            if (each.who !== name || !within(fecha, each.span.start, each.end)) continue;
            underContract = true;
            if (each.span.start >= since) [hours, since] = [each.hours, each.span.start];
          }
          const laborable =
            Temporal.PlainDate.from(fecha).dayOfWeek < 6 &&
            !world.closed.some((each) => within(fecha, each.start, each.end));
          let chosen: number | null = null;
          for (const [index, each] of world.absences.entries()) {
            if (each.who !== name || each.state === 'rejected' || !within(fecha, each.span.start, each.span.end)) {
              continue;
            }
            const best = chosen === null ? undefined : world.absences[chosen];
            if (
              !best ||
              (each.state === 'granted' && best.state === 'pending') ||
              (each.state === best.state && each.span.start < best.span.start)
            ) {
              chosen = index;
            }
          }
          const tareas = tasks
            .map((each, index) => ({ ...each, index }))
            .filter(
              (each) =>
                each.who === name &&
                !each.deleted &&
                each.progress < 100 &&
                (!world.onlyProject || each.project === 'p') &&
                within(fecha, each.start, each.end),
            )
            .sort((one, other) => ((one.end ?? '9') < (other.end ?? '9') ? -1 : one.end === other.end ? 0 : 1))
            .map(({ index }) => String(index));
          withTask ||= tareas.length > 0;
          return {
            fecha,
            laborable,
            horas_previstas: laborable ? hours : 0,
            ausencia: chosen === null ? null : String(chosen),
            tareas,
          };
        });
        const shown = (world.active[person] || underContract) && (!world.onlyProject || withTask);
        return shown ? [{ nombre: name, dias }] : [];
      });
      expect(
        found.map(({ nombre, dias }) => ({
          nombre,
          dias: dias.map((day) => ({
            ...day,
            ausencia: day.ausencia?.titulo ?? null,
            tareas: day.tareas.map(({ titulo }) => titulo),
          })),
        })),
      ).toEqual(expected);
    }),
    { numRuns: 30 },
  );
}, 60_000);
