// The catalogue, `?modo=catalogo`: three tools that find and run all operations, with the same results as the tools themselves.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tools } from '../../bridges/mcp/tools.ts';
import { operations } from '../../bridges/operations.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { ERAS, type Result } from '../helpers/mcp-session.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';
import { callMcp, rpc, toolCall } from '../oauth/application.ts';

const CATALOGUE = '/mcp/?modo=catalogo';
const THREE = ['buscar_operaciones', 'ejecutar_operacion', 'ejecutar_escritura'];
const CONTACT = { datos: { email: 'eva@example.com' } };

let server: Server;
/** Arguments of a read are unchanged; a write gets an idempotency key. */
let reader: Company;
const newCompany = () => server.company([...exampleRecords], { cuenta: exampleAccount });
beforeAll(async () => {
  server = await startServer({ clock: new TestClock(EXAMPLE_NOW), quotaPerMinute: 1_000_000 });
  reader = await newCompany();
});
afterAll(() => server?.stop());

const runBy = (write: boolean) => (write ? 'ejecutar_escritura' : 'ejecutar_operacion');
const exampleOf = (path: string) => structuredClone(examples[path] ?? {});

/** Removes the remaining quota, which differs between calls. */
const still = ({ text, data, ...rest }: Result) => ({
  ...rest,
  text: text.replace(/"restante":\d+/, ''),
  data: data?.cuota ? { ...data, cuota: { ...data.cuota, restante: 0 } } : data,
});

