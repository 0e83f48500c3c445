// Where values stand in the input of an operation, and inputs with another value there: for tests that try all of them.
import { z } from 'zod';
import type { Operation } from '../../bridges/operations.ts';
import { fieldName } from '../../platform/errors.ts';
import { idMarks } from '../../routers/shared/id.ts';
import { unwrap } from '../../routers/shared/walk.ts';

export type Input = Record<string, unknown>;
export type Path = readonly (string | number)[];

/** Every value that an input schema has room for, by where it stands; of lists, in their first element. */
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

/** The input with another value at one place. */
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

// By get, which also finds the mark of a schema that this one is a described copy of.
export const isId = (schema: z.core.$ZodType) => idMarks.get(schema) !== undefined;
