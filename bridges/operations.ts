// The flat table of operations that every door is made from: the routers are walked once, here. And the call that they share.
import type { CallContext } from '../platform/context.ts';
import type { JsonText } from '../platform/json-text.ts';
import { areas } from '../routers/index.ts';
import { metaOf, type OperationMeta, type Procedure } from '../routers/operation.ts';

export interface Route {
  method: 'GET' | 'POST' | 'PUT';
  /** Below /api/v1, with `{name}` for what stands in the path. */
  path: string;
  /** Names of the parameters that stand in the path. */
  parameters: string[];
}

export interface Operation extends Omit<OperationMeta, 'rest'> {
  /** `products.list` */
  path: string;
  area: string;
  /** The MCP tool: the alias in snake_case. */
  tool: string;
  write: boolean;
  routes: Route[];
  procedure: Procedure;
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function route(rest: string): Route {
  const [method = '', path = ''] = rest.split(' ');
  if (method !== 'GET' && method !== 'POST' && method !== 'PUT') throw new Error(`Not a route: ${rest}`);
  return { method, path, parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '') };
}

/** Every operation, in the order of the routers. */
export const operations: readonly Operation[] = Object.entries(areas).flatMap(([area, resources]) =>
  Object.entries(resources).flatMap(([resource, verbs]) =>
    Object.entries<Procedure>(verbs).map(([verb, procedure]) => {
      const meta = metaOf(procedure);
      return {
        ...meta,
        path: `${resource}.${verb}`,
        area,
        tool: snakeCase(meta.alias),
        write: meta.scope === 'svc.write',
        routes: meta.rest.map(route),
        procedure,
      };
    }),
  ),
);

/** Runs an operation in process, with the input as its door read it; a caller not yet admitted is admitted first. */
export const callOperation = (
  { procedure, path, write }: Operation,
  call: CallContext,
  input: unknown,
): Promise<JsonText> =>
  procedure({
    ctx: call,
    path,
    type: write ? 'mutation' : 'query',
    getRawInput: async () => input,
    input: undefined,
    signal: undefined,
    batchIndex: 0,
  });