describe.each(ERAS)('a client of %s', (_revision, connect) => {
  const open = (company: { headers: Record<string, string> }, path = CATALOGUE) =>
    connect(server.url + path, company.headers);

  test('[MCP-01] is given three tools, told apart by their annotations', async () => {
    await using host = await open(reader);
    const listed = await host.tools();
    expect(listed.map(({ name }) => name)).toEqual(THREE);
    const about = { destructiveHint: false, idempotentHint: true, openWorldHint: false };
    expect(listed.map(({ annotations }) => annotations)).toEqual([
      { ...about, readOnlyHint: true },
      { ...about, readOnlyHint: true },
      { ...about, readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    ]);
  });

  test('[MCP-01] is given none to write with where it may write nothing', async () => {
    const readOnly = { headers: await reader.newKey(true) };
    for (const [company, path] of [
      [readOnly, CATALOGUE],
      [reader, `${CATALOGUE}&areas=time`],
    ] as const) {
      await using host = await open(company, path);
      expect((await host.tools()).map(({ name }) => name)).toEqual(THREE.slice(0, 2));
    }
  });

  test('[MCP-04] finds operations with the definitions that the list of all has, and their permission', async () => {
    await using host = await open(reader);
    await host.tools();
    const { data, text } = await host.call('buscar_operaciones', { consulta: '¿Qué facturas no me han pagado?' });
    expect(JSON.parse(text)).toEqual(data);
    expect(data.operaciones).toHaveLength(5);
    expect(data.total_operaciones).toBeGreaterThan(5);
    expect(Buffer.byteLength(text)).toBeLessThan(15_000);
    const names = data.operaciones.map(({ name }: { name: string }) => name);
    expect(names).toContain('consultar_facturas');
    for (const { permiso, ...found } of data.operaciones) {
      const { operation, definition } = tools.find((tool) => tool.definition.name === found.name) ?? {};
      const { outputSchema, ...expected } = definition ?? {};
      expect([found, permiso]).toEqual([expected, operation?.scope]);
    }
    const one = await host.call('buscar_operaciones', { consulta: 'facturas', limite: 1 });
    expect(one.data.operaciones).toHaveLength(1);
    const none = await host.call('buscar_operaciones', { consulta: 'xyzzy', limite: null });
    expect(none.data).toEqual({ total_operaciones: 0, operaciones: [] });
  });

  test('[MCP-01] finds nothing that it may not run, or that its areas leave out', async () => {
    const foundBy = async (headers: Record<string, string>, path = CATALOGUE) => {
      await using host = await open({ headers }, path);
      const { data } = await host.call('buscar_operaciones', { consulta: 'crear oportunidad cliente', limite: 20 });
      return operations.filter(({ tool }) => data.operaciones.some(({ name }: { name: string }) => name === tool));
    };
    const all = await foundBy(reader.headers);
    expect([all.some(({ write }) => write), all.some(({ area }) => area !== 'crm')]).toEqual([true, true]);
    const readable = await foundBy(await reader.newKey(true));
    expect(readable.length).toBeGreaterThan(0);
    expect(readable.filter(({ write }) => write)).toEqual([]);
    const crm = await foundBy(reader.headers, `${CATALOGUE}&areas=crm`);
    expect(crm.length).toBeGreaterThan(0);
    expect(crm.filter(({ area }) => area !== 'crm')).toEqual([]);
  });

  test('[MCP-04] runs every read as the tool itself does', async () => {
    await using direct = await open(reader, '/mcp/');
    await using host = await open(reader);
    await host.tools();
    for (const { tool, path } of operations.filter(({ write }) => !write)) {
      const argumentos = exampleOf(path);
      const answer = await host.call('ejecutar_operacion', { operacion: tool, argumentos });
      expect([tool, answer.isError]).toEqual([tool, false]);
      expect(still(answer)).toEqual(still(await direct.call(tool, argumentos)));
    }
  });

  test.each(operations.filter(({ write }) => write).map(({ tool, path }) => [tool, path] as const))(
    '[IDEM-01] runs %s as the tool itself does: repeated there with its key, it is the same write',
    async (tool, path) => {
      const company = await newCompany();
      await using direct = await open(company, '/mcp/');
      await using host = await open(company);
      const argumentos = { ...exampleOf(path), clave_idempotencia: 'una vez' };
      const first = await host.call('ejecutar_escritura', { operacion: tool, argumentos });
      expect(first).toMatchObject({ isError: false, replayed: false });
      expect(await direct.call(tool, argumentos)).toEqual({ ...first, replayed: true });
      const again = await host.call('ejecutar_escritura', { operacion: tool, argumentos });
      expect(again).toEqual({ ...first, replayed: true });
    },
  );

  test('[MCP-04] answers the errors of every tool in its own words', async () => {
    await using direct = await open(reader, '/mcp/');
    await using host = await open(reader);
    for (const { tool, path, write } of operations) {
      const names = Object.keys(exampleOf(path));
      const ids = names.filter((name) => /(Id|_fk)$/.test(name));
      const all = (these: string[], value: unknown) => Object.fromEntries(these.map((name) => [name, value]));
      const inputs: Record<string, unknown>[] = [{ nada: 1 }];
      if (names.length > 0) inputs.push(all(names, { mal: [1] }));
      if (ids.length > 0) inputs.push({ ...exampleOf(path), ...all(ids, 'nada') });
      for (const argumentos of inputs) {
        const refused = await direct.call(tool, argumentos);
        expect([tool, refused.isError]).toEqual([tool, true]);
        expect(await host.call(runBy(write), { operacion: tool, argumentos })).toEqual(refused);
      }
    }
  });

  test('a read given to the tool that writes is refused and told the other, and the reverse', async () => {
    const company = await newCompany();
    await using host = await open(company);
    const write = await host.call('ejecutar_operacion', { operacion: 'crear_contacto', argumentos: CONTACT });
    expect(write).toMatchObject({
      isError: true,
      text: 'El parámetro operacion no es válido: crear_contacto escribe: usa ejecutar_escritura',
    });
    const read = await host.call('ejecutar_escritura', { operacion: 'listar_funnels' });
    expect(read).toMatchObject({
      isError: true,
      text: 'El parámetro operacion no es válido: listar_funnels solo lee: usa ejecutar_operacion',
    });
    expect((await company.get('/crm/contacts', { email: CONTACT.datos.email })).body.data.contactos).toEqual([]);
  });

  test('a name that is none is answered with the nearest that there are, of those that it may run', async () => {
    const near = async (operacion: string, path = CATALOGUE, headers = reader.headers, by = 'ejecutar_operacion') => {
      await using host = await open({ headers }, path);
      const { isError, text } = await host.call(by, { operacion });
      expect(isError).toBe(true);
      return text;
    };
    expect(await near('consultarFacturas')).toMatch(
      /operacion.*no existe; las más parecidas son: consultar_facturas, /,
    );
    expect(await near('crea_factura', CATALOGUE, reader.headers, 'ejecutar_escritura')).toContain('crear_factura');
    expect(await near('crear_facturas', CATALOGUE, await reader.newKey(true))).not.toContain('crear_');
    expect(await near('xyzzy')).toMatch(/no existe; se busca con buscar_operaciones$/);
    // Operations of other areas are not found.
    const outside = await near('consultar_facturas', `${CATALOGUE}&areas=purchases`);
    expect(outside).toMatch(/no existe; las más parecidas son: consultar_facturas_compra, /);
  });

  test('[ENV-06] [MCP-04] arguments of the three are checked as those of any tool', async () => {
    await using host = await open(reader);
    const textOf = async (name: string, args: Record<string, unknown>) => {
      const { isError, text } = await host.call(name, args);
      expect(isError).toBe(true);
      return text;
    };
    expect(await textOf('buscar_operaciones', {})).toBe('El parámetro consulta no es válido: es obligatorio');
    expect(await textOf('buscar_operaciones', { consulta: ' ' })).toContain('no puede estar vacío');
    expect(await textOf('buscar_operaciones', { consulta: 'x'.repeat(201) })).toContain('200 caracteres');
    expect(await textOf('buscar_operaciones', { consulta: 'x', limite: 21 })).toContain('hasta 20');
    expect(await textOf('ejecutar_operacion', { operacion: null })).toContain('operacion no es válido: es obligatorio');
    const asText = { operacion: 'listar_funnels', argumentos: '{}' };
    expect(await textOf('ejecutar_operacion', asText)).toContain('argumentos no es válido: se esperaba un objeto');
    // Models that forget the format send them like this.
    const flat = await textOf('ejecutar_operacion', { operacion: 'obtener_cliente', clienteId: 1901 });
    expect(flat).toBe(
      'Hay argumentos que esta herramienta no tiene; los suyos son: operacion, argumentos\n- clienteId: no existe',
    );
  });

  test('[MCP-04] the tools themselves are not there, nor are the three at the address of all', async () => {
    await using host = await open(reader);
    await expect(host.call('listar_funnels')).rejects.toMatchObject({ code: -32602 });
    await using direct = await open(reader, '/mcp/');
    await expect(direct.call('buscar_operaciones', { consulta: 'x' })).rejects.toMatchObject({ code: -32602 });
  });

  test('[AUTH-04] a read-only key writes by neither', async () => {
    await using host = await open({ headers: await reader.newKey(true) });
    for (const name of ['ejecutar_escritura', 'ejecutar_operacion']) {
      const call = host.call(name, { operacion: 'crear_contacto', argumentos: CONTACT });
      await expect(call).rejects.toThrow(/svc\.write/);
    }
  });

  test('[AUTH-03] nothing is found for a key that was revoked a moment ago', async () => {
    const company = await server.company();
    await using host = await open(company);
    const find = () => host.call('buscar_operaciones', { consulta: 'facturas' });
    expect(await find()).toMatchObject({ isError: false });
    await server.service.database.transaction(company.id, { write: true }, (db) =>
      db
        .updateTable('api_keys')
        .set({ revoked_at: '2026-01-01T00:00:00Z' })
        .where('account_id', '=', company.id)
        .execute(),
    );
    await expect(find()).rejects.toThrow('API key authentication required');
  });
});

const post = (
  company: { headers: Record<string, string> },
  message: unknown,
  path = CATALOGUE,
  at: { url: string } = server,
) => callMcp(at, undefined, message, { path, headers: company.headers });

test('a choice that there is not is 400', async () => {
  for (const path of ['/mcp?modo=luna', '/mcp/?modo=catalogo&modo=todo']) {
    const { status, body } = await post(reader, rpc('tools/list'), path);
    expect([status, body.error.message]).toEqual([400, expect.stringMatching(/modo.*catalogo/)]);
  }
  expect((await post(reader, rpc('tools/list'), '/mcp?modo=')).body.result.tools).toHaveLength(operations.length);
});

test('[AUTH-04] a write by the catalogue with a read-only key is an error of its own message in a batch', async () => {
  const headers = await reader.newKey(true);
  const { status, body } = await post({ headers }, [
    toolCall('ejecutar_escritura', { operacion: 'crear_contacto', argumentos: CONTACT }, 1),
    toolCall('ejecutar_operacion', { operacion: 'listar_funnels' }, 2),
  ]);
  expect(status).toBe(200);
  const refused = { isError: true, content: [{ text: expect.stringContaining('svc.write') }] };
  expect(body).toMatchObject([
    { id: 1, result: refused },
    { id: 2, result: { structuredContent: { funnels: expect.any(Array) } } },
  ]);
});

test('[FAIR-05] [LIM-01] each call counts one, whatever becomes of it; spent, each says how long to wait', async () => {
  await using quiet = await startServer({ clock: new TestClock('2026-03-01T10:00:20Z') });
  const company = await quiet.company([], { cuenta: { cuota_por_minuto: 100 } });
  const calls = [
    toolCall('buscar_operaciones', { consulta: 'funnels' }),
    toolCall('ejecutar_operacion', { operacion: 'listar_funnels' }),
    toolCall('ejecutar_escritura', { operacion: 'crear_contacto', argumentos: CONTACT }),
    toolCall('ejecutar_escritura', { operacion: 'listar_funnels' }),
    toolCall('ejecutar_operacion', { operacion: 'nada' }),
  ];
  for (const call of calls) expect((await post(company, call, CATALOGUE, quiet)).status).toBe(200);
  const left = await post(company, toolCall('ejecutar_operacion', { operacion: 'obtener_cuenta' }), CATALOGUE, quiet);
  expect(left.body.result.structuredContent.cuota.restante).toBe(100 - calls.length - 1);

  const spent = await quiet.company([], { cuenta: { cuota_por_minuto: 1 } });
  await spent.get('/account');
  for (const call of calls) {
    const { body } = await post(spent, call, CATALOGUE, quiet);
    expect(body.result).toEqual({
      isError: true,
      content: [
        {
          type: 'text',
          text: 'La empresa ha gastado su cuota de 1 llamadas por minuto\nSe puede repetir la llamada dentro de 40 s.',
        },
      ],
    });
  }
});

test('[MCP-03] the log and the audit name the operation that ran', async () => {
  const lines: string[] = [];
  await using logged = await startServer({ logTo: (line) => lines.push(line) });
  const company = await logged.company();
  const batch = [
    toolCall('buscar_operaciones', { consulta: 'contactos personales' }, 1),
    toolCall('ejecutar_escritura', { operacion: 'crear_contacto', argumentos: CONTACT }, 2),
    toolCall('ejecutar_operacion', { operacion: 'consultar_contactos', argumentos: { pagina: 0 } }, 3),
    toolCall('ejecutar_operacion', { operacion: 'crear_contacto' }, 4),
  ];
  await post(company, batch, CATALOGUE, logged);
  const calls = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'tool called');
  expect(calls.map(({ tool, status }) => [tool, status])).toEqual([
    ['buscar_operaciones', 200],
    ['crear_contacto', 200],
    ['consultar_contactos', 400],
    ['ejecutar_operacion', 400],
  ]);
  expect(lines.join('')).not.toMatch(/personales|eva@/);
  const { rows } = await logged.service.database.pool.query(
    'select operation, door from journal_entries where account_id = $1 and record_table = $2',
    [company.id, 'contacts'],
  );
  expect(rows).toEqual([{ operation: 'crearContacto', door: 'mcp' }]);
});
