// Writes a batch of records of one collection: which rows they are, then one statement for each table.
// A row that already says what the file says is left alone, so that a second import changes nothing.
import type { Database, Db } from '../../platform/database.ts';
import { isDatabaseError } from '../../platform/database.ts';
import {
  type Children,
  type Collection,
  columnsOf,
  type FileRecord,
  type InnerRecord,
  idInRef,
  type Written,
} from './collection.ts';
import type { Field, Fields, Row, Writing } from './fields.ts';
import type { LocalTimes } from './local-times.ts';
import { type NamedIds, Names, type Naming } from './names.ts';
import type { Position, Problems } from './problems.ts';
import { rows } from './statements.ts';

/** A record on its way in. */
export interface Item extends Position {
  record: FileRecord;
}

export interface Counts {
  created: number;
  changed: number;
}

interface Prepared extends Item {
  row: Row & { id: number };
  isNew: boolean;
}

/** Assigned numbers start above this (ID-06): only a kept one beyond it can meet its sequence. */
const FIRST_ASSIGNED = 1_000_000_000;
/** How far a sequence jumps past a kept number: room for what others draw meanwhile. */
const MARGIN = 1000;

/** A statement that the database refused, and the field of the file that it was about. */
class Refused extends Error {
  readonly campo: string;
  constructor(campo: string, cause: unknown) {
    super('refused', { cause });
    this.campo = campo;
  }
}

export class Writer {
  readonly #database: Database;
  readonly #db: Db;
  readonly #accountId: number;
  readonly #problems: Problems;
  readonly #names: Names;
  /** By number: whether the list has a column with VAT. */
  priceLists = new Map<number, boolean>();
  dayTypes = new Set<string>();

  constructor(database: Database, db: Db, accountId: number, problems: Problems) {
    this.#database = database;
    this.#db = db;
    this.#accountId = accountId;
    this.#problems = problems;
    this.#names = new Names(db, accountId);
  }

