// A person leaves a company's data, and the data stay: names, e-mails, phones, tax ids and addresses go from their own record
// and from every text of the company that mentions them; amounts, hours, stock and numbers remain as they are. Which columns
// hold text the catalogue says, so that those of a later version are looked into as well.
import { type RawBuilder, sql } from 'kysely';
import { type Author, noteWrite } from './audit.ts';
import type { Db } from './database.ts';
import type { Kind } from './ids.ts';
import { type Person, withoutMentions } from './mentions.ts';
import { emailKey, phoneKey, searchable, taxKey } from './text.ts';

export type PersonKind = Extract<Kind, 'employee' | 'contact' | 'client' | 'supplier'>;

type Value = string | null;
type Texts = Record<string, Value>;

/** Columns and how they follow from others, by the same functions as where they are first written. */
type Derived = Record<string, (row: Texts) => Value>;

const party: Derived = {
  search: (row) => searchable(row.legal_name, row.trade_name, row.tax_id, row.email),
};
const document: Derived = { search: (row) => searchable(row.number, row.concept) };

/** Every table with columns that are made from others of the row. */
export const DERIVED: Record<string, Derived> = {
  clients: { ...party, tax_key: (row) => taxKey(row.tax_id) },
  suppliers: party,
  contacts: {
    search: (row) => searchable(row.name, row.company, row.email, row.mobile),
    email_key: (row) => emailKey(row.email),
    phone_key: (row) => phoneKey(row.mobile),
  },
  employees: { search: (row) => searchable(`${row.first_name} ${row.last_name ?? ''}`, row.email) },
  products: { search: (row) => searchable(row.description, row.reference, row.sku, row.ean) },
  projects: { search: (row) => searchable(row.description, row.number) },
  estimates: document,
  invoices: document,
};

interface Personal {
  table: string;
  /** What the record is known by. */
  person(row: Texts): Person;
  /** What the record holds afterwards. */
  blank(id: number): Texts;
  /** Documents that the law keeps, with the parties named on them. */
  invoices?: { table: 'invoices' | 'purchase_invoices'; column: 'client_id' | 'supplier_id' };
}

const filled = (...texts: (Value | undefined)[]) => texts.flatMap((text) => (text ? [text] : []));

const partyPerson = (row: Texts): Person => ({
  names: filled(row.legal_name, row.trade_name),
  shortNames: [],
  emails: filled(row.email),
  phones: filled(row.phone, row.mobile),
  taxIds: filled(row.tax_id),
  addresses: filled(row.address),
});

