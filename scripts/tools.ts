// `npm run tools`: the size of the connector's tools in a model's context, in bytes of JSON, largest first.
import type { Tool as Definition } from '@modelcontextprotocol/server';
import { catalogue } from '../bridges/mcp/catalogue.ts';
import { tools } from '../bridges/mcp/tools.ts';

/** The size of a list of tools. */
export interface Cost {
  tools: number;
  /** Without output schemas, which most hosts do not send to the model. */
  inputs: number;
  whole: number;
}

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** The size of these tools, in bytes of JSON. */
export const costOf = (definitions: readonly Definition[]): Cost => ({
  tools: definitions.length,
  inputs: bytes(definitions.map(({ outputSchema, ...rest }) => rest)),
  whole: bytes(definitions),
});

/** The size of each choice of tools, by the path that selects it. */
export const choices = (): ReadonlyMap<string, Cost> =>
  new Map([
    ['/mcp/', costOf(tools.map(({ definition }) => definition))],
    ['/mcp/?modo=catalogo', costOf(Object.values(catalogue))],
    ...[...Map.groupBy(tools, ({ operation }) => operation.area)].map(
      ([area, its]) => [`/mcp/?areas=${area}`, costOf(its.map(({ definition }) => definition))] as const,
    ),
  ]);

if (import.meta.main) {
  const lines: (string | number)[][] = [['tool', 'area', 'without output', 'with output']];
  const sized = tools.map(({ operation, definition }) => ({ operation, ...costOf([definition]) }));
  for (const { operation, inputs, whole } of sized.toSorted((one, other) => other.inputs - one.inputs)) {
    lines.push([operation.tool, operation.area, inputs, whole]);
  }
  lines.push(['']);
  for (const [address, cost] of choices()) lines.push([address, `${cost.tools} tools`, cost.inputs, cost.whole]);
  const { tools: count, inputs, whole } = costOf(tools.map(({ definition }) => definition));
  lines.push(['a tool on average', '', Math.round(inputs / count), Math.round(whole / count)]);
  for (const [name = '', about = '', ...figures] of lines) {
    const columns = figures.map((figure) => String(figure).padStart(16)).join('');
    process.stdout.write(`${String(name).padEnd(40)}${String(about).padEnd(12)}${columns}`.trimEnd());
    process.stdout.write('\n');
  }
}
