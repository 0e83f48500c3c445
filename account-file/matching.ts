// Finds the rows that records of the file match: records of a collection by key, ref or id, inner records by ref, id or position.
import type { Db } from '../platform/database.ts';
import { type Children, type Collection, type FileRecord, type InnerRecord, idInRef } from './collection.ts';
import type { Row } from './fields.ts';
import type { Position, Problems } from './problems.ts';
import { rows } from './statements.ts';

/** A record of the file. */
export interface Item extends Position {
  record: FileRecord;
}

/** A record with its row. The id is 0 until a new row gets one. */
export interface Prepared extends Item {
  row: Row & { id: number };
  isNew: boolean;
}

interface KnownRow {
  id: number;
  ref: string | null;
  key: string | null;
}

interface KnownRows {
  byRef: ReadonlyMap<string | null, KnownRow>;
  byId: ReadonlyMap<number, KnownRow>;
  byKey: ReadonlyMap<string | null, KnownRow>;
}

interface Contradiction {
  campo: string;
  mensaje: string;
}

/**
 * Prepares the rows of records. Records that contradict the stored rows are left out, with a problem. `claimed` are the ids that
 * the file gives.
 */
export async function identify(
  db: Db,
  accountId: number,
  problems: Problems,
  collection: Collection,
  items: readonly Item[],
): Promise<{ prepared: Prepared[]; claimed: number[] }> {
  const known = await knownRows(db, accountId, collection, items);
  const prepared: Prepared[] = [];
  const claimed = new Map<number, string>();
  for (const item of items) {
    const { record } = item;
    const ownId = idInRef(record.ref);
    const ref = ownId === undefined ? record.ref : null;
    const id = record.id ?? ownId ?? null;
    if (ownId !== undefined && id !== ownId) {
      problems.add(item, 'ref', `no es la de un registro con id ${id}: se esperaba @${id}`);
      continue;
    }
    const existing = existingRow(collection, record, ref, id, known);
    if (existing && 'mensaje' in existing) {
      problems.add(item, existing.campo, existing.mensaje);
      continue;
    }
    if (id !== null) {
      const first = claimed.get(id);
      if (first !== undefined) {
        problems.add(item, 'id', `el id ${id} ya es del registro ${first}`);
        continue;
      }
      claimed.set(id, record.ref);
    }
    prepared.push({ ...item, row: { id: id ?? existing?.id ?? 0, ref }, isNew: existing === undefined });
  }
  return { prepared, claimed: [...claimed.keys()] };
}

/** The stored rows with a ref, id or key of the records. */
async function knownRows(
  db: Db,
  accountId: number,
  { table, key }: Collection,
  items: readonly Item[],
): Promise<KnownRows> {
  const refs = items.map(({ record }) => record.ref).filter((ref) => !ref.startsWith('@'));
  const ids = items.flatMap(({ record }) => record.id ?? idInRef(record.ref) ?? []);
  const keys = key ? items.map(({ record }) => String(record[key.field])) : [];
  const select = (condition: string, values: readonly unknown[]) =>
    values.length === 0
      ? []
      : rows<KnownRow>(
          db,
          `select id, ref, ${key ? `${key.column}::text` : 'null'} as key from ${table} where account_id = $1 and ${condition}`,
          [accountId, values],
        );
  const [byRef, byId, byKey] = await Promise.all([
    select('ref = any($2::text[])', refs),
    select('id = any($2::bigint[])', ids),
    key ? select(`${key.column}::text = any($2::text[])`, keys) : [],
  ]);
  return {
    byRef: new Map(byRef.map((row) => [row.ref, row])),
    byId: new Map(byId.map((row) => [row.id, row])),
    byKey: new Map(byKey.map((row) => [row.key, row])),
  };
}

