// The catalogue (`?modo=catalogo`): three tools that find and run all the others, for hosts that accept few tools and models with a
// small context. Permissions, arguments, answers, errors and log are those of the tool that runs.
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { badField, badInput, problemsOf } from '../../platform/errors.ts';
import { jsonText } from '../../platform/json-text.ts';
import { callTool, refuseUnknown, resultOf, unknownTool } from './call.ts';
import { type Caller, mayUse } from './caller.ts';
import { toolsAbout } from './search.ts';
import { type Tool, toolNamed } from './tools.ts';

type Arguments = Record<string, unknown>;
type Definition = Tool['definition'];

const [SEARCH, READ, WRITE] = ['buscar_operaciones', 'ejecutar_operacion', 'ejecutar_escritura'] as const;
const NEAREST = 3;

const question = z.object({
  consulta: z.string().trim().min(1).max(200).describe('Qué se quiere hacer o saber, o el nombre de una operación'),
  limite: z.int().min(1).max(20).default(5).describe('Cuántas operaciones, como mucho'),
});
const choice = z.object({
  operacion: z.string().max(100).describe('Su name'),
  argumentos: z.record(z.string(), z.unknown()).default({}).describe('Los que pide su inputSchema'),
});

const found = {
  type: 'object',
  properties: {
    total_operaciones: { type: 'integer' },
    operaciones: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, permiso: { type: 'string' } } },
    },
  },
  required: ['total_operaciones', 'operaciones'],
} as const;

/** The definitions of the three tools. The operation that runs determines the answer. */
export const catalogue = {
  [SEARCH]: definition(SEARCH, question, {
    title: 'Buscar operaciones',
    description:
      'Busca por palabras entre las operaciones disponibles y da las más parecidas, con su definición completa. Úsala antes de ' +
      `ejecutar una cuyo inputSchema no conoces. Las de permiso svc.read se ejecutan con ${READ}; las de svc.write, con ${WRITE}.`,
    outputSchema: found,
    write: false,
  }),
  [READ]: definition(READ, choice, {
    title: 'Ejecutar una consulta',
    description: `Ejecuta una operación que solo lee (svc.read) y da su respuesta. operacion: de ${SEARCH}. Para las que escriben usa ${WRITE}.`,
    outputSchema: { type: 'object' },
    write: false,
  }),
  [WRITE]: definition(WRITE, choice, {
    title: 'Ejecutar una escritura',
    description: `Ejecuta una operación que escribe (svc.write): crea, cambia o cierra registros. operacion: de ${SEARCH}. Para las que solo leen usa ${READ}.`,
    outputSchema: { type: 'object' },
    write: true,
  }),
};

interface About extends Pick<Definition, 'title' | 'description' | 'outputSchema'> {
  write: boolean;
}

function definition(name: string, input: z.ZodObject, { write, ...about }: About): Definition {
  const { properties, required } = z.toJSONSchema(input, {
    io: 'input',
    override({ jsonSchema }) {
      delete jsonSchema.propertyNames;
    },
  });
  const inputSchema = JSON.parse(JSON.stringify({ type: 'object', properties, required, additionalProperties: false }));
  const annotations = { readOnlyHint: !write, destructiveHint: write, idempotentHint: !write, openWorldHint: false };
  return { name, ...about, inputSchema, annotations };
}

/** The catalogue's tools for this caller; without the one for writes if the caller may use none. MCP-01 */
export function catalogueFor(caller: Caller): Definition[] {
  const writes = caller.tools().some(({ operation }) => operation.write);
  return [catalogue[SEARCH], catalogue[READ], ...(writes ? [catalogue[WRITE]] : [])];
}

/** The tool that a catalogue call runs, if any. */
export const toolRunBy = (name: string, { operacion }: Arguments): Tool | undefined =>
  (name === READ || name === WRITE) && typeof operacion === 'string' ? toolNamed(operacion) : undefined;

/** Calls one of the three tools. Another name is a JSON-RPC error; failures before the tool runs are results with `isError`. */
export async function callCatalogue(caller: Caller, name: string, args: Arguments): Promise<CallToolResult> {
  if (name === SEARCH) return resultOf(caller, name, undefined, async () => search(caller, args));
  if (name !== READ && name !== WRITE) throw unknownTool(name);
  const tool = toolRunBy(name, args);
  // If the caller may not use the tool, that error comes first, from the tool itself. ENV-09
  if (tool && !mayUse(caller.principal, tool.operation)) return callTool(caller, tool.definition.name, {});
  try {
    const { operacion, argumentos } = read(caller, choice, catalogue[name], args);
    checkChoice(caller, name, operacion);
    return await callTool(caller, operacion, argumentos);
  } catch (error) {
    return resultOf(caller, name, undefined, () => Promise.reject(error));
  }
}

function search(caller: Caller, args: Arguments) {
  const { consulta, limite } = read(caller, question, catalogue[SEARCH], args);
  const close = toolsAbout(consulta, caller.tools());
  return jsonText({
    total_operaciones: close.length,
    operaciones: close.slice(0, limite).map(({ operation, definition: { outputSchema, ...definition } }) => ({
      ...definition,
      permiso: operation.scope,
    })),
  });
}

/** Checks the quota, then parses the arguments of one of the three tools. Throws 400. */
function read<Input extends z.ZodObject>({ refusal }: Caller, input: Input, definition: Definition, args: Arguments) {
  if (refusal) throw refusal;
  refuseUnknown(input, definition, args);
  // As in every tool, null means that the argument was not sent.
  const parsed = input.safeParse(Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)));
  if (!parsed.success) throw badInput(problemsOf(parsed.error));
  return parsed.data;
}

/** Throws 400 for an unknown operation, naming the most similar ones, and for one that the other tool must run. */
function checkChoice(caller: Caller, name: typeof READ | typeof WRITE, operacion: string): void {
  const usable = caller.tools();
  const tool = usable.find(({ definition }) => definition.name === operacion);
  if (!tool) {
    const nearest = toolsAbout(operacion, usable).slice(0, NEAREST);
    const names = nearest.map(({ definition }) => definition.name).join(', ');
    throw badField(
      'operacion',
      names ? `no existe; las más parecidas son: ${names}` : `no existe; se busca con ${SEARCH}`,
    );
  }
  const { write } = tool.operation;
  if (write === (name === WRITE)) return;
  throw badField('operacion', `${operacion} ${write ? `escribe: usa ${WRITE}` : `solo lee: usa ${READ}`}`);
}
