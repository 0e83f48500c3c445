// What a collection of the account file is: its fields, its inner records, and what the engine has to know of its table.
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { type Field, type Fields, type RecordOf, type Row, refText, type Wrong } from './fields.ts';

/** Numbers that a file brings along stay below this, far from the end of the sequences. */
const MAX_ID = 1e12;

/** Inner records of a record (lines, stages...), in the order of the file. */
export interface Children {
  table: string;
  /** The column with the parent's id. */
  parent: string;
  fields: Fields;
  schema: z.ZodType<InnerRecord[] | null>;
  check: (record: Row, wrong: Wrong) => void;
  /** The rows of records that leave the list out; called when their other inner records are written. */
  whenLeftOut: ((db: Db, accountId: number, parents: readonly Row[]) => Promise<Map<number, Row[]>>) | undefined;
}

export interface InnerRecord extends Row {
  ref: string | null;
  id: number | null;
}

export interface FileRecord extends Row {
  ref: string;
  id: number | null;
}

export interface Written {
  id: number;
  record: FileRecord;
}

export interface Collection {
  /** `coleccion` in the file. */
  name: string;
  table: string;
  fields: Fields;
  children: Readonly<Record<string, Children>>;
  schema: z.ZodType<FileRecord>;
  /** A field, and its column, by which a record is recognised as well as by its ref. */
  key: { field: string; column: string } | undefined;
  /** Columns that follow from the record's other fields. */
  derived: ((record: Row) => Row) | undefined;
  check: (record: Row, wrong: Wrong) => void;
  /** Writes what stands beside the table; answers the ids for which that changed something. */
  alsoWrite: ((db: Db, accountId: number, written: readonly Written[]) => Promise<number[]>) | undefined;
  /** SQL condition on the table `t`: which of its rows are records of the file. */
  exported: string | undefined;
  /** Records that are read at once for the export. */
  pageSize: number;
}

interface ChildrenOptions<F extends Fields> {
  /** The file may leave the list out. */
  optional?: boolean;
  /** Each has a ref that others name it by. */
  named?: boolean;
  check?: (record: RecordOf<F>, wrong: Wrong) => void;
  whenLeftOut?: Children['whenLeftOut'];
}

const idSchema = () =>
  z
    .int()
    .min(1)
    .max(MAX_ID - 1)
    .nullish()
    .transform((id) => id ?? null);

const schemasOf = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));

/** Declares the inner records that stand in `table` under the column `parent`. */
export function children<F extends Fields>(
  table: string,
  parent: string,
  fields: F,
  { optional = false, named = false, check, whenLeftOut }: ChildrenOptions<F> = {},
): Children {
  const ref = refText().refine((value) => !value.startsWith('@'), 'no puede empezar por @');
  const schema = z.array(
    z.strictObject({
      ref: named ? ref : ref.nullish().transform((value) => value ?? null),
      id: idSchema(),
      ...schemasOf(fields),
    }),
  );
  // The declared type cannot follow a schema made of parts; what the parts give is what RecordOf says.
  const checked = (check ?? (() => {})) as Children['check'];
  return {
    table,
    parent,
    fields,
    schema: optional ? schema.nullish().transform((list) => list ?? null) : schema,
    check: checked,
    whenLeftOut,
  };
}

interface CollectionOptions<F extends Fields> {
  children?: Readonly<Record<string, Children>>;
  key?: keyof F & string;
  derived?: (record: RecordOf<F>) => Row;
  check?: (record: RecordOf<F> & Row, wrong: Wrong) => void;
  alsoWrite?: Collection['alsoWrite'];
  exported?: string;
  pageSize?: number;
}

const REF_OF_ID = /^@[1-9]\d{0,11}$/;

/** The id in a ref of the form `@<id>`: that of a record without a ref of its own. */
export const idInRef = (ref: string): number | undefined => (ref.startsWith('@') ? Number(ref.slice(1)) : undefined);

/** Declares the collection `name`, whose records are rows of `table`. */
export function collection<F extends Fields>(
  name: string,
  table: string,
  fields: F,
  { children: inner = {}, key, derived, check, alsoWrite, exported, pageSize = 1000 }: CollectionOptions<F> = {},
): Collection {
  const lists = Object.fromEntries(Object.entries(inner).map(([field, { schema }]) => [field, schema]));
  const schema = z.strictObject({
    coleccion: z.literal(name),
    ref: refText().refine(
      (ref) => !ref.startsWith('@') || REF_OF_ID.test(ref),
      'solo puede empezar por @ el de un registro sin ref propio: @ y su id',
    ),
    id: idSchema(),
    ...schemasOf(fields),
    ...lists,
  });
  const column = key && fields[key]?.columns[0];
  return {
    name,
    table,
    fields,
    children: inner,
    schema,
    key: key && column ? { field: key, column } : undefined,
    // As above: the schema is made of the fields that RecordOf reads.
    derived: derived as Collection['derived'],
    check: (check ?? (() => {})) as Collection['check'],
    alsoWrite,
    exported,
    pageSize,
  };
}

/** The columns that the fields fill. */
export const columnsOf = (fields: Fields): string[] => Object.values<Field>(fields).flatMap((field) => field.columns);
