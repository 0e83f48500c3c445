// The kinds of field that collections are declared with. A field has a schema for the value in the file, writes the value to
// columns of the row, and reads it back from them.
import { z } from 'zod';
import { isEmail } from '../platform/text.ts';
import type { LocalTimes } from './local-times.ts';

/** A row of a table, by column. */
export type Row = Record<string, unknown>;

/** Reports a wrong field and what was expected. */
export type Wrong = (campo: string, mensaje: string) => void;

/** Context of writing a value to the database. */
export interface Writing {
  times: LocalTimes;
  /** The price lists so far, by number: whether each has prices with VAT. */
  priceLists: ReadonlyMap<number, boolean>;
  dayTypes: ReadonlySet<string>;
  /** The whole record, and its parent's row if it is an inner record. */
  record: Row;
  parent: Row | undefined;
  /** The id of the record that the field names. If there is none, reports that and returns undefined. */
  idNamedBy(field: string): number | undefined;
  wrong: Wrong;
}

/** Context of reading a value from the database. */
export interface Reading {
  times: LocalTimes;
  /** The parent's row if the record is an inner record. */
  parent: Row | undefined;
}

/** A collection whose records a field may name. */
export interface Target {
  name: string;
  table: string;
  children: Readonly<Record<string, InnerTarget>>;
}

/** Inner records: their table, and its column with the parent's id. */
export interface InnerTarget {
  table: string;
  parent: string;
}

/** The records that a field may name: those of a collection, or inner records of the record that the field `of` names. */
export interface Named {
  collection: Target;
  inner?: { children: string; of: string };
}

export interface Field<T = unknown> {
  schema: z.ZodType<T>;
  columns: readonly string[];
  /** Columns that are more precise than the file. They stay as they are if they would read the same in the file. */
  inexact?: Readonly<Record<string, 'instant' | 'number'>>;
  /** SQL default of a column that the file leaves out: for new rows `n`; existing rows keep their value, unless it `follows`. */
  otherwise?: Readonly<Record<string, string>>;
  /** SQL for a column that the file leaves out, in an existing row `t` that becomes `n`. */
  follows?: Readonly<Record<string, string>>;
  names?: Named;
  /** SQL expressions over the table `t` that `read` needs, by alias; default: the columns. */
  select?: Readonly<Record<string, string>>;
  write(value: T, row: Row, writing: Writing, name: string): void;
  read(row: Row, reading: Reading): unknown;
}

export type Fields = Readonly<Record<string, Field>>;

/** A record as the schema parses it, with every field. */
export type RecordOf<F extends Fields> = { [Name in keyof F]: F[Name] extends Field<infer T> ? T : never };

/** A field of one column. `to` and `from` convert its value. */
function plain<T>(
  column: string,
  schema: z.ZodType<T>,
  to: (value: T) => unknown = (value) => value,
  from: (stored: unknown) => unknown = (stored) => stored,
): Field<T> {
  return {
    schema,
    columns: [column],
    write(value, row) {
      row[column] = to(value);
    },
    read: (row) => from(row[column]),
  };
}

/** An optional value: left out means null. */
export const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? null);

const withDefault = <T>(schema: z.ZodType<T>, initial: T) => schema.nullish().transform((value) => value ?? initial);

const storable = (value: string) => !value.includes('\0') && value.isWellFormed();
const anyText = () => z.string().refine(storable, 'contiene un carácter no admitido');
/** Text without spaces around it. */
export const trimmed = () => anyText().trim();

/** Text that is required and not blank. */
export const requiredText = () => trimmed().min(1);
/** Optional text: left out or blank means null. */
export const blankableText = () => optional(trimmed()).transform((value) => value || null);

/** A ref. `@<id>` stands for a record without one. */
export const refText = () => requiredText().max(500);

const number = (decimals: number, limit: number) =>
  z
    .number()
    .min(-limit)
    .max(limit)
    .refine((value) => Number(value.toFixed(decimals)) === value, `se esperaban como mucho ${decimals} decimales`);

/** An amount, quantity or percentage: at most 6 decimals, within ±10^12, which a JSON number carries. */
export const decimalNumber = () => number(6, 1e12);
/** A percentage, as registers of invoices hold it. */
export const percentNumber = () => number(2, 100).min(0);
/** A product of two such numbers: a total, a price times a factor, a quantity in base units. */
export const productNumber = (limit = 1e30) => number(12, limit);

export const realDate = () =>
  z.iso.date().refine((value) => !value.startsWith('0000'), 'se esperaba un año desde 0001');

export const text = (column: string) => plain(column, requiredText());

/** `absent` is the column's value if there is no text. */
export const optionalText = (column: string, absent: '' | null = null, schema = blankableText()) =>
  plain(
    column,
    schema,
    (value) => value ?? absent,
    (stored) => stored || null,
  );

/** One of some words. */
export const optionalWord = <const Words extends readonly string[]>(column: string, words: Words) =>
  plain(column, optional(z.enum(words)));

