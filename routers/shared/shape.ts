// Shapes: what operations answer of stored records. Each wire name is declared once; from the declaration come the Zod schema and the
// SQL that writes a row as the JSON text a caller gets, so that this process neither reads nor builds rows.
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { KINDS, type Kind } from '../../platform/ids.ts';
import { sealedId } from './id.ts';

/** The name that a reference has in a row: `legal_name` of `c.legal_name`, `family` of `f.title as family`. */
type NameOf<Reference extends string> = Reference extends `${string} as ${infer Name}`
  ? Name
  : Reference extends `${string}.${infer Name}`
    ? Name
    : Reference;

/** A row with one column. */
type Column<Reference extends string, Value> = { readonly [Name in NameOf<Reference>]: Value | null };

const nameOf = (reference: string) => reference.replace(/^.*( as |\.)/, '');

/** What is shown of a row: `needs`, for the types alone, says which columns it must have. */
export interface Shown<Schema extends z.ZodType, Needs extends object> {
  readonly schema: Schema;
  readonly needs: Needs;
  readonly references: readonly string[];
  /** SQL for the JSON text of the row of this name, never null. */
  text(row?: string): string;
  /** The same as an expression. */
  json(row?: string): RawBuilder<string>;
}

/** The row that a shape needs. */
export type RowOf<Of> = Of extends Shown<z.ZodType, infer Row> ? Row : never;

/**
 * One value of an answer. `Reference`: the columns it is made of, as Kysely's `select` takes them; one without a table is computed
 * by the query.
 */
