import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const supplier = (nombre_fiscal: string, more: object = {}): FileRecord => ({
  coleccion: 'proveedores',
  nombre_fiscal,
  ...more,
});

const whole = {
  nombre_fiscal: 'Maderas Nilo, S.A.',
  nombre_comercial: 'Maderas',
  cif: 'ES-A 1234.5678',
  email: 'Pedidos@Maderas.es',
  telefono: '910000000',
  movil: '600000000',
};

const create = (company: Company, datos: object, headers?: Record<string, string>) =>
  company.post('/suppliers', { datos }, headers);
const update = (company: Company, id: string | number, datos: object) => company.put(`/suppliers/${id}`, { datos });
const read = async (company: Company, id: string | number) =>
  (await company.get(`/suppliers/${id}`)).body.data?.proveedor;
const found = async (company: Company, busqueda = ''): Promise<string[]> =>
  (await company.get('/suppliers', { busqueda })).body.data.proveedores.map(
    (one: { nombre_fiscal: string }) => one.nombre_fiscal,
  );
const versionOf = async (company: Company, id: number) =>
  (
    await server.service.database.pool.query<{ version: number }>(
      'select version from suppliers where account_id = $1 and id = $2',
      [company.id, id],
    )
  ).rows[0]?.version;

test('a supplier is created with all that is sent, found by it, and read by its id', async () => {
  const acme = await server.company();
  const { status, headers, body } = await create(acme, whole);
  expect([status, headers.get('x-existing')]).toEqual([200, null]);
  expect(body).toEqual({ errorCode: 200, errorMsg: '', data: expect.stringMatching(/^[\w-]{23}$/) });
  const { status: reading, body: answer } = await acme.get(`/suppliers/${body.data}`);
  expect([reading, answer.data]).toEqual([200, { proveedor: { proveedorId: body.data, ...whole } }]);
  expect((await acme.get('/suppliers')).body.data.proveedores).toEqual([answer.data.proveedor]);
  for (const busqueda of ['nilo', 'maderas', '1234.5678', 'PEDIDOS@']) {
    expect(await found(acme, busqueda), busqueda).toEqual(['Maderas Nilo, S.A.']);
  }
  expect((await acme.get('/purchase-invoices', { proveedorId: body.data })).status).toBe(200);
});

test('[PIN-01] [ENV-08] what is not sent is empty, movil null; without a tax id each call creates one', async () => {
  const acme = await server.company();
  const ids = [];
  for (const datos of [{}, { cif: '', movil: '' }, { cif: ' - ', movil: null }]) {
    const { headers, body } = await create(acme, { nombre_fiscal: 'Zinc', ...datos });
    expect(headers.get('x-existing')).toBeNull();
    ids.push(body.data);
    const unset = { nombre_comercial: '', cif: datos.cif === ' - ' ? '-' : '', email: '', telefono: '', movil: null };
    expect(await read(acme, body.data)).toEqual({ proveedorId: body.data, nombre_fiscal: 'Zinc', ...unset });
  }
  expect(new Set(ids).size).toBe(3);
});

test('[W-03] one with a tax id that is known, however it is written, is answered as it is', async () => {
  const acme = await server.company([
    supplier('Nuevo', { id: 9, cif: 'A12345678' }),
    supplier('Antiguo', { id: 8, cif: 'es-a\u00a01234.5678', telefono: '912' }),
    supplier('Otro', { id: 7, cif: 'ESA123456789' }),
  ]);
  for (const cif of ['A12345678', 'ESA12345678', 'a 1234-5678', 'a\u00a012345678']) {
    const { status, headers, body } = await create(acme, { ...whole, cif });
    expect([cif, status, headers.get('x-existing')]).toEqual([cif, 200, 'true']);
    expect(await read(acme, body.data)).toMatchObject({ nombre_fiscal: 'Antiguo', telefono: '912', email: '' });
  }
  // The same number is another's as a client.
  expect((await acme.post('/clients', { datos: whole })).headers.get('x-existing')).toBeNull();
  expect([await found(acme), await versionOf(acme, 8)]).toEqual([['Antiguo', 'Nuevo', 'Otro'], 1]);
});

test('[W-03] parallel calls with a new tax id create one supplier', async () => {
  const acme = await server.company();
  const forms = ['A12345678', 'es-a.12345678'];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => create(acme, { nombre_fiscal: 'Zinc', cif: forms[index % 2] })),
  );
  expect(new Set(answers.map(({ body }) => body.data)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get('x-existing') === null)).toHaveLength(1);
  expect(await found(acme)).toEqual(['Zinc']);
});

test('[IDEM-01] a replay answers all of the first answer, X-Existing included', async () => {
  const acme = await server.company([supplier('Eva', { cif: 'A1' })]);
  for (const [cif, existing] of [
    ['a-1', 'true'],
    ['A2', null],
  ]) {
    const key = { 'x-idempotency-key': `key ${cif}`.replace(' ', '-') };
    const first = await create(acme, { nombre_fiscal: 'Leo', cif }, key);
    const second = await create(acme, { nombre_fiscal: 'Leo', cif }, key);
    expect(second.body).toEqual(first.body);
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect([first, second].map(({ headers }) => headers.get('x-existing'))).toEqual([existing, existing]);
  }
  expect(await found(acme)).toEqual(['Eva', 'Leo']);
});

