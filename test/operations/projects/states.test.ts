import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'estados_proyecto', ref: 'o', titulo: 'obra' },
  { coleccion: 'estados_proyecto', ref: 'a', titulo: 'Óptimo' },
  { coleccion: 'estados_proyecto', ref: 'c', titulo: 'Cerrado' },
  { coleccion: 'proyectos', ref: 'p', numero: '1', descripcion: 'Nave', estado: 'o' },
  { coleccion: 'estados_tarea', ref: 'h', titulo: 'Hecha' },
  { coleccion: 'estados_tarea', ref: 'c', titulo: 'En curso' },
  { coleccion: 'tareas', ref: 't', titulo: 'Lijar', estado: 'h' },
];
const titles = (body: { data: { estados: { titulo: string }[] } }) => body.data.estados.map(({ titulo }) => titulo);

test('[PAG-02] states of projects and of tasks by title; their ids are what the lists filter by', async () => {
  const acme = await server.company(records);
  const ofProjects = await acme.get('/project-states');
  expect([ofProjects.status, titles(ofProjects.body)]).toEqual([200, ['Cerrado', 'obra', 'Óptimo']]);
  const ofTasks = await acme.get('/task-states');
  expect(ofTasks.body.data).toEqual({
    estados: [
      { estadoId: expect.any(String), titulo: 'En curso' },
      { estadoId: expect.any(String), titulo: 'Hecha' },
    ],
  });
  const found = async (path: string, { estadoId }: { estadoId: string }, total: string) =>
    (await acme.get(path, { estadoId })).body.data[total];
  const [closed, building] = ofProjects.body.data.estados;
  expect(await found('/projects', building, 'total_proyectos')).toBe(1);
  expect(await found('/projects', closed, 'total_proyectos')).toBe(0);
  const [pending, done] = ofTasks.body.data.estados;
  expect(await found('/tasks', done, 'total_tareas')).toBe(1);
  expect(await found('/tasks', pending, 'total_tareas')).toBe(0);
});

test('[TEN-01] [ID-01] each company has its own states; one of tasks is none of projects', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  for (const path of ['/project-states', '/task-states']) {
    expect((await other.get(path)).body.data).toEqual({ estados: [] });
  }
  const [{ estadoId }] = (await acme.get('/task-states')).body.data.estados;
  expect((await acme.get('/projects', { estadoId })).status).toBe(404);
  expect((await other.get('/tasks', { estadoId })).status).toBe(404);
});
