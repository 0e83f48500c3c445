// The order of a list, declared once: its ORDER BY and what comes after a row follow from it.
import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely';
import { badCursor } from './calls/cursor.ts';
import type { Page } from './schemas.ts';

type Direction = '' | ' desc' | ' nulls last';

interface Column {
  name: string;
  descends: boolean;
  /** Has nulls, which are last. */
  nulls: boolean;
}

/** The columns of a row, by which a list is ordered; the last one makes the order unique. `row`: what the row is called. */
export const orderOf = <const Name extends string>(
  row: string,
  ...columns: readonly [`${Name}${Direction}`, ...`${Name}${Direction}`[]]
) => new Order(row, columns);

export class Order {
  readonly #row: string;
  readonly #text: string;
  readonly #columns: readonly Column[];

  constructor(row: string, columns: readonly string[]) {
    this.#row = row;
    this.#text = columns.join(', ');
    this.#columns = columns.map((column) => ({
      name: column.replace(/ .*/, ''),
      descends: column.endsWith(' desc'),
      nulls: column.endsWith(' nulls last'),
    }));
  }

  /** The same of a row that is called otherwise. */
  of(row: string): Order {
    return new Order(row, this.#text.split(', '));
  }

  /** What ORDER BY says. */
  get by(): RawBuilder<unknown> {
    return sql.raw(this.#text.replaceAll(/(^|, )/g, `$1${this.#row}.`));
  }

  /** The columns, to be selected beside those that are shown: a page ends with those of its last row. */
  get keys(): AliasedRawBuilder<unknown, `key_${number}`>[] {
    return this.#columns.map(({ name }, index) => sql.ref(`${this.#row}.${name}`).as(`key_${index}` as const));
  }

  /** The names of these. */
  get selected(): string[] {
    return this.#columns.map((_, index) => `key_${index}`);
  }

  /** Whether a row comes after the one that a cursor names; undefined without a cursor. 400 for the cursor of another order. */
  after({ cursor: { after } }: Page): RawBuilder<boolean> | undefined {
    if (!after) return undefined;
    const { order, keys } = after;
    if (order !== this.#text || keys.length !== this.#columns.length) throw badCursor();
    const [first] = this.#columns;
    if (this.#columns.some(({ nulls, descends }) => nulls || descends !== first?.descends)) return this.#after(keys);
    // An index in this order begins where the page does.
    const refs = this.#columns.map(({ name }) => sql.ref(`${this.#row}.${name}`));
    return sql`(${sql.join(refs)}) ${sql.raw(first?.descends ? '<' : '>')} (${sql.join(keys)})`;
  }

  /** The same as a condition to be added to others. */
  andAfter(input: Page): RawBuilder<unknown> {
    const after = this.after(input);
    return after ? sql`and ${after}` : sql``;
  }

  /** Column by column: `a <= 1 and (a < 1 or b > 2)`. */
  #after(keys: readonly (string | null)[], from = 0): RawBuilder<boolean> {
    const column = this.#columns[from];
    if (!column) return sql`false`;
    const { name, descends, nulls } = column;
    const ref = sql.ref(`${this.#row}.${name}`);
    const key = keys[from] ?? null;
    const more = this.#after(keys, from + 1);
    if (key === null) return sql`(${ref} is null and ${more})`;
    const than = (sign: string) => sql`${ref} ${sql.raw(sign)} ${key}`;
    const orNull = nulls ? sql` or ${ref} is null` : sql``;
    const [before, until] = descends ? (['<', '<='] as const) : (['>', '>='] as const);
    return sql`((${than(until)}${orNull}) and (${than(before)}${orNull} or ${more}))`;
  }

  /**
   * The counters of a page, to be followed by its rows, and the cursor of the next one: `last` has the keys of the last row where a page
   * follows. PAG-02
   */
  counters(input: Page, total: number, last: readonly (string | null)[] | undefined) {
    const { por_pagina, cursor } = input;
    const pagina = cursor.after?.page ?? input.pagina;
    return {
      pagina,
      por_pagina,
      num_paginas: Math.ceil(total / por_pagina),
      cursor: last ? cursor.next({ order: this.#text, page: pagina + 1, keys: last }) : null,
    };
  }
}
