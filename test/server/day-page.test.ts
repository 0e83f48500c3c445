// Runs docs/day.md on a first start with the demo company: its calls as they are written, in order, and the tools of each request.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modern } from '../helpers/mcp-session.ts';
import { firstStart } from './first-start.ts';

const PAGE = await readFile(new URL('../../docs/day.md', import.meta.url), 'utf8');
const REQUESTS = PAGE.split('\n## ').slice(1);

let server: Awaited<ReturnType<typeof firstStart>>;
beforeAll(async () => {
  server = await firstStart();
}, 90_000);
afterAll(() => server?.[Symbol.asyncDispose]());

/** What matches a stated answer: `…` is any text or value, or further entries of a list; fields may be left out. */
function matching(stated: unknown): unknown {
  if (stated === '…') return expect.anything();
  if (typeof stated === 'string' && stated.includes('…')) {
    return expect.stringMatching(new RegExp(`^${stated.split('…').map(RegExp.escape).join('.+')}$`, 's'));
  }
  if (Array.isArray(stated)) {
    const entries = stated.filter((entry) => entry !== '…').map(matching);
    return entries.length === stated.length ? entries : expect.arrayContaining(entries);
  }
  if (typeof stated !== 'object' || stated === null) return stated;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(stated).map(([name, value]) => [name, matching(value)])),
  );
}

test('every call of docs/day.md answers what it says', { timeout: 60_000 }, async () => {
  const blocks = [...PAGE.matchAll(/```sh\n(.*?)```\n(?:\n```json\n(.*?)```)?/gs)];
  const printed = await server.shell(blocks.map(([, commands]) => commands).join('printf "\\0"\n'));
  const answers = printed.split('\0');
  expect(answers).toHaveLength(blocks.length);
  for (const [index, [, commands, stated]] of blocks.entries()) {
    const answer = answers[index] ?? '';
    if (stated === undefined) expect(answer, commands).toBe('');
    else expect(JSON.parse(answer), commands).toEqual(matching(wholeOf(JSON.parse(stated))));
  }
});

/** The page shows a refusal whole, and of other answers their data. */
const wholeOf = (stated: object): object =>
  'errorCode' in stated ? stated : { errorCode: 200, errorMsg: '', data: stated };

// biome-ignore lint/suspicious/noExplicitAny: what a tool answers is JSON of no known shape; the requests look into it freely
type Data = any;
type Call = (tool: string, args: Record<string, unknown>) => Promise<Data>;

const NOW = Temporal.Now.plainDateISO('Europe/Madrid');
const TODAY = NOW.toString();
/** The range of a report: from January to the day. */
const yearTo = (day: Temporal.PlainDate) => ({
  fecha_inicio: day.with({ month: 1, day: 1 }).toString(),
  fecha_fin: day.toString(),
});

