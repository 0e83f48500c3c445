import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const client = (nombre_fiscal: string, more: object = {}): FileRecord => ({
  coleccion: 'clientes',
  nombre_fiscal,
  ...more,
});
const lists: FileRecord[] = [{ coleccion: 'tarifas', ref: 't2', tarifa: 2 }];

const whole = {
  nombre_fiscal: 'Bar Nilo, S.L.',
  nombre_comercial: 'El Bar',
  cif: 'ES-B 1234.5678',
  email: 'Bar@Example.com',
  telefono: '910000000',
  movil: '600000000',
  direccion: 'Calle Mayor, 1',
  cp: '28013',
  poblacion: 'Madrid',
  provincia: 'Madrid',
  pais: 'España',
  tarifa: 2,
  rgpd: {
    comunicaciones_email: true,
    comunicaciones_whatsapp: false,
    comunicaciones_sms: true,
    tratamiento_imagenes: false,
  },
};

const create = (company: Company, datos: object, headers?: Record<string, string>) =>
  company.post('/clients', { datos }, headers);
const update = (company: Company, id: string | number, datos: object, headers?: Record<string, string>) =>
  company.put(`/clients/${id}`, { datos }, headers);
const read = async (company: Company, id: string | number) => (await company.get(`/clients/${id}`)).body.data?.cliente;
const found = async (company: Company, query: object): Promise<string[]> =>
  (await company.get('/clients', { ...query })).body.data.clientes.map(
    (one: { nombre_fiscal: string }) => one.nombre_fiscal,
  );
const versionOf = async (company: Company, id: number) =>
  (
    await server.service.database.pool.query<{ version: number }>(
      'select version from clients where account_id = $1 and id = $2',
      [company.id, id],
    )
  ).rows[0]?.version;
/** What an operation changed, by the journal. */
const journalled = async (company: Company, operation: string) =>
  (
    await server.service.database.pool.query<{ record_table: string; record_id: number }>(
      'select record_table, record_id from journal_entries where account_id = $1 and operation = $2 order by n',
      [company.id, operation],
    )
  ).rows;
