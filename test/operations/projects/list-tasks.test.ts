import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T10:00:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const task = (titulo: string, more: object = {}): FileRecord => ({ coleccion: 'tareas', ref: titulo, titulo, ...more });
const base: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana', apellidos: 'Ruiz' },
  { coleccion: 'proyectos', ref: 'p', id: 5, numero: '26-001', descripcion: 'Reforma' },
  { coleccion: 'estados_tarea', ref: 'e', id: 6, titulo: 'En curso' },
];
const titles = (body: { data: { tareas: { titulo: string }[] } }) => body.data.tareas.map(({ titulo }) => titulo);

test('[TSK-01] overdue: not finished and planned to end before today; deleted tasks never appear', async () => {
  const acme = await server.company([
    ...base,
    task('tarde', {
      proyecto: 'p',
      estado: 'e',
      responsable: 'ana',
      fecha_inicio: '2026-04-01',
      fecha_prevista_fin: '2026-05-09',
      progreso: 99.5,
      importe_presupuestado: 120.75,
    }),
    task('hoy', { fecha_prevista_fin: '2026-05-10' }),
    task('acabada', { fecha_prevista_fin: '2026-01-01', progreso: 100 }),
    task('sin fin', { progreso: 10 }),
    task('borrada', { fecha_prevista_fin: '2026-01-01', eliminada: true }),
  ]);
  const { status, body } = await acme.get('/tasks');
  expect(status).toBe(200);
  expect(titles(body)).toEqual(['acabada', 'tarde', 'hoy', 'sin fin']);
  expect(body.data.total_tareas).toBe(4);
  expect(body.data.tareas[1]).toEqual({
    tareaId: expect.any(String),
    titulo: 'tarde',
    proyecto: { proyectoId: expect.any(String), numero: '26-001', descripcion: 'Reforma' },
    estado: { estadoId: expect.any(String), titulo: 'En curso' },
    responsable: { empleadoId: expect.any(String), nombre: 'Ana', apellidos: 'Ruiz' },
    fecha_inicio: '2026-04-01',
    fecha_prevista_fin: '2026-05-09',
    progreso: 99.5,
    vencida: true,
    importe_presupuestado: 120.75,
  });
  expect(body.data.tareas[3]).toMatchObject({
    vencida: false,
    fecha_inicio: null,
    fecha_prevista_fin: null,
    proyecto: { proyectoId: '', numero: '', descripcion: '' },
    responsable: { empleadoId: '', nombre: '', apellidos: '' },
  });
  expect(titles((await acme.get('/tasks', { vencidas: true })).body)).toEqual(['tarde']);
  expect(titles((await acme.get('/tasks', { vencidas: false })).body)).toHaveLength(4);
});

test('[TSK-02] the dates take every task alive at some moment; a missing end is open', async () => {
  const acme = await server.company([
    ...base,
    task('antes', { fecha_inicio: '2026-01-01', fecha_prevista_fin: '2026-01-31' }),
    task('borde', { fecha_inicio: '2026-01-20', fecha_prevista_fin: '2026-02-01' }),
    task('dentro', { fecha_inicio: '2026-02-10', fecha_prevista_fin: '2026-02-11' }),
    task('encima', { fecha_inicio: '2025-01-01', fecha_prevista_fin: '2027-01-01' }),
    task('abierta', { fecha_inicio: '2026-02-28' }),
    task('futura', { fecha_inicio: '2026-03-01' }),
    task('sin fechas'),
  ]);
  const february = await acme.get('/tasks', { fecha_inicio: '2026-02-01', fecha_fin: '2026-02-28' });
  expect(titles(february.body).sort()).toEqual(['abierta', 'borde', 'dentro', 'encima', 'sin fechas']);
  expect(titles((await acme.get('/tasks', { fecha_fin: '2025-06-01' })).body).sort()).toEqual(['encima', 'sin fechas']);
});

test('[TSK-02] [TEN-01] project and state filter; another company’s are not found', async () => {
  const acme = await server.company([
    ...base,
    task('a', { proyecto: 'p' }),
    task('b', { estado: 'e' }),
    task('c', { proyecto: 'p', estado: 'e' }),
  ]);
  const other = await server.company();
  expect(titles((await acme.get('/tasks', { proyectoId: 5 })).body)).toEqual(['a', 'c']);
  expect(titles((await acme.get('/tasks', { proyectoId: 5, estadoId: 6 })).body)).toEqual(['c']);
  const { proyecto, estado } = (await acme.get('/tasks', { proyectoId: 5, estadoId: 6 })).body.data.tareas[0];
  expect((await other.get('/tasks', { proyectoId: proyecto.proyectoId })).status).toBe(404);
  expect((await other.get('/tasks', { estadoId: estado.estadoId })).status).toBe(404);
  expect((await other.get('/tasks')).body.data).toMatchObject({ total_tareas: 0, tareas: [] });
});
