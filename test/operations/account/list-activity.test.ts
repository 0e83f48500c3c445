import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Company, type FileRecord, type Server, startServer, TestClock } from '../../helpers/world.ts';
import { callMcp, newApplication, toolCall } from '../../oauth/application.ts';

const NOW = '2026-03-02T10:00:00Z';
/** Without what bears the database's own time: the company's creation, and access. */
const BY_CLOCK = { fecha_fin: '2026-04-30' };
const RECORDS: FileRecord[] = [
  { coleccion: 'clientes', ref: 'sol', id: 5, nombre_fiscal: 'Sol' },
  { coleccion: 'clientes', ref: 'mar', id: 6, nombre_fiscal: 'Mar' },
];

let server: Server;
let clock: TestClock;
beforeAll(async () => {
  clock = new TestClock(NOW);
  // What a call of assistants reads is known to its process at once, to others a second later.
  server = await startServer({ clock, alone: true });
});
afterAll(() => server.stop());

interface Registro {
  momento: string;
  origen: { tipo: string; nombre: string | null };
  puerta: string;
  operacion: string;
  peticion: string;
  cambios: number | null;
  filas: number | null;
}

const activity = async (company: Company, query: Record<string, unknown> = {}): Promise<Registro[]> => {
  const { status, body } = await company.get('/audit', query);
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data.registros;
};
const operationsOf = async (company: Company, query: Record<string, unknown> = {}) =>
  (await activity(company, query)).map(({ operacion }) => operacion);
const newClient = (company: Company, nombre_fiscal: string, headers = {}) =>
  company.post('/clients', { datos: { nombre_fiscal } }, headers);

test('[JRN-01] one call is one row, newest first: who, by which door, what, when, and how many records it changed', async () => {
  const acme = await server.company([...RECORDS]);
  clock.advance({ minutes: 1 });
  await newClient(acme, 'Luna', { 'X-Request-Id': 'request-0001' });
  clock.advance({ minutes: 1 });
  const records = ['a', 'b', 'c'].map((ref) => ({ coleccion: 'familias', ref, titulo: ref }));
  await acme.alias('importarDatos', { registros: records });
  const read = await acme.get('/audit', BY_CLOCK);
  const { registros, ...rest } = read.body.data;
  expect(rest).toEqual({ total_registros: 3, pagina: 1, por_pagina: 100, num_paginas: 1, cursor: null });
  expect(registros.map(({ operacion, puerta, cambios }: Registro) => [operacion, puerta, cambios])).toEqual([
    ['importarDatos', 'v0', 3],
    ['crearCliente', 'v1', 1],
    ['import', 'comando', 2],
  ]);
  expect(registros[1]).toEqual({
    momento: '2026-03-02T11:01:00.000+01:00',
    origen: { tipo: 'clave', nombre: 'test' },
    puerta: 'v1',
    operacion: 'crearCliente',
    peticion: 'request-0001',
    cambios: 1,
    filas: null,
  });
  expect(registros[2].origen).toEqual({ tipo: 'importacion', nombre: null });
});

test('[JRN-01] a call that changes nothing, and reads by a key, are not among them; a repeated call is one', async () => {
  const acme = await server.company();
  const key = { 'Idempotency-Key': 'once' };
  for (let times = 0; times < 3; times++) await newClient(acme, 'Luna', key);
  await acme.put('/clients/5', { datos: { nombre_fiscal: '' } });
  await acme.get('/clients');
  expect(await operationsOf(acme, BY_CLOCK)).toEqual(['crearCliente']);
});

test('[JRN-01] a new record that the database finds there already counts with what it changed', async () => {
  const acme = await server.company([
    { coleccion: 'funnels', ref: 'v', titulo: 'Ventas', etapas: [{ ref: 'n', titulo: 'Nuevo' }] },
  ]);
  const [funnel] = (await acme.get('/crm/funnels')).body.data.funnels;
  const datos = {
    funnel_fk: funnel.funnelId,
    etapa_fk: funnel.etapas[0].etapaId,
    descripcion: 'Feria',
    persona_contacto: 'Ana',
    email_contacto: 'ana@example.com',
  };
  for (let times = 0; times < 2; times++) await acme.post('/crm/opportunities', { datos });
  const made = await activity(acme, { operacion: 'crearOportunidad' });
  expect(made).toHaveLength(2);
  const { rows } = await server.service.database.pool.query(
    `select count(*)::int as number from journal_entries where account_id = $1 and operation = 'crearOportunidad'`,
    [acme.id],
  );
  expect(made.map(({ cambios }) => cambios ?? 0).reduce((sum, more) => sum + more)).toBe(rows[0].number);
});

