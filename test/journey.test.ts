// The journey of a caller who knows only the key, through REST and MCP: from an opportunity to an invoice that is due. Operations
// are found in the OpenAPI document and in the list of tools, and every id comes from an earlier answer. The README's tour does
// the same.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Company, type FileRecord, type Server, startServer, TestClock } from './helpers/world.ts';

const TODAY = '2026-03-02';

/** A company that sells cable by the reel and rents out lifts. */
const records: FileRecord[] = [
  {
    coleccion: 'funnels',
    ref: 'ventas',
    titulo: 'Ventas',
    etapas: [
      { ref: 'nuevo', titulo: 'Nuevo' },
      { ref: 'visita', titulo: 'Visita hecha' },
    ],
  },
  { coleccion: 'canales', ref: 'web', titulo: 'Web' },
  { coleccion: 'tarifas', ref: 't1', tarifa: 1 },
  { coleccion: 'clientes', ref: 'nilo', nombre_fiscal: 'Café Nilo SL', cif: 'B12345678', email: 'hola@nilo.es' },
  {
    coleccion: 'articulos',
    ref: 'cable',
    descripcion: 'Cable 3x2,5',
    precios: [{ tarifa: 1, precio: 1.2 }],
    stock: 500,
    formatos: [{ ref: 'bobina', titulo: 'Bobina', factor: 100 }],
  },
  {
    coleccion: 'articulos',
    ref: 'elevador',
    descripcion: 'Elevador',
    modo: 'alquiler',
    precios: [{ tarifa: 1, precio: 80 }],
    stock: 2,
  },
  { coleccion: 'proyectos', ref: 'obra', numero: '26-014', descripcion: 'Reforma del Nilo', cliente: 'nilo' },
  {
    coleccion: 'albaranes',
    ref: 'previo',
    fecha: '2026-02-20',
    cliente: 'nilo',
    proyecto: 'obra',
    lineas: [{ descripcion: 'Replanteo', cantidad: 1, importe_unitario: 300 }],
  },
];

// biome-ignore lint/suspicious/noExplicitAny: what a caller gets is JSON of no known shape; the journey looks into it freely
type Data = any;
/** Calls an operation by its v0 name and returns its `data`. */
type Call = (operation: string, input?: Record<string, unknown>) => Promise<Data>;

let server: Server;
beforeAll(async () => {
  server = await startServer({ clock: new TestClock(`${TODAY}T10:00:00Z`) });
});
afterAll(() => server.stop());

const newCompany = () => server.company(records, { cuenta: { stock_multiformato: true } });

/** REST, with the addresses of the OpenAPI document. */
async function byRest({ headers }: Company): Promise<Call> {
  const document: Data = await (await fetch(`${server.url}/api/v1/openapi.json`)).json();
  const operations = new Map(
    Object.entries<Record<string, Data>>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, { method, path }]),
    ),
  );
  return async (operation, input = {}) => {
    const found = operations.get(operation);
    if (!found) throw new Error(`No ${operation} in the document`);
    const rest = { ...input };
    const path = found.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const id = String(rest[name]);
      delete rest[name];
      return encodeURIComponent(id);
    });
    const reads = found.method === 'get';
    const query = reads
      ? `?${new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)]))}`
      : '';
    const answer = await fetch(`${server.url}${path}${query}`, {
      method: found.method.toUpperCase(),
      headers: { ...headers, 'content-type': 'application/json' },
      ...(reads ? {} : { body: JSON.stringify(rest) }),
    });
    const body: Data = await answer.json();
    expect(body, `${operation}: ${body.errorMsg}`).toMatchObject({ errorCode: 200, errorMsg: '' });
    return body.data;
  };
}

/** MCP, with the connector's tools: the v0 names in snake_case. */
async function byMcp({ headers }: Company): Promise<Call & AsyncDisposable> {
  const client = new Client({ name: 'journey', version: '1.0.0' });
  const address = new URL('/mcp/', server.url);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const call: Call = async (operation, input = {}) => {
    const name = operation.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(tools.map((tool) => tool.name)).toContain(name);
    const { isError, content, structuredContent } = await client.callTool({ name, arguments: input });
    expect(isError ?? false, JSON.stringify(content)).toBe(false);
    const data: Data = structuredContent;
    // Scalar answers are {data}; those of creations that may find an existing record are {data, existente}.
    return /^data(,existente)?$/.test(Object.keys(data).join()) ? data.data : data;
  };
  return Object.assign(call, { [Symbol.asyncDispose]: () => client.close() });
}

