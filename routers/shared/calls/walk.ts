// Walks over values along their schemas, compiled once for each schema: where ids stand, and which keys are unknown.
import { z } from 'zod';
import { type IdMark, idMarks } from '../id.ts';

type Container = Record<PropertyKey, unknown>;
type Path = readonly PropertyKey[];

/** Where the walk stands: a link to where it was before, since most places are passed and never told. */
interface Place {
  before: Place | undefined;
  key: PropertyKey;
}

/** An id met on the way: it is read and replaced at `container[key]`. */
export interface IdSite {
  mark: IdMark;
  container: Container;
  key: PropertyKey;
  place: Place | undefined;
}

/** The keys that lead to an id, from the root. */
export const pathOf = ({ place }: IdSite): Path => keysTo(place);

function keysTo(place: Place | undefined): Path {
  const keys: PropertyKey[] = [];
  for (let at = place; at; at = at.before) keys.unshift(at.key);
  return keys;
}

type Step = (container: Container, key: PropertyKey, place: Place | undefined, found: IdSite[]) => void;

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

/** The schema inside optional, nullable, default and the like. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodReadonly
  ) {
    if (idMarks.get(inner)) return inner;
    inner = inner._zod.def.innerType;
  }
  return inner instanceof z.ZodPipe ? unwrap(inner._zod.def.in) : inner;
}

function compile(schema: z.core.$ZodType): Step | undefined {
  const inner = unwrap(schema);
  const mark = idMarks.get(inner);
  if (mark) {
    const nullable = z.safeParse(schema, null).success;
    return (container, key, place, found) => {
      const value = container[key];
      if (value !== undefined && !(value === null && nullable)) found.push({ mark, container, key, place });
    };
  }
  if (inner instanceof z.ZodObject) {
    const steps = Object.entries(inner._zod.def.shape).flatMap(([name, property]) => {
      const step = compile(property);
      return step ? [{ name, step }] : [];
    });
    if (steps.length === 0) return undefined;
    return (container, key, place, found) => {
      const value = container[key];
      if (!isContainer(value)) return;
      for (const { name, step } of steps) step(value, name, { before: place, key: name }, found);
    };
  }
  if (inner instanceof z.ZodDiscriminatedUnion) {
    const { discriminator, options } = inner._zod.def;
    const steps = new Map(
      options.flatMap((option) => {
        const step = compile(option);
        return step ? [...(option._zod.propValues?.[discriminator] ?? [])].map((value) => [value, step] as const) : [];
      }),
    );
    return (container, key, place, found) => {
      const value = container[key];
      if (isContainer(value)) steps.get(value[discriminator] as string)?.(container, key, place, found);
    };
  }
  if (inner instanceof z.ZodRecord) {
    const step = compile(inner._zod.def.valueType);
    if (!step) return undefined;
    return (container, key, place, found) => {
      const value = container[key];
      if (!isContainer(value)) return;
      for (const name of Object.keys(value)) step(value, name, { before: place, key: name }, found);
    };
  }
  if (inner instanceof z.ZodArray) {
    const step = compile(inner._zod.def.element);
    if (!step) return undefined;
    return (container, key, place, found) => {
      const value = container[key];
      if (!Array.isArray(value) || !isContainer(value)) return;
      for (let index = 0; index < value.length; index++) step(value, index, { before: place, key: index }, found);
    };
  }
  return undefined;
}

/** A function that lists the ids inside a value of this schema; the value hangs in a container so that it may be an id itself. */
export function idSites(schema: z.core.$ZodType): (root: { value: unknown }) => IdSite[] {
  const step = compile(schema);
  return (root) => {
    const found: IdSite[] = [];
    step?.(root, 'value', undefined, found);
    return found;
  };
}

/** More than a header or a model's context has room for. */
const MOST_UNKNOWN = 400;

/** The paths of keys in `value` that its schema does not know; of very many the first. ENV-06 */
export function unknownKeys(schema: z.core.$ZodType, value: unknown): Path[] {
  const found: Path[] = [];
  findUnknown(schema, value, undefined, found);
  return found;
}

function findUnknown(schema: z.core.$ZodType, value: unknown, place: Place | undefined, found: Path[]): void {
  if (!isContainer(value)) return;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && !Array.isArray(value)) {
    const { shape } = inner._zod.def;
    for (const key of Object.keys(value)) {
      if (found.length >= MOST_UNKNOWN) return;
      const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
      if (known) findUnknown(known, value[key], { before: place, key }, found);
      else found.push(keysTo({ before: place, key }));
    }
  } else if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const { element } = inner._zod.def;
    for (let key = 0; key < value.length && found.length < MOST_UNKNOWN; key++) {
      findUnknown(element, value[key], { before: place, key }, found);
    }
  }
}
