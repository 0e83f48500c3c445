// The switch for automatic issuing of a company's renewals, used by the command and the page.
import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Switches it on, from the company's local day of `now`, or off. If it is already on, the earlier day stays. ISS-01 */
export async function switchAutomaticIssuing(
  db: Db,
  accountId: number,
  on: boolean,
  now: Temporal.Instant,
): Promise<void> {
  const today = sql`(${now.toString()}::timestamptz at time zone time_zone)::date`;
  await sql`update accounts set version = version + 1, updated_at = now(),
      automatic_issuing_since = ${on ? sql`coalesce(automatic_issuing_since, ${today})` : null}
    where id = ${accountId} and (automatic_issuing_since is not null) <> ${on}`.execute(db);
}