/** What the records of people hold that is personal. */
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
      ...{ legal_name: `Cliente anónimo ${id}`, trade_name: '', tax_id: '', email: '', phone: '', mobile: '' },
      ...{ address: '', postal_code: '', city: '', province: '' },
    }),
    invoices: { table: 'invoices', column: 'client_id' },
  },
  supplier: {
    table: 'suppliers',
    person: partyPerson,
    blank: (id) => ({
      ...{ legal_name: `Proveedor anónimo ${id}`, trade_name: '', tax_id: '', email: '', phone: '', mobile: null },
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

/** A file that may hold anything: whoever asked looks into it. */
export interface UnseenFile {
  id: number;
  name: string;
  estimate: string | null;
}

export interface Anonymised {
  changes: Change[];
  attachments: UnseenFile[];
}

/** Somebody else wrote a row between its reading and its writing. */
export class ChangedMeanwhile extends Error {}

/** The record's texts as they are; undefined when the company has none with this number. */
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

/** How many invoices name the client or the supplier. */
export async function invoicesOf(db: Db, accountId: number, kind: PersonKind, id: number): Promise<number> {
  const { invoices } = PERSONAL[kind];
  if (!invoices) return 0;
  const { rows } = await sql<{ invoices: number }>`select count(*) as invoices from ${sql.table(invoices.table)}
    where account_id = ${accountId} and ${sql.ref(invoices.column)} = ${id}`.execute(db);
  return rows[0]?.invoices ?? 0;
}

/**
 * Takes the person of this record out of the company, in the transaction of `db`. Throws ChangedMeanwhile when somebody
 * writes what is being changed.
 */
export async function anonymiseRecord(
  db: Db,
  accountId: number,
  { kind, id, record }: { kind: PersonKind; id: number; record: Texts },
  author: Author,
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
  // What an earlier run put there is nobody's.
  const known = Object.entries(record).filter(([column, value]) => value !== blank(id)[column]);
  await anonymiseTexts(db, accountId, person(Object.fromEntries(known)), counts);
  await noteWrite(db, accountId, author, { operation: 'person anonymise', kind, id });
  return { changes: counts.list(), attachments: await attachmentsOf(db, accountId, kind, id, record) };
}

/** Takes a person out of every text of the company, in the transaction of `db`. */
export async function anonymiseMentions(db: Db, accountId: number, person: Person): Promise<Change[]> {
  const counts = new Counts();
  await anonymiseTexts(db, accountId, person, counts);
  return counts.list();
}

class Counts {
  readonly #rows = new Map<string, Change>();

  add(table: string, column: string): void {
    const name = `${table} ${column}`;
    const change = this.#rows.get(name) ?? { table, column, rows: 0 };
    change.rows++;
    this.#rows.set(name, change);
  }

  list = (): Change[] =>
    [...this.#rows.values()].sort((a, b) => a.table.localeCompare(b.table) || a.column.localeCompare(b.column));
}

const ROWS_A_PAGE = 2000;

// The company's own name is no person's here; the audit holds numbers; and what a derived column holds follows from others.
const LEFT_ALONE = new Set([
  'accounts',
  'audit_records',
  'quota_windows',
  'quota_days',
  'oauth_tokens',
  'document_counters',
]);
const NUMBER = 'number';

/** Of these a mention leaves nothing behind, since no sign of it would be one. */
const EMPTIED = new Set(['email', 'phone', 'mobile', 'tax_id']);

interface TextTable {
  name: string;
  key: string[];
  /** Text and JSON columns that stand for themselves. */
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
        // Its call would be made anew; without the answer, nobody is told what it said.
        await sql`delete from idempotency_records where account_id = ${accountId} and key = ${String(row.key.key)}`.execute(
          db,
        );
        counts.add(table.name, '*');
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
      -- What other rows, or nothing but itself, is known by.
      and not exists (select from pg_constraint k where (k.conrelid = c.oid and k.contype in ('p', 'u', 'f') and a.attnum = any(k.conkey))
                      or (k.confrelid = c.oid and a.attnum = any(k.confkey)))
    order by c.relname, a.attnum`.execute(db);
  const tables = new Map<string, TextTable>();
  for (const { name, key, column, json, nullable } of rows) {
    if (LEFT_ALONE.has(name) || column === NUMBER || DERIVED[name]?.[column]) continue;
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

/** The company's rows of a table, with the texts that its derived columns are made from too. */
async function* rowsOf(db: Db, accountId: number, { name, key, columns }: TextTable): AsyncGenerator<TextRow> {
  const rest = key.filter((column) => column !== 'account_id');
  const wanted = new Set([
    ...columns.map((column) => column.name),
    ...(DERIVED[name] ? [...Object.keys(DERIVED[name]), 'number'] : []),
  ]);
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

/** Writes the columns that differ, those that follow from them included; only if the row is still as it was read. */
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
  for (const [column, follow] of Object.entries(DERIVED[table] ?? {})) after[column] = follow(after);
  const changed = Object.keys(after).filter((column) => after[column] !== before[column]);
  if (changed.length === 0) return;
  const kept = Object.entries(key).filter(([column]) => column !== 'account_id');
  const { numAffectedRows } = await sql`update ${sql.table(table)} set ${sql.join([
    ...changed.map((column) => sql`${sql.ref(column)} = ${after[column] ?? null}`),
    sql`version = version + 1, updated_at = now()`,
  ])} where account_id = ${accountId} and ${sql.join(
    [
      ...kept.map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
      ...changed.map((column) => sql`${sql.ref(column)}::text is not distinct from ${before[column] ?? null}`),
    ],
    sql` and `,
  )}`.execute(db);
  if (numAffectedRows !== 1n) throw new ChangedMeanwhile();
  for (const column of changed) counts.add(table, column);
}

/** The files on the estimates of the client, or of a contact's client. Employees and suppliers have no estimates. */
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