  /** Reads the codes that records name by themselves, not by a ref. */
  async readCodes(): Promise<void> {
    const [lists, types] = await Promise.all([
      rows<{ number: number; with_vat: boolean }>(
        this.#db,
        'select number, with_vat from price_lists where account_id = $1',
        [this.#accountId],
      ),
      rows<{ code: string }>(this.#db, 'select code from day_types where account_id = $1', [this.#accountId]),
    ]);
    this.priceLists = new Map(lists.map(({ number, with_vat }) => [number, with_vat]));
    this.dayTypes = new Set(types.map(({ code }) => code));
  }

  /** Writes the records. What the database refuses is halved until it is one, to say of which record that is. */
  async write(collection: Collection, items: readonly Item[], times: LocalTimes): Promise<Counts> {
    const outcome = await this.#attempt(collection, items, times);
    if (!(outcome instanceof Refused)) return outcome;
    const [item] = items;
    if (items.length === 1 && item) {
      this.#problems.add(item, outcome.campo, refusal(outcome.cause));
      return { created: 0, changed: 0 };
    }
    const counts = { created: 0, changed: 0 };
    const half = Math.ceil(items.length / 2);
    for (const part of [items.slice(0, half), items.slice(half)]) {
      const { created, changed } = await this.write(collection, part, times);
      counts.created += created;
      counts.changed += changed;
    }
    return counts;
  }

  async #attempt(collection: Collection, items: readonly Item[], times: LocalTimes): Promise<Counts | Refused> {
    const before = this.#problems.mark();
    await rows(this.#db, 'savepoint batch', []);
    try {
      const counts = await this.#writeAll(collection, items, times);
      await rows(this.#db, 'release savepoint batch', []);
      return counts;
    } catch (error) {
      const refused = error instanceof Refused ? error : new Refused('', error);
      if (!isDatabaseError(refused.cause) || !/^(22|23|54)/.test(refused.cause.code ?? '')) throw refused.cause;
      await rows(this.#db, 'rollback to savepoint batch', []);
      this.#problems.backTo(before);
      return refused;
    }
  }

  async #writeAll(collection: Collection, items: readonly Item[], times: LocalTimes): Promise<Counts> {
    const { table, fields, children, key, derived } = collection;
    const [named, identified] = await Promise.all([
      this.#names.of(items.flatMap(({ record }) => namings(collection, record))),
      this.#identify(collection, items),
    ]);
    const prepared = identified.filter((one) => {
      const { record, row } = one;
      if (derived) Object.assign(row, derived(record));
      return this.#fill(one, '', fields, record, row, undefined, named, times);
    });
    const columns = [
      'ref',
      ...columnsOf(fields),
      ...Object.keys(prepared[0] && derived ? derived(prepared[0].record) : {}),
    ];
    const created = prepared.filter(({ isNew }) => isNew);
    const changed = new Set<number>();
    const note = (ids: readonly number[]) => {
      for (const id of ids) changed.add(id);
    };
    const definition = { table, fields, columns, key: key?.column };
    await refusedAs('', () =>
      this.#insert(
        definition,
        created.map(({ row }) => row),
      ),
    );
    const old = prepared.filter(({ isNew }) => !isNew).map(({ row }) => row);
    note(await refusedAs('', () => this.#update(definition, old, times)));
    for (const [name, inner] of Object.entries(children)) {
      note(await refusedAs(name, () => this.#writeChildren(name, inner, prepared, named, times)));
    }
    const { alsoWrite } = collection;
    if (alsoWrite && prepared.length > 0) {
      const written = prepared.map(({ row, record }): Written => ({ id: row.id, record }));
      note(await refusedAs('', () => alsoWrite(this.#db, this.#accountId, written)));
    }
    for (const { row } of created) changed.delete(row.id);
    if (key) await this.readCodes();
    return { created: created.length, changed: changed.size };
  }

  /** Fills the columns of a row from the fields of its record; false when something is wrong with it. */
  #fill(
    item: Item,
    prefix: string,
    fields: Fields,
    record: Row,
    row: Row,
    parent: Row | undefined,
    named: NamedIds,
    times: LocalTimes,
  ): boolean {
    let right = true;
    const wrong = (campo: string, mensaje: string) => {
      right = false;
      this.#problems.add(item, prefix + campo, mensaje);
    };
    const idNamedBy = (field: string) => {
      const id = named.idOf(record, fields, field);
      if (typeof id === 'number') return id;
      const { collection, inner } = fields[field]?.names ?? {};
      const ref = String(record[field]);
      const blamed = inner ? record[inner.of] : ref;
      right = false;
      if (collection && typeof blamed === 'string' && this.#problems.isFaulty(collection.name, blamed))
        return undefined;
      const where = !inner
        ? `en ${collection?.name}`
        : typeof blamed === 'string'
          ? `en ${inner.children} de ${inner.of} ${blamed}`
          : `porque falta ${inner.of}`;
      wrong(
        field,
        `no existe ${ref} ${where}: se esperaba la ref de un registro anterior en el fichero o ya en la empresa`,
      );
      return undefined;
    };
    const { priceLists, dayTypes } = this;
    const writing: Writing = { times, priceLists, dayTypes, record, parent, idNamedBy, wrong };
    for (const [name, field] of Object.entries(fields)) field.write(record[name], row, writing, name);
    return right;
  }

  /** Finds the rows that the records are; those that contradict what is there are left out, with a problem. */
  async #identify(collection: Collection, items: readonly Item[]): Promise<Prepared[]> {
    const { table, key } = collection;
    const refs = items.map(({ record }) => record.ref).filter((ref) => !ref.startsWith('@'));
    const ids = items.flatMap(({ record }) => record.id ?? idInRef(record.ref) ?? []);
    const keys = key ? items.map(({ record }) => String(record[key.field])) : [];
    type Known = { id: number; ref: string | null; key: string | null };
    const select = (condition: string, values: readonly unknown[]) =>
      values.length === 0
        ? []
        : rows<Known>(
            this.#db,
            `select id, ref, ${key ? `${key.column}::text` : 'null'} as key from ${table} where account_id = $1 and ${condition}`,
            [this.#accountId, values],
          );
    const [byRef, byId, byKey] = await Promise.all([
      select('ref = any($2::text[])', refs),
      select('id = any($2::bigint[])', ids),
      key ? select(`${key.column}::text = any($2::text[])`, keys) : [],
    ]);
    const rowOfRef = new Map(byRef.map((known) => [known.ref, known]));
    const rowOfId = new Map(byId.map((known) => [known.id, known]));
    const rowOfKey = new Map(byKey.map((known) => [known.key, known]));

    const prepared: Prepared[] = [];
    const unnumbered: Prepared[] = [];
    const claimed = new Map<number, string>();
    for (const item of items) {
      const { record } = item;
      const wrong = (campo: string, mensaje: string) => this.#problems.add(item, campo, mensaje);
      const ownId = idInRef(record.ref);
      const ref = ownId === undefined ? record.ref : null;
      const id = record.id ?? ownId ?? null;
      if (ownId !== undefined && id !== ownId) {
        wrong('ref', `no es la de un registro con id ${id}: se esperaba @${id}`);
        continue;
      }
      const holder = id === null ? undefined : rowOfId.get(id);
      let existing: Known | undefined;
      if (key) {
        existing = rowOfKey.get(String(record[key.field]));
        const other = ref === null ? undefined : rowOfRef.get(ref);
        if (other && other.key !== existing?.key) {
          wrong('ref', `ya es la de ${key.field} ${other.key}`);
          continue;
        }
        // A standard record gives way; what a file has numbered keeps its number.
        if (holder && holder.key !== existing?.key && holder.ref !== null) {
          wrong('id', `ya es el de ${key.field} ${holder.key}`);
          continue;
        }
      } else {
        existing = ref === null ? holder : rowOfRef.get(ref);
        if (holder && holder.ref !== ref) {
          wrong(ref === null ? 'ref' : 'id', `el id ${id} ya es del registro ${holder.ref ?? `@${id}`}`);
          continue;
        }
        if (existing && id !== null && existing.id !== id) {
          wrong('id', `el registro ya tiene el id ${existing.id}`);
          continue;
        }
      }
      if (id !== null) {
        const first = claimed.get(id);
        if (first !== undefined) {
          wrong('id', `el id ${id} ya es del registro ${first}`);
          continue;
        }
        claimed.set(id, record.ref);
      }
      const one = { ...item, row: { id: id ?? existing?.id ?? 0, ref }, isNew: existing === undefined };
      prepared.push(one);
      if (one.row.id === 0) unnumbered.push(one);
    }
    await this.#number(
      table,
      unnumbered.map(({ row }) => row),
      [...claimed.keys()],
    );
    if (key) await this.#makeRoom(table, key.column, prepared, key.field);
    return prepared;
  }

  /** Gives rows without a number the next ones of the table's sequence, which first goes past the numbers kept. */
  async #number(table: string, unnumbered: readonly { id: number }[], kept: readonly number[]): Promise<void> {
    const highest = kept.reduce((high, id) => Math.max(high, id), 0);
    if (highest > FIRST_ASSIGNED) {
      // The tenant role may only draw from sequences; the login owns them. What it sets outlives a failed import: a gap.
      await this.#database.pool.query(
        `select setval('${table}_id_seq', $1::bigint + ${MARGIN}) from ${table}_id_seq where last_value <= $1::bigint`,
        [highest],
      );
    }
    if (unnumbered.length === 0) return;
    const drawn = await rows<{ id: number }>(
      this.#db,
      `select nextval('${table}_id_seq') as id from generate_series(1, $1::int)`,
      [unnumbered.length],
    );
    for (const [index, row] of unnumbered.entries()) row.id = drawn[index]?.id ?? 0;
  }

  /** Renumbers the standard records whose numbers the file gives to others. Nothing names them by number. */
  async #makeRoom(table: string, column: string, prepared: readonly Prepared[], field: string): Promise<void> {
    const claims = prepared.map(({ row, record }) => ({ id: row.id, key: String(record[field]) }));
    await rows(
      this.#db,
      `update ${table} t set id = nextval('${table}_id_seq') from json_to_recordset($2) as n(id bigint, key text)
       where t.account_id = $1 and t.id = n.id and t.${column}::text <> n.key`,
      [this.#accountId, JSON.stringify(claims)],
    );
  }

  async #insert({ table, fields, columns }: Definition, list: readonly Row[]): Promise<void> {
    if (list.length === 0) return;
    const otherwise = merged(fields, 'otherwise');
    const names = ['id', ...columns];
    const values = names.map((name) => (otherwise[name] ? `coalesce(n.${name}, ${otherwise[name]})` : `n.${name}`));
    await rows(
      this.#db,
      `insert into ${table} (account_id, ${names.join(', ')})
       select $1, ${values.join(', ')} from json_populate_recordset(null::${table}, $2) n`,
      [this.#accountId, JSON.stringify(list)],
    );
  }

  /** Answers the ids of the rows that changed. */
  async #update(
    { table, fields, columns, key }: Definition,
    list: readonly Row[],
    times: LocalTimes,
  ): Promise<number[]> {
    if (list.length === 0) return [];
    const otherwise = merged(fields, 'otherwise');
    const inexact = merged(fields, 'inexact');
    const seen = {
      instant: (sql: string) => `date_trunc('second', ${sql} at time zone $3)`,
      number: (sql: string) => `${sql}::float8`,
    };
    const names = key ? ['id', ...columns.filter((name) => name !== key)] : columns;
    const parts = names.map((name) => {
      const given = otherwise[name] ? `coalesce(n.${name}, t.${name})` : `n.${name}`;
      const kind = inexact[name];
      if (!kind) return { set: `${name} = ${given}`, differs: `t.${name} is distinct from ${given}` };
      const differs = `${seen[kind](`t.${name}`)} is distinct from ${seen[kind](given)}`;
      return { set: `${name} = case when ${differs} then ${given} else t.${name} end`, differs };
    });
    const zone = Object.values(inexact).includes('instant') ? [times.zone] : [];
    const changed = await rows<{ id: number }>(
      this.#db,
      `update ${table} t set ${parts.map(({ set }) => set).join(', ')}, version = t.version + 1, updated_at = now()
       from json_populate_recordset(null::${table}, $2) n
       where t.account_id = $1 and t.${key ?? 'id'} = n.${key ?? 'id'}
         and (${parts.map(({ differs }) => differs).join(' or ')})
       returning t.id`,
      [this.#accountId, JSON.stringify(list), ...zone],
    );
    return changed.map(({ id }) => id);
  }

  /** Writes one kind of inner records of all the parents; answers the ids of the parents for which that changed something. */
  async #writeChildren(
    name: string,
    inner: Children,
    parents: readonly Prepared[],
    named: NamedIds,
    times: LocalTimes,
  ): Promise<number[]> {
    const { table, parent: column, fields, whenLeftOut } = inner;
    const leftOut = whenLeftOut ? parents.filter(({ record }) => record[name] === null) : [];
    const [standIns, known] = await Promise.all([
      whenLeftOut && leftOut.length > 0
        ? whenLeftOut(
            this.#db,
            this.#accountId,
            leftOut.map(({ row }) => row),
          )
        : new Map<number, Row[]>(),
      this.#knownChildren(name, inner, parents),
    ]);

    const [created, kept, unnumbered]: [Row[], Row[], { id: number }[]] = [[], [], []];
    const [removed, changed]: [number[], number[]] = [[], []];
    const claimed: number[] = [];
    for (const parent of parents) {
      const list = childrenOf(parent.record, name);
      const match = new Match(known.byParent.get(parent.row.id) ?? [], list);
      const add = (index: number, existing: KnownChild | undefined, values: Row, id: number | null) => {
        const row = { ...values, position: index + 1, [column]: parent.row.id, id: id ?? existing?.id ?? 0 };
        (existing ? kept : created).push(row);
        if (!existing) changed.push(parent.row.id);
        if (row.id === 0) unnumbered.push(row);
        if (id !== null) claimed.push(id);
      };
      const seen = new Set<string>();
      for (const [index, record] of list.entries()) {
        const { ref, id } = record;
        const prefix = `${name}[${index}].`;
        const wrong = (campo: string, mensaje: string) => this.#problems.add(parent, prefix + campo, mensaje);
        const contradiction = match.contradiction(record, known.elsewhere);
        // Taken even where it is wrong: what the file does have is not to be removed.
        const existing = match.take(index + 1, ref, id);
        const row: Row = { ref };
        if (ref !== null && seen.has(ref)) wrong('ref', `${ref} ya es la de otro elemento de ${name}`);
        else if (contradiction) wrong('id', contradiction);
        else if (this.#fill(parent, prefix, fields, record, row, parent.row, named, times))
          add(index, existing, row, id);
        if (ref !== null) seen.add(ref);
      }
      for (const [index, row] of (standIns.get(parent.row.id) ?? []).entries()) {
        add(index, match.take(index + 1, null, null), { ...row, ref: null }, null);
      }
      for (const { id } of match.rest()) {
        removed.push(id);
        changed.push(parent.row.id);
      }
    }
    await this.#number(table, unnumbered, claimed);
    if (removed.length > 0) {
      await rows(this.#db, `delete from ${table} where account_id = $1 and id = any($2::bigint[])`, [
        this.#accountId,
        removed,
      ]);
    }
    const definition = { table, fields, columns: ['ref', 'position', column, ...columnsOf(fields)], key: undefined };
    await this.#insert(definition, created);
    const updated = new Set(await this.#update(definition, kept, times));
    return [...changed, ...kept.filter(({ id }) => updated.has(Number(id))).map((row) => Number(row[column]))];
  }

  /** The inner records that the parents have, and the parents of others whose numbers the file gives. */
  async #knownChildren(name: string, { table, parent: column }: Children, parents: readonly Prepared[]) {
    const old = parents.filter(({ isNew }) => !isNew).map(({ row }) => row.id);
    const ids = parents.flatMap(({ record }) => childrenOf(record, name).flatMap(({ id }) => id ?? []));
    const select = (condition: string, values: readonly number[]) =>
      values.length === 0
        ? []
        : rows<KnownChild>(
            this.#db,
            `select id, ref, position, ${column} as parent from ${table} where account_id = $1 and ${condition}`,
            [this.#accountId, values],
          );
    const [ofParents, ofIds] = await Promise.all([
      select(`${column} = any($2::bigint[])`, old),
      select('id = any($2::bigint[])', ids),
    ]);
    return {
      byParent: Map.groupBy(ofParents, ({ parent }) => parent),
      elsewhere: new Map(ofIds.map((child) => [child.id, child])),
    };
  }
}

interface Definition {
  table: string;
  fields: Fields;
  columns: readonly string[];
  /** The column that rows are recognised by, instead of their id. */
  key: string | undefined;
}

interface KnownChild {
  id: number;
  ref: string | null;
  position: number;
  parent: number;
}

/** Which of a parent's rows the records of the file are: by ref, or by id, or, having neither, by position. */
class Match {
  readonly #rest: Map<number, KnownChild>;
  readonly #byRef: Map<string, KnownChild>;
  /** Those without ref whose number the file does not give to a record. */
  readonly #unnamed: Map<number, KnownChild>;

  constructor(known: readonly KnownChild[], list: readonly InnerRecord[]) {
    const given = new Set(list.map(({ id }) => id));
    const free = known.filter(({ ref, id }) => ref === null && !given.has(id));
    this.#rest = new Map(known.map((child) => [child.id, child]));
    this.#byRef = new Map(known.flatMap((child) => (child.ref === null ? [] : [[child.ref, child]])));
    this.#unnamed = new Map(free.map((child) => [child.position, child]));
  }

  /** What the rows there are say against this ref and id; `byId` are those of any parent. */
  contradiction({ ref, id }: InnerRecord, byId: ReadonlyMap<number, KnownChild>): string | undefined {
    if (id === null) return undefined;
    const holder = byId.get(id);
    if (holder && (holder.ref !== ref || !this.#rest.has(id))) return `el id ${id} ya es de otro registro`;
    const same = ref === null ? undefined : this.#byRef.get(ref);
    return same && same.id !== id ? `el registro ya tiene el id ${same.id}` : undefined;
  }

  take(position: number, ref: string | null, id: number | null): KnownChild | undefined {
    const found = ref !== null ? this.#byRef.get(ref) : id !== null ? this.#rest.get(id) : this.#unnamed.get(position);
    if (found) this.#rest.delete(found.id);
    return found;
  }

  /** The rows that none of the records is. */
  rest(): Iterable<KnownChild> {
    return this.#rest.values();
  }
}

/** The inner records of a record; the collection's schema has made the field this list or null. */
const childrenOf = (record: FileRecord, name: string) => (record[name] ?? []) as readonly InnerRecord[];

function namings({ fields, children }: Collection, record: FileRecord): Naming[] {
  const inner = Object.entries(children).flatMap(([name, child]) =>
    childrenOf(record, name).map((line) => ({ fields: child.fields, record: line })),
  );
  return [{ fields, record }, ...inner];
}

/** What the fields say of their columns, by column. */
const merged = <Part extends 'otherwise' | 'inexact'>(fields: Fields, part: Part): NonNullable<Field[Part]> =>
  Object.assign({}, ...Object.values(fields).map((field) => field[part] ?? {}));

async function refusedAs<T>(campo: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Refused ? error : new Refused(campo, error);
  }
}

/** What the database's refusal means for who wrote the file. */
function refusal(error: unknown): string {
  if (!isDatabaseError(error)) return 'la base de datos no lo admite';
  if (error.constraint?.endsWith('_number')) return 'ya hay otro documento del mismo año con este numero';
  if (error.constraint === 'delivery_notes_recurring_cycle') return 'ya hay otro albarán de ese ciclo_recurrente';
  switch (error.code) {
    case '23503':
      return 'falta uno que otros registros nombran: no se puede quitar';
    case '23505':
      return 'ya hay otro registro con el mismo identificador';
    case '54000':
      return 'es demasiado largo para un índice';
    default:
      return `la base de datos no lo admite: ${error.message}`;
  }
}