test('[W-01] an update changes what is sent and nothing else, and answers the supplier as it is read', async () => {
  const acme = await server.company([supplier('Antes', { id: 7, ...whole, nombre_fiscal: 'Antes' })]);
  const { proveedorId } = await read(acme, 7);
  let now: Record<string, unknown> = { proveedorId, ...whole, nombre_fiscal: 'Antes' };
  const changes = {
    nombre_fiscal: 'Después',
    nombre_comercial: 'Otra sierra',
    cif: 'B-99',
    email: 'otro@example.com',
    telefono: '911111111',
    movil: '611111111',
  };
  for (const [index, [field, value]] of Object.entries(changes).entries()) {
    now = { ...now, [field]: value };
    const { status, body } = await update(acme, proveedorId, { [field]: value });
    expect([field, status, body.data]).toEqual([field, 200, { proveedor: now }]);
    expect([await read(acme, 7), await versionOf(acme, 7)]).toEqual([now, index + 2]);
  }
  // What is derived follows.
  for (const text of ['despues', 'otra sierra', 'b-99', 'otro@']) expect(await found(acme, text)).toEqual(['Después']);
  for (const text of ['antes', 'maderas', '1234', 'pedidos']) expect(await found(acme, text), text).toEqual([]);
  expect((await create(acme, whole)).headers.get('x-existing')).toBeNull();
  expect((await create(acme, { nombre_fiscal: 'X', cif: 'b99' })).headers.get('x-existing')).toBe('true');
});

test('[W-01] a text is emptied by "", the same again changes nothing, an empty datos is 400', async () => {
  const acme = await server.company([supplier('Zinc', { id: 7, ...whole })]);
  const empty = { nombre_comercial: '', cif: '', email: ' ', telefono: '', movil: '' };
  for (let time = 0; time < 2; time++) {
    const { proveedor } = (await update(acme, 7, empty)).body.data;
    expect(proveedor).toMatchObject({ nombre_comercial: '', cif: '', email: '', telefono: '', movil: null });
    expect(await versionOf(acme, 7)).toBe(2);
  }
  for (const datos of [{}, { telefono: null }, { desconocido: 1 }]) {
    const { status, body } = await update(acme, 7, datos);
    expect([status, body.data]).toEqual([400, [{ campo: 'datos', mensaje: 'no hay nada que cambiar' }]]);
  }
  for (const [field, value] of Object.entries({ nombre_fiscal: '', email: 'no es correo', cif: 'x'.repeat(51) })) {
    const problem = { errorCode: 400, data: [{ campo: `datos.${field}` }] };
    expect((await update(acme, 7, { [field]: value })).body, field).toMatchObject(problem);
    expect((await create(acme, { nombre_fiscal: 'Otro', [field]: value })).body, field).toMatchObject(problem);
  }
  expect((await create(acme, { cif: 'A2' })).body.data).toMatchObject([{ campo: 'datos.nombre_fiscal' }]);
  expect([await found(acme), await versionOf(acme, 7)]).toEqual([['Maderas Nilo, S.A.'], 2]);
});

test('[W-03] the tax id of another supplier is 400; those that were imported with the same keep it', async () => {
  const acme = await server.company([
    supplier('Uno', { id: 1, cif: 'A1' }),
    supplier('Dos', { id: 2, cif: 'ES A-1' }),
    supplier('Tres', { id: 3, cif: 'A3' }),
  ]);
  const { status, body } = await update(acme, 3, { cif: 'es-a.1', telefono: '1' });
  expect([status, body.data]).toEqual([400, [{ campo: 'datos.cif', mensaje: 'lo tiene otro proveedor' }]]);
  expect([(await read(acme, 3)).telefono, await versionOf(acme, 3)]).toEqual(['', 1]);
  for (const id of [1, 2, 3]) {
    const { cif } = await read(acme, id);
    expect((await update(acme, id, { cif: `${cif}.` })).body.data.proveedor.cif).toBe(`${cif}.`);
  }
  const answers = await Promise.all([1, 2, 3].map((id) => update(acme, id, { cif: 'B7' })));
  expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 400, 400]);
});

test('[AUTH-04] [AUTH-01] a read-only key reads and writes none, and nobody does without one', async () => {
  const acme = await server.company([supplier('Zinc', { id: 7 })]);
  const body = JSON.stringify({ proveedorId: 7, datos: { nombre_fiscal: 'Otro' } });
  const json = { 'content-type': 'application/json' };
  const key = { ...(await acme.newKey(true)), ...json };
  for (const [path, allowed] of [
    ['/crearProveedor', 403],
    ['/actualizarProveedor', 403],
    ['/obtenerProveedor', 200],
  ] as const) {
    expect((await server.request(path, { method: 'POST', headers: key, body })).status).toBe(allowed);
    expect((await server.request(path, { method: 'POST', headers: json, body })).status).toBe(401);
  }
  expect(await found(acme)).toEqual(['Zinc']);
});

test('[TEN-01] another company’s supplier is a 404, and its tax id is free', async () => {
  const acme = await server.company([supplier('Zinc', { id: 7, cif: 'A1' })]);
  const other = await server.company([supplier('Otro', { id: 8 })]);
  const { proveedorId } = await read(acme, 7);
  for (const id of [proveedorId, 7, 99, 'x']) {
    for (const { status, body } of [await other.get(`/suppliers/${id}`), await update(other, id, { telefono: '1' })]) {
      expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('proveedorId')]);
    }
  }
  expect((await update(other, 8, { cif: 'A1' })).status).toBe(200);
  expect((await create(other, { nombre_fiscal: 'Más', cif: 'A1' })).headers.get('x-existing')).toBe('true');
  expect([await found(acme), await versionOf(acme, 7)]).toEqual([['Zinc'], 1]);
});
