// Writes a batch of records of one collection: matching.ts finds their rows, row-statements.ts writes them, a statement a table.
// Rows that already equal the file are not touched: a second import of it changes nothing.
import { constraintOf, type Database, type Db, isDatabaseError } from '../platform/database.ts';
import { derivedOf } from '../platform/derived.ts';
import {
  type Children,
  type Collection,
  columnsOf,
  type FileRecord,
  type Written as WrittenRow,
} from './collection.ts';
import type { Fields, Row, Writing } from './fields.ts';
import type { LocalTimes } from './local-times.ts';
import {
  ChildMatch,
  childrenOf,
  type Item,
  identify,
  type KnownChild,
  knownChildren,
  type Prepared,
} from './matching.ts';
import { type NamedIds, Names, type Naming } from './names.ts';
import type { Problems } from './problems.ts';
import {
  assignIds,
  deleteRows,
  FIRST_ASSIGNED,
  insertRows,
  renumberOthers,
  touchRows,
  updateRows,
} from './row-statements.ts';
import { rows } from './statements.ts';

/** What a batch wrote. */
export interface Written {
  /** The ids of new records. */
  created: ReadonlySet<number>;
  /** The ids of those that were there and changed. */
  changed: ReadonlySet<number>;
  /** The id of each record, by ref. */
  ids: ReadonlyMap<string, number>;
}

const OF_SERVICE = `se esperaba uno menor de ${FIRST_ASSIGNED.toLocaleString('es')}: los demás los da el servicio`;

const NOTHING: Written = { created: new Set(), changed: new Set(), ids: new Map() };

/** The database refused a statement; `campo` is the field of the file that it wrote. */
class Refused extends Error {
  readonly campo: string;
  constructor(campo: string, cause: unknown) {
    super('refused', { cause });
    this.campo = campo;
  }
}

export class Writer {
  /** Where ids may be set apart; undefined where records may not bring such ids. */
  readonly #database: Database | undefined;
  readonly #db: Db;
  readonly #accountId: number;
  readonly #problems: Problems;
  readonly #names: Names;
  /** By number: whether the list has a column with VAT. */
  priceLists = new Map<number, boolean>();
  dayTypes = new Set<string>();

  constructor(database: Database | undefined, db: Db, accountId: number, problems: Problems) {
    this.#database = database;
    this.#db = db;
    this.#accountId = accountId;
    this.#problems = problems;
    this.#names = new Names(db, accountId);
  }

  /** Reads the price lists and day types, which records name by number and code instead of by ref. */
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

  /** Writes the records. A batch that the database refuses is halved until one record is left, and the problem is that one's. */
  async write(
    collection: Collection,
    items: readonly Item[],
    times: LocalTimes,
    today: Temporal.PlainDate,
  ): Promise<Written> {
    const outcome = await this.#attempt(collection, items, times, today);
    if (!(outcome instanceof Refused)) return outcome;
    const [item] = items;
    if (items.length === 1 && item) {
      this.#problems.add(item, outcome.campo, refusal(outcome.cause));
      return NOTHING;
    }
    const half = Math.ceil(items.length / 2);
    const first = await this.write(collection, items.slice(0, half), times, today);
    const rest = await this.write(collection, items.slice(half), times, today);
    return {
      created: first.created.union(rest.created),
      changed: first.changed.union(rest.changed),
      ids: new Map([...first.ids, ...rest.ids]),
    };
  }

