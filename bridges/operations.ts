// The table of operations from which every door is generated, and the function that runs an operation.
import { z } from 'zod';
import type { CallContext } from '../platform/context.ts';
import { type JsonText, jsonObject } from '../platform/json-text.ts';
import { areas } from '../routers/index.ts';
import { metaOf, type OperationMeta, type Procedure } from '../routers/operation.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;

/** A REST route of an operation. */
export interface Route {
  method: (typeof METHODS)[number];
  /** Below /api/v1, with `{name}` for each parameter in the path. */
  path: string;
  /** The names of the parameters in the path. */
  parameters: string[];
}

/** An operation with what the doors need. */
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
  const [name, path = ''] = rest.split(' ');
  const method = METHODS.find((each) => each === name);
  if (!method) throw new Error(`Not a route: ${rest}`);
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

/**
 * The output for doors without response headers. For operations that may find an existing record, it is `{ data, existente }`; REST
 * sends `existente` as a header. W-03
 */
export const shownOutput = ({ existing, output }: Operation): z.ZodType =>
  existing ? z.object({ data: output, existente: z.boolean().describe('Ya existía, y no se ha cambiado') }) : output;

/** An answer in the form of `shownOutput`. */
export const shownAnswer = (operation: Operation, data: JsonText, headers: CallContext['headers']): JsonText =>
  operation.existing ? jsonObject({ data, existente: headers['X-Existing'] === 'true' }) : data;

/** Runs an operation with an input read by its door. Admits the caller first, unless already admitted. */
export const callOperation = ({ run }: Operation, call: CallContext, input: unknown): Promise<JsonText> =>
  run(call, () => input);