/** An e-mail, with the same check as in every other interface. W-11 */
export const optionalEmail = (column: string, absent: '' | null = null) =>
  optionalText(
    column,
    absent,
    blankableText().refine((value) => value === null || isEmail(value), 'se esperaba un correo electrónico'),
  );

/** Text of several lines, perhaps HTML, stored untrimmed. */
export const freeText = (column: string, absent: '' | null = null) =>
  plain(
    column,
    optional(anyText()),
    (value) => value ?? absent,
    (stored) => (stored === absent ? null : stored),
  );

export const textOr = (column: string, initial: string) =>
  plain(
    column,
    trimmed()
      .nullish()
      .transform((value) => value || initial),
  );

export const flag = (column: string, initial: boolean) => plain(column, withDefault(z.boolean(), initial));
export const optionalFlag = (column: string) => plain(column, optional(z.boolean()));

export const decimal = (column: string, schema: z.ZodType<number> = decimalNumber()) => plain(column, schema);
/** The field, left out of the file where it reads as `absent`. */
export const unless = <T>(absent: T, field: Field<T>): Field<T> => ({
  ...field,
  read(row, reading) {
    const value = field.read(row, reading);
    return value === absent ? undefined : value;
  },
});

/** A product that the service computes, perhaps with more digits than a JSON number carries. */
export const product = (column: string, limit?: number): Field<number> => ({
  ...plain(column, productNumber(limit)),
  inexact: { [column]: 'number' },
});
export const decimalOr = (column: string, initial: number, schema: z.ZodType<number> = decimalNumber()) =>
  plain(column, withDefault(schema, initial));
export const optionalDecimal = (column: string) => plain(column, optional(decimalNumber()));

/** Whole numbers as PostgreSQL's `int` holds them. */
export const wholeNumber = (min: number, max = 2_147_483_647) => z.int().min(min).max(max);
export const whole = (column: string, schema: z.ZodType<number>) => plain(column, schema);
export const optionalWhole = (column: string, schema: z.ZodType<number>) => plain(column, optional(schema));
export const optionalWholes = (column: string, schema: z.ZodType<number[]>) => plain(column, optional(schema));

export const date = (column: string) => plain(column, realDate());
export const optionalDate = (column: string) => plain(column, optional(realDate()));

/** A set of days. A file without the field keeps the stored days. */
export const keptDates = (column: string): Field<string[] | null> => ({
  ...plain(
    column,
    optional(
      z.array(realDate()).refine((days) => new Set(days).size === days.length, { error: 'hay fechas repetidas' }),
    ),
    (days) => days?.toSorted(),
  ),
  otherwise: { [column]: `'{}'` },
  select: { [column]: `t.${column}::text[]` },
});

/** One of a list of words, each stored as another. */
export function choice<Word extends string>(
  column: string,
  words: Readonly<Record<Word, string>>,
  initial?: NoInfer<Word>,
) {
  const stored = new Map(Object.entries<string>(words).map(([word, value]) => [value, word]));
  const names = Object.keys(words) as Word[];
  const schema = z.enum(names);
  return plain(
    column,
    initial === undefined ? schema : withDefault(schema, initial),
    (word) => words[word],
    (value) => stored.get(String(value)) ?? null,
  );
}

const LOCAL = /^(\d{4}-\d\d-\d\d) ((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)$/;
const localInstant = () =>
  z.string().refine((value) => {
    const [, day] = LOCAL.exec(value) ?? [];
    return day !== undefined && realDate().safeParse(day).success;
  }, 'se esperaba una fecha y hora local AAAA-MM-DD HH:MM:SS');

const timestamp = (epochMs: number) => new Date(epochMs).toISOString();
const SKIPPED = 'esa hora local no existe (cambio de hora)';
const epoch = (column: string) => ({
  [column]: `extract(epoch from date_trunc('second', t.${column}))::bigint`,
});

function instantField(column: string, schema: z.ZodType<string | null>): Field<string | null> {
  return {
    schema,
    columns: [column],
    inexact: { [column]: 'instant' },
    select: epoch(column),
    write(value, row, { times, wrong }, name) {
      if (value === null) {
        row[column] = null;
        return;
      }
      const at = times.instantOf(value.slice(0, 10), value.slice(11));
      if (at === undefined) wrong(name, SKIPPED);
      else row[column] = timestamp(at);
    },
    read: (row, { times }) => (typeof row[column] === 'number' ? times.localOf(row[column]) : null),
  };
}

/** An instant, `YYYY-MM-DD HH:MM:SS` in the company's time zone. */
export const instant = (column: string) => instantField(column, localInstant());
export const optionalInstant = (column: string) => instantField(column, optional(localInstant()));
/** The same, and text. A file without the field keeps what is stored. */
export const keptInstant = (column: string): Field<string | null> => ({
  ...optionalInstant(column),
  otherwise: { [column]: 'null' },
});
export const keptText = (column: string): Field<string | null> => ({
  ...optionalText(column),
  otherwise: { [column]: 'null' },
});
/** An instant; by default that of the import. */
export const instantOrNow = (column: string): Field<string | null> => ({
  ...optionalInstant(column),
  otherwise: { [column]: `date_trunc('second', now())` },
});

const clocking = z.strictObject({
  fecha: realDate(),
  hora: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'se esperaba una hora HH:MM'),
  metodo: requiredText(),
});

