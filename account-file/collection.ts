// Declares collections of the account file: their fields, their inner records and their tables.
import { z } from 'zod';
import type { Db } from '../platform/database.ts';
import { type Field, type Fields, type RecordOf, type Row, refText, type Wrong } from './fields.ts';

/** Imported ids are below this, far from the end of the sequences. */
const MAX_ID = 1e12;

/** Inner records of a record (lines, stages...), in the order of the file. */
export interface Children {
  table: string;
  /** The column with the parent's id. */
  parent: string;
  fields: Fields;
  schema: z.ZodType<InnerRecord[] | null>;
  check: (record: Row, wrong: Wrong) => void;
  /** Checks the whole list and reports fields by their path in the record. */
  checkAll: (records: readonly InnerRecord[], name: string, wrong: Wrong) => void;
  /** Makes the rows for records without the list, after their other inner records were written. */
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
  /** A field, and its column, that identifies a record as its ref does. */
  key: { field: string; column: string } | undefined;
  check: (record: Row, wrong: Wrong) => void;
  /** Writes related tables. Returns the ids of the records for which that changed something. */
  alsoWrite: ((db: Db, accountId: number, written: readonly Written[]) => Promise<number[]>) | undefined;
  /** SQL condition on the table `t` for the rows that are exported. */
  exported: string | undefined;
  /** The column that gets the day of the import in new rows, by the company's time zone. */
  entered: string | undefined;
  /** Records that the export reads at once. */
  pageSize: number;
}

interface ChildrenOptions<F extends Fields> {
  /** The file may leave the list out. */
  optional?: boolean;
  /** Each needs a ref, or an id, by which other records name it. */
  named?: boolean;
  check?: (record: RecordOf<F> & Row, wrong: Wrong) => void;
  checkAll?: (records: readonly (RecordOf<F> & InnerRecord)[], name: string, wrong: Wrong) => void;
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

/** Declares inner records, which are rows of `table` with the parent's id in the column `parent`. */
export function children<F extends Fields>(
  table: string,
  parent: string,
  fields: F,
  { optional = false, named = false, check, checkAll, whenLeftOut }: ChildrenOptions<F> = {},
): Children {
  const ref = refText().refine((value) => !value.startsWith('@'), 'no puede empezar por @');
  const schema = z.array(
    z
      .strictObject({ ref: ref.nullish().transform((value) => value ?? null), id: idSchema(), ...schemasOf(fields) })
      // What the service made has an id alone, by which others name it.
      .refine((record) => !named || record.ref !== null || record.id !== null, {
        error: 'se esperaba un texto',
        path: ['ref'],
      }),
  );
  // TypeScript can't infer the output of a schema built from parts: it is RecordOf<F>.
  const checked = (check ?? (() => {})) as Children['check'];
  const allChecked = (checkAll ?? (() => {})) as Children['checkAll'];
  return {
    table,
    parent,
    fields,
    schema: optional ? schema.nullish().transform((list) => list ?? null) : schema,
    check: checked,
    checkAll: allChecked,
    whenLeftOut,
  };
}

interface CollectionOptions<F extends Fields> {
  children?: Readonly<Record<string, Children>>;
  key?: keyof F & string;
  check?: (record: RecordOf<F> & Row, wrong: Wrong) => void;
  alsoWrite?: Collection['alsoWrite'];
  exported?: string;
  entered?: string;
  pageSize?: number;
}

const REF_OF_ID = /^@[1-9]\d{0,11}$/;

/** The id in a ref of the form `@<id>`, which stands for a record without a ref. */
export const idInRef = (ref: string): number | undefined => (ref.startsWith('@') ? Number(ref.slice(1)) : undefined);

/** Declares the collection `name`, whose records are rows of `table`. */
export function collection<F extends Fields>(
  name: string,
  table: string,
  fields: F,
  { children: inner = {}, key, check, alsoWrite, exported, entered, pageSize = 1000 }: CollectionOptions<F> = {},
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
    // As above: the schema's output is RecordOf<F>.
    check: (check ?? (() => {})) as Collection['check'],
    alsoWrite,
    exported,
    entered,
    pageSize,
  };
}

/** The columns that the fields fill. */
export const columnsOf = (fields: Fields): string[] => Object.values<Field>(fields).flatMap((field) => field.columns);
