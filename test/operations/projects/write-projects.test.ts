import { afterAll, expect, test } from 'vitest';
import { ROLLUPS } from '../../../figures/figures.ts';
import { differences } from '../../../figures/rollups.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-03-10T10:00:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'bar', id: 1, nombre_fiscal: 'Bar Nilo, S.L.' },
  { coleccion: 'clientes', ref: 'luz', id: 2, nombre_fiscal: 'Luz' },
  { coleccion: 'estados_proyecto', ref: 'obra', id: 3, titulo: 'En obra' },
  { coleccion: 'estados_proyecto', ref: 'fin', id: 4, titulo: 'Acabado' },
];
const project = (ref: string, numero: string, more: object = {}): FileRecord => ({
  coleccion: 'proyectos',
  ref,
  numero,
  descripcion: 'Reforma',
  ...more,
});
const whole = { descripcion: 'Ático', clienteId: 1, estadoId: 3, presupuesto_coste: 100.25, presupuesto_venta: -0.5 };

const create = (company: Company, datos: object, headers?: Record<string, string>) =>
  company.post('/projects', { datos }, headers);
const update = (company: Company, id: string | number, datos: object) => company.put(`/projects/${id}`, { datos });
const read = async (company: Company, id: string | number) =>
  (await company.get(`/projects/${id}`)).body.data?.proyecto;
const found = async (company: Company, query: object = {}): Promise<string[]> =>
  (await company.get('/projects', { ...query })).body.data.proyectos.map((one: { numero: string }) => one.numero);
const versionOf = async (company: Company, id: number) =>
  (
    await server.service.database.pool.query<{ version: number }>(
      'select version from projects where account_id = $1 and id = $2',
      [company.id, id],
    )
  ).rows[0]?.version;
const wrongFigures = ({ id }: Company) =>
  server.service.database.transaction(id, {}, async (db) =>
    (await Promise.all(ROLLUPS.map((figure) => differences(db, id, figure)))).flat(),
  );

test('[PRJ-01] [PRJ-03] a project is created with all that is sent, numbered, found by it, and read by its id', async () => {
  const acme = await server.company(records);
  const { status, body } = await create(acme, whole);
  expect([status, body]).toEqual([200, { errorCode: 200, errorMsg: '', data: expect.stringMatching(/^[\w-]{23}$/) }]);
  expect(await read(acme, body.data)).toMatchObject({
    ...{ proyectoId: body.data, numero: '26-001', descripcion: 'Ático', num_tareas: 0, tareas_vencidas: 0 },
    cliente: { nombre_fiscal: 'Bar Nilo, S.L.' },
    estado: { titulo: 'En obra' },
    ...{ presupuesto_coste: 100.25, presupuesto_venta: -0.5, economico: { ventas: 0, horas: 0 } },
  });
  for (const query of [{ busqueda: 'atico' }, { busqueda: '26-001' }, { clienteId: 1 }, { estadoId: 3 }]) {
    expect(await found(acme, query), JSON.stringify(query)).toEqual(['26-001']);
  }
  const bare = await create(acme, { descripcion: 'Nave', clienteId: '', estadoId: null });
  expect(await read(acme, bare.body.data)).toMatchObject({
    ...{ numero: '26-002', cliente: { clienteId: '' }, estado: { estadoId: '' } },
    ...{ presupuesto_coste: 0, presupuesto_venta: 0 },
  });
  expect((await acme.get('/projects')).body.data).toMatchObject({ total_proyectos: 2 });
  expect(await wrongFigures(acme)).toEqual([]);
});

test('[DLV-02] numbers are by company and year, without gaps, also at once, and go on from those imported', async () => {
  const acme = await server.company([
    ...records,
    ...['26-041', '25-900', '26-1', '9', 'X26-999'].map((numero) => project(numero, numero)),
  ]);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => create(acme, { ...whole, ...(index % 4 === 3 && { clienteId: 99 }) })),
  );
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(5);
  expect((await found(acme, { clienteId: 1 })).toReversed()).toEqual(
    Array.from({ length: 15 }, (_, index) => `26-${String(42 + index).padStart(3, '0')}`),
  );
  await acme.load([project('26-041', '26-998')]);
  for (const numero of ['26-999', '26-1000']) {
    const { body } = await create(acme, whole);
    expect((await read(acme, body.data)).numero).toBe(numero);
  }
  const other = await server.company(records);
  await create(other, whole);
  expect(await found(other)).toEqual(['26-001']);
  clock.set('2026-12-31T23:30:00Z'); // Next year in Madrid.
  try {
    const { body } = await create(acme, whole);
    expect((await read(acme, body.data)).numero).toBe('27-001');
  } finally {
    clock.set('2026-03-10T10:00:00Z');
  }
  expect(await wrongFigures(acme)).toEqual([]);
});