function clockingField(
  [at, method]: readonly [at: string, method: string],
  schema: z.ZodType<z.output<typeof clocking> | null>,
  write: Field<z.output<typeof clocking> | null>['write'],
): Field<z.output<typeof clocking> | null> {
  return {
    schema,
    columns: [at, method],
    select: { ...epoch(at), [method]: `t.${method}` },
    write,
    read(row, { times }) {
      if (typeof row[at] !== 'number') return null;
      const local = times.localOf(row[at]);
      return { fecha: local.slice(0, 10), hora: local.slice(11, 16), metodo: row[method] };
    },
  };
}

/** Clocking in: `{fecha, hora, metodo}`. */
export const entryClocking = (at: string, method: string) =>
  clockingField([at, method], clocking, (value, row, { times, wrong }, name) => {
    if (value === null) return;
    const entry = times.instantOf(value.fecha, `${value.hora}:00`);
    if (entry === undefined) wrong(`${name}.hora`, SKIPPED);
    else [row[at], row[method]] = [timestamp(entry), value.metodo];
  });

/** Clocking out, null while open. If the hour occurs twice, the occurrence that is not before the entry (FIC-03). */
export const exitClocking = (at: string, method: string, entry: string) =>
  clockingField([at, method], optional(clocking), (value, row, { times, wrong }, name) => {
    [row[at], row[method]] = [null, null];
    if (value === null) return;
    const time = `${value.hora}:00`;
    const entered = row[entry];
    const before = (exit: number) => typeof entered === 'string' && exit < Date.parse(entered);
    let exit = times.instantOf(value.fecha, time);
    if (exit === undefined) return wrong(`${name}.hora`, SKIPPED);
    if (before(exit)) exit = times.instantOf(value.fecha, time, 'later') ?? exit;
    if (before(exit)) return wrong(name, 'la salida es anterior a la entrada');
    [row[at], row[method]] = [timestamp(exit), value.metodo];
  });

/** Several fields as one object of the file. */
export function group(fields: Fields): Field<Row | null> {
  const schema = z.strictObject(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema])),
  );
  const entries = Object.entries(fields);
  return {
    schema: optional(schema),
    columns: entries.flatMap(([, field]) => field.columns),
    write(value, row, writing, name) {
      for (const [part, field] of entries) field.write(value?.[part] ?? null, row, writing, `${name}.${part}`);
    },
    read: (row, reading) => Object.fromEntries(entries.map(([name, field]) => [name, field.read(row, reading)])),
  };
}

/** SQL for a record's ref, or `@<id>` if it has none. */
const refOf = (table: string, column: string) =>
  `(select coalesce(r.ref, '@' || r.id) from ${table} r where r.account_id = $1 and r.id = t.${column})`;

function referenceField(column: string, table: string, names: Named, schema: z.ZodType<string | null>) {
  const field: Field<string | null> = {
    schema,
    columns: [column],
    names,
    select: { [column]: refOf(table, column) },
    write(value, row, writing, name) {
      row[column] = value === null ? null : writing.idNamedBy(name);
    },
    read: (row) => row[column],
  };
  return field;
}

/** The ref of a record of another collection. */
export const reference = (collection: Target, column: string) =>
  referenceField(column, collection.table, { collection }, refText());
export const optionalReference = (collection: Target, column: string) =>
  referenceField(column, collection.table, { collection }, optional(refText()));

/** The ref of an inner record (`children`) of the record that the field `of` names. */
export const innerReference = (collection: Target, children: string, of: string, column: string) =>
  innerField(collection, children, of, column, refText());
export const optionalInnerReference = (collection: Target, children: string, of: string, column: string) =>
  innerField(collection, children, of, column, optional(refText()));

function innerField(
  collection: Target,
  children: string,
  of: string,
  column: string,
  schema: z.ZodType<string | null>,
) {
  const table = collection.children[children]?.table;
  if (table === undefined) throw new Error(`${collection.name} has no ${children}`);
  return referenceField(column, table, { collection, inner: { children, of } }, schema);
}

/** The code of a type of day. */
export const dayType = (column: string): Field<string> => ({
  ...text(column),
  write(code, row, { dayTypes, wrong }, name) {
    if (dayTypes.has(code)) row[column] = code;
    else wrong(name, `no existe el tipo de día ${code}`);
  },
});

/** The number of a price list. */
export const optionalPriceList = (column: string): Field<number | null> => ({
  ...optionalWhole(column, wholeNumber(1)),
  write(number, row, { priceLists, wrong }, name) {
    if (number === null || priceLists.has(number)) row[column] = number;
    else wrong(name, `no existe la tarifa ${number}`);
  },
});
