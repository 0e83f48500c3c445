// Anonymises a person in a company's data. Names, e-mails, phones, tax ids and addresses are removed from the person's record and
// from every text of the company that mentions them. Amounts, hours, stock and numbers stay. Text columns are read from the
// catalogue, so that columns added later are covered too.
import { type RawBuilder, sql } from 'kysely';
import { sealAnonymised } from '../documents/sealed-content.ts';
import { PARTY_COLUMNS } from '../entities/values.ts';
import type { Db } from '../platform/database.ts';
import { derivedColumns, derivedOf } from '../platform/derived.ts';
import type { Kind } from '../platform/ids.ts';
import {
  Changes,
  isRecordTable,
  type Change as JournalChange,
  type Origin,
  ownersOf,
  writeJournal,
} from '../platform/journal.ts';
import { type Person, withoutMentions } from './mentions.ts';

export type PersonKind = Extract<Kind, 'employee' | 'contact' | 'client' | 'supplier'>;

type Value = string | null;
type Texts = Record<string, Value>;

interface Personal {
  table: string;
  /** The names, e-mails and other marks to search texts for. */
  person(row: Texts): Person;
  /** The values that replace the record's personal ones. */
  blank(id: number): Texts;
  /** Invoices that name this party; the law requires keeping them. */
  invoices?: { table: 'invoices' | 'purchase_invoices'; column: 'client_id' | 'supplier_id' };
}

const filled = (...texts: (Value | undefined)[]) => texts.flatMap((text) => (text ? [text] : []));

/** The person of all of these. */
const together = (people: readonly Person[]): Person => ({
  names: people.flatMap(({ names }) => names),
  shortNames: people.flatMap(({ shortNames }) => shortNames),
  emails: people.flatMap(({ emails }) => emails),
  phones: people.flatMap(({ phones }) => phones),
  taxIds: people.flatMap(({ taxIds }) => taxIds),
  addresses: people.flatMap(({ addresses }) => addresses),
});

const partyPerson = (row: Texts): Person => ({
  names: filled(row.legal_name, row.trade_name),
  shortNames: [],
  emails: filled(row.email),
  phones: filled(row.phone, row.mobile),
  taxIds: filled(row.tax_id),
  addresses: filled(row.address),
});

/** The personal columns of each kind of record. */
export const PERSONAL: Record<PersonKind, Personal> = {
  employee: {
    table: 'employees',
    person: (row) => ({
      names: [`${row.first_name ?? ''} ${row.last_name ?? ''}`],
      shortNames:
        row.first_name && /\s/.test(row.last_name ?? '') ? [`${row.first_name} ${row.last_name?.split(/\s+/)[0]}`] : [],
      emails: filled(row.email),
      phones: [],
      taxIds: [],
      addresses: [],
    }),
    blank: (id) => ({ first_name: 'Empleado', last_name: `anónimo ${id}`, email: null }),
  },
  contact: {
    table: 'contacts',
    person: (row) => ({
      names: filled(row.name),
      shortNames: [],
      emails: filled(row.email),
      phones: filled(row.mobile),
      taxIds: [],
      addresses: [],
    }),
    blank: (id) => ({ name: `Contacto anónimo ${id}`, company: '', email: '', mobile: '' }),
  },
  client: {
    table: 'clients',
    person: partyPerson,
    blank: (id) => ({
      legal_name: `Cliente anónimo ${id}`,
      trade_name: '',
      tax_id: '',
      email: '',
      phone: '',
      mobile: '',
      address: '',
      postal_code: '',
      city: '',
      province: '',
    }),
    invoices: { table: 'invoices', column: 'client_id' },
  },
  supplier: {
    table: 'suppliers',
    person: partyPerson,
    blank: (id) => ({
      legal_name: `Proveedor anónimo ${id}`,
      trade_name: '',
      tax_id: '',
      email: '',
      phone: '',
      mobile: null,
    }),
    invoices: { table: 'purchase_invoices', column: 'supplier_id' },
  },
};

export interface Change {
  table: string;
  /** `*` where the row is deleted. */
  column: string;
  rows: number;
}

/** An attachment, whose content is not searched: the operator must check it by hand. */
export interface UnseenFile {
  id: number;
  name: string;
  estimate: string | null;
}

export interface Anonymised {
  changes: Change[];
  attachments: UnseenFile[];
}

/** Another transaction changed a row after it was read and before it was written. */
export class ChangedMeanwhile extends Error {}