  async #attempt(
    collection: Collection,
    items: readonly Item[],
    times: LocalTimes,
    today: Temporal.PlainDate,
  ): Promise<Written | Refused> {
    const before = this.#problems.mark();
    await rows(this.#db, 'savepoint batch', []);
    try {
      const written = await this.#writeAll(collection, items, times, today);
      await rows(this.#db, 'release savepoint batch', []);
      return written;
    } catch (error) {
      const refused = error instanceof Refused ? error : new Refused('', error);
      if (!isDatabaseError(refused.cause) || !/^(22|23|54)/.test(refused.cause.code ?? '')) throw refused.cause;
      await rows(this.#db, 'rollback to savepoint batch', []);
      this.#problems.backTo(before);
      return refused;
    }
  }

  async #writeAll(
    collection: Collection,
    items: readonly Item[],
    times: LocalTimes,
    today: Temporal.PlainDate,
  ): Promise<Written> {
    const { table, fields, children, key, entered } = collection;
    const identified = await this.#prepare(collection, items);
    // Those of the batch may name each other.
    const own = new Map(identified.map(({ record, row }) => [record.ref, row.id]));
    const named = await this.#names.of(
      items.flatMap(({ record }) => namings(collection, record)),
      { table, ids: own },
    );
    const prepared = identified.filter((one) => {
      const { record, row } = one;
      const filled = this.#fill(one, '', fields, record, row, undefined, named, times);
      if (filled) Object.assign(row, derivedOf(table, row));
      return filled;
    });
    const columns = ['ref', ...columnsOf(fields), ...Object.keys(derivedOf(table, {}))];
    const created = prepared.filter(({ isNew }) => isNew);
    const changed = new Set<number>();
    const note = (ids: readonly number[]) => {
      for (const id of ids) changed.add(id);
    };
    const definition = { table, fields, columns, key: key?.column };
    const newRows = created.map(({ row }) => row);
    const day = entered ? { column: entered, day: today.toString() } : undefined;
    await refusedAs('', () => insertRows(this.#db, this.#accountId, definition, newRows, day));
    const old = prepared.filter(({ isNew }) => !isNew).map(({ row }) => row);
    const updated = await refusedAs('', () => updateRows(this.#db, this.#accountId, definition, old, times.zone));
    note(updated);
    for (const [name, inner] of Object.entries(children)) {
      note(await refusedAs(name, () => this.#writeChildren(name, inner, prepared, named, times)));
    }
    const { alsoWrite } = collection;
    if (alsoWrite && prepared.length > 0) {
      const written = prepared.map(({ row, record }): WrittenRow => ({ id: row.id, record }));
      note(await refusedAs('', () => alsoWrite(this.#db, this.#accountId, written)));
    }
    for (const { row } of created) changed.delete(row.id);
    await touchRows(this.#db, this.#accountId, table, [...changed.difference(new Set(updated))]);
    if (key) await this.readCodes();
    return {
      created: new Set(created.map(({ row }) => row.id)),
      changed,
      ids: new Map(prepared.map(({ ref, row }) => [ref, row.id])),
    };
  }

  /** Whether the service may give this id to another record, since no sequence can be moved past it. */
  #isOfService = (id: number) => this.#database === undefined && id > FIRST_ASSIGNED;

  /** Finds the rows of the records and gives new ones their ids. */
  async #prepare(collection: Collection, items: readonly Item[]): Promise<Prepared[]> {
    const { table, key } = collection;
    const { prepared: all, claimed } = await identify(this.#db, this.#accountId, this.#problems, collection, items);
    const prepared = all.filter((one) => {
      const taken = one.isNew && this.#isOfService(one.row.id);
      if (taken) this.#problems.add(one, 'id', OF_SERVICE);
      return !taken;
    });
    const unnumbered = prepared.map(({ row }) => row).filter(({ id }) => id === 0);
    await assignIds(this.#database, this.#db, table, unnumbered, claimed);
    if (key) {
      const claims = prepared.map(({ row, record }) => ({ id: row.id, key: String(record[key.field]) }));
      await renumberOthers(this.#db, this.#accountId, table, key.column, claims);
    }
    return prepared;
  }

  /** Fills the columns of a row from the fields of its record; false if a field is wrong. */
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

  /** Writes one list of inner records of all the parents. Returns the ids of the parents whose lists changed. */
  async #writeChildren(
    name: string,
    inner: Children,
    parents: readonly Prepared[],
    named: NamedIds,
    times: LocalTimes,
  ): Promise<number[]> {
    const { table, parent: column, fields, whenLeftOut } = inner;
    const leftOutRows = parents.filter(({ record }) => record[name] === null).map(({ row }) => row);
    const [standIns, known] = await Promise.all([
      whenLeftOut && leftOutRows.length > 0
        ? whenLeftOut(this.#db, this.#accountId, leftOutRows)
        : new Map<number, Row[]>(),
      knownChildren(this.#db, this.#accountId, name, inner, parents),
    ]);

    const [created, kept, unnumbered]: [Row[], Row[], { id: number }[]] = [[], [], []];
    const [removed, changed]: [number[], number[]] = [[], []];
    const claimed: number[] = [];
    for (const parent of parents) {
      const list = childrenOf(parent.record, name);
      const match = new ChildMatch(known.byParent.get(parent.row.id) ?? [], list);
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
        const contradiction = match.contradiction(record, known.byId);
        // Taken even if the record is wrong, so that its row is not deleted.
        const existing = match.take(index + 1, ref, id);
        const row: Row = { ref };
        if (ref !== null && seen.has(ref)) wrong('ref', `${ref} ya es la de otro elemento de ${name}`);
        else if (contradiction) wrong('id', contradiction);
        else if (!existing && id !== null && this.#isOfService(id)) wrong('id', OF_SERVICE);
        else if (this.#fill(parent, prefix, fields, record, row, parent.row, named, times))
          add(index, existing, row, id);
        if (ref !== null) seen.add(ref);
      }
      for (const [index, row] of (standIns.get(parent.row.id) ?? []).entries()) {
        add(index, match.take(index + 1, null, null), { ...row, ref: null }, null);
      }
      for (const { id } of match.unmatched()) {
        removed.push(id);
        changed.push(parent.row.id);
      }
    }
    await assignIds(this.#database, this.#db, table, unnumbered, claimed);
    await deleteRows(this.#db, this.#accountId, table, removed);
    const definition = { table, fields, columns: ['ref', 'position', column, ...columnsOf(fields)], key: undefined };
    await insertRows(this.#db, this.#accountId, definition, created);
    const updated = new Set(await updateRows(this.#db, this.#accountId, definition, kept, times.zone));
    return [...changed, ...kept.filter(({ id }) => updated.has(Number(id))).map((row) => Number(row[column]))];
  }
}

/** The record and its inner records, which may all name others. */
function namings({ fields, children }: Collection, record: FileRecord): Naming[] {
  const inner = Object.entries(children).flatMap(([name, child]) =>
    childrenOf(record, name).map((line) => ({ fields: child.fields, record: line })),
  );
  return [{ fields, record }, ...inner];
}

/** Runs `work`; a failure becomes `Refused` with this field. */
async function refusedAs<T>(campo: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Refused ? error : new Refused(campo, error);
  }
}

/** The database's refusal in terms of the file. */
function refusal(error: unknown): string {
  if (!isDatabaseError(error)) return 'la base de datos no lo admite';
  if (constraintOf(error).endsWith('_number')) return 'ya hay otro documento del mismo año con este numero';
  if (constraintOf(error) === 'delivery_notes_issued_cycle') return 'ya hay otro albarán de ese ciclo_recurrente';
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
