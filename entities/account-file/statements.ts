// SQL as text, for statements whose tables and columns come from the declarations.
import { CompiledQuery } from 'kysely';
import type { Db } from '../../platform/database.ts';

/** The rows that a statement answers. `R` is what its select list says. */
export async function rows<R>(db: Db, sql: string, parameters: readonly unknown[]): Promise<R[]> {
  return (await db.executeQuery<R>(CompiledQuery.raw(sql, [...parameters]))).rows;
}
