// Finds the values in an operation's input and replaces one of them, for tests that try every place.
import { z } from 'zod';
import type { Operation } from '../../bridges/operations.ts';
import { fieldName } from '../../platform/errors.ts';
import { unwrap } from '../../routers/shared/calls/walk.ts';
import { idMarks } from '../../routers/shared/id.ts';

export type Input = Record<string, unknown>;
export type Path = readonly (string | number)[];

/** Every value that an input schema allows, by path; in lists, that of the first element. */
export function* places(schema: z.core.$ZodType, path: Path = []): Generator<{ path: Path; schema: z.core.$ZodType }> {
  const inner = unwrap(schema);
  if (path.length > 0) yield { path, schema: inner };
  if (isId(inner)) return;
  if (inner instanceof z.ZodObject) {
    for (const [name, property] of Object.entries(inner._zod.def.shape)) yield* places(property, [...path, name]);
  } else if (inner instanceof z.ZodArray) {
    yield* places(inner._zod.def.element, [...path, 0]);
  } else if (inner instanceof z.ZodUnion) {
    for (const option of inner._zod.def.options) yield* places(option, path);
  }
}

export const placesOf = ({ input }: Operation, wanted: (schema: z.core.$ZodType) => boolean) => {
  const found = new Map<string, Path>();
  for (const { path, schema } of places(input)) if (wanted(schema)) found.set(fieldName(path), path);
  return [...found.values()];
};

export const valueAt = (input: Input, path: Path) =>
  path.reduce<unknown>((value, step) => (value as Record<string | number, unknown> | undefined)?.[step], input);

/** The input with another value at one path. */
export function withValue(input: Input, path: Path, value: unknown): Input {
  const changed = structuredClone(input);
  let container: Record<string | number, unknown> = changed;
  for (const [index, step] of path.slice(0, -1).entries()) {
    container[step] ??= typeof path[index + 1] === 'number' ? [] : {};
    container = container[step] as Record<string | number, unknown>;
  }
  const last = path.at(-1);
  if (last !== undefined) container[last] = value;
  return changed;
}

// `get` also finds the metadata of the schema that this one was cloned from by describe().
export const isId = (schema: z.core.$ZodType) => idMarks.get(schema) !== undefined;
