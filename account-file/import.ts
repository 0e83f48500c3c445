// Imports an account file, or records of one, into a company: one transaction, in batches, so that memory does not grow with the
// file. format.ts declares the collections; write.ts writes a batch.
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { isSealedTable, issuedOtherwise, sealImported } from '../documents/sealed-content.ts';
import { seriesChange } from '../documents/series.ts';
import type { Database, Db } from '../platform/database.ts';
import { fieldName } from '../platform/errors.ts';
import { Changes, ownersOf, writeJournal } from '../platform/journal.ts';
import { ACCOUNT, accountSchema, formatSchema, readAccount, writeAccount } from './account.ts';
import type { Collection, FileRecord, InnerRecord } from './collection.ts';
import { settle } from './consequences.ts';
import { COLLECTIONS } from './format.ts';
import { LONGEST_LINE } from './lines.ts';
import { LocalTimes } from './local-times.ts';
import type { Item } from './matching.ts';
import { addStandardRecords } from './new-account.ts';
import { type Position, Problems } from './problems.ts';
import { rows } from './statements.ts';
import { Writer, type Written } from './write.ts';

export { AccountFileError } from './problems.ts';

export interface ImportOptions {
  /** Who imports, for the journal; default `command`. */
  actor?: string;
  requestId?: string;
  /** The instant of the import, default now. New records are entered on the company's date at that instant. */
  now?: Temporal.Instant;
  /** Called after each batch with the number of records read so far. */
  onProgress?: (records: number) => void;
}

export interface ImportResult {
  records: number;
  created: number;
  changed: number;
  /** Sentences about values that the import ignored. */
  notices: string[];
}

/** Records that a call brings, in its own transaction. */
export interface RecordsOptions {
  now: Temporal.Instant;
  /** Names of the collections that may not come. */
  refused: ReadonlySet<string>;
  /** Names of the collections whose records are not changed once they are there. */
  kept: ReadonlySet<string>;
}

export interface ImportedRecords {
  created: number;
  changed: number;
  /** Records that were there already and are equal. */
  same: number;
  /** The number of each record, by its collection and ref. */
  ids: ReadonlyMap<Collection, ReadonlyMap<string, number>>;
  /** What is new or changed, and what changed by it. */
  changes: Changes;
}

/** By the table of invoices: where their lines name delivery notes. */
const INVOICED: Readonly<Record<string, { lines: string; parent: string; note: string; notes: string }>> = {
  invoices: { lines: 'invoice_lines', parent: 'invoice_id', note: 'delivery_note_id', notes: 'delivery_notes' },
  purchase_invoices: {
    lines: 'purchase_invoice_lines',
    parent: 'purchase_invoice_id',
    note: 'purchase_delivery_note_id',
    notes: 'purchase_delivery_notes',
  },
};

const ISSUED = 'ya está, con otros datos: un documento emitido no se cambia';
const BATCH_RECORDS = 1000;
const BATCH_CHARACTERS = 4_000_000;
const MANY = 5000;

const BY_NAME = new Map(COLLECTIONS.map((collection) => [collection.name, collection]));

/**
 * Imports the lines of an account file (without line ends) into the company. Records are matched by `ref`; equal ones are not
 * touched. If anything is wrong, it throws AccountFileError and changes nothing.
 */
export async function importAccountFile(
  database: Database,
  accountId: number,
  lines: Iterable<string> | AsyncIterable<string>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const result = await database.transaction(accountId, { write: true }, async (db) => {
    const reading = await Import.begin(database, db, accountId, options);
    for await (const line of lines) await reading.take(line);
    const result = await reading.end();
    // Makes the statistics of the written rows visible at the commit.
    if (result.created > MANY) await rows(db, 'select pg_stat_force_next_flush()', []);
    return result;
  });
  if (result.created > MANY) await analyzeGrown(database);
  return result;
}

/**
 * Imports lines of an account file, or the records themselves, without the company's own record. Whatever is wrong throws
 * AccountFileError, and the transaction has to be rolled back.
 */
export async function importRecords(
  db: Db,
  accountId: number,
  records: Iterable<string | Record<string, unknown>>,
  options: RecordsOptions,
): Promise<ImportedRecords> {
  const reading = await Import.begin(undefined, db, accountId, options, options);
  for (const record of records) await reading.take(record);
  return reading.imported();
}

