// A made-up id, or an id of another kind: the refusal names the tool that gives the right one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SOURCES, tools } from '../../bridges/mcp/tools.ts';
import { operations } from '../../bridges/operations.ts';
import type { Kind } from '../../platform/ids.ts';
import { unwrap } from '../../routers/shared/calls/walk.ts';
import { idMarks } from '../../routers/shared/id.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';
import { callMcp, toolCall } from '../oauth/application.ts';

type Path = readonly (string | number)[];

/** Every path in a schema that holds an id: in lists that of the first element, in unions that of each branch. */
function idPlaces(schema: z.core.$ZodType, path: Path = []): { path: Path; kind: Kind }[] {
  const inner = unwrap(schema);
  const mark = idMarks.get(inner);
  if (mark) return [{ path, kind: mark.kind }];
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner._zod.def.shape).flatMap(([name, property]) => idPlaces(property, [...path, name]));
  }
  if (inner instanceof z.ZodArray) return idPlaces(inner._zod.def.element, [...path, 0]);
  if (inner instanceof z.ZodUnion) return inner._zod.def.options.flatMap((option) => idPlaces(option, path));
  return [];
}

/** The value nested at this path. */
function withAt(value: unknown, [step, ...rest]: Path, leaf: unknown): unknown {
  if (step === undefined) return leaf;
  if (typeof step === 'number') {
    const [first, ...others] = Array.isArray(value) ? value : [];
    return [withAt(first, rest, leaf), ...others];
  }
  const object = { ...(typeof value === 'object' ? value : {}) };
  return { ...object, [step]: withAt(Reflect.get(object, step), rest, leaf) };
}

const named = (path: Path) =>
  path.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name ? `${name}.${step}` : step),
    '',
  );

const sites = operations.flatMap((operation) =>
  idPlaces(operation.input).map(({ path, kind }) => ({ operation, path, kind, field: named(path) })),
);

let server: Server;
let company: Company;
beforeAll(async () => {
  server = await startServer({ clock: new TestClock(EXAMPLE_NOW), quotaPerMinute: 1_000_000 });
  company = await server.company([...exampleRecords], { cuenta: exampleAccount });
});
afterAll(() => server?.stop());

async function refusal(tool: string, args: unknown): Promise<string> {
  const { body } = await callMcp(server, undefined, toolCall(tool, args as object), { headers: company.headers });
  expect(body.result?.isError, JSON.stringify(body)).toBe(true);
  return body.result.content[0].text;
}

test('[MCP-04] there are identifiers in lists and inside other arguments', () => {
  const fields = sites.map(({ field }) => field);
  expect(fields).toEqual(
    expect.arrayContaining(['datos.contacto_fk', 'cliente.id', 'detalles[0].formatoId', 'albaranes[0]']),
  );
});

describe('[MCP-04] an unknown identifier is refused with the tool that gives the right one:', () => {
  test.each(sites.map((site) => [site.operation.tool, site.field, site] as const))(
    '%s, %s',
    async (tool, field, site) => {
      const source = `${field} se obtiene con ${SOURCES[site.kind]}.`;
      for (const unknown of ['nobody', 999_999_999_999]) {
        const text = await refusal(tool, withAt(examples[site.operation.path] ?? {}, site.path, unknown));
        expect(text.split('\n')).toContain(source);
        expect(text.match(/se obtiene con/g)).toHaveLength(1);
      }
    },
  );
});

test.each(Object.entries(SOURCES))(
  '[MCP-04] identifiers of a %s are in the answer of %s, which needs no such one',
  (kind, source) => {
    const tool = tools.find(({ definition }) => definition.name === source);
    if (!tool) throw new Error(`There is no tool ${source}`);
    const given: unknown[] = [];
    z.toJSONSchema(tool.operation.output, {
      io: 'input',
      override: ({ zodSchema }) => {
        given.push(idMarks.get(zodSchema)?.kind);
      },
    });
    expect(given).toContain(kind);
    const needed = idPlaces(tool.operation.input).filter((place) => place.kind === kind);
    const required = tool.definition.inputSchema.required ?? [];
    expect(needed.filter(({ path: [name] }) => required.includes(String(name)))).toEqual([]);
  },
);
