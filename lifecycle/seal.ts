// Seals documents that have no seal: those that a version before sealing wrote, or writes beside this one.
import { sql } from 'kysely';
import { sealImported } from '../documents/sealed-content.ts';
import { SEALED_TABLES, type SealedTable } from '../entities/values.ts';
import type { Database } from '../platform/database.ts';
import type { Chain } from '../platform/seals.ts';

const AT_ONCE = 1000;

const unsealed = (
  accountId: number,
  table: SealedTable,
) => sql`from ${sql.table(table)} d where d.account_id = ${accountId}
  and not exists (select from seals s where s.account_id = ${accountId} and s.record_table = ${table} and s.record_id = d.id)`;

/** Whether a company, the row `accounts`, has some. */
export const hasUnsealed = (accountId: number) =>
  sql<boolean>`(${sql.join(
    SEALED_TABLES.map((table) => sql`exists (select ${unsealed(accountId, table)})`),
    sql` or `,
  )})`;

/** How many documents of a company it sealed, oldest first, some a transaction. Throws when stopped between two. DOC-01 */
export async function sealUnsealed(database: Database, chain: Chain, stop: AbortSignal): Promise<number> {
  const { accountId } = chain;
  let sealed = 0;
  for (const table of SEALED_TABLES) {
    for (let some = AT_ONCE; some === AT_ONCE; ) {
      stop.throwIfAborted();
      some = await database.transaction(accountId, { write: true }, async (db) => {
        const { rows } = await sql<{ id: number }>`
          select d.id ${unsealed(accountId, table)} order by d.id limit ${AT_ONCE}`.execute(db);
        await sealImported(
          db,
          chain,
          rows.map(({ id }) => ({ table, id })),
        );
        return rows.length;
      });
      sealed += some;
    }
  }
  return sealed;
}
