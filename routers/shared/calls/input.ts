// An input before its operation sees it: what is refused before its schema reads it, and how its problems are told (400).
import { z } from 'zod';
import { AnswerTooLong, ApiError, badInput, type FieldProblem, problemsOf } from '../../../platform/errors.ts';
import { unwrap } from './walk.ts';

/** What an operation says of its input. */
export interface InputSpec {
  input: z.ZodRawShape;
  /** Leaves out of an input what another part of it makes void: whatever that holds, nobody looks at it. */
  relevant?(input: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** The whole message of a 400 for these problems, where the specification words it. */
  badInputMessage?(problems: readonly FieldProblem[]): string | undefined;
}

/** An operation's input, a range's order included. DATE-01 */
export function inputSchema<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> {
  const schema = z.object(shape, { error: notAnObject });
  if (!('fecha_inicio' in shape && 'fecha_fin' in shape)) return schema;
  return schema.check(({ value, issues }) => {
    if (issues.length === 0 && isReversed(value)) {
      const message = 'no puede ser anterior a fecha_inicio';
      issues.push({ code: 'custom', path: ['fecha_fin'], input: value, message });
    }
  });
}

/** What is said of an input as a whole, which has no name. */
const notAnObject = ({ code }: z.core.$ZodRawIssue) =>
  code === 'invalid_type' ? 'Los datos de entrada tienen que ser un objeto JSON' : undefined;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An input as its schema is to read it. 400 for what is found before that. */
export function given(spec: InputSpec, schema: z.ZodObject, raw: unknown): unknown {
  const long = longLists(schema, raw);
  if (long.length > 0) throw badInput(long, spec.badInputMessage?.(long));
  const sent = withoutNulls(raw ?? {});
  return spec.relevant && isRecord(sent) ? spec.relevant(sent) : sent;
}

const DEEPEST_INPUT = 64;

/**
 * A null in an input is a parameter that was not sent. What holds none is not copied. 400 for an input nested beyond what any
 * operation takes.
 */
function withoutNulls(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST_INPUT) throw new ApiError('badInput', 'Los datos de entrada tienen demasiados niveles');
  let changed = false;
  const without = (property: unknown) => {
    const result = withoutNulls(property, depth + 1);
    changed ||= result === null || result !== property;
    return result;
  };
  if (Array.isArray(value)) {
    // In a list a null is an element like any other, and a wrong one.
    const items = value.map((item) => (item === null ? item : without(item)));
    return changed ? items : value;
  }
  const entries = Object.entries(value).map(([name, property]) => [name, without(property)] as const);
  return changed ? Object.fromEntries(entries.filter(([, property]) => property !== null)) : value;
}

/** Lists that are longer than they may be, found before their elements are looked at: each may be wrong in several ways. */
function longLists({ shape }: z.ZodObject, raw: unknown): FieldProblem[] {
  if (typeof raw !== 'object' || raw === null) return [];
  return Object.entries(raw).flatMap(([name, value]) => {
    const property = Array.isArray(value) && Object.hasOwn(shape, name) ? unwrap(shape[name]) : undefined;
    const { maximum } = property instanceof z.ZodArray ? property._zod.bag : {};
    return typeof maximum === 'number' && value.length > maximum
      ? [{ campo: name, mensaje: `no puede tener más de ${maximum} elementos` }]
      : [];
  });
}

/** Whether a range ends before it starts. */
const isReversed = ({ fecha_inicio, fecha_fin }: Record<string, unknown>) =>
  typeof fecha_inicio === 'string' && typeof fecha_fin === 'string' && fecha_fin < fecha_inicio;

/** The 400 for what the schema found; whatever else was wrong as it is. */
export function wrongInput(spec: InputSpec, error: unknown): unknown {
  if (!(error instanceof z.core.$ZodError)) return error;
  const problems = problemsOf(error);
  return badInput(problems, spec.badInputMessage?.(problems));
}

/** With the parameters that would make the answer shorter. FAIR-03 */
export function narrowable(parameters: object): AnswerTooLong {
  const narrower = Object.entries(NARROWER).filter(([name]) => name in parameters);
  const fields = narrower.map(([campo, mensaje]) => ({ campo, mensaje }));
  const asked = narrower.map(([name, mensaje]) => `${mensaje} (${name})`).join(' o ');
  return new AnswerTooLong(fields, asked && `: ${asked}`);
}

const NARROWER = { por_pagina: 'pide páginas más pequeñas', fecha_fin: 'pide menos días' };
