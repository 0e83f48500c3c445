// Finds the ids of the records that a batch names by ref, with one query for each named collection.
import { LRUCache } from 'lru-cache';
import type { Db } from '../platform/database.ts';
import { idInRef } from './collection.ts';
import type { Fields, InnerTarget, Row, Target } from './fields.ts';
import { rows } from './statements.ts';

/** Size of the cache of refs, which lasts from batch to batch. */
const REMEMBERED = 20_000;

/** A record and its fields, which may name others. */
export interface Naming {
  fields: Fields;
  record: Row;
}

/** The ids of the records that a batch names. */
export interface NamedIds {
  /** The id of the record that `field` names; null if no record has that ref, undefined if the field is empty. */
  idOf(record: Row, fields: Fields, field: string): number | null | undefined;
}

export class Names {
  readonly #db: Db;
  readonly #accountId: number;
  readonly #remembered = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(db: Db, accountId: number) {
    this.#db = db;
    this.#accountId = accountId;
  }

  /** Finds all records that these name; `own` are those of a table that are about to be written. */
  async of(all: readonly Naming[], own: { table: string; ids: ReadonlyMap<string, number> }): Promise<NamedIds> {
    const found = new Map<Target, Map<string, number>>();
    const wanted = new Map<Target, Set<string>>();
    eachName(all, (named, ref) => {
      if (!named.inner) grouped(wanted, named.collection, () => new Set<string>()).add(ref);
    });
    await Promise.all(
      [...wanted].map(async ([collection, refs]) => found.set(collection, await this.#records(collection, refs))),
    );

    const parents = new Map<InnerTarget, { ids: Set<number>; refs: Set<string> }>();
    const parentOf = (record: Row, collection: Target, of: string) =>
      typeof record[of] === 'string' ? found.get(collection)?.get(record[of]) : undefined;
    eachName(all, ({ collection, inner }, ref, record) => {
      const parent = inner && parentOf(record, collection, inner.of);
      const children = inner && collection.children[inner.children];
      if (!children || parent === undefined) return;
      const group = grouped(parents, children, () => ({ ids: new Set<number>(), refs: new Set<string>() }));
      group.ids.add(parent);
      group.refs.add(ref);
    });
    const foundInner = new Map<InnerTarget, Map<string, number>>();
    await Promise.all(
      [...parents].map(async ([children, { ids, refs }]) =>
        foundInner.set(children, await this.#inner(children, [...ids], [...refs])),
      ),
    );

    return {
      idOf(record, fields, field) {
        const [ref, named] = [record[field], fields[field]?.names];
        if (typeof ref !== 'string' || !named) return undefined;
        const { collection, inner } = named;
        if (!inner) {
          const written = found.get(collection)?.get(ref);
          return written ?? (collection.table === own.table ? own.ids.get(ref) : undefined) ?? null;
        }
        const children = collection.children[inner.children];
        const parent = parentOf(record, collection, inner.of);
        if (!children || parent === undefined) return null;
        return foundInner.get(children)?.get(innerKey(parent, ref)) ?? null;
      },
    };
  }

  async #records({ table }: Target, refs: Iterable<string>): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const [unknown, ids]: [string[], number[]] = [[], []];
    for (const ref of refs) {
      const known = this.#remembered.get(`${table}\n${ref}`);
      const id = idInRef(ref);
      if (known !== undefined) found.set(ref, known);
      else if (id === undefined) unknown.push(ref);
      else ids.push(id);
    }
    const keep = (ref: string, id: number) => {
      found.set(ref, id);
      this.#remembered.set(`${table}\n${ref}`, id);
    };
    const [byRef, byId] = await Promise.all([
      unknown.length === 0
        ? []
        : rows<{ id: number; ref: string }>(
            this.#db,
            `select id, ref from ${table} where account_id = $1 and ref = any($2::text[])`,
            [this.#accountId, unknown],
          ),
      ids.length === 0
        ? []
        : rows<{ id: number }>(
            this.#db,
            `select id from ${table} where account_id = $1 and ref is null and id = any($2::bigint[])`,
            [this.#accountId, ids],
          ),
    ]);
    for (const { id, ref } of byRef) keep(ref, id);
    for (const { id } of byId) keep(`@${id}`, id);
    return found;
  }

  async #inner({ table, parent }: InnerTarget, parents: number[], refs: string[]): Promise<Map<string, number>> {
    const list = await rows<{ id: number; parent: number; ref: string }>(
      this.#db,
      `select id, ${parent} as parent, coalesce(ref, '@' || id) as ref from ${table}
       where account_id = $1 and ${parent} = any($2::bigint[]) and coalesce(ref, '@' || id) = any($3::text[])`,
      [this.#accountId, parents, refs],
    );
    return new Map(list.map(({ id, parent: of, ref }) => [innerKey(of, ref), id]));
  }
}

const innerKey = (parent: number, ref: string) => `${parent}\n${ref}`;

type Named = NonNullable<Fields[string]['names']>;

function eachName(all: readonly Naming[], visit: (named: Named, ref: string, record: Row) => void): void {
  for (const { fields, record } of all) {
    for (const [name, { names }] of Object.entries(fields)) {
      const ref = names && record[name];
      if (names && typeof ref === 'string') visit(names, ref, record);
    }
  }
}

function grouped<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
