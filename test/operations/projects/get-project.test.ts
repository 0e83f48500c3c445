import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T10:00:00Z') });
afterAll(() => server.stop());

const task = (ref: string, more: object): FileRecord => ({
  coleccion: 'tareas',
  ref,
  titulo: ref,
  proyecto: 'p',
  ...more,
});
const note = (ref: string, fecha: string, importe_unitario: number): FileRecord => ({
  coleccion: 'albaranes',
  ref,
  fecha,
  cliente: 'bar',
  proyecto: 'p',
  lineas: [{ descripcion: 'x', cantidad: 1, importe_unitario }],
});
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'bar', nombre_fiscal: 'Bar', rgpd: { comunicaciones_email: true } },
  { coleccion: 'estados_proyecto', ref: 'obra', titulo: 'En obra' },
  {
    coleccion: 'proyectos',
    ref: 'p',
    id: 10,
    numero: '26-001',
    descripcion: 'Reforma',
    cliente: 'bar',
    estado: 'obra',
    presupuesto_coste: 100,
    presupuesto_venta: 200.5,
  },
  { coleccion: 'proyectos', ref: 'q', id: 11, numero: '26-002', descripcion: 'Nave' },
  note('enero', '2026-01-31', 1),
  note('febrero', '2026-02-01', 10),
];

test('[PRJ-01] [PRJ-02] [PRJ-03] the list’s element of one project, its economics bounded by the dates', async () => {
  const acme = await server.company(records);
  for (const query of [
    {},
    { fecha_inicio: '2026-02-01' },
    { fecha_fin: '2026-01-31' },
    { fecha_inicio: '2030-01-01' },
  ]) {
    const { status, body } = await acme.get('/projects/10', query);
    expect(status).toBe(200);
    const [, listed] = (await acme.get('/projects', query)).body.data.proyectos;
    expect(body.data).toEqual({ proyecto: { ...listed, num_tareas: 0, tareas_vencidas: 0 } });
    expect((await acme.get(`/projects/${listed.proyectoId}`, query)).body.data).toEqual(body.data);
  }
  const { proyecto } = (await acme.get('/projects/10', { fecha_inicio: '2026-02-01' })).body.data;
  expect(proyecto).toMatchObject({ numero: '26-001', presupuesto_venta: 200.5, economico: { ventas: 10 } });
  const { proyecto: bare } = (await acme.get('/projects/11')).body.data;
  expect(bare).toMatchObject({ cliente: { clienteId: '' }, estado: { estadoId: '' }, economico: { margen: 0 } });
});

test('[TSK-01] its tasks and the overdue ones, the deleted left out, as the list of tasks has them', async () => {
  const acme = await server.company([
    ...records,
    task('vencida', { fecha_prevista_fin: '2026-03-09', progreso: 99.9 }),
    task('acabada', { fecha_prevista_fin: '2026-03-09', progreso: 100 }),
    task('de hoy', { fecha_prevista_fin: '2026-03-10' }),
    task('sin fin', {}),
    task('borrada', { fecha_prevista_fin: '2026-01-01', eliminada: true }),
    task('de otro', { fecha_prevista_fin: '2026-01-01', proyecto: 'q' }),
    task('de nadie', { fecha_prevista_fin: '2026-01-01', proyecto: null }),
  ]);
  // Independent of the dates, which only limit the economics.
  for (const query of [{}, { fecha_inicio: '2026-06-01', fecha_fin: '2026-06-30' }]) {
    const { proyecto } = (await acme.get('/projects/10', query)).body.data;
    expect(proyecto).toMatchObject({ num_tareas: 4, tareas_vencidas: 1 });
  }
  const tasks = async (query: object) =>
    (await acme.get('/tasks', { proyectoId: 10, ...query })).body.data.total_tareas;
  expect([await tasks({}), await tasks({ vencidas: true })]).toEqual([4, 1]);
  expect((await acme.get('/projects/11')).body.data.proyecto).toMatchObject({ num_tareas: 1, tareas_vencidas: 1 });
});

test('[DATE-01] [ID-05] [TEN-01] bad dates are named; an unknown project, or another company’s, is 404', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const bad = await acme.get('/projects/10', { fecha_inicio: '2026-02-30' });
  expect([bad.status, bad.body.data[0].campo]).toEqual([400, 'fecha_inicio']);
  const reversed = await acme.get('/projects/10', { fecha_inicio: '2026-02-02', fecha_fin: '2026-02-01' });
  expect([reversed.status, reversed.body.data[0].campo]).toEqual([400, 'fecha_fin']);
  const { proyectoId } = (await acme.get('/projects/10')).body.data.proyecto;
  for (const id of [proyectoId, '10', 'nada']) expect((await other.get(`/projects/${id}`)).status).toBe(404);
  expect((await acme.get('/projects/12')).status).toBe(404);
});