/** From the lead to the due date. */
async function journey(call: Call): Promise<void> {
  // The opportunity: funnel and stages, a contact, an opportunity that is moved and won.
  const { funnels } = await call('listarFunnels');
  const [{ funnelId, etapas }] = funnels;
  const [first, second] = etapas;
  const { canales } = await call('listarCanales');
  const contactoId = await call('crearContacto', { datos: { nombre: 'Eva Ríos', email: 'eva@nilo.es' } });
  const number = await call('crearOportunidad', {
    datos: {
      funnel_fk: funnelId,
      etapa_fk: first.etapaId,
      canal_fk: canales[0].canalId,
      contacto_fk: contactoId,
      descripcion: 'Cableado de la terraza',
    },
  });
  const { oportunidad } = await call('obtenerOportunidad', { oportunidadId: number });
  expect(oportunidad).toMatchObject({ etapa: { etapa: 'Nuevo' }, contacto: { nombre: 'Eva Ríos' } });
  const moved = await call('moverOportunidad', { oportunidadId: number, etapa_fk: second.etapaId });
  expect(moved).toMatchObject({ titulo: 'Cableado de la terraza' });
  const won = await call('cerrarOportunidad', { oportunidadId: number, resultado: 'ganado', valor_cierre: 640 });
  expect(won.resultado).toBe('ganado');

  // The goods: a client, an article with a format, and one for rent that is free on those days.
  const { clientes } = await call('consultarClientes', { busqueda: 'nilo' });
  const [{ clienteId }] = clientes;
  const { articulos } = await call('consultarProductos', { busqueda: 'cable' });
  const [{ articuloId: cable }] = articulos;
  const { formatos } = await call('consultarFormatos', { articuloId: cable });
  const [{ formatoId }] = formatos;
  const [{ articuloId: lift }] = (await call('consultarProductos', { busqueda: 'elevador' })).articulos;
  const days = { fecha_inicio: '2026-03-10', fecha_fin: '2026-03-12' };
  const free = await call('consultarDisponibilidad', { articuloId: lift, ...days, cantidad: 2 });
  expect(free).toMatchObject({ stock: 2, minimo_disponible: 2, disponible: true });

  // Delivered: 2 reels leave the stock, one lift is reserved.
  const albaranId = await call('crearAlbaran', {
    cliente: { id: clienteId },
    pedido: { obra: 'Cableado de la terraza' },
    detalles: [
      { articulo_fk: cable, formatoId, cantidad: 2 },
      { articulo_fk: lift, cantidad: 1, startDate: '2026-03-10', endDate: '2026-03-11' },
    ],
  });
  const note = await call('obtenerAlbaran', { albaranId });
  expect(note).toMatchObject({ tipo: 'albaran', fecha: TODAY, base_imponible: 320, num_lineas: 2, facturado: false });
  expect((await call('obtenerProducto', { articuloId: cable })).articulo.stock).toBe(300);
  const then = await call('consultarDisponibilidad', { articuloId: lift, ...days, cantidad: 2 });
  expect(then).toMatchObject({ minimo_disponible: 1, disponible: false });
  expect(then.dias.map(({ disponible }: { disponible: number }) => disponible)).toEqual([1, 1, 2]);

  // Invoiced together with an earlier note of the project, with two due dates.
  const { proyectos } = await call('consultarProyectos', { busqueda: '26-014' });
  const [{ proyectoId }] = proyectos;
  const { documentos } = await call('consultarAlbaranes', { clienteId, facturado: false });
  expect(documentos).toHaveLength(2);
  const facturaId = await call('crearFactura', {
    albaranes: documentos.map((document: { albaranId: string }) => document.albaranId),
    vencimientos: [
      { fecha: '2026-03-31', importe: 400 },
      { fecha: '2026-04-30', importe: 350.2 },
    ],
  });
  const invoice = await call('obtenerFactura', { facturaId });
  expect(invoice).toMatchObject({ tipo: 'factura', numero: 'F2026-0001', base_imponible: 620 });
  expect(invoice.lineas.map((line: { proviene_albaranes: number }) => line.proviene_albaranes)).toEqual([1, 1, 1]);
  expect((await call('consultarAlbaranes', { facturado: false })).documentos).toEqual([]);
  expect((await call('obtenerProducto', { articuloId: cable })).articulo.stock).toBe(300);

  // Visible in the project's economics, the sales report and the due dates.
  const { proyecto } = await call('obtenerProyecto', { proyectoId });
  expect(proyecto.economico).toMatchObject({ ventas: 300, resultado: 300, margen: 100 });
  const year = { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' };
  expect((await call('consultarVentas', year)).total_ventas).toBe(620);
  const { vencimientos } = await call('consultarVencimientos', { tipo: 'cobro', pendiente: true, ...year });
  expect(vencimientos).toMatchObject([
    { fecha: '2026-03-31', importe: 400, pendiente: 400, documento: { numero: 'F2026-0001' } },
    { fecha: '2026-04-30', importe: 350.2, pendiente: 350.2, vencido: false },
  ]);
}

describe('from a lead to an invoice that is due, knowing nothing but the key', () => {
  test('by REST', async () => {
    await journey(await byRest(await newCompany()));
  });

  test('[MCP-01] by MCP', async () => {
    await using call = await byMcp(await newCompany());
    await journey(call);
  });
});
