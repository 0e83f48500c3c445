// The columns and policies that tables share, so that an entity file shows only what is its own.
// Nothing here knows a particular table.
import { p } from '@mikro-orm/postgresql';

/** The tenant of the running transaction; null (so: no row at all) while none is set. */
const CURRENT_ACCOUNT = `nullif(current_setting('app.account_id', true), '')::bigint`;

const isolatedBy = (column: 'account_id' | 'id') => ({
  policies: [{ name: 'company', using: `${column} = ${CURRENT_ACCOUNT}` }],
  rowLevelSecurity: 'force' as const,
});

/** Row-level security of a company's table: only rows of the current account are seen or written. TEN-02 */
export const isolated = isolatedBy('account_id');

/** The same for the table of companies itself. */
export const isolatedAccount = isolatedBy('id');

export const bigint = () => p.bigint('number');
/** An exact decimal: amounts, quantities, percentages, hours. It is a number only from the driver outwards. */
export const decimal = () => p.decimal('number').columnType('numeric');
/** A calendar date, `YYYY-MM-DD`. */
export const date = () => p.date();
/** Text that lists are ordered by, in Spanish alphabetical order. */
export const alphabetical = () => p.text().collation('es-x-icu');
/** A moment, as text that `Temporal.Instant.from` reads; local times are read from it in the company's zone. */
export const instant = () => p.string().columnType('timestamptz');

const stamps = () => ({
  version: p.integer().default(1),
  createdAt: instant().defaultRaw('now()'),
  updatedAt: instant().defaultRaw('now()'),
});

/** Key and stamps of a company's record. `table` names its id sequence (one for the whole service, ID-06). */
export const record = (table: string) => ({
  accountId: bigint().primary(),
  id: bigint().primary().defaultRaw(`nextval('${table}_id_seq')`),
  ref: p.text().nullable(),
  ...stamps(),
});

/** Stamps of a table that is not addressed by id. */
export const stamped = stamps;

/** What identifies a record in account files; records made by the service have none of their own. */
export const uniqueRef = (table: string, parent?: string) => ({
  name: `${table}_ref`,
  expression: `create unique index ${table}_ref on ${table} (account_id, ${parent ? `${parent}, ` : ''}ref) where ref is not null`,
});

/** A text that the database makes of the row's other columns; inserts leave it out. */
export const generatedText = (expression: string) => p.text().default('').generated(`(${expression}) stored`);

/** SQL that joins these pieces, written as PostgreSQL shows it. */
export const joined = (...pieces: string[]) => pieces.reduce((all, piece) => `(${all} || ${piece})`);

/** A plain index that begins with the company, as every index of a company's table does. */
export const indexOn = (table: string, name: string, columns: string, where?: string) => ({
  name: `${table}_by_${name}`,
  expression: `create index ${table}_by_${name} on ${table} (account_id, ${columns})${where ? ` where ${where}` : ''}`,
});

/** A document line: LINE of the account file. `amount` is computed here and nowhere else. */
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