/** Analyses tables that grew by a tenth, rather than wait for autovacuum. Smaller changes are left to autovacuum. */
async function analyzeGrown({ pool }: Database): Promise<void> {
  const { rows: grown } = await pool.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_stat_user_tables
     where schemaname = current_schema() and n_mod_since_analyze > 50 + n_live_tup / 10`,
  );
  if (grown.length > 0) await pool.query(`analyze ${grown.map(({ name }) => name).join(', ')}`);
}

class Import {
  readonly #db: Db;
  readonly #accountId: number;
  readonly #options: ImportOptions;
  readonly #problems: Problems;
  readonly #writer: Writer;
  readonly #touched = new Set<Collection>();
  readonly #result: ImportResult = { records: 0, created: 0, changed: 0, notices: [] };
  /** Set where records come by a call. */
  readonly #limits: RecordsOptions | undefined;
  readonly #ids = new Map<Collection, Map<string, number>>();
  readonly #changes = new Changes();
  readonly #claims: Claims;
  readonly #before: Awaited<ReturnType<typeof readAccount>>;
  readonly #now: Temporal.Instant;
  #times: LocalTimes;
  #line = 0;
  #hasAccount = false;
  #current: Collection | undefined;
  #batch: Item[] = [];
  #characters = 0;

  private constructor(
    db: Db,
    accountId: number,
    options: ImportOptions,
    problems: Problems,
    writer: Writer,
    before: Awaited<ReturnType<typeof readAccount>>,
    limits: RecordsOptions | undefined,
  ) {
    this.#limits = limits;
    this.#claims = limits ? new Claims() : new ClaimsTable(db);
    this.#db = db;
    this.#accountId = accountId;
    this.#options = options;
    this.#problems = problems;
    this.#writer = writer;
    this.#before = before;
    this.#now = options.now ?? Temporal.Now.instant();
    this.#times = new LocalTimes(before.time_zone);
  }

  /** The company's date. */
  get #today(): Temporal.PlainDate {
    return this.#now.toZonedDateTimeISO(this.#times.zone).toPlainDate();
  }

  static async begin(
    database: Database | undefined,
    db: Db,
    accountId: number,
    options: ImportOptions,
    limits?: RecordsOptions,
  ): Promise<Import> {
    // The company's row is on every node of a cluster: a call must not wait for those that are lost.
    await rows(db, `select pg_advisory_xact_lock(hashtextextended('import', $1))`, [accountId]);
    const before = await readAccount(db, accountId, !limits);
    // A company has had them since it was created; one of an earlier version gets what is new by a file.
    if (!limits) await addStandardRecords(db, accountId);
    const problems = new Problems();
    const writer = new Writer(database, db, accountId, problems);
    await writer.readCodes();
    const begun = new Import(db, accountId, options, problems, writer, before, limits);
    await begun.#claims.begin();
    return begun;
  }

  /** Reads one line of the file, or a record that was one. */
  async take(line: string | Record<string, unknown>): Promise<void> {
    this.#line++;
    if (typeof line !== 'string') return this.#takeRecord(line, 0);
    if (line.length > LONGEST_LINE) {
      this.#result.records++;
      const nowhere = { line: this.#line, coleccion: '', ref: '' };
      return this.#problems.add(nowhere, '', `la línea pasa de ${LONGEST_LINE / 1024 ** 2} MB`);
    }
    const json = this.#line === 1 ? line.replace(/^\uFEFF/, '') : line;
    if (json.trim() === '') return;
    const raw = this.#parse(json);
    if (raw) await this.#takeRecord(raw, json.length);
    else this.#result.records++;
  }

  async #takeRecord(raw: Record<string, unknown>, characters: number): Promise<void> {
    this.#result.records++;
    const position = {
      line: this.#line,
      coleccion: typeof raw.coleccion === 'string' ? raw.coleccion : '',
      ref: typeof raw.ref === 'string' ? raw.ref.trim() : '',
    };
    if (this.#limits?.refused.has(position.coleccion)) {
      if (raw.coleccion === ACCOUNT) this.#valid(formatSchema, raw, position);
      return this.#problems.add(position, 'coleccion', 'no se admite aquí: es de la importación del operador');
    }
    if (!this.#limits && this.#result.records === 1 && raw.coleccion !== ACCOUNT) {
      this.#problems.add(position, 'coleccion', `el primer registro tiene que ser el de ${ACCOUNT}`);
    }
    if (raw.coleccion === ACCOUNT) return await this.#takeAccount(raw, position);
    const collection = BY_NAME.get(position.coleccion);
    if (!collection) {
      const expected = [...BY_NAME.keys()].join(', ');
      this.#problems.add(position, 'coleccion', `no es una colección: se esperaba una de ${ACCOUNT}, ${expected}`);
      return;
    }
    if (collection !== this.#current || this.#isFull) await this.#flush();
    this.#current = collection;
    const record = this.#valid(collection.schema, raw, position);
    if (!record) return;
    this.#check(collection, record, position);
    this.#batch.push({ ...position, ref: record.ref, record });
    this.#characters += characters;
  }

  /** Finishes the import after the last line. */
  async end(): Promise<ImportResult> {
    await this.#flush();
    if (!this.#hasAccount && this.#result.records === 0) {
      this.#problems.add({ line: 1, coleccion: ACCOUNT, ref: '' }, 'coleccion', `falta el registro de ${ACCOUNT}`);
    }
    await this.#settle();
    const { actor = 'command', requestId = randomUUID() } = this.#options;
    const origin = { actor, door: 'command', requestId, operation: 'import', now: this.#now } as const;
    await sealImported(this.#db, { accountId: this.#accountId, origin }, this.#changes.certain);
    await writeJournal(this.#db, this.#accountId, origin, this.#changes.certain);
    return this.#result;
  }

  /** Finishes an import of records. */
  async imported(): Promise<ImportedRecords> {
    await this.#flush();
    await this.#settle();
    const { records, created, changed } = this.#result;
    const same = records - created - changed;
    return { created, changed, same, ids: this.#ids, changes: this.#changes };
  }

  /** Throws if there are problems; updates what follows from the records. */
  async #settle(): Promise<void> {
    this.#problems.check();
    const zoneChanged = this.#times.zone !== this.#before.time_zone;
    await settle(this.#db, this.#accountId, this.#touched, { zoneChanged });
  }

  get #isFull(): boolean {
    return this.#batch.length >= BATCH_RECORDS || this.#characters >= BATCH_CHARACTERS;
  }

  #parse(json: string): Record<string, unknown> | undefined {
    const nowhere = { line: this.#line, coleccion: '', ref: '' };
    try {
      const value: unknown = JSON.parse(json);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
      this.#problems.add(nowhere, '', 'se esperaba un objeto JSON');
    } catch (error) {
      this.#problems.add(nowhere, '', `no es JSON: ${error instanceof Error ? error.message : ''}`);
    }
    return undefined;
  }

  #valid<T>(schema: z.ZodType<T>, raw: unknown, position: Position): T | undefined {
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) {
          this.#problems.add(position, fieldName([...issue.path, key]), 'no es un campo de esta colección');
        }
      } else this.#problems.add(position, fieldName(issue.path), issue.message);
    }
    return undefined;
  }

  #check(collection: Collection, record: FileRecord, position: Position): void {
    const wrong = (campo: string, mensaje: string) => this.#problems.add(position, campo, mensaje);
    collection.check(record, wrong);
    for (const [name, inner] of Object.entries(collection.children)) {
      // The collection's schema has made the field this list or null.
      const children = (record[name] ?? []) as readonly InnerRecord[];
      inner.checkAll(children, name, wrong);
      for (const [index, child] of children.entries()) {
        inner.check(child, (campo, mensaje) => this.#problems.add(position, `${name}[${index}].${campo}`, mensaje));
      }
    }
  }

  async #takeAccount(raw: unknown, position: Position): Promise<void> {
    if (this.#hasAccount) return this.#problems.add(position, 'coleccion', `ya hay un registro de ${ACCOUNT}`);
    this.#hasAccount = true;
    const record = this.#valid(accountSchema, raw, position);
    if (!record) return;
    this.#times = new LocalTimes(record.zona_horaria);
    const usual = { albaran: null, factura: null, rectificativa: null, presupuesto: null };
    const series = await seriesChange(
      this.#db,
      this.#accountId,
      record.series === null ? usual : (record.series ?? {}),
    );
    for (const { name, other } of series.repeated) {
      this.#problems.add(position, `series.${name}`, `es también la de ${other}`);
    }
    if (series.repeated.length > 0) return;
    if (await writeAccount(this.#db, this.#accountId, record, series, this.#today)) {
      this.#result.changed++;
      this.#changes.add('modify', 'account', this.#accountId);
    }
    const { cuota_por_minuto: quota } = record;
    if (quota !== null && quota !== this.#before.quota_per_minute) {
      this.#result.notices.push(
        `cuota_por_minuto (${quota}) is left aside: no file sets a quota, \`albaran account set --quota ${quota}\` does`,
      );
    }
  }

  async #flush(): Promise<void> {
    const [collection, batch] = [this.#current, this.#batch];
    this.#batch = [];
    this.#characters = 0;
    if (!collection || batch.length === 0) return;
    const fresh = await this.#withoutRepeated(collection, batch);
    const written = await this.#writer.write(collection, fresh, this.#times, this.#today);
    const [created, changed] = [written.created.size, written.changed.size];
    this.#result.created += created;
    this.#result.changed += changed;
    if (created + changed > 0) {
      this.#touched.add(collection);
      this.#changes.addIn(collection.table, 'create', written.created);
      this.#changes.addIn(collection.table, 'modify', written.changed);
      const ids = [...written.created, ...written.changed];
      for (const owners of await ownersOf(this.#db, this.#accountId, collection.table, ids)) {
        this.#changes.addIn(owners.table, 'modify', owners.ids);
      }
      await this.#addNotes(collection.table, ids);
    }
    if (this.#limits) this.#keep(collection, fresh, written);
    else await this.#refuseIssued(collection, fresh, written);
    this.#options.onProgress?.(this.#result.records);
  }

  /** Delivery notes are invoiced by the invoices whose lines name them. */
  async #addNotes(table: string, ids: readonly number[]): Promise<void> {
    const invoiced = INVOICED[table];
    if (!invoiced) return;
    const { lines, parent, note, notes } = invoiced;
    const found = await rows<{ id: number }>(
      this.#db,
      `select distinct ${note} as id from ${lines} where account_id = $1 and ${parent} = any($2) and ${note} is not null`,
      [this.#accountId, ids],
    );
    this.#changes.addIn(
      notes,
      'modify',
      found.map(({ id }) => id),
    );
  }

  /** Documents that were issued here are problems where the file says something else of them. W-02 */
  async #refuseIssued({ table }: Collection, items: readonly Item[], { ids, changed }: Written): Promise<void> {
    if (!isSealedTable(table) || changed.size === 0) return;
    const issued = await issuedOtherwise(this.#db, this.#accountId, table, [...changed]);
    for (const item of items) if (issued.has(ids.get(item.ref) ?? 0)) this.#problems.add(item, '', ISSUED);
  }

  /** Keeps the numbers of the records of a call; those that were there and may not change are problems where they did. */
  #keep(collection: Collection, items: readonly Item[], { ids, changed }: Written): void {
    const known = this.#ids.get(collection) ?? new Map<string, number>();
    this.#ids.set(collection, known);
    for (const item of items) {
      const id = ids.get(item.ref);
      if (id === undefined) continue;
      known.set(item.ref, id);
      if (changed.has(id) && this.#limits?.kept.has(collection.name)) {
        this.#problems.add(item, '', ISSUED);
      }
    }
  }

  /** Leaves out records whose ref or key occurred before in the file, with a problem. */
  async #withoutRepeated(collection: Collection, batch: readonly Item[]): Promise<Item[]> {
    const { name, key } = collection;
    const claimsOf = ({ record }: Item) => {
      const own = [{ field: 'ref', claim: record.ref }];
      return key ? [...own, { field: key.field, claim: `${key.field} ${record[key.field]}` }] : own;
    };
    const first = new Map<string, number>();
    for (const item of batch) {
      for (const { claim } of claimsOf(item)) if (!first.has(claim)) first.set(claim, item.line);
    }
    await this.#claims.take(name, first);
    return batch.filter((item) => {
      const repeated = claimsOf(item).find(({ claim }) => first.get(claim) !== item.line);
      if (!repeated) return true;
      const line = first.get(repeated.claim);
      this.#problems.add(item, repeated.field, `repite el registro de la línea ${line}`);
      return false;
    });
  }
}

