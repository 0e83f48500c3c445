import { afterAll, expect, test } from 'vitest';
import { ROLLUPS } from '../../../figures/figures.ts';
import { differences } from '../../../figures/rollups.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T10:00:00Z') });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', id: 1, nombre: 'Ana', apellidos: 'Gil' },
  { coleccion: 'empleados', ref: 'eva', id: 2, nombre: 'Eva', apellidos: 'Paz' },
  { coleccion: 'proyectos', ref: 'p', id: 3, numero: '26-001', descripcion: 'Reforma' },
  { coleccion: 'proyectos', ref: 'q', id: 4, numero: '26-002', descripcion: 'Nave' },
  { coleccion: 'estados_tarea', ref: 'curso', id: 5, titulo: 'En curso' },
  { coleccion: 'estados_tarea', ref: 'fin', id: 6, titulo: 'Terminada' },
];
const task = (titulo: string, more: object = {}): FileRecord => ({ coleccion: 'tareas', ref: titulo, titulo, ...more });
const whole = {
  titulo: 'Lijar',
  proyectoId: 3,
  estadoId: 5,
  responsableId: 1,
  fecha_inicio: '2026-03-01',
  fecha_prevista_fin: '2026-03-09',
  progreso: 99.5,
  importe_presupuestado: 300.25,
};
const stored = {
  ...{ proyecto: 'p', estado: 'curso', responsable: 'ana', fecha_inicio: '2026-03-01' },
  ...{ fecha_prevista_fin: '2026-03-09', progreso: 99.5, importe_presupuestado: 300.25 },
};
const ID = expect.any(String);
const shown = {
  tareaId: ID,
  titulo: 'Lijar',
  proyecto: { proyectoId: ID, numero: '26-001', descripcion: 'Reforma' },
  estado: { estadoId: ID, titulo: 'En curso' },
  responsable: { empleadoId: ID, nombre: 'Ana', apellidos: 'Gil' },
  fecha_inicio: '2026-03-01',
  fecha_prevista_fin: '2026-03-09',
  progreso: 99.5,
  vencida: true,
  importe_presupuestado: 300.25,
};

const create = (company: Company, datos: object, headers?: Record<string, string>) =>
  company.post('/tasks', { datos }, headers);
const update = (company: Company, id: string | number, datos: object) => company.put(`/tasks/${id}`, { datos });
const listed = async (company: Company, query: object = {}) =>
  (await company.get('/tasks', { ...query })).body.data.tareas;
const titles = async (company: Company, query: object = {}): Promise<string[]> =>
  (await listed(company, query)).map((one: { titulo: string }) => one.titulo);
const versionOf = async (company: Company, id: number) =>
  (
    await server.service.database.pool.query<{ version: number }>(
      'select version from tasks where account_id = $1 and id = $2',
      [company.id, id],
    )
  ).rows[0]?.version;

test('[TSK-01] [TSK-02] a task is created with all that is sent, and found by it', async () => {
  const acme = await server.company(records);
  const { status, body } = await create(acme, whole);
  expect([status, body]).toEqual([200, { errorCode: 200, errorMsg: '', data: expect.stringMatching(/^[\w-]{23}$/) }]);
  for (const query of [{}, { proyectoId: 3 }, { estadoId: 5 }, { vencidas: true }, { fecha_fin: '2026-03-01' }]) {
    expect(await listed(acme, query), JSON.stringify(query)).toEqual([{ ...shown, tareaId: body.data }]);
  }
  expect((await acme.get('/projects/3')).body.data.proyecto).toMatchObject({ num_tareas: 1, tareas_vencidas: 1 });
  const unset = { proyectoId: '', responsableId: null, fecha_inicio: '', fecha_prevista_fin: null };
  await create(acme, { titulo: ' Pintar ', ...unset });
  expect((await listed(acme))[1]).toEqual({
    ...{ tareaId: ID, titulo: 'Pintar', proyecto: { proyectoId: '', numero: '', descripcion: '' } },
    ...{ estado: { estadoId: '', titulo: '' }, responsable: { empleadoId: '', nombre: '', apellidos: '' } },
    ...{ fecha_inicio: null, fecha_prevista_fin: null, progreso: 0, vencida: false, importe_presupuestado: 0 },
  });
});

