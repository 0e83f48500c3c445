// Whether people who work with a company work with another one too: registers of invoices say it. DOC-02
import { sql } from 'kysely';
import type { Database } from '../database.ts';

/** Notes it for the registers of these companies: to be called when a person has come to one, or left one. */
export async function noteSharedPeople(database: Database, accountIds: readonly number[]): Promise<void> {
  for (const accountId of accountIds) {
    const shares = await sharesPeople(database, accountId);
    await database.transaction(accountId, { write: true }, (db) =>
      sql`update register_chains set shares_people = ${shares}, version = version + 1, updated_at = now()
        where account_id = ${accountId} and shares_people <> ${shares}`.execute(db),
    );
  }
}

export async function sharesPeople(database: Database, accountId: number): Promise<boolean> {
  const members = await database.transaction(accountId, {}, (db) =>
    db.selectFrom('memberships').select('user_id').where('account_id', '=', accountId).execute(),
  );
  for (const { user_id } of members) {
    if ((await companyIdsOf(database, user_id)).length > 1) return true;
  }
  return false;
}

/** The numbers of the companies that a person belongs to. */
export async function companyIdsOf(database: Database, userId: number): Promise<number[]> {
  const rows = await database.lookup({ user_id: userId }, (db) =>
    db.selectFrom('memberships').select('account_id').where('user_id', '=', userId).execute(),
  );
  return rows.map(({ account_id }) => account_id);
}
