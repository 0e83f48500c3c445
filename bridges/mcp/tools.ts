// The table of tools, generated from the operations: names, texts, closed input schemas and compact output schemas (MCP-04).
import type { Tool as Definition } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { MAX_SUM } from '../../platform/amounts.ts';
import type { Kind } from '../../platform/ids.ts';
import { idMarks } from '../../routers/shared/id.ts';
import { type Operation, operations, shownOutput } from '../operations.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A tool of the connector. */
export interface Tool {
  operation: Operation;
  /** Its entry in `tools/list`. */
  definition: Definition;
  /** The definition as JSON. */
  listed: string;
  /** The answer is not an object, so the structured content has it in `data`. */
  wrapped: boolean;
  paged: boolean;
  /** Patterns of the arguments that are ids (nested ones too, as error messages name them), with the tool that returns such ids. */
  sources: readonly { field: RegExp; source: string }[];
}

/**
 * The tool that returns the ids of each kind. Error messages name it when an id is wrong, so that descriptions needn't. Kinds that no
 * tool accepts are left out.
 */
export const SOURCES: Readonly<Partial<Record<Kind, string>>> = {
  channel: 'listar_canales',
  client: 'consultar_clientes',
  contact: 'consultar_contactos',
  deliveryNote: 'consultar_albaranes',
  department: 'consultar_empleados',
  employee: 'consultar_empleados',
  estimate: 'consultar_presupuestos',
  estimateLine: 'obtener_presupuesto',
  family: 'listar_familias',
  format: 'consultar_formatos',
  funnel: 'listar_funnels',
  invoice: 'consultar_facturas',
  invoiceLine: 'obtener_factura',
  documentLink: 'consultar_enlaces_documento',
  dueDate: 'consultar_vencimientos',
  lossReason: 'listar_motivos_perdida',
  opportunity: 'consultar_oportunidades',
  product: 'consultar_productos',
  project: 'consultar_proyectos',
  projectState: 'listar_estados_proyecto',
  recurring: 'consultar_recurrentes',
  purchaseDeliveryNote: 'consultar_albaranes_compra',
  purchaseInvoice: 'consultar_facturas_compra',
  stage: 'listar_funnels',
  supplier: 'consultar_proveedores',
  task: 'consultar_tareas',
  taskState: 'listar_estados_tarea',
  treasuryAccount: 'consultar_cuentas_tesoreria',
  webhook: 'consultar_webhooks',
  variation: 'obtener_producto',
};

/** The default page size, small because a model's context is small. */
export const TOOL_PAGE_SIZE = 20;

/** The argument for the idempotency key, like REST's X-IDEMPOTENCY-KEY. IDEM-01 */
export const IDEMPOTENCY_ARGUMENT = 'clave_idempotencia';

/** What an id says that narrows a list down: the server's instructions tell it for all of them. */
const OF_ONE_RECORD = /^Solo .*\best[ea] \S+$/;

/** Descriptions that tell a reader of the OpenAPI document what the name, the enumerated values or the tool's own description say. */
const SAID_ALREADY: ReadonlySet<string | undefined> = new Set([
  ...['Añade el uso en este funnel', 'Añade la agrupación', 'Añade los precios de este artículo', 'Banco o caja'],
  ...['Canal de captación', 'Cliente de facturación', 'Correo', 'Desglose', 'Empresa', 'false: todo el historial'],
  ...['Funnel', 'La cuenta', 'La etapa de destino, del mismo funnel', 'La mercancía vuelve'],
  ...['Lo que entra o, negativo, sale', 'Lo que hay', 'Líneas', 'Líneas de un ciclo', 'Móvil', 'Por qué'],
  ...['Porcentaje', 'Solo cobros o solo pagos', 'Solo estas colecciones', 'Solo este', 'Solo estos'],
  ...['Solo las que están así', 'Solo lo de estos', 'Solo su personal', 'true: solo las vencidas'],
  ...['true: también las rechazadas', 'Unidades', 'Último día en que vale'],
]);

/** Every tool, in the order of the routers. */
export const tools: readonly Tool[] = operations.map(toolOf);

const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));

/** The tool with this name. */
export const toolNamed = (name: string): Tool | undefined => byName.get(name);

function toolOf(operation: Operation): Tool {
  const { tool: name, title, description, write, destructive, routes } = operation;
  const { schema: inputSchema, sources } = inputOf(operation);
  const { schema: outputSchema, wrapped } = outputOf(operation);
  const definition = {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations: {
      readOnlyHint: !write,
      destructiveHint: destructive,
      idempotentHint: !write || routes.every(({ method }) => method === 'PUT' || method === 'DELETE'),
      openWorldHint: false,
    },
  };
  return {
    operation,
    definition,
    listed: JSON.stringify(definition),
    wrapped,
    paged: Object.hasOwn(operation.input.shape, 'por_pagina'),
    sources,
  };
}