/** The stored row of a record, undefined for a new one, or what contradicts the stored rows. */
function existingRow(
  { key }: Collection,
  record: FileRecord,
  ref: string | null,
  id: number | null,
  known: KnownRows,
): KnownRow | Contradiction | undefined {
  const holder = id === null ? undefined : known.byId.get(id);
  const sameRef = ref === null ? undefined : known.byRef.get(ref);
  if (key) {
    const existing = known.byKey.get(String(record[key.field]));
    if (sameRef && sameRef.key !== existing?.key) {
      return { campo: 'ref', mensaje: `ya es la de ${key.field} ${sameRef.key}` };
    }
    // A standard record, without ref, gets another id; a record that a file numbered keeps its id.
    if (holder && holder.key !== existing?.key && holder.ref !== null) {
      return { campo: 'id', mensaje: `ya es el de ${key.field} ${holder.key}` };
    }
    return existing;
  }
  const existing = ref === null ? holder : sameRef;
  if (holder && holder.ref !== ref) {
    const mensaje = `el id ${id} ya es del registro ${holder.ref ?? `@${id}`}`;
    return { campo: ref === null ? 'ref' : 'id', mensaje };
  }
  if (existing && id !== null && existing.id !== id) {
    return { campo: 'id', mensaje: `el registro ya tiene el id ${existing.id}` };
  }
  return existing;
}

export interface KnownChild {
  id: number;
  ref: string | null;
  position: number;
  parent: number;
}

/** The inner records of a record; the collection's schema has made the field this list or null. */
export const childrenOf = (record: FileRecord, name: string) => (record[name] ?? []) as readonly InnerRecord[];

/** The stored inner records of the parents, and those of any parent whose ids the file gives. */
export async function knownChildren(
  db: Db,
  accountId: number,
  name: string,
  { table, parent: column }: Children,
  parents: readonly Prepared[],
): Promise<{ byParent: Map<number, KnownChild[]>; byId: Map<number, KnownChild> }> {
  const old = parents.filter(({ isNew }) => !isNew).map(({ row }) => row.id);
  const ids = parents.flatMap(({ record }) => childrenOf(record, name).flatMap(({ id }) => id ?? []));
  const select = (condition: string, values: readonly number[]) =>
    values.length === 0
      ? []
      : rows<KnownChild>(
          db,
          `select id, ref, position, ${column} as parent from ${table} where account_id = $1 and ${condition}`,
          [accountId, values],
        );
  const [ofParents, ofIds] = await Promise.all([
    select(`${column} = any($2::bigint[])`, old),
    select('id = any($2::bigint[])', ids),
  ]);
  return {
    byParent: Map.groupBy(ofParents, ({ parent }) => parent),
    byId: new Map(ofIds.map((child) => [child.id, child])),
  };
}

/** Matches the inner records of one parent with its rows: by ref, else by id, else by position. */
export class ChildMatch {
  readonly #rest: Map<number, KnownChild>;
  readonly #byRef: Map<string, KnownChild>;
  /** Rows without ref whose id no record of the file has. */
  readonly #byPosition: Map<number, KnownChild>;

  constructor(known: readonly KnownChild[], list: readonly InnerRecord[]) {
    const given = new Set(list.map(({ id }) => id));
    const free = known.filter(({ ref, id }) => ref === null && !given.has(id));
    this.#rest = new Map(known.map((child) => [child.id, child]));
    this.#byRef = new Map(known.flatMap((child) => (child.ref === null ? [] : [[child.ref, child]])));
    this.#byPosition = new Map(free.map((child) => [child.position, child]));
  }

  /** How the record's ref and id contradict the stored rows; `byId` has rows of any parent. */
  contradiction({ ref, id }: InnerRecord, byId: ReadonlyMap<number, KnownChild>): string | undefined {
    if (id === null) return undefined;
    const holder = byId.get(id);
    if (holder && (holder.ref !== ref || !this.#rest.has(id))) return `el id ${id} ya es de otro registro`;
    const same = ref === null ? undefined : this.#byRef.get(ref);
    return same && same.id !== id ? `el registro ya tiene el id ${same.id}` : undefined;
  }

  /** The row of a record, which is no longer among the unmatched. */
  take(position: number, ref: string | null, id: number | null): KnownChild | undefined {
    const found =
      ref !== null ? this.#byRef.get(ref) : id !== null ? this.#rest.get(id) : this.#byPosition.get(position);
    if (found) this.#rest.delete(found.id);
    return found;
  }

  /** The rows that match no record. */
  unmatched(): Iterable<KnownChild> {
    return this.#rest.values();
  }
}