test('[IDEM-01] a replay answers the first answer and creates nothing', async () => {
  const acme = await server.company(records);
  const key = { 'x-idempotency-key': 'una' };
  const [first, second] = [await create(acme, whole, key), await create(acme, whole, key)];
  expect([second.body, second.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
  expect(await found(acme)).toEqual(['26-001']);
});

test('[W-01] an update changes what is sent and nothing else, and answers the project as it is read', async () => {
  const acme = await server.company([
    ...records,
    project('p', '26-001', { id: 7, cliente: 'bar', estado: 'obra', presupuesto_venta: 10 }),
  ]);
  const { proyectoId, cliente, estado } = await read(acme, 7);
  let now = await read(acme, 7);
  const changes = {
    descripcion: ['Nave', { descripcion: 'Nave' }],
    clienteId: [2, { cliente: { ...cliente, clienteId: expect.any(String), nombre_fiscal: 'Luz' } }],
    estadoId: [4, { estado: { estadoId: expect.any(String), titulo: 'Acabado' } }],
    presupuesto_coste: [12.5, { presupuesto_coste: 12.5 }],
    presupuesto_venta: [0, { presupuesto_venta: 0 }],
  } as const;
  for (const [index, [field, [value, shown]]] of Object.entries(changes).entries()) {
    now = { ...now, ...shown };
    const { status, body } = await update(acme, proyectoId, { [field]: value });
    expect([field, status, body.data]).toEqual([field, 200, { proyecto: now }]);
    expect([await read(acme, 7), await versionOf(acme, 7)]).toEqual([now, index + 2]);
  }
  expect(now.estado).not.toEqual(estado);
  expect([await found(acme, { busqueda: 'nave' }), await found(acme, { busqueda: 'reforma' })]).toEqual([
    ['26-001'],
    [],
  ]);
  expect(await found(acme, { busqueda: '26-001' })).toEqual(['26-001']);
});

test('[W-01] an id is emptied by "", the same again changes nothing, an empty datos is 400', async () => {
  const acme = await server.company([...records, project('p', '26-001', { id: 7, cliente: 'bar', estado: 'obra' })]);
  for (let time = 0; time < 2; time++) {
    const { proyecto } = (await update(acme, 7, { clienteId: '', estadoId: ' ' })).body.data;
    expect(proyecto).toMatchObject({ cliente: { clienteId: '' }, estado: { estadoId: '', titulo: '' } });
    expect(await versionOf(acme, 7)).toBe(2);
  }
  for (const datos of [{}, { clienteId: null }, { numero: '9' }]) {
    const { status, body } = await update(acme, 7, datos);
    expect([status, body.data]).toEqual([400, [{ campo: 'datos', mensaje: 'no hay nada que cambiar' }]]);
  }
  for (const [field, value] of Object.entries({ descripcion: ' ', clienteId: {}, presupuesto_coste: 1e12 })) {
    const problem = { errorCode: 400, data: [{ campo: `datos.${field}` }] };
    expect((await update(acme, 7, { [field]: value })).body, field).toMatchObject(problem);
    expect((await create(acme, { ...whole, [field]: value })).body, field).toMatchObject(problem);
  }
  expect((await create(acme, {})).body.data).toMatchObject([{ campo: 'datos.descripcion' }]);
  expect([await found(acme), await versionOf(acme, 7)]).toEqual([['26-001'], 2]);
});

test('[AUTH-04] [AUTH-01] a read-only key writes none, and nobody does without one', async () => {
  const acme = await server.company([...records, project('p', '26-001', { id: 7 })]);
  const body = JSON.stringify({ proyectoId: 7, datos: { descripcion: 'Otro' } });
  const json = { 'content-type': 'application/json' };
  const key = { ...(await acme.newKey(true)), ...json };
  for (const path of ['/crearProyecto', '/actualizarProyecto']) {
    expect((await server.request(path, { method: 'POST', headers: key, body })).status).toBe(403);
    expect((await server.request(path, { method: 'POST', headers: json, body })).status).toBe(401);
  }
  expect([await found(acme), await versionOf(acme, 7)]).toEqual([['26-001'], 1]);
});

test('[TEN-01] [ID-05] another company’s project, client or state is a 404', async () => {
  const acme = await server.company([...records, project('p', '26-001', { id: 7, cliente: 'bar', estado: 'obra' })]);
  const other = await server.company([project('q', '26-001', { id: 8 })]);
  const { proyectoId, cliente, estado } = await read(acme, 7);
  for (const id of [proyectoId, 7, 99, 'x']) {
    const { status, body } = await update(other, id, { descripcion: 'Otro' });
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('proyectoId')]);
  }
  for (const named of [{ clienteId: cliente.clienteId }, { clienteId: 1 }, { estadoId: estado.estadoId }]) {
    const [name] = Object.keys(named);
    for (const answer of [await create(other, { ...whole, ...named }), await update(other, 8, named)]) {
      expect([answer.status, answer.body.errorMsg]).toEqual([404, expect.stringContaining(`datos.${name}`)]);
    }
  }
  expect([await found(other), await versionOf(acme, 7), await versionOf(other, 8)]).toEqual([['26-001'], 1, 1]);
});
