// The file loses no stored data silently: every column is a field of a collection or listed here as an exception.
import { expect, test } from 'vitest';
import { COLLECTIONS } from '../../account-file/format.ts';
import { ownDatabase } from '../helpers/own-database.ts';

/** Columns of every record: company, id, ref, version and times of change. */
const OF_ANY_RECORD = ['account_id', 'id', 'ref', 'version', 'created_at', 'updated_at'];
/** Columns of every inner record: parent and position. */
const OF_ANY_INNER_RECORD = ['position'];

const EXCUSED_COLUMNS: Record<string, string> = {
  'accounts.*': 'the record `cuenta`, which account.ts reads and writes',
  'clients.tax_key': 'follows from tax_id',
  'clients.search': 'follows from the texts it is made of',
  'contacts.email_key': 'follows from email',
  'contacts.phone_key': 'follows from mobile and phone',
  'contacts.search': 'follows from the texts it is made of',
  'employees.search': 'follows from the texts it is made of',
  'estimates.search': 'follows from the texts it is made of',
  'invoices.search': 'follows from the texts it is made of',
  'products.search': 'follows from the texts it is made of',
  'projects.search': 'follows from the texts it is made of',
  'suppliers.search': 'follows from the texts it is made of',
  'recurrings.entered_on': 'the day it came into this service, which is another one after an import',
  'stock_movements.opening': 'marks what `stock` of a product says and its movements do not',
};

const EXCUSED_TABLES: Record<string, string> = {
  api_keys: 'stay with the installation: docs/account-file.md',
  journals: 'stay with the installation: docs/account-file.md',
  journal_entries: 'stay with the installation: docs/account-file.md',
  seal_chains: 'documents that an import brings are sealed as imported: docs/account-file.md',
  register_chains: 'stay with the installation: docs/account-file.md',
  invoice_registers: 'stay with the installation: docs/account-file.md',
  register_answers: 'stay with the installation: docs/account-file.md',
  seals: 'documents that an import brings are sealed as imported: docs/account-file.md',
  assistant_calls: 'stay with the installation: docs/account-file.md',
  call_counts: 'stay with the installation: docs/account-file.md',
  audit_records: 'stay with the installation: docs/account-file.md',
  grants: 'stay with the installation: docs/account-file.md',
  idempotency_records: 'end after a day',
  memberships: 'stay with the installation: docs/account-file.md',
  document_links: 'stay with the installation: docs/account-file.md',
  webhooks: 'stay with the installation: docs/account-file.md',
  webhook_deliveries: 'stay with the installation: docs/account-file.md',
  oauth_tokens: 'stay with the installation: docs/account-file.md',
  company_images: 'the one that is the logo is in `cuenta`; documents that an import brings are sealed with it',
  document_counters: 'follow from the numbers of the documents',
  product_stocks: 'a kept figure: follows from the movements',
  project_totals: 'a kept figure',
  record_counts: 'a kept figure',
  time_entry_days: 'a kept figure',
  quota_days: 'what was used of the quota here',
  quota_windows: 'what was used of the quota here',
};

interface Stored {
  table: string;
  columns: string[];
}

/** The tables of companies with their columns, without generated columns. */
async function stored(): Promise<Stored[]> {
  await using database = await ownDatabase();
  const { rows } = await database.admin.query<Stored>(
    `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
     group by c.relname having c.relname = 'accounts' or 'account_id' = any(array_agg(a.attname::text)) order by 1`,
  );
  return rows;
}

/** The columns that the file fills, by table. */
function inTheFile(): Map<string, Set<string>> {
  const filled = new Map<string, Set<string>>();
  const add = (table: string, columns: Iterable<string>) => {
    filled.set(table, new Set([...(filled.get(table) ?? []), ...columns]));
  };
  for (const { table, fields, children } of COLLECTIONS) {
    add(table, [...OF_ANY_RECORD, ...Object.values(fields).flatMap(({ columns }) => columns)]);
    for (const { table: inner, parent, fields: own } of Object.values(children)) {
      const columns = Object.values(own).flatMap((field) => field.columns);
      add(inner, [...OF_ANY_RECORD, ...OF_ANY_INNER_RECORD, parent, ...columns]);
    }
  }
  return filled;
}

test('every column of a company’s tables is in the account file, or excused with a reason', async () => {
  const filled = inTheFile();
  const excuses = new Set([...Object.keys(EXCUSED_COLUMNS), ...Object.keys(EXCUSED_TABLES)]);
  const lost: string[] = [];
  for (const { table, columns } of await stored()) {
    if (excuses.delete(table) || excuses.delete(`${table}.*`)) continue;
    for (const column of columns) {
      if (!filled.get(table)?.has(column) && !excuses.delete(`${table}.${column}`)) lost.push(`${table}.${column}`);
    }
  }
  expect(lost, 'give it a field in account-file/collections, or an excuse here').toEqual([]);
  expect([...excuses], 'no longer needed').toEqual([]);
});
