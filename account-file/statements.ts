// Runs SQL text, for statements built from the declarations.
import { CompiledQuery } from 'kysely';
import type { Db } from '../platform/database.ts';

/** Runs a statement and returns its rows. `R` is the type of its select list. */
export async function rows<R>(db: Db, sql: string, parameters: readonly unknown[]): Promise<R[]> {
  return (await db.executeQuery<R>(CompiledQuery.raw(sql, [...parameters]))).rows;
}