/** The record's columns as text; undefined if the company has no record with this id. */
export async function personalRecord(
  db: Db,
  accountId: number,
  kind: PersonKind,
  id: number,
): Promise<Texts | undefined> {
  const { table } = PERSONAL[kind];
  const { rows } = await sql<{ column: string; text: Value }>`select e.key as column, e.value as text
    from ${sql.table(table)} t, jsonb_each_text(to_jsonb(t)) e where t.account_id = ${accountId} and t.id = ${id}`.execute(
    db,
  );
  return rows.length > 0 ? Object.fromEntries(rows.map(({ column, text }) => [column, text])) : undefined;
}

/** How many invoices name this client or supplier. */
export async function invoicesOf(db: Db, accountId: number, kind: PersonKind, id: number): Promise<number> {
  const { invoices } = PERSONAL[kind];
  if (!invoices) return 0;
  const { rows } = await sql<{ invoices: number }>`select count(*) as invoices from ${sql.table(invoices.table)}
    where account_id = ${accountId} and ${sql.ref(invoices.column)} = ${id}`.execute(db);
  return rows[0]?.invoices ?? 0;
}

/**
 * Anonymises the person of this record and every mention of them, in the transaction of `db`. Throws ChangedMeanwhile if another
 * transaction changes the same rows.
 */
export async function anonymiseRecord(
  db: Db,
  accountId: number,
  { kind, id, record }: { kind: PersonKind; id: number; record: Texts },
  origin: Origin,
): Promise<Anonymised> {
  const { table, person, blank } = PERSONAL[kind];
  const counts = new Counts();
  const own = { ...record, ...blank(id) };
  await write(
    db,
    accountId,
    table,
    { account_id: accountId, id },
    record,
    { ...own, ...(own.ref ? { ref: null } : {}) },
    counts,
  );
  const parties = kind === 'client' ? await anonymiseParties(db, accountId, id, blank(id), counts) : [];
  // Skip placeholders written by an earlier run.
  const known = (texts: Texts) =>
    person(Object.fromEntries(Object.entries(texts).filter(([column, value]) => value !== blank(id)[column])));
  await anonymiseTexts(db, accountId, together([record, ...parties].map(known)), counts);
  const changes = await counts.changes(db, accountId);
  await sealAnonymised(db, { accountId, origin }, changes);
  await writeJournal(db, accountId, origin, changes);
  return { changes: counts.list(), attachments: await attachmentsOf(db, accountId, kind, id, record) };
}

/** Anonymises what documents keep of their client. Returns the client as they had it: perhaps by an earlier name. W-06 */
async function anonymiseParties(
  db: Db,
  accountId: number,
  clientId: number,
  blank: Texts,
  counts: Counts,
): Promise<Texts[]> {
  const found: Texts[] = [];
  const kept = Object.fromEntries(
    PARTY_COLUMNS.flatMap((column) => (column in blank ? [[column, blank[column]]] : [])),
  );
  for (const table of ['estimates', 'delivery_notes', 'invoices'] as const) {
    const { rows } = await sql<{ party: Texts }>`
      select distinct party from ${sql.table(table)}
      where account_id = ${accountId} and client_id = ${clientId} and party is not null`.execute(db);
    found.push(...rows.map(({ party }) => party));
    const { rows: written } = await sql<{ id: number }>`
      update ${sql.table(table)} set party = party || ${JSON.stringify(kept)}::jsonb, version = version + 1, updated_at = now()
      where account_id = ${accountId} and client_id = ${clientId} and not party @> ${JSON.stringify(kept)}::jsonb
      returning id`.execute(db);
    counts.add(
      table,
      'party',
      written.map(({ id }) => id),
    );
  }
  return found;
}

/** Removes a person from every text of the company, in the transaction of `db`. */
export async function anonymiseMentions(db: Db, accountId: number, person: Person, origin: Origin): Promise<Change[]> {
  const counts = new Counts();
  await anonymiseTexts(db, accountId, person, counts);
  const changes = await counts.changes(db, accountId);
  await sealAnonymised(db, { accountId, origin }, changes);
  await writeJournal(db, accountId, origin, changes);
  return counts.list();
}

class Counts {
  readonly #rows = new Map<string, Change>();
  readonly #ids = new Map<string, Set<number>>();

