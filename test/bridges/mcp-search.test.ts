// Searching the catalogue: natural questions over the real operations.
import { expect, test } from 'vitest';
import { toolsAbout } from '../../bridges/mcp/search.ts';
import { tools } from '../../bridges/mcp/tools.ts';

const found = (question: string, among = tools) => toolsAbout(question, among).map(({ definition }) => definition.name);

test.each([
  ['¿qué facturas no me han pagado?', 'consultar_facturas'],
  ['¿quién me debe dinero?', 'consultar_vencimientos'],
  ['hazle una factura a este cliente', 'crear_factura'],
  ['crear un albarán', 'crear_albaran'],
  ['busca los presupuestos de febrero', 'consultar_presupuestos'],
  ['los planos adjuntos del presupuesto', 'consultar_adjuntos_presupuesto'],
  ['apunta un contacto nuevo', 'crear_contacto'],
  ['hemos ganado la oportunidad', 'cerrar_oportunidad'],
  ['pasa la oportunidad a la siguiente etapa', 'mover_oportunidad'],
  ['¿por qué perdemos ventas?', 'listar_motivos_perdida'],
  ['¿quién está de vacaciones esta semana?', 'consultar_ausencias'],
  ['¿a qué hora ha fichado Luis?', 'consultar_fichajes'],
  ['¿cuándo acaba el contrato de Ana?', 'consultar_contratos'],
  ['¿cuántas horas llevamos en el proyecto?', 'consultar_horas_proyecto'],
  ['tareas atrasadas', 'consultar_tareas'],
  ['¿qué margen deja cada proyecto?', 'consultar_proyectos'],
  ['¿cuánto hemos vendido este mes?', 'consultar_ventas'],
  ['¿cuánto gastamos en cada proveedor?', 'consultar_compras'],
  ['¿qué facturas de proveedores tengo que pagar?', 'consultar_facturas_compra'],
  ['¿qué artículos están bajo mínimos?', 'consultar_productos'],
  ['¿está libre la carpa el sábado?', 'consultar_disponibilidad'],
  ['¿cuánto dinero hay en el banco?', 'consultar_cuentas_tesoreria'],
  ['¿tendré saldo a final de mes?', 'consultar_prevision_tesoreria'],
  ['renovaciones previstas para marzo', 'consultar_recurrentes_renovaciones'],
  ['¿cuántas llamadas me quedan?', 'obtener_cuenta'],
])('[MCP-04] %s: %s is among the first three', (question, tool) => {
  expect(found(question).slice(0, 3)).toContain(tool);
});

test('[MCP-04] the name of an operation finds it first, alone or among other words', () => {
  for (const { definition } of tools) {
    expect(found(definition.name)[0]).toBe(definition.name);
    expect(found(`facturas, ${definition.name}`)[0]).toBe(definition.name);
  }
});

test('[MCP-04] case, accents, number and gender make no difference', () => {
  const plain = found('articulo');
  expect(plain[0]).toBe('consultar_productos');
  for (const other of ['ARTÍCULOS', 'artículo', 'arti\u0301culos', '¿artículos?']) expect(found(other)).toEqual(plain);
});

test('[MCP-04] the same question finds the same, in the same order, whatever it is looked for among', () => {
  const all = found('cliente');
  expect(all.length).toBeGreaterThan(5);
  expect(found('cliente', tools.toReversed())).toEqual(all);
  const reads = tools.filter(({ operation }) => !operation.write);
  const names = new Set(reads.map(({ definition }) => definition.name));
  expect(found('cliente', reads)).toEqual(all.filter((name) => names.has(name)));
});

test('[MCP-04] words that no operation has, or that say nothing, find nothing', () => {
  for (const nothing of ['xyzzy', '', '¿?', 'qué es lo que me han', '!'.repeat(200)])
    expect(found(nothing)).toEqual([]);
});
