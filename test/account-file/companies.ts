// Companies for account file tests without a server: a database, and the content of a company's tables, to compare.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { exportAccountFile } from '../../account-file/export.ts';
import { AccountFileError, type ImportOptions, importAccountFile } from '../../account-file/import.ts';
import { createAccount, type NewAccount } from '../../account-file/new-account.ts';
import { Database } from '../../platform/database.ts';
import { poolerOptions } from '../helpers/pgbouncer.ts';
import type { FileRecord } from '../helpers/world.ts';

export interface Row {
  [column: string]: unknown;
}

export async function openCompanies() {
  const database = new Database({ url: inject('databaseUrl'), ...poolerOptions() });
  await database.prepareRole();
  // The tests' login sees every company.
  const admin = new pg.Pool({ connectionString: inject('databaseUrl'), max: 2 });
  const tables = await tablesOf(admin);
  const newSlug = () => `f-${randomUUID()}`;

  return {
    database,
    newSlug,
    async company(options: Partial<NewAccount> = {}) {
      const { id, slug } = await createAccount(database, { slug: newSlug(), name: 'Prueba', ...options });
      const importLines = (lines: Iterable<string> | AsyncIterable<string>, more?: ImportOptions) =>
        importAccountFile(database, id, lines, more);
      return {
        id,
        slug,
        importLines,
        /** Imports records, after a `cuenta` unless they include one. */
        import: (records: readonly FileRecord[], more?: ImportOptions) => importLines(linesOf(records), more),
        /** The problems that refuse an import of these records. */
        async problems(records: readonly FileRecord[]) {
          return problemsOf(importLines(linesOf(records)));
        },
        export: () => Array.fromAsync(exportAccountFile(database, id)),
        /** The exported records of one collection. */
        async exported(coleccion: string): Promise<Row[]> {
          const lines = await Array.fromAsync(exportAccountFile(database, id));
          return lines.map((line): Row => JSON.parse(line)).filter((record) => record.coleccion === coleccion);
        },
        /** The company's rows of a table, by id. */
        async rows(table: string): Promise<Row[]> {
          const { rows } = await admin.query<{ row: Row }>(
            `select to_jsonb(t) as row from ${table} t where account_id = $1 order by to_jsonb(t) -> 'id'`,
            [id],
          );
          return rows.map(({ row }) => row);
        },
        /** All data of the company except versions and times of change. */
        async dump(): Promise<Record<string, string>> {
          const all: Record<string, string> = {};
          for (const { table, column } of tables) {
            const { rows } = await admin.query<{ all: string }>(
              `select coalesce(string_agg(t::text, E'\\n' order by t::text), '') as all from ${table} t where ${column} = $1`,
              [id],
            );
            all[table] = rows[0]?.all ?? '';
          }
          return all;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await database.close();
      await admin.end();
    },
  };
}

export type Companies = Awaited<ReturnType<typeof openCompanies>>;

export const CUENTA: FileRecord = { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Prueba' };

export const linesOf = (records: readonly FileRecord[]): string[] =>
  (records[0]?.coleccion === 'cuenta' ? records : [CUENTA, ...records]).map((record) => JSON.stringify(record));

/** The problems that refused an import; none if it succeeded. */
export async function problemsOf(imported: Promise<unknown>) {
  try {
    await imported;
    return [];
  } catch (error) {
    if (error instanceof AccountFileError) return error.problems;
    throw error;
  }
}

async function tablesOf(admin: pg.Pool) {
  const { rows } = await admin.query<{ table: string; column: string }>(
    `select c.table_name as table, c.column_name as column from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not in ('audit_records', 'assistant_calls', 'call_counts')
       and (c.column_name = 'account_id' or c.table_name = 'accounts' and c.column_name = 'id')
     order by 1`,
  );
  return rows;
}
