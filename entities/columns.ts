// Columns, indexes and policies that the tables share.
import { p } from '@mikro-orm/postgresql';

/** The company of the current transaction. Null while unset, so that no row matches. */
const CURRENT_ACCOUNT = `nullif(current_setting('app.account_id', true), '')::bigint`;

const isolatedBy = (column: 'account_id' | 'id') => ({
  policies: [{ name: 'company', using: `${column} = ${CURRENT_ACCOUNT}` }],
  rowLevelSecurity: 'force' as const,
});

/** Row-level security of a company's table: only rows of the current company can be read or written. TEN-02 */
export const isolated = isolatedBy('account_id');

/** The same for the table of companies. */
export const isolatedAccount = isolatedBy('id');

export const bigint = () => p.bigint('number');
/** An exact decimal: amounts, quantities, percentages, hours. The driver converts it to a JavaScript number. */
export const decimal = () => p.decimal('number').columnType('numeric');
/** A calendar date, `YYYY-MM-DD`. */
export const date = () => p.date();
/** Text that lists are sorted by, in Spanish alphabetical order. */
export const alphabetical = () => p.text().collation('es-x-icu');
/** An instant, as text that `Temporal.Instant.from` reads. */
export const instant = () => p.string().columnType('timestamptz');

const stamps = () => ({
  version: p.integer().default(1),
  createdAt: instant().defaultRaw('now()'),
  updatedAt: instant().defaultRaw('now()'),
});

/** Key and stamps of a company's record. The id sequence of `table` is shared by all companies (ID-06). */
export const record = (table: string) => ({
  accountId: bigint().primary(),
  id: bigint().primary().defaultRaw(`nextval('${table}_id_seq')`),
  ref: p.text().nullable(),
  ...stamps(),
});

/** Stamps of a table whose rows have no id. */
export const stamped = stamps;

/** Index on `ref`, which identifies a record in account files. Records that the service creates have no ref. */
export const uniqueRef = (table: string, parent?: string) => ({
  name: `${table}_ref`,
  expression: `create unique index ${table}_ref on ${table} (account_id, ${parent ? `${parent}, ` : ''}ref) where ref is not null`,
});

/** A text column that the database generates from the row's other columns. Inserts leave it out. */
export const generatedText = (expression: string) => p.text().default('').generated(`(${expression}) stored`);

/** An index that begins with `account_id`, as every index of a company's table does. */
export const indexOn = (table: string, name: string, columns: string, where?: string) => ({
  name: `${table}_by_${name}`,
  expression: `create index ${table}_by_${name} on ${table} (account_id, ${columns})${where ? ` where ${where}` : ''}`,
});

/** When, by whom and why a document was annulled: it keeps its number and counts nowhere. W-02 */
export const annulment = () => ({
  annulledAt: instant().nullable(),
  /** As the audit names the caller. */
  annulledBy: p.text().nullable(),
  annulmentReason: p.text().nullable(),
});

/** A document line: LINE of the account file. Stored amounts are computed only here. */
export const line = (table: string) => ({
  ...record(table),
  position: p.integer(),
  description: p.text(),
  quantity: decimal(),
  unitPrice: decimal(),
  discount: decimal().default(0),
  vat: decimal().default(21),
  amount: decimal().generated('(round(quantity * unit_price * (1 - discount / 100), 2)) stored'),
  productId: bigint().nullable(),
  variationId: bigint().nullable(),
  formatId: bigint().nullable(),
  baseQuantity: decimal().nullable(),
  extendedDescription: p.text().nullable(),
  startDate: date().nullable(),
  endDate: date().nullable(),
  projectId: bigint().nullable(),
});
