// The table of tools, made once from the operations: names, texts, closed input schemas and small output schemas (MCP-04).
import type { Tool as Definition } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { idMarks } from '../../routers/shared/id.ts';
import { type Operation, operations } from '../operations.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

export interface Tool {
  operation: Operation;
  /** What `tools/list` says of it. */
  definition: Definition;
  /** The answer is no object, and stands in `data` of the structured content. */
  wrapped: boolean;
  paged: boolean;
  /** Identifiers among its arguments, and the tool that gives each, where the description says so. */
  sources: ReadonlyMap<string, string>;
}

/** Rows of a page when the caller does not say: a model's context is small. */
export const TOOL_PAGE_SIZE = 20;

/** The argument that does what X-IDEMPOTENCY-KEY does in REST. IDEM-01 */
export const IDEMPOTENCY_ARGUMENT = 'clave_idempotencia';

/** Every tool, in the order of the routers. */
export const tools: readonly Tool[] = operations.map(toolOf);

const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));

export const toolNamed = (name: string): Tool | undefined => byName.get(name);

function toolOf(operation: Operation): Tool {
  const { tool: name, title, description, write, destructive, routes } = operation;
  const { schema: inputSchema, ids } = inputOf(operation);
  const { schema: outputSchema, wrapped } = outputOf(operation);
  return {
    operation,
    definition: {
      name,
      title,
      description,
      inputSchema,
      outputSchema,
      annotations: {
        readOnlyHint: !write,
        destructiveHint: destructive,
        idempotentHint: !write || routes.every(({ method }) => method === 'PUT'),
        openWorldHint: false,
      },
    },
    wrapped,
    paged: Object.hasOwn(operation.input.shape, 'por_pagina'),
    sources: sourcesOf(description, ids),
  };
}

function inputOf(operation: Operation): { schema: Definition['inputSchema']; ids: ReadonlySet<string> } {
  const ids = new Set<string>();
  const { properties = {}, required } = z.toJSONSchema(operation.input, {
    io: 'input',
    override({ zodSchema, jsonSchema, path }) {
      if (zodSchema instanceof z.ZodObject) jsonSchema.additionalProperties = false;
      if (idMarks.has(zodSchema)) {
        ids.add(String(path.at(-1)));
        jsonSchema.anyOf = [{ type: 'string' }, { type: 'integer' }];
      }
      shorten(jsonSchema);
    },
  });
  const { pagina, fecha_inicio, por_pagina } = properties;
  for (const plain of [pagina, fecha_inicio]) if (typeof plain === 'object') delete plain.description;
  if (typeof por_pagina === 'object') por_pagina.default = TOOL_PAGE_SIZE;
  if (operation.write) {
    properties[IDEMPOTENCY_ARGUMENT] = {
      type: 'string',
      maxLength: 255,
      description: 'Texto propio de esta petición: repetirla con él devuelve la primera respuesta y no escribe nada',
    };
  }
  const closed = JSON.stringify({ type: 'object', properties, required, additionalProperties: false });
  return { ids, schema: JSON.parse(closed, oneTypeEach) };
}

/** Several hosts know no list of types, which is how Zod writes a union of plain ones. */
function oneTypeEach(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || !Array.isArray(value.type)) return value;
  const { type: types, ...rest } = value;
  return { ...rest, anyOf: types.map((type: unknown) => ({ type })) };
}

/** Open, so that a field more is no error to a client that remembers the schema. */
function outputOf({ output }: Operation) {
  // Handlers' answers are sent as they are, not as parsed: the input side of the schema is what a caller sees.
  const { $schema, ...schema } = z.toJSONSchema(output, {
    io: 'input',
    override: ({ jsonSchema }) => shorten(jsonSchema),
  });
  if (isObjectSchema(schema)) return { wrapped: false, schema: { ...schema, type: 'object' } as const };
  return { wrapped: true, schema: { type: 'object', properties: { data: schema }, required: ['data'] } as const };
}

function isObjectSchema({ type, anyOf, oneOf, allOf }: JsonSchema): boolean {
  return type === 'object' || [anyOf, oneOf, allOf].some((branches) => branches?.every(isObjectSchema));
}

/** Takes out what only costs a model room: what the format or the name says already, bounds that nobody meets, examples. */
function shorten(schema: JsonSchema): void {
  if (schema.format) delete schema.pattern;
  if (schema.format === 'date') schema.description = schema.description?.replace(/ \(AAAA-MM-DD\)$/, '');
  if ((schema.maxLength ?? 0) >= 200) delete schema.maxLength;
  if (schema.minimum === 1) delete schema.minimum;
  if (Math.abs(schema.minimum ?? 0) >= 1e12) delete schema.minimum;
  if (Math.abs(schema.maximum ?? 0) >= 1e12) delete schema.maximum;
  delete schema.example;
}

/** `empleadoId: de consultar_empleados` in a description says where that identifier comes from. */
function sourcesOf(description: string, ids: ReadonlySet<string>): Map<string, string> {
  const sources = new Map<string, string>();
  for (const id of ids) {
    const tool = new RegExp(`\\b${id}\\b[^.;,]*?\\bde ([a-z]+_[a-z_]+)`).exec(description)?.[1];
    if (tool && operations.some((operation) => operation.tool === tool)) sources.set(id, tool);
  }
  return sources;
}
