// Columns that follow from other columns of their row: texts that searches look in, and normalised keys. Whoever writes one of these
// tables writes them by `derivedOf`.
import { emailKey, phoneKey, searchable, taxKey } from './text.ts';

type Value = string | null | undefined;
type Row = Readonly<Record<string, Value>>;

const party = { search: (row: Row) => searchable(row.legal_name, row.trade_name, row.tax_id, row.email) };
/** Writes that number a document in SQL make this text there. */
const document = { search: (row: Row) => searchable(row.number, row.concept) };

/** By table and column. */
export const DERIVED = {
  clients: { ...party, tax_key: (row: Row) => taxKey(row.tax_id) },
  suppliers: party,
  contacts: {
    search: (row: Row) => searchable(row.name, row.company, row.email, row.mobile),
    email_key: (row: Row) => emailKey(row.email),
    phone_key: (row: Row) => phoneKey(row.mobile),
  },
  // Searches look in the full name.
  employees: { search: (row: Row) => searchable(`${row.first_name} ${row.last_name ?? ''}`, row.email) },
  products: { search: (row: Row) => searchable(row.description, row.reference, row.sku, row.ean) },
  projects: { search: (row: Row) => searchable(row.description, row.number) },
  estimates: document,
  invoices: document,
};

type Tables = typeof DERIVED;
type Columns<Table extends keyof Tables> = {
  [Column in keyof Tables[Table]]: Tables[Table][Column] extends (row: Row) => infer Text ? Text : never;
};

const isDerived = (table: string): table is keyof Tables => Object.hasOwn(DERIVED, table);
const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';

/** Their names; none where the table has none. */
export const derivedColumns = (table: string): string[] => (isDerived(table) ? Object.keys(DERIVED[table]) : []);

/** The derived columns of a row of a table; none where the table has none. */
export function derivedOf<Table extends keyof Tables>(
  table: Table,
  row: Readonly<Record<string, unknown>>,
): Columns<Table>;
export function derivedOf(table: string, row: Readonly<Record<string, unknown>>): Record<string, string | null>;
export function derivedOf(table: string, row: Readonly<Record<string, unknown>>): Record<string, string | null> {
  if (!isDerived(table)) return {};
  const texts = Object.fromEntries(Object.entries(row).filter(isText));
  const columns = Object.entries<(row: Row) => string | null>(DERIVED[table]);
  return Object.fromEntries(columns.map(([column, follow]) => [column, follow(texts)]));
}