/** The refs and keys of the records so far, each with the line where it was first. */
class Claims {
  readonly #lines = new Map<string, number>();

  async begin(): Promise<void> {}

  /** Claims what these lines have; the line of what was claimed before becomes the earlier one. */
  async take(collection: string, first: Map<string, number>): Promise<void> {
    for (const [claim, line] of first) {
      const known = this.#lines.get(`${collection}\n${claim}`);
      if (known === undefined) this.#lines.set(`${collection}\n${claim}`, line);
      else first.set(claim, known);
    }
  }
}

/** The same in a table: those of a whole file may not fit in memory. */
class ClaimsTable extends Claims {
  readonly #db: Db;

  constructor(db: Db) {
    super();
    this.#db = db;
  }

  override async begin(): Promise<void> {
    await rows(
      this.#db,
      `create temporary table account_file_claims
         (collection text, claim text, line bigint, primary key (collection, claim)) on commit drop`,
      [],
    );
  }

  override async take(collection: string, first: Map<string, number>): Promise<void> {
    const wanted = JSON.stringify([...first].map(([claim, line]) => ({ claim, line })));
    const taken = await rows<{ claim: string }>(
      this.#db,
      `insert into account_file_claims select $1, n.claim, n.line from json_to_recordset($2) as n(claim text, line bigint)
       on conflict do nothing returning claim`,
      [collection, wanted],
    );
    if (taken.length === first.size) return;
    const earlier = await rows<{ claim: string; line: number }>(
      this.#db,
      'select claim, line from account_file_claims where collection = $1 and claim = any($2::text[])',
      [collection, [...first.keys()]],
    );
    for (const { claim, line } of earlier) first.set(claim, line);
  }
}
