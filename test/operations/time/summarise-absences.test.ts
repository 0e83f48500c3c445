import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const staff: FileRecord[] = [
  { coleccion: 'departamentos', ref: 'taller', id: 1, titulo: 'Taller' },
  { coleccion: 'departamentos', ref: 'oficina', id: 2, titulo: 'Oficina' },
  { coleccion: 'empleados', ref: 'leo', id: 11, nombre: 'Leo', apellidos: 'Sanz', departamento: 'taller' },
  { coleccion: 'empleados', ref: 'eva', id: 12, nombre: 'Eva', apellidos: 'Álvarez', departamento: 'oficina' },
  { coleccion: 'empleados', ref: 'ana2', id: 14, nombre: 'Ana', apellidos: 'Ruiz', departamento: 'taller' },
  { coleccion: 'empleados', ref: 'ana1', id: 13, nombre: 'Ana', apellidos: 'Ruiz', activo: false },
  { coleccion: 'empleados', ref: 'abel', id: 15, nombre: 'Abel', apellidos: 'Ruiz', departamento: 'taller' },
];
const absence = (empleado: string, tipo: string, inicio: string, fin: string, more: object = {}): FileRecord => ({
  coleccion: 'ausencias',
  empleado,
  titulo: tipo,
  tipo,
  fecha_inicio: inicio,
  fecha_fin: fin,
  ...more,
});
const absences = [
  absence('leo', 'vacaciones', '2026-07-28', '2026-08-02', { autorizada: true }),
  absence('leo', 'vacaciones', '2026-08-31', '2026-09-10'),
  absence('leo', 'baja', '2026-01-01', '2027-01-01'),
  absence('leo', 'permiso', '2026-08-10', '2026-08-12', { rechazada: true }),
  absence('ana1', 'permiso', '2026-08-15', '2026-08-15'),
  absence('eva', 'vacaciones', '2026-07-01', '2026-07-31'),
  absence('eva', 'vacaciones', '2026-09-01', '2026-09-30'),
];
const august = { fecha_inicio: '2026-08-01', fecha_fin: '2026-08-31' };

test('[AUS-01] [PAG-02] each person’s absences that overlap, with their days inside, by type; those without any at 0', async () => {
  const acme = await server.company([...staff, ...absences]);
  const { status, body } = await acme.get('/time-off/summary', august);
  expect(status).toBe(200);
  const none = { empleadoId: expect.any(String), total_ausencias: 0, dias_en_periodo: 0, por_tipo: {} };
  expect(body.data).toEqual({
    periodo: { desde: '2026-08-01', hasta: '2026-08-31' },
    total_empleados: 5,
    pagina: 1,
    por_pagina: 10_000,
    num_paginas: 1,
    cursor: null,
    empleados: [
      { ...none, nombre: 'Eva', apellidos: 'Álvarez' },
      { ...none, nombre: 'Abel', apellidos: 'Ruiz' },
      {
        ...none,
        nombre: 'Ana',
        apellidos: 'Ruiz',
        total_ausencias: 1,
        dias_en_periodo: 1,
        por_tipo: { permiso: 1 },
      },
      { ...none, nombre: 'Ana', apellidos: 'Ruiz' },
      {
        ...none,
        nombre: 'Leo',
        apellidos: 'Sanz',
        total_ausencias: 3,
        dias_en_periodo: 34,
        por_tipo: { baja: 31, vacaciones: 3 },
      },
    ],
  });
  const same = await acme.alias('consultarAusenciasPlantilla', august);
  expect(same.body).toEqual(body);
});

test('[AUS-01] its sums are those of the absences listed one by one', async () => {
  const acme = await server.company([...staff, ...absences]);
  for (const range of [august, { fecha_inicio: '2026-07-31', fecha_fin: '2026-09-01' }]) {
    for (const tipo of [undefined, 'vacaciones', 'baja']) {
      const { empleados } = (await acme.get('/time-off/summary', { ...range, tipo })).body.data;
      const { ausencias } = (await acme.get('/time-off', { ...range, tipo })).body.data;
      for (const { empleadoId, total_ausencias, dias_en_periodo, por_tipo } of empleados) {
        const own = ausencias.filter((each: { empleado: object }) => Object.values(each.empleado).includes(empleadoId));
        const sum = (rows: { dias_en_periodo: number }[]) => rows.reduce((days, row) => days + row.dias_en_periodo, 0);
        expect({ total_ausencias, dias_en_periodo }).toEqual({
          total_ausencias: own.length,
          dias_en_periodo: sum(own),
        });
        for (const [type, days] of Object.entries(por_tipo)) {
          expect(days).toBe(sum(own.filter((each: { tipo: string }) => each.tipo === type)));
        }
        expect(Object.keys(por_tipo)).toHaveLength(new Set(own.map((each: { tipo: string }) => each.tipo)).size);
      }
    }
  }
});

test('[AUS-01] the department narrows the people, the type what is counted; a type that nothing has counts nothing', async () => {
  const acme = await server.company([...staff, ...absences]);
  const ask = async (query: object) =>
    (await acme.get('/time-off/summary', { ...august, ...query })).body.data.empleados.map(
      (each: { nombre: string; total_ausencias: number; por_tipo: object }) => [
        each.nombre,
        each.total_ausencias,
        each.por_tipo,
      ],
    );
  expect(await ask({ departamentoId: 1 })).toEqual([
    ['Abel', 0, {}],
    ['Ana', 0, {}],
    ['Leo', 3, { baja: 31, vacaciones: 3 }],
  ]);
  expect(await ask({ departamentoId: 1, tipo: 'vacaciones' })).toEqual([
    ['Abel', 0, {}],
    ['Ana', 0, {}],
    ['Leo', 2, { vacaciones: 3 }],
  ]);
  expect(await ask({ departamentoId: 2, tipo: 'nada' })).toEqual([['Eva', 0, {}]]);
});

test('[PAG-01] [PAG-02] pages are of people, each with all that is theirs', async () => {
  const acme = await server.company([...staff, ...absences]);
  const { empleados } = (await acme.get('/time-off/summary', august)).body.data;
  const pages = [];
  for (const pagina of [1, 2, 3]) {
    const { body } = await acme.get('/time-off/summary', { ...august, por_pagina: 3, pagina });
    expect(body.data).toMatchObject({ total_empleados: 5, pagina, por_pagina: 3, num_paginas: 2 });
    pages.push(body.data.empleados);
  }
  expect(pages).toEqual([empleados.slice(0, 3), empleados.slice(3), []]);
  const ofOne = (await acme.get('/time-off/summary', { ...august, departamentoId: 2, por_pagina: 1 })).body.data;
  expect(ofOne).toMatchObject({ total_empleados: 1, num_paginas: 1 });
});

test('[TEN-01] another company has its own staff, and its departments are not found', async () => {
  const acme = await server.company([...staff, ...absences]);
  const other = await server.company([{ coleccion: 'empleados', ref: 'x', nombre: 'Otra' }]);
  const { empleados } = (await other.get('/time-off/summary', august)).body.data;
  expect(empleados).toMatchObject([{ nombre: 'Otra', total_ausencias: 0 }]);
  const [{ departamento }] = (await acme.get('/employees', { busqueda: 'leo' })).body.data.empleados;
  for (const departamentoId of [1, departamento.departamentoId]) {
    const { status, body } = await other.get('/time-off/summary', { ...august, departamentoId });
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('departamentoId')]);
  }
});