export class Field<Schema extends z.ZodType = z.ZodType, Reference extends string = string, Row extends object = object>
  implements Shown<Schema, Row>
{
  readonly schema: Schema;
  readonly references: readonly Reference[];
  /** The columns to select, without those that the query computes. */
  readonly columns: readonly (Reference & `${string}.${string}`)[];
  /** SQL for the JSON text; null for a null. */
  readonly #written: (row: string) => string;
  /** The JSON text that stands for a null. */
  readonly #none: string;
  /** `json()` of rows that were asked for: a long text that every page needs. */
  readonly #json = new Map<string, RawBuilder<string>>();
  declare readonly needs: Row;

  constructor(schema: Schema, references: readonly Reference[], written: (row: string) => string, none: string) {
    this.schema = schema;
    this.references = references;
    this.#written = written;
    this.#none = none;
    const isColumn = (reference: Reference): reference is Reference & `${string}.${string}` => reference.includes('.');
    this.columns = references.filter(isColumn);
  }

  /** The same for a query that is written as text. */
  get selected(): RawBuilder<unknown> {
    return sql.raw(this.columns.join(', '));
  }

  text(row = 'r'): string {
    return `coalesce(${this.#written(row)}, '${this.#none}')`;
  }

  json(row = 'r'): RawBuilder<string> {
    const json = this.#json.get(row) ?? sql.raw<string>(this.text(row));
    this.#json.set(row, json);
    return json;
  }

  /** Null where the column is null. */
  orNull(): Field<z.ZodNullable<Schema>, Reference, Row> {
    return new Field(this.schema.nullable(), this.references, this.#written, 'null');
  }

  /** With a schema that says more of the same text. */
  as<Narrower extends z.ZodType>(schema: Narrower): Field<Narrower, Reference, Row> {
    return new Field(schema, this.references, this.#written, this.#none);
  }

  /** With a description in the documents of the API. */
  describe(description: string): Field<Schema, Reference, Row> {
    return new Field(this.schema.describe(description), this.references, this.#written, this.#none);
  }
}

/** A value of a column; `written`: SQL for its JSON text, null for a null, for which `none` stands then. */
export function fieldOf<Value>() {
  return <Schema extends z.ZodType, const Reference extends string>(
    schema: Schema,
    reference: Reference,
    written: (column: string) => string,
    none = 'null',
  ) => {
    const name = nameOf(reference);
    return new Field<Schema, Reference, Column<Reference, Value>>(
      schema,
      [reference],
      (row) => written(`${row}."${name}"`),
      none,
    );
  };
}

/** An id, sealed on its way out; `""` where there is no record. ENV-08 */
export const idOf = <const Reference extends string>(kind: Kind, reference: Reference) =>
  fieldOf<number>()(sealedId(kind), reference, (column) => `E'\\t${KINDS[kind].code}:' || ${column} || E'\\t'`, '""');

/** A text; `""` where it is null. ENV-08 */
export const textOf = <const Reference extends string>(reference: Reference) =>
  fieldOf<string>()(z.string(), reference, (column) => `to_json(${column})::text`, '""');

/** A date, a time or another text in which nothing is to be escaped; `""` where it is null. `part` is SQL for a part of it. */
export const plainOf = <const Reference extends string>(
  reference: Reference,
  part: (column: string) => string = (column) => column,
) => fieldOf<string>()(z.string(), reference, (column) => `'"' || ${part(column)} || '"'`, '""');

/** An exact decimal in its shortest form. */
export const decimalOf = <const Reference extends string>(reference: Reference) =>
  fieldOf<number>()(z.number(), reference, (column) => `trim_scale(${column})::text`);

/** A whole number. */
export const wholeOf = <const Reference extends string>(reference: Reference) =>
  fieldOf<number>()(z.int(), reference, (column) => `${column}::text`);

/** A boolean. */
export const flagOf = <const Reference extends string>(reference: Reference) =>
  fieldOf<boolean>()(z.boolean(), reference, (column) => `${column}::text`);

/** One of some names, each for what is stored. */
export const enumOf = <const Reference extends string, const Names extends Readonly<Record<string, string>>>(
  reference: Reference,
  names: Names,
) => {
  const wire = Object.keys(names) as (keyof Names & string)[];
  const cases = wire.map((name) => `when '${names[name]}' then '"${name}"'`);
  return fieldOf<Names[keyof Names]>()(z.enum(wire), reference, (column) => `case ${column} ${cases.join(' ')} end`);
};

/** The same in every row. */
export const always = <const Value extends string>(value: Value) =>
  new Field<z.ZodLiteral<Value>, never, object>(z.literal(value), [], () => literal(JSON.stringify(value)), 'null');

/** Null in every row. */
export const nothing = new Field<z.ZodNull, never, object>(z.null(), [], () => 'null', 'null');

/** A list, of which the query makes the text: `jsonArray`. */
export const arrayOf = <Schema extends z.ZodType, const Reference extends string>(
  item: Shown<Schema, object>,
  reference: Reference,
) => fieldOf<string>()(z.array(item.schema), reference, (column) => column, '[]');

/** An object, of which the query makes the text. */
export const objectOf = <Schema extends z.ZodType, const Reference extends string>(
  object: Shown<Schema, object>,
  reference: Reference,
) => fieldOf<string>()(object.schema, reference, (column) => column);

type Properties = { readonly [name: string]: Shown<z.ZodType, object> | Properties };

type SchemaOf<P extends Properties> = z.ZodObject<{
  -readonly [Name in keyof P]: P[Name] extends Shown<infer Schema, object>
    ? Schema
    : P[Name] extends Properties
      ? SchemaOf<P[Name]>
      : never;
}>;

type ReferencesOf<P extends Properties> = {
  [Name in keyof P]: P[Name] extends { references: readonly (infer Reference extends string)[] }
    ? Reference
    : P[Name] extends Properties
      ? ReferencesOf<P[Name]>
      : never;
}[keyof P];

type NeedsOf<P extends Properties> = {
  [Name in keyof P]: P[Name] extends Shown<z.ZodType, infer Needs>
    ? Needs
    : P[Name] extends Properties
      ? NeedsOf<P[Name]>
      : never;
}[keyof P];

type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer Every) => void
  ? Every
  : never;

type ShapeOf<P extends Properties> = Field<SchemaOf<P>, ReferencesOf<P>, All<NeedsOf<P>> & object>;

/** An object of an answer with these properties, in their order. */
export function shape<const P extends Properties>(properties: P): ShapeOf<P> {
  const fields = Object.entries(properties).map(
    ([name, property]) => [name, property instanceof Field ? property : shape(property as Properties)] as const,
  );
  const schema = z.object(Object.fromEntries(fields.map(([name, field]) => [name, field.schema])));
  const references = [...new Set(fields.flatMap(([, field]) => field.references))];
  const written = (row: string) =>
    fields
      .map(
        ([name, field], index) =>
          `${literal(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`)} || ${field.text(row)}`,
      )
      .join(' || ')
      .concat(` || '}'`);
  // TypeScript loses which property has which type in Object.entries.
  return new Field(schema, references, written, 'null') as Field as ShapeOf<P>;
}

/** One of some shapes, each under what `column` holds for it. A row has the columns of all of them. */
export const oneOf = <
  Schema extends z.ZodType,
  const Reference extends string,
  const Shapes extends Readonly<Record<string, Shown<z.ZodType, object>>>,
>(
  schema: Schema,
  column: Reference,
  shapes: Shapes,
) => {
  const cases = Object.entries<Shown<z.ZodType, object>>(shapes);
  const references = new Set([column, ...cases.flatMap(([, each]) => each.references)]);
  return new Field<Schema, Reference | ReferencesOf<Shapes>, All<NeedsOf<Shapes>> & Column<Reference, string>>(
    schema,
    // Made of the shapes, one by one, as the type is.
    [...references] as (Reference | ReferencesOf<Shapes>)[],
    (row) => {
      const texts = cases.map(([value, each]) => `when ${literal(value)} then ${each.text(row)}`);
      return `case ${row}."${nameOf(column)}" ${texts.join(' ')} end`;
    },
    'null',
  );
};

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;