  /** Rows without a number are not named: they are no records. */
  add(table: string, column: string, ids: readonly (number | undefined)[]): void {
    if (ids.length === 0) return;
    const name = `${table} ${column}`;
    const change = this.#rows.get(name) ?? { table, column, rows: 0 };
    change.rows += ids.length;
    this.#rows.set(name, change);
    const known = this.#ids.get(table) ?? new Set();
    for (const id of ids) if (id !== undefined) known.add(id);
    this.#ids.set(table, known);
  }

  /** The records that show something else now: those that were written, and those whose inner records were. */
  async changes(db: Db, accountId: number): Promise<JournalChange[]> {
    const changes = new Changes();
    for (const [table, ids] of this.#ids) {
      if (isRecordTable(table)) changes.addIn(table, 'modify', ids);
      for (const owners of await ownersOf(db, accountId, table, [...ids])) {
        changes.addIn(owners.table, 'modify', owners.ids);
      }
    }
    return changes.certain;
  }

  list = (): Change[] =>
    [...this.#rows.values()].sort((a, b) => a.table.localeCompare(b.table) || a.column.localeCompare(b.column));
}

const ROWS_A_PAGE = 2000;

/** Tables without personal texts. `accounts` has the company's own data, which stays. */
const SKIPPED_TABLES = new Set([
  'accounts',
  'assistant_calls',
  'audit_records',
  'call_counts',
  'company_images',
  'document_links',
  'journals',
  'journal_entries',
  // What documents say is sealed anew, by sealAnonymised.
  'seal_chains',
  'seals',
  // The law asks to keep them as they were made: docs/verifactu.md
  'register_chains',
  'invoice_registers',
  'register_answers',
  'quota_windows',
  'quota_days',
  'oauth_tokens',
  'document_counters',
]);
const NUMBER = 'number';

/** Columns that are emptied when they mention the person: a placeholder would not be a valid value. */
const EMPTIED = new Set(['email', 'phone', 'mobile', 'tax_id']);

interface TextTable {
  name: string;
  key: string[];
  /** Text and JSON columns, without keys and computed columns. */
  columns: { name: string; json: boolean; nullable: boolean }[];
}

async function anonymiseTexts(db: Db, accountId: number, person: Person, counts: Counts): Promise<void> {
  const without = withoutMentions(person);
  for (const table of await textTables(db)) {
    const deleted = table.name === 'idempotency_records';
    for await (const row of rowsOf(db, accountId, table)) {
      const changed: Texts = {};
      for (const { name, nullable } of table.columns) {
        const value = row.texts[name];
        const text = value ? without(value) : undefined;
        if (text === undefined) continue;
        changed[name] = name === 'ref' ? null : EMPTIED.has(name) ? (nullable ? null : '') : text;
      }
      if (Object.keys(changed).length === 0) continue;
      if (deleted) {
        // The stored answer mentions the person. Without the row, a repeated call would run again.
        await sql`delete from idempotency_records where account_id = ${accountId} and key = ${String(row.key.key)}`.execute(
          db,
        );
        counts.add(table.name, '*', [undefined]);
      } else await write(db, accountId, table.name, row.key, row.texts, { ...row.texts, ...changed }, counts);
    }
  }
}

async function textTables(db: Db): Promise<TextTable[]> {
  const { rows } = await sql<{ name: string; key: string[]; column: string; json: boolean; nullable: boolean }>`
    select c.relname as name, a.attname as column, a.atttypid in ('json'::regtype, 'jsonb'::regtype) as json, not a.attnotnull as nullable,
      array(select k.attname::text from pg_constraint p join pg_attribute k on k.attrelid = p.conrelid and k.attnum = any(p.conkey)
            where p.conrelid = c.oid and p.contype = 'p' order by k.attnum) as key
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and a.attgenerated = ''
      and a.atttypid in ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype)
      and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'account_id' and not o.attisdropped)
      -- Not the columns of keys, in either direction.
      and not exists (select from pg_constraint k where (k.conrelid = c.oid and k.contype in ('p', 'u', 'f') and a.attnum = any(k.conkey))
                      or (k.confrelid = c.oid and a.attnum = any(k.confkey)))
    order by c.relname, a.attnum`.execute(db);
  const tables = new Map<string, TextTable>();
  for (const { name, key, column, json, nullable } of rows) {
    if (SKIPPED_TABLES.has(name) || column === NUMBER || derivedColumns(name).includes(column)) continue;
    const table = tables.get(name) ?? { name, key, columns: [] };
    table.columns.push({ name: column, json, nullable });
    tables.set(name, table);
  }
  return [...tables.values()];
}

type KeyedRow = Record<string, string | number | null>;

interface TextRow {
  /** The primary key. */
  key: Record<string, string | number>;
  texts: Texts;
}

/** The company's rows of a table, including the columns that computed columns depend on. */
async function* rowsOf(db: Db, accountId: number, { name, key, columns }: TextTable): AsyncGenerator<TextRow> {
  const rest = key.filter((column) => column !== 'account_id');
  const wanted = new Set([...columns.map((column) => column.name), ...derivedColumns(name), NUMBER]);
  const { rows: there } = await sql<{ column: string }>`select attname as column from pg_attribute
    where attrelid = ${name}::regclass and attnum > 0 and not attisdropped`.execute(db);
  const read = there.map(({ column }) => column).filter((column) => wanted.has(column));
  const selected = sql.join([
    ...rest.map((column) => sql`${sql.ref(column)} as ${sql.ref(`key ${column}`)}`),
    ...read.map((column) => sql`${sql.ref(column)}::text as ${sql.ref(column)}`),
  ]);
  const order = sql.join(rest.map((column) => sql.ref(column)));
  for (let last: (string | number)[] | undefined = []; last; ) {
    const after: RawBuilder<unknown> = last.length > 0 ? sql`and (${order}) > (${sql.join(last)})` : sql``;
    const { rows }: { rows: KeyedRow[] } = await sql<KeyedRow>`
      select ${selected} from ${sql.table(name)} where account_id = ${accountId} ${after}
      order by ${order} limit ${ROWS_A_PAGE}`.execute(db);
    for (const row of rows) {
      const keys: Record<string, string | number> = { account_id: accountId };
      for (const column of rest) keys[column] = row[`key ${column}`] ?? '';
      const texts: Texts = {};
      for (const column of read) texts[column] = textOrNull(row[column]);
      yield { key: keys, texts };
    }
    const end: KeyedRow | undefined = rows.at(-1);
    last = end && rows.length === ROWS_A_PAGE ? rest.map((column) => end[`key ${column}`] ?? '') : undefined;
  }
}

const textOrNull = (value: string | number | null | undefined): Value =>
  value === null || value === undefined ? null : String(value);

/** Writes the changed columns and recomputes the computed ones. Throws ChangedMeanwhile if the row has changed since it was read. */
async function write(
  db: Db,
  accountId: number,
  table: string,
  key: Record<string, string | number>,
  before: Texts,
  wanted: Texts,
  counts: Counts,
): Promise<void> {
  const after = { ...wanted };
  Object.assign(after, derivedOf(table, after));
  const changed = Object.keys(after).filter((column) => after[column] !== before[column]);
  if (changed.length === 0) return;
  const rest = Object.entries(key).filter(([column]) => column !== 'account_id');
  const { numAffectedRows } = await sql`update ${sql.table(table)} set ${sql.join([
    ...changed.map((column) => sql`${sql.ref(column)} = ${after[column] ?? null}`),
    sql`version = version + 1, updated_at = now()`,
  ])} where account_id = ${accountId} and ${sql.join(
    [
      ...rest.map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
      ...changed.map((column) => sql`${sql.ref(column)}::text is not distinct from ${before[column] ?? null}`),
    ],
    sql` and `,
  )}`.execute(db);
  if (numAffectedRows !== 1n) throw new ChangedMeanwhile();
  for (const column of changed) counts.add(table, column, [typeof key.id === 'number' ? key.id : undefined]);
}

/** The attachments on the estimates of the client, or of the contact's client. Employees and suppliers have no estimates. */
async function attachmentsOf(
  db: Db,
  accountId: number,
  kind: PersonKind,
  id: number,
  record: Texts,
): Promise<UnseenFile[]> {
  const clientId = kind === 'client' ? id : kind === 'contact' ? record.client_id : null;
  if (!clientId) return [];
  return db
    .selectFrom('attachments as a')
    .innerJoin('estimates as e', (join) =>
      join.onRef('e.account_id', '=', 'a.account_id').onRef('e.id', '=', 'a.estimate_id'),
    )
    .select(['a.id', 'a.name', 'e.number as estimate'])
    .where('a.account_id', '=', accountId)
    .where('e.client_id', '=', Number(clientId))
    .orderBy('a.id')
    .execute();
}
