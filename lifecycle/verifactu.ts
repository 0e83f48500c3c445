// Switches VeriFactu on and off for a company. DOC-02
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { RegisterMode } from '../entities/values.ts';
import type { Database, Db } from '../platform/database.ts';

/**
 * From now on the invoices that the company issues are registered in this mode; null: not at all. A mode that was on before goes on with
 * its chain; one that was not begins a chain, of an installation that no other company has. `sharesPeople`: whether somebody who works with
 * the company works with another too.
 */
export async function switchVerifactu(
  db: Db,
  accountId: number,
  { mode, sharesPeople, now }: { mode: RegisterMode | null; sharesPeople: boolean; now: Temporal.Instant },
): Promise<void> {
  await sql`update accounts set verifactu_mode = ${mode}, version = version + 1, updated_at = ${now.toString()}
    where id = ${accountId}`.execute(db);
  if (mode === null) return;
  await sql`insert into register_chains (account_id, mode, installation, shares_people)
    values (${accountId}, ${mode}, ${randomUUID()}, ${sharesPeople})
    on conflict (account_id, mode) do update set shares_people = excluded.shares_people, version = register_chains.version + 1`.execute(
    db,
  );
}

/** Says that the company has registers that may have to be sent: once, before it is switched on. */
export const queueRegisters = (database: Database, accountId: number, now: Temporal.Instant) =>
  sql`insert into register_queue (company, look_at) values (${accountId}, ${now.toString()})
    on conflict (company) do nothing`.execute(database.service);