function inputOf(operation: Operation): { schema: Definition['inputSchema']; sources: Tool['sources'] } {
  const sources = new Map<string, string>();
  const { properties = {}, required } = z.toJSONSchema(operation.input, {
    io: 'input',
    override({ zodSchema, jsonSchema, path }) {
      if (zodSchema instanceof z.ZodObject) jsonSchema.additionalProperties = false;
      const mark = idMarks.get(zodSchema);
      if (mark) {
        const source = SOURCES[mark.kind];
        if (source) sources.set(fieldPattern(path), source);
        // Numbers are accepted too (ID-03), but what tools answer are texts, and hosts differ in what they make of `anyOf`.
        delete jsonSchema.anyOf;
        jsonSchema.type = 'string';
      }
      shorten(jsonSchema);
    },
  });
  const { pagina, cursor, modificado_desde, fecha_inicio, fecha_fin, por_pagina } = properties;
  // The record that a tool is about needs no description beside the tool's own; of the others the server's instructions tell.
  const ofPath = operation.routes.flatMap(({ parameters }) => parameters.map((name) => properties[name]));
  for (const plain of [pagina, por_pagina, cursor, modificado_desde, fecha_inicio, fecha_fin, ...ofPath])
    if (typeof plain === 'object') delete plain.description;
  if (pagina) {
    for (const filter of Object.values(properties))
      if (typeof filter === 'object' && OF_ONE_RECORD.test(filter.description ?? '')) delete filter.description;
  }
  if (typeof pagina === 'object') delete pagina.default;
  if (typeof por_pagina === 'object') {
    por_pagina.default = TOOL_PAGE_SIZE;
  }
  if (operation.write) {
    properties[IDEMPOTENCY_ARGUMENT] = { type: 'string' };
  }
  const closed = JSON.stringify({ type: 'object', properties, required, additionalProperties: false });
  return {
    schema: JSON.parse(closed, oneTypeEach),
    sources: [...sources].map(([field, source]) => ({ field: new RegExp(field), source })),
  };
}

/** A pattern for the field's name at this path of a JSON Schema: `detalles[3].articulo_fk`. */
function fieldPattern(path: readonly PropertyKey[]): string {
  const steps = path.flatMap((step, index) => {
    if (path[index - 1] === 'properties') return [`${index > 1 ? '\\.' : ''}${String(step)}`];
    return step === 'items' ? ['\\[\\d+\\]'] : [];
  });
  return `(?<![\\w.\\]])${steps.join('')}(?![\\w.[])`;
}

/** Converts lists of types, which Zod writes for unions of primitive types, to `anyOf`: several hosts do not support them. */
function oneTypeEach(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || !Array.isArray(value.type)) return value;
  const { type: types, ...rest } = value;
  return { ...rest, anyOf: types.map((type: unknown) => ({ type })) };
}

/** The output schema. It is open, so that new fields are no errors for clients that cache the schema. */
function outputOf(operation: Operation) {
  // Handlers' answers are sent unparsed, so callers see the input side of the schema.
  const { $schema, ...schema } = z.toJSONSchema(shownOutput(operation), {
    io: 'input',
    override: ({ jsonSchema }) => shorten(jsonSchema),
  });
  if (isObjectSchema(schema)) return { wrapped: false, schema: { ...schema, type: 'object' } as const };
  return { wrapped: true, schema: { type: 'object', properties: { data: schema }, required: ['data'] } as const };
}

function isObjectSchema({ type, anyOf, oneOf, allOf }: JsonSchema): boolean {
  return type === 'object' || [anyOf, oneOf, allOf].some((branches) => branches?.every(isObjectSchema));
}

/** Removes what only uses up a model's context: patterns that the format implies, very wide limits, examples. */
function shorten(schema: JsonSchema): void {
  if (schema.format) delete schema.pattern;
  if (schema.format === 'date') schema.description = schema.description?.replace(/ \(AAAA-MM-DD\)$/, '');
  if ((schema.maxLength ?? 0) >= 20) delete schema.maxLength;
  if (schema.minimum === 0 || schema.minimum === 1) delete schema.minimum;
  if (schema.minLength === 1) delete schema.minLength;
  if ((schema.maxItems ?? 0) >= 100) delete schema.maxItems;
  if (schema.minItems === 1) delete schema.minItems;
  if (Math.abs(schema.minimum ?? 0) >= MAX_SUM) delete schema.minimum;
  if (Math.abs(schema.maximum ?? 0) >= MAX_SUM) delete schema.maximum;
  // A long list costs more than it helps: what is wrong is answered with the values there are.
  if ((schema.enum?.length ?? 0) > 20) delete schema.enum;
  if (SAID_ALREADY.has(schema.description)) delete schema.description;
  delete schema.example;
  delete schema.examples;
}