/** What an assistant does for each request, with nothing but the words of its user: each id is looked up. */
const ASSISTANT: ((call: Call) => Promise<unknown>)[] = [
  async (call) => {
    const client = await call('crear_cliente', { datos: { nombre_fiscal: 'Bar Sirena, S.L.', cif: 'B12345682' } });
    const { articulos } = await call('consultar_productos', { busqueda: 'CAB-005' });
    const line = { articulo_fk: articulos[0].articuloId, cantidad: 2 };
    const estimate = await call('crear_presupuesto', {
      ...{ cliente: { id: client.data }, pedido: { obra: 'Luces de la terraza' } },
      detalles: [line, { descripcion: 'Montaje', cantidad: 6, importe_unitario: 32 }],
    });
    await call('obtener_presupuesto', { presupuestoId: estimate.data });
  },
  async (call) => {
    const { presupuestos } = await call('consultar_presupuestos', { busqueda: 'Sirena' });
    const { presupuestoId } = presupuestos[0];
    const note = await call('convertir_presupuesto', { presupuestoId, destino: 'albaran' });
    const invoice = await call('crear_factura', { albaranes: [note.data] });
    await call('obtener_factura', { facturaId: invoice.data });
  },
  async (call) => {
    const { facturas } = await call('consultar_facturas', { busqueda: 'Sirena', pagada: false });
    const { vencimientos } = await call('obtener_factura', { facturaId: facturas[0].facturaId });
    const { cuentas } = await call('consultar_cuentas_tesoreria', {});
    const { vencimientoId } = vencimientos[0];
    await call('liquidar_vencimiento', { vencimientoId, cuentaId: cuentas[0].cuentaId });
  },
  async (call) => {
    const { proveedores } = await call('consultar_proveedores', { busqueda: 'Mestalla' });
    const { articulos } = await call('consultar_productos', { busqueda: 'CAB-005' });
    const { articuloId } = articulos[0];
    const { formatos } = await call('consultar_formatos', { articuloId });
    const { formatoId } = formatos[0];
    const invoice = await call('crear_factura_compra', {
      ...{ proveedor: { id: proveedores[0].proveedorId }, numero: 'ME-3313', fecha: TODAY },
      detalles: [{ articulo_fk: articuloId, formatoId, cantidad: 10, importe_unitario: 40 }],
    });
    const { vencimientos } = await call('obtener_factura_compra', { facturaCompraId: invoice.data });
    const { cuentas } = await call('consultar_cuentas_tesoreria', {});
    const { vencimientoId } = vencimientos[0];
    await call('liquidar_vencimiento', { vencimientoId, cuentaId: cuentas[0].cuentaId });
  },
  async (call) => {
    const { tarifas } = await call('consultar_tarifas', {});
    await call('ajustar_tarifa', { tarifa: tarifas[0].tarifa, porcentaje: 3 });
    await call('consultar_productos', { busqueda: 'CAB-005' });
  },
  async (call) => {
    const { clientes } = await call('consultar_clientes', { busqueda: 'Sirena' });
    const { clienteId } = clientes[0];
    await call('actualizar_cliente', { clienteId, datos: { direccion: 'Calle del Mar, 14' } });
  },
  async (call) => {
    const { clientes } = await call('consultar_clientes', { busqueda: 'Sirena' });
    const { articulos } = await call('consultar_productos', { busqueda: 'CAB-005' });
    const { articuloId } = articulos[0];
    const note = await call('crear_albaran', {
      ...{ cliente: { id: clientes[0].clienteId }, pedido: { obra: 'Otra bobina' } },
      detalles: [{ articulo_fk: articuloId, cantidad: 1 }],
    });
    await call('anular_albaran', { albaranId: note.data, motivo: 'Era de otro cliente' });
    await call('consultar_movimientos_stock', { articuloId });
  },
  async (call) => {
    const { facturas } = await call('consultar_facturas', { busqueda: 'Sirena' });
    const { facturaId } = facturas[0];
    const { lineas } = await call('obtener_factura', { facturaId });
    const rectifying = await call('rectificar_factura', {
      ...{ facturaId, motivo: 'Una bobina devuelta', devolver_stock: true },
      lineas: [{ lineaId: lineas[0].lineaId, cantidad: 1 }],
    });
    await call('obtener_factura', { facturaId: rectifying.data });
  },
  async (call) => {
    const { proyectos } = await call('consultar_proyectos', { busqueda: 'vestuarios' });
    await call('desglosar_proyecto', { proyectoId: proyectos[0].proyectoId });
  },
  (call) => call('consultar_vencimientos', { tipo: 'cobro', vencidos: true }),
  (call) => call('consultar_ausencias', { fecha_inicio: TODAY, fecha_fin: TODAY }),
  async (call) => {
    await call('consultar_ventas', yearTo(NOW));
    await call('consultar_ventas', yearTo(NOW.subtract({ years: 1 })));
  },
];

test('docs/day.md has the twelve requests', () => {
  expect(REQUESTS.map((request) => /^\d+/.exec(request)?.[0])).toEqual(ASSISTANT.map((_, index) => `${index + 1}`));
  for (const request of REQUESTS) expect(request).toMatch(/\n> .+\n\nTools: /s);
});

describe('the tools of docs/day.md, in their order', () => {
  for (const [index, assist] of ASSISTANT.entries()) {
    test(`request ${index + 1}`, async () => {
      const [, paragraph = ''] = /\nTools: (.*?)\n\n/s.exec(REQUESTS[index] ?? '') ?? [];
      const stated = [...paragraph.matchAll(/`(\w+)`/g)].map(([, name]) => name);
      const called: string[] = [];
      await using session = await modern(`${server.url}/mcp/`, server.headers);
      await assist(async (tool, args) => {
        const { isError, text, data } = await session.call(tool, args);
        expect(isError, `${tool}: ${text}`).toBe(false);
        called.push(tool);
        return data;
      });
      expect(called).toEqual(stated);
    });
  }
});