test('[IDEM-01] a replay answers the first answer and creates nothing; without it each call creates one', async () => {
  const acme = await server.company(records);
  const key = { 'x-idempotency-key': 'una' };
  const [first, second] = [await create(acme, whole, key), await create(acme, whole, key)];
  expect([second.body, second.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
  await create(acme, whole);
  expect(await titles(acme)).toEqual(['Lijar', 'Lijar']);
});

test('[W-01] an update changes what is sent and nothing else, and answers the task as it is listed', async () => {
  const acme = await server.company([...records, task('Lijar', { id: 7, ...stored })]);
  const [{ tareaId }] = await listed(acme);
  let now: object = shown;
  const changes = {
    titulo: ['Pintar', { titulo: 'Pintar' }],
    proyectoId: [4, { proyecto: { proyectoId: ID, numero: '26-002', descripcion: 'Nave' } }],
    estadoId: [6, { estado: { estadoId: ID, titulo: 'Terminada' } }],
    responsableId: [2, { responsable: { empleadoId: ID, nombre: 'Eva', apellidos: 'Paz' } }],
    fecha_inicio: ['2026-03-09', { fecha_inicio: '2026-03-09' }],
    fecha_prevista_fin: ['2026-03-10', { fecha_prevista_fin: '2026-03-10', vencida: false }],
    progreso: [100, { progreso: 100 }],
    importe_presupuestado: [0, { importe_presupuestado: 0 }],
  } as const;
  for (const [index, [field, [value, change]]] of Object.entries(changes).entries()) {
    now = { ...now, ...change };
    const { status, body } = await update(acme, tareaId, { [field]: value });
    expect([field, status, body.data]).toEqual([field, 200, { tarea: now }]);
    expect([await listed(acme), await versionOf(acme, 7)]).toEqual([[now], index + 2]);
  }
});

test('[W-01] an id or a date is emptied by "", the same again changes nothing, an empty datos is 400', async () => {
  const acme = await server.company([...records, task('Lijar', { id: 7, ...stored })]);
  const empty = { proyectoId: '', estadoId: '', responsableId: '', fecha_inicio: '', fecha_prevista_fin: '' };
  for (let time = 0; time < 2; time++) {
    expect((await update(acme, 7, empty)).body.data.tarea).toMatchObject({
      ...{ proyecto: { proyectoId: '' }, estado: { estadoId: '' }, responsable: { empleadoId: '' } },
      ...{ fecha_inicio: null, fecha_prevista_fin: null, vencida: false, titulo: 'Lijar', progreso: 99.5 },
    });
    expect(await versionOf(acme, 7)).toBe(2);
  }
  for (const datos of [{}, { fecha_inicio: null }, { vencida: true }]) {
    const { status, body } = await update(acme, 7, datos);
    expect([status, body.data]).toEqual([400, [{ campo: 'datos', mensaje: 'no hay nada que cambiar' }]]);
  }
  const wrong = {
    titulo: '',
    proyectoId: [],
    progreso: 100.1,
    importe_presupuestado: 1e12,
    fecha_inicio: '2026-02-30',
  };
  for (const [field, value] of Object.entries(wrong)) {
    const problem = { errorCode: 400, data: [{ campo: `datos.${field}` }] };
    expect((await update(acme, 7, { [field]: value })).body, field).toMatchObject(problem);
    expect((await create(acme, { ...whole, [field]: value })).body, field).toMatchObject(problem);
  }
  expect((await create(acme, {})).body.data).toMatchObject([{ campo: 'datos.titulo' }]);
  expect([await titles(acme), await versionOf(acme, 7)]).toEqual([['Lijar'], 2]);
});

test('[W-01] [DATE-01] one that would end before it starts is 400, with what is stored too', async () => {
  const acme = await server.company([...records, task('Lijar', { id: 7, ...stored })]);
  const reversed = [{ campo: 'datos.fecha_prevista_fin', mensaje: 'no puede ser anterior a fecha_inicio' }];
  const created = await create(acme, { ...whole, fecha_inicio: '2026-03-10' });
  expect([created.status, created.body.data]).toEqual([400, reversed]);
  for (const datos of [{ fecha_inicio: '2026-03-10' }, { fecha_prevista_fin: '2026-02-28' }]) {
    const { status, body } = await update(acme, 7, datos);
    expect([status, body.data]).toEqual([400, reversed]);
  }
  expect((await update(acme, 7, { fecha_inicio: '2026-03-10', fecha_prevista_fin: '' })).status).toBe(200);
  expect((await update(acme, 7, { fecha_prevista_fin: '2026-03-10' })).status).toBe(200);
});

test('[TSK-01] a deleted task is in no list and can be brought back as it was', async () => {
  const acme = await server.company([...records, task('Lijar', { id: 7, ...stored })]);
  const { body } = await update(acme, 7, { eliminada: true });
  expect(body.data).toEqual({ tarea: { ...shown, eliminada: true } });
  expect([await titles(acme), (await acme.get('/projects/3')).body.data.proyecto.num_tareas]).toEqual([[], 0]);
  expect((await update(acme, 7, { titulo: 'Barnizar' })).body.data.tarea).toMatchObject({ eliminada: true });
  const back = await update(acme, 7, { eliminada: false, titulo: 'Lijar' });
  expect(back.body.data).toEqual({ tarea: shown });
  expect([await listed(acme), await versionOf(acme, 7)]).toEqual([[shown], 4]);
});

test('[PRJ-01] the hours of a task that goes to another project count there, and those with a project of their own stay', async () => {
  const entry = (day: number, more: object) => ({
    ...{ coleccion: 'fichajes', ref: `f${day}`, empleado: 'ana', tarea: 'Lijar', maquina: 'sierra', pausa_minutos: 20 },
    entrada: { fecha: `2026-03-0${day}`, hora: '08:00', metodo: 'app' },
    salida: { fecha: `2026-03-0${day}`, hora: '09:00', metodo: 'app' },
    ...more,
  });
  const contract = { coleccion: 'contratos', ref: 'c', empleado: 'ana', tipo_contrato: 't', fecha_alta: '2026-03-02' };
  const acme = await server.company([
    ...records,
    { coleccion: 'tipos_contrato', ref: 't', titulo: 'Fijo' },
    { ...contract, coste_hora: 10.01 },
    task('Lijar', { id: 7, proyecto: 'p' }),
    { coleccion: 'maquinas', ref: 'sierra', titulo: 'Sierra', coste_hora: 0.07 },
    ...[entry(1, {}), entry(2, {}), entry(3, { salida: null }), entry(4, { proyecto: 'p' }), entry(5, { tarea: null })],
  ]);
  const hours = async () => {
    const { proyectos } = (await acme.get('/projects')).body.data;
    const dated = (await acme.get('/projects', { fecha_inicio: '2000-01-01' })).body.data;
    expect(proyectos).toEqual(dated.proyectos);
    const wrong = await server.service.database.transaction(acme.id, {}, (db) =>
      Promise.all(ROLLUPS.map((figure) => differences(db, acme.id, figure))),
    );
    expect(wrong.flat()).toEqual([]);
    return proyectos.map(({ economico }: { economico: Record<string, number> }) => [
      economico.horas,
      economico.coste_personal,
      economico.coste_maquinaria,
    ]);
  };
  const before = [
    [0, 0, 0],
    [2, 13.35, 0.14],
  ];
  const after = [
    [1.33, 6.67, 0.09],
    [0.67, 6.67, 0.05],
  ];
  expect(await hours()).toEqual(before);
  await update(acme, 7, { proyectoId: 4 });
  expect(await hours()).toEqual(after);
  await update(acme, 7, { proyectoId: 4, eliminada: true });
  expect(await hours()).toEqual(after);
  await update(acme, 7, { proyectoId: '' });
  expect(await hours()).toEqual([[0, 0, 0], after[1]]);
  await Promise.all([3, 4, '', 4, 3].map((proyectoId) => update(acme, 7, { proyectoId })));
  await hours();
  await update(acme, 7, { proyectoId: 3 });
  expect(await hours()).toEqual(before);
});

test('[AUTH-04] [AUTH-01] a read-only key writes none, and nobody does without one', async () => {
  const acme = await server.company([...records, task('Lijar', { id: 7 })]);
  const body = JSON.stringify({ tareaId: 7, datos: { titulo: 'Otra' } });
  const json = { 'content-type': 'application/json' };
  const key = { ...(await acme.newKey(true)), ...json };
  for (const path of ['/crearTarea', '/actualizarTarea']) {
    expect((await server.request(path, { method: 'POST', headers: key, body })).status).toBe(403);
    expect((await server.request(path, { method: 'POST', headers: json, body })).status).toBe(401);
  }
  expect([await titles(acme), await versionOf(acme, 7)]).toEqual([['Lijar'], 1]);
});

test('[TEN-01] [ID-05] another company’s task, project, state or person is a 404', async () => {
  const acme = await server.company([...records, task('Lijar', { id: 7, ...stored })]);
  const other = await server.company([task('Suya', { id: 8 })]);
  const [{ tareaId, proyecto, estado, responsable }] = await listed(acme);
  for (const id of [tareaId, 7, 99, 'x']) {
    const { status, body } = await update(other, id, { titulo: 'Otra' });
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('tareaId')]);
  }
  const { proyectoId } = proyecto;
  const theirs = [{ proyectoId }, { estadoId: estado.estadoId }, { responsableId: responsable.empleadoId }];
  for (const named of [...theirs, { proyectoId: 3 }, { estadoId: 5 }, { responsableId: 1 }]) {
    const [name] = Object.keys(named);
    for (const answer of [await create(other, { titulo: 'Otra', ...named }), await update(other, 8, named)]) {
      expect([answer.status, answer.body.errorMsg]).toEqual([404, expect.stringContaining(`datos.${name}`)]);
    }
  }
  expect([await titles(other), await versionOf(acme, 7), await versionOf(other, 8)]).toEqual([['Suya'], 1, 1]);
});
