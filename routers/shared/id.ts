// Ids in schemas. `id` stands in inputs and `sealedId` in outputs; the operation builder finds both, opens the first and
// seals the second, so that handlers see numbers and callers see opaque strings (ID-01, ID-03).
import { z } from 'zod';
import type { Kind } from '../../platform/ids.ts';

export interface IdMark {
  kind: Kind;
  /** It may be of one of these kinds too. */
  or?: readonly Kind[];
  /** What an identifier that does not resolve is: 404, save where ID-05 says 400. */
  unknown: 'notFound' | 'badInput';
  /** `""` is no record: the handler gets null for it. W-01 */
  orNone?: true;
}

export const idMarks = z.registry<IdMark>();

/**
 * An identifier in an input: the sealed string, or the legacy number or its digits. The handler receives the number of
 * a record that exists in the company.
 */
export function id(kind: Kind, unknown: IdMark['unknown'] = 'notFound'): z.ZodType<number, string | number> {
  const schema = z.union([z.string().trim().min(1), z.int().positive()], {
    error: ({ input }) => (input === undefined ? 'es obligatorio' : 'se esperaba un identificador'),
  });
  schema.register(idMarks, { kind, unknown });
  // The builder replaces what was parsed by the record's number before a handler sees it; Zod can't know the company.
  return schema as z.ZodType as z.ZodType<number, string | number>;
}

/** A record that an identifier may name. */
export interface NamedRecord {
  kind: Kind;
  number: number;
}

/**
 * The same of several kinds: the handler receives what it may name, one record or, where a number stands for more kinds, several of
 * which one at least exists.
 */
export function eitherId(kind: Kind, ...or: Kind[]): z.ZodType<readonly NamedRecord[], string | number> {
  const schema = z.union([z.string().trim().min(1), z.int().positive()], {
    error: ({ input }) => (input === undefined ? 'es obligatorio' : 'se esperaba un identificador'),
  });
  schema.register(idMarks, { kind, or, unknown: 'notFound' });
  return schema as z.ZodType as z.ZodType<readonly NamedRecord[], string | number>;
}

/** The same where `""` leaves the record without one. */
export function idOrNone(kind: Kind): z.ZodType<number | null, string | number> {
  const schema = z.union([z.string().trim(), z.int().positive()], { error: () => 'se esperaba un identificador' });
  schema.register(idMarks, { kind, unknown: 'notFound', orNone: true });
  return schema as z.ZodType as z.ZodType<number | null, string | number>;
}

/**
 * An identifier in an output: the handler gives the number, the caller gets the sealed string. For a related record that
 * is not set the handler gives null, and the caller gets "" (ENV-08), or null where the schema is nullable.
 */
export function sealedId(kind: Kind): z.ZodType<string, number | null> {
  const schema = z.string();
  schema.register(idMarks, { kind, unknown: 'notFound' });
  // As above, the other way round.
  return schema as z.ZodType as z.ZodType<string, number | null>;
}