const readOnly = async (company: Company, path: string, body: object) =>
  server.request(path, {
    method: 'POST',
    headers: { ...(await company.newKey(true)), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

test('a client is created with all that is sent, found by it, and used by its id', async () => {
  const acme = await server.company(lists);
  const { status, headers, body } = await create(acme, whole);
  expect([status, headers.get('x-existing')]).toEqual([200, null]);
  expect(body).toEqual({ errorCode: 200, errorMsg: '', data: expect.stringMatching(/^[\w-]{23}$/) });
  expect(await read(acme, body.data)).toEqual({ clienteId: body.data, ...whole });
  for (const query of [
    { cif: 'b12345678' },
    { email: 'bar@example.com' },
    { tarifa: 2 },
    ...['nilo', 'el bar', '1234.5678', 'bar@'].map((busqueda) => ({ busqueda })),
  ]) {
    expect(await found(acme, query), JSON.stringify(query)).toEqual(['Bar Nilo, S.L.']);
  }
  const note = {
    cliente: { cif: 'B12345678', pais: 'Portugal' },
    pedido: { obra: 'Obra' },
    detalles: [{ cantidad: 1, descripcion: 'Una', importe_unitario: 1 }],
  };
  expect((await acme.post('/delivery-notes', note)).status).toBe(200);
  expect(await read(acme, body.data)).toEqual({ clienteId: body.data, ...whole, pais: 'Portugal' });
});

test('[ENV-08] what is not sent is empty; without a tax id each call creates one', async () => {
  const acme = await server.company();
  const ids = [];
  for (const datos of [{}, { cif: '' }, { cif: ' - ' }, { cif: null, tarifa: null }]) {
    const { headers, body } = await create(acme, { nombre_fiscal: ' Zoe ', ...datos });
    expect(headers.get('x-existing')).toBeNull();
    ids.push(body.data);
  }
  expect(new Set(ids).size).toBe(4);
  const unset = { comunicaciones_email: null, comunicaciones_whatsapp: null, comunicaciones_sms: null };
  expect(await read(acme, ids[0])).toEqual({
    ...Object.fromEntries(Object.keys(whole).map((name) => [name, ''])),
    clienteId: ids[0],
    nombre_fiscal: 'Zoe',
    tarifa: 1,
    rgpd: { ...unset, tratamiento_imagenes: null },
  });
  expect(await journalled(acme, 'crearCliente')).toHaveLength(4);
});

test('[W-03] one with a tax id that is known, however it is written, is answered as it is', async () => {
  const acme = await server.company([
    ...lists,
    client('Nuevo', { id: 9, cif: 'B12345678' }),
    client('Antiguo', { id: 8, cif: 'ES-B 1234.5678', tarifa: 2, email: 'bar@example.com' }),
  ]);
  for (const cif of ['B12345678', 'esb12345678', 'b-1234 5678']) {
    const { status, headers, body } = await create(acme, { ...whole, cif });
    expect([status, headers.get('x-existing')]).toEqual([200, 'true']);
    expect((await read(acme, body.data)).nombre_fiscal).toBe('Antiguo');
  }
  expect(await read(acme, 8)).toMatchObject({ email: 'bar@example.com', nombre_comercial: '', telefono: '' });
  expect([await versionOf(acme, 8), await versionOf(acme, 9)]).toEqual([1, 1]);
  expect(await found(acme, {})).toEqual(['Antiguo', 'Nuevo']);
  expect(await journalled(acme, 'crearCliente')).toEqual([]);
});

test('[W-03] parallel calls with a new tax id create one client, by deliveries too', async () => {
  const acme = await server.company();
  const forms = ['B12345678', 'es-b.12345678'];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const party = { nombre_fiscal: 'Bar', cif: forms[index % 2] };
      return index % 4 === 3
        ? acme.post('/delivery-notes', {
            cliente: party,
            pedido: { obra: 'Obra' },
            detalles: [{ cantidad: 1, descripcion: 'Una', importe_unitario: 1 }],
          })
        : create(acme, party);
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(await found(acme, {})).toEqual(['Bar']);
  const created = answers.filter((_, index) => index % 4 !== 3);
  expect(new Set(created.map(({ body }) => body.data)).size).toBe(1);
});

test('[IDEM-01] a replay answers all of the first answer, X-Existing included', async () => {
  const acme = await server.company([client('Eva', { cif: 'A1' })]);
  const twice = async (datos: object, key: string) => {
    const first = await create(acme, datos, { 'x-idempotency-key': key });
    const second = await create(acme, datos, { 'x-idempotency-key': key });
    expect(second.body).toEqual(first.body);
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    return [first, second].map(({ headers }) => headers.get('x-existing'));
  };
  expect(await twice({ nombre_fiscal: 'Eva', cif: 'a-1' }, 'a')).toEqual(['true', 'true']);
  expect(await twice({ nombre_fiscal: 'Leo', cif: 'A2' }, 'b')).toEqual([null, null]);
  expect(await twice({ nombre_fiscal: 'Ana' }, 'c')).toEqual([null, null]);
  expect(await found(acme, {})).toEqual(['Ana', 'Eva', 'Leo']);
});

test('[W-01] an update changes what is sent and nothing else, and answers the client as it is read', async () => {
  const acme = await server.company([...lists, client('Antes', { id: 7, ...whole, nombre_fiscal: 'Antes' })]);
  const { clienteId } = await read(acme, 7);
  let now: Record<string, unknown> = { clienteId, ...whole, nombre_fiscal: 'Antes' };
  const changes = {
    nombre_fiscal: 'Después',
    nombre_comercial: 'Otro bar',
    cif: 'A-99',
    email: 'otro@example.com',
    telefono: '911111111',
    movil: '611111111',
    direccion: 'Calle Menor, 2',
    cp: '08001',
    poblacion: 'Barcelona',
    provincia: 'Barna',
    pais: 'Andorra',
    tarifa: 1,
  };
  for (const [index, [field, value]] of Object.entries(changes).entries()) {
    now = { ...now, [field]: value };
    const { status, body } = await update(acme, clienteId, { [field]: value });
    expect([field, status, body.data]).toEqual([field, 200, { cliente: now }]);
    expect(await read(acme, 7)).toEqual(now);
    expect(await versionOf(acme, 7)).toBe(index + 2);
  }
  expect(await journalled(acme, 'actualizarCliente')).toHaveLength(Object.keys(changes).length);
  // What is derived follows.
  for (const query of [{ cif: 'a99' }, { busqueda: 'despues' }, { busqueda: 'otro bar' }, { busqueda: 'otro@' }]) {
    expect(await found(acme, query), JSON.stringify(query)).toEqual(['Después']);
  }
  for (const query of [{ cif: whole.cif }, { busqueda: 'antes' }, { busqueda: 'el bar' }, { busqueda: 'b 1234' }]) {
    expect(await found(acme, query), JSON.stringify(query)).toEqual([]);
  }
});

test('[W-01] a text is emptied by "", consent is changed flag by flag, and the same again changes nothing', async () => {
  const acme = await server.company([...lists, client('Bar', { id: 7, ...whole })]);
  const texts = ['nombre_comercial', 'cif', 'email', 'telefono', 'movil', 'direccion', 'cp', 'poblacion', 'pais'];
  const empty = { ...Object.fromEntries(texts.map((name) => [name, ''])), provincia: ' ' };
  for (let time = 0; time < 2; time++) {
    expect((await update(acme, 7, empty)).body.data.cliente).toMatchObject({ ...empty, provincia: '', tarifa: 2 });
    expect(await versionOf(acme, 7)).toBe(2);
  }
  expect(await found(acme, { cif: whole.cif })).toEqual([]);
  expect(await found(acme, { busqueda: 'el bar' })).toEqual([]);
  expect((await create(acme, whole)).headers.get('x-existing')).toBeNull();

  const { rgpd } = (await update(acme, 7, { rgpd: { comunicaciones_email: false } })).body.data.cliente;
  expect(rgpd).toEqual({ ...whole.rgpd, comunicaciones_email: false });
  for (const datos of [{ rgpd: {} }, { rgpd, tarifa: 2, telefono: null }]) {
    expect((await update(acme, 7, datos)).status).toBe(200);
    expect(await versionOf(acme, 7)).toBe(3);
  }
});

test('[W-01] an empty datos is 400, and what is wrong is named; nothing changes', async () => {
  const acme = await server.company([...lists, client('Bar', { id: 7, cif: 'A1' })]);
  for (const datos of [{}, { telefono: null }, { desconocido: 1 }]) {
    const { status, body } = await update(acme, 7, datos);
    expect([status, body.data]).toEqual([400, [{ campo: 'datos', mensaje: 'no hay nada que cambiar' }]]);
  }
  const wrong = { nombre_fiscal: ' ', email: 'no es correo', cp: 'x'.repeat(21), tarifa: 3, rgpd: 'sí' };
  for (const [field, value] of Object.entries({ ...wrong, nombre_fiscal: '' })) {
    const campo = `datos.${field}`;
    expect((await update(acme, 7, { [field]: value })).body, field).toMatchObject({
      errorCode: 400,
      data: [{ campo }],
    });
    const datos = { nombre_fiscal: 'Otro', [field]: value };
    expect((await create(acme, datos)).body, field).toMatchObject({ errorCode: 400, data: [{ campo }] });
  }
  expect((await create(acme, { cif: 'A2' })).body.data).toMatchObject([{ campo: 'datos.nombre_fiscal' }]);
  for (const tarifa of [0, 1.5, 4_000_000_000]) {
    expect((await update(acme, 7, { tarifa })).body.data, String(tarifa)).toMatchObject([{ campo: 'datos.tarifa' }]);
  }
  expect([await found(acme, {}), await versionOf(acme, 7)]).toEqual([['Bar'], 1]);
});

test('[DLV-01] the tax id of another client is 400; those that were imported with the same keep it', async () => {
  const acme = await server.company([
    client('Uno', { id: 1, cif: 'A1' }),
    client('Dos', { id: 2, cif: 'ES A-1' }),
    client('Tres', { id: 3, cif: 'A3' }),
  ]);
  const { status, body } = await update(acme, 3, { cif: 'es-a.1', telefono: '1' });
  expect([status, body.data]).toEqual([400, [{ campo: 'datos.cif', mensaje: 'lo tiene otro cliente' }]]);
  expect([(await read(acme, 3)).telefono, await versionOf(acme, 3)]).toEqual(['', 1]);
  for (const id of [1, 2, 3]) {
    const { cif } = await read(acme, id);
    expect((await update(acme, id, { cif: `${cif}.` })).body.data.cliente.cif).toBe(`${cif}.`);
  }
});

test('[DLV-01] of parallel calls that give one tax id to several clients, one does', async () => {
  const ids = [1, 2, 3, 4, 5, 6];
  const acme = await server.company(ids.map((id) => client(`Bar ${id}`, { id })));
  const answers = await Promise.all([
    ...ids.map((id) => update(acme, id, { cif: 'B12345678' })),
    create(acme, { nombre_fiscal: 'Otro', cif: 'b 12345678' }),
  ]);
  expect(answers.map(({ status }) => status).every((status) => [200, 400].includes(status))).toBe(true);
  expect(await found(acme, { cif: 'B12345678' })).toHaveLength(1);
});

test('[AUTH-04] [AUTH-01] a read-only key writes none, and nobody does without one', async () => {
  const acme = await server.company([client('Bar', { id: 7 })]);
  const body = { clienteId: 7, datos: { nombre_fiscal: 'Otro' } };
  for (const path of ['/crearCliente', '/actualizarCliente']) {
    expect((await readOnly(acme, path, body)).status).toBe(403);
    const headers = { 'content-type': 'application/json' };
    expect((await server.request(path, { method: 'POST', headers, body: JSON.stringify(body) })).status).toBe(401);
  }
  expect(await found(acme, {})).toEqual(['Bar']);
});

test('[TEN-01] another company’s client is a 404, and its tax id is free', async () => {
  const acme = await server.company([client('Bar', { id: 7, cif: 'A1' })]);
  const other = await server.company([client('Otro', { id: 8 })]);
  const { clienteId } = await read(acme, 7);
  for (const id of [clienteId, 7, 99, 'x']) {
    const { status, body } = await update(other, id, { telefono: '1' });
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('clienteId')]);
  }
  expect((await update(other, 8, { cif: 'A1' })).status).toBe(200);
  expect((await create(other, { nombre_fiscal: 'Más', cif: 'A1' })).headers.get('x-existing')).toBe('true');
  expect([await found(acme, { cif: 'A1' }), await versionOf(acme, 7)]).toEqual([['Bar'], 1]);
});
