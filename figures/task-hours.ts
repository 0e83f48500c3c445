// The hours of a task that goes to another project.
import { sql } from 'kysely';
import type { Db } from '../platform/database.ts';
import { companyEntries, economicFacts } from './facts.ts';
import { zoneOf } from './figures.ts';

/**
 * Takes the hours and costs of a task's entries that have no project of their own off one project's totals and adds them to another's;
 * null is none. Both totals are locked first: what an import worked out anew meanwhile is then seen. PRJ-01
 */
export async function moveTaskHours(
  db: Db,
  accountId: number,
  taskId: number,
  { from, to }: { from: number | null; to: number | null },
): Promise<void> {
  const facts = economicFacts({
    accountId,
    timeZone: zoneOf(accountId),
    lines: sql`and false`,
    entries: companyEntries(accountId, sql`and t.task_id = ${taskId} and t.project_id is null`),
  });
  await Promise.all([
    sql`select project_id from project_totals where account_id = ${accountId} and project_id in (${from}, ${to})
      order by project_id for no key update`.execute(db),
    sql`with ${facts},
      moved as (select sum(seconds) as seconds, coalesce(sum(staff), 0) as staff, coalesce(sum(machines), 0) as machines from facts)
      insert into project_totals as t (account_id, project_id, seconds, staff, machines)
      select ${accountId}, p.id, p.sign * m.seconds, p.sign * m.staff, p.sign * m.machines
      from moved m, (values (${from}::bigint, -1), (${to}::bigint, 1)) p (id, sign)
      where p.id is not null and m.seconds is not null order by p.id
      on conflict (account_id, project_id) do update
        set seconds = t.seconds + excluded.seconds, staff = t.staff + excluded.staff, machines = t.machines + excluded.machines,
          version = t.version + 1, updated_at = excluded.updated_at
      returning project_id`.execute(db),
  ]);
}