describe('what assistants read', () => {
  test('[JRN-01] by a connection: the operation, when, and the rows that it was answered; its writes as changes', async () => {
    const acme = await server.company([
      ...RECORDS,
      { coleccion: 'funnels', ref: 'v', titulo: 'Ventas', etapas: [{ ref: 'n', titulo: 'Nuevo' }] },
    ]);
    const { access } = await (await newApplication(server, acme)).connect();
    clock.advance({ minutes: 1 });
    for (const call of [
      toolCall('consultar_clientes', {}),
      toolCall('consultar_clientes', { busqueda: 'nadie' }),
      toolCall('obtener_cliente', { clienteId: 5 }),
      toolCall('obtener_cliente', { clienteId: 999 }),
      toolCall('listar_funnels'),
      toolCall('crear_contacto', { datos: { nombre: 'Ana' } }),
    ]) {
      await callMcp(server, access, call);
      clock.advance({ seconds: 1 });
    }
    const rows = await activity(acme, { origen: 'conexion' });
    expect(rows.map(({ operacion, filas, cambios }) => [operacion, filas, cambios])).toEqual([
      ['crearContacto', null, 1],
      ['listarFunnels', 1, null],
      ['obtenerCliente', 1, null],
      ['consultarClientes', 0, null],
      ['consultarClientes', 2, null],
    ]);
    expect(new Set(rows.map(({ puerta, origen }) => `${puerta} ${origen.tipo}`))).toEqual(new Set(['mcp conexion']));
    expect(rows.at(-1)?.origen.nombre).not.toBeNull();
    expect(rows.at(-1)?.momento.slice(0, 16)).toBe(
      clock.now().subtract({ seconds: 6 }).toZonedDateTimeISO('Europe/Madrid').toString().slice(0, 16),
    );
  });

  test('[JRN-01] by a key too, when it calls through the connector, in the catalogue as well', async () => {
    const acme = await server.company(RECORDS);
    const call = (path: string, body: unknown) =>
      fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: {
          ...acme.headers,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(body),
      });
    const params = { name: 'ejecutar_operacion', arguments: { operacion: 'consultar_clientes', argumentos: {} } };
    const answer = await call('/mcp/?modo=catalogo', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    expect(answer.status).toBe(200);
    expect(await activity(acme, { operacion: 'consultarClientes' })).toMatchObject([
      { origen: { tipo: 'clave', nombre: 'test' }, puerta: 'mcp', filas: 2, cambios: null },
    ]);
  });
});

test('[JRN-01] access too: connections authorised, webhooks; of another company nothing', async () => {
  const [acme, other] = [await server.company(), await server.company()];
  const earlier = await operationsOf(acme);
  await (await newApplication(server, acme)).connect();
  await acme.post('/webhooks', { url: 'https://example.com/' });
  const rows = (await activity(acme)).filter(({ operacion }) => !earlier.includes(operacion));
  expect(rows.map(({ operacion, origen, puerta, cambios }) => [operacion, origen.tipo, puerta, cambios])).toEqual(
    expect.arrayContaining([
      ['crearWebhook', 'clave', 'v1', 1],
      ['connection authorize', 'persona', 'paginas', 1],
    ]),
  );
  expect(await operationsOf(other)).toEqual(['account create']);
});

test('[PAG-02] page by page and by cursor, each once, in one order; filters and days narrow it', async () => {
  const acme = await server.company(RECORDS);
  for (let day = 0; day < 5; day++) {
    clock.advance({ hours: 24 });
    const { access } = await (await newApplication(server, acme)).connect();
    await newClient(acme, `Cliente ${day}`);
    await callMcp(server, access, toolCall('consultar_clientes', {}));
    await callMcp(server, access, toolCall('consultar_clientes', {}));
  }
  const whole = await activity(acme);
  const moments = whole.map(({ momento }) => Temporal.Instant.from(momento).epochMilliseconds);
  expect(moments).toEqual(moments.toSorted((one, other) => other - one));
  for (const por_pagina of [1, 4, 7]) {
    const [byPage, byCursor]: [Registro[], Registro[]] = [[], []];
    let cursor: string | null = '';
    for (let pagina = 1; cursor !== null; pagina++) {
      byPage.push(...(await activity(acme, { pagina, por_pagina })));
      const { body } = await acme.get('/audit', cursor ? { cursor, por_pagina } : { por_pagina });
      expect(body.data.total_registros).toBe(whole.length);
      byCursor.push(...body.data.registros);
      cursor = body.data.cursor;
    }
    expect(byPage).toEqual(whole);
    expect(byCursor).toEqual(whole);
  }
  const today = clock.now().toZonedDateTimeISO('Europe/Madrid').toPlainDate();
  const yesterday = today.subtract({ days: 1 }).toString();
  const oneDay = { fecha_inicio: yesterday, fecha_fin: yesterday };
  const read = ['consultarClientes', 'consultarClientes'];
  expect((await operationsOf(acme, oneDay)).toSorted()).toEqual([...read, 'crearCliente']);
  expect(
    (await operationsOf(acme, { modificado_desde: today.toString() })).filter((name) => read.includes(name)),
  ).toEqual(read);
  expect(await operationsOf(acme, { ...oneDay, origen: 'conexion' })).toEqual(read);
  expect(await operationsOf(acme, { ...oneDay, operacion: 'crearCliente' })).toEqual(['crearCliente']);
  expect(await operationsOf(acme, { ...oneDay, origen: 'comando' })).toEqual([]);
});

test('[JRN-01] what is many statements is one call; what the version before wrote counts change by change', async () => {
  const many = Array.from({ length: 12_000 }, (_, index) => ({ coleccion: 'familias', ref: `f${index}`, titulo: 'x' }));
  const acme = await server.company(many);
  expect((await activity(acme, { operacion: 'import' })).map(({ cambios }) => cambios)).toEqual([12_000]);
  await server.service.database.pool.query(
    `insert into journal_entries (account_id, n, record_table, record_id, action, operation, actor, door, request_id)
     select $1, 100000 + n, 'clients', n, 'modify', 'actualizarCliente', 'command', 'command', 'old' from generate_series(1, 2) n`,
    [acme.id],
  );
  expect((await activity(acme, { operacion: 'actualizarCliente' })).map(({ cambios }) => cambios)).toEqual([1, 1]);
});

test('[ENV-04] 400 for what is no origin, 401 without a key', async () => {
  const acme = await server.company();
  expect((await acme.get('/audit', { origen: 'nadie' })).status).toBe(400);
  expect((await acme.get('/audit', { fecha_inicio: '2026-03-02', fecha_fin: '2026-03-01' })).status).toBe(400);
  expect((await server.request('/api/v1/audit')).status).toBe(401);
  const reader = await acme.newKey(true);
  expect((await server.request('/api/v1/audit', { headers: reader })).status).toBe(200);
});
