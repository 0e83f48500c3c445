// The inputs of project and company economics: every amount and every worked second, with its project and day. Nothing is
// rounded here.
import { type RawBuilder, sql } from 'kysely';
import { countedLines, type DateRange } from './counted-lines.ts';

/** The exact worked seconds of a closed time entry: elapsed time less breaks, at least 0. FIC-03 */
export const WORKED_SECONDS = sql<number>`greatest(extract(epoch from exit_at - entry_at) - break_minutes * 60, 0)`;

export interface Facts {
  accountId: number;
  /** The company's time zone. It sets the local day of an entry, and so the contract that applies. DATE-02 */
  timeZone: RawBuilder<string>;
  /** Limits the documents, by header date. */
  range?: DateRange;
  /** An extra condition on document lines, alias `l`. */
  lines?: RawBuilder<unknown>;
  /** A query of closed time entries, with their `id` and the `project_id` that they count for. */
  entries: RawBuilder<unknown>;
  /** Extra rows of `project_id` and `day` without amounts, so that each of these projects has at least one fact. */
  always?: RawBuilder<unknown> | undefined;
}

/**
 * CTEs of a statement. The last is `facts`: `project_id`, `day`, `sales`, `purchases`, `seconds`, `staff` and `machines`; amounts
 * that a row does not have are null. `staff` and `machines` are the hourly cost times seconds, so 3,600 times the cost. Invoice
 * lines from a delivery note are left out: the note counts. `worked` has each entry with its `id`, `day`, `machine_id` and `seconds`.
 * PRJ-01, PRJ-02
 */
export function economicFacts({ accountId, timeZone, range = {}, lines, entries, always }: Facts): RawBuilder<unknown> {
  return sql`
    entry as (${entries}),
    worked as (
      select id, project_id, employee_id, machine_id, (entry_at at time zone ${timeZone})::date as day,
        ${WORKED_SECONDS} as seconds
      from entry),
    per_day as (
      select project_id, employee_id, day, sum(seconds) as seconds from worked group by project_id, employee_id, day),
    facts as (
      select project_id, date as day, amount as sales, null::numeric as purchases, null::numeric as seconds,
        null::numeric as staff, null::numeric as machines
      from (${countedLines('sales', { accountId, ...range }, lines)}) s
      union all
      select project_id, date, null, amount, null, null, null
      from (${countedLines('purchases', { accountId, ...range }, lines)}) p
      union all
      select w.project_id, w.day, null, null, w.seconds, w.seconds * c.hourly, null
      from per_day w left join lateral (
        select c.hourly_cost + c.hourly_pension + c.hourly_social_security as hourly from contracts c
        where c.account_id = ${accountId} and c.employee_id = w.employee_id and c.start_date <= w.day
          and (c.end_date is null or c.end_date >= w.day)
        order by c.start_date desc, c.id desc limit 1) c on true
      union all
      select w.project_id, w.day, null, null, null, null, w.seconds * m.hourly_cost
      from worked w join machines m on m.account_id = ${accountId} and m.id = w.machine_id
      ${always ? sql`union all select project_id, day, null, null, null, null, null from (${always}) a` : sql``})`;
}

/**
 * A company's closed time entries. One with a task but no project counts for the task's project. `only` is an extra condition on
 * the entry, alias `t`. PRJ-01
 */
export const companyEntries = (accountId: number, only: RawBuilder<unknown> = sql``): RawBuilder<unknown> => sql`
  select t.id, coalesce(t.project_id, k.project_id) as project_id, t.employee_id, t.machine_id, t.entry_at, t.exit_at,
    t.break_minutes
  from time_entries t left join tasks k on k.account_id = ${accountId} and k.id = t.task_id
  where t.account_id = ${accountId} and t.exit_at is not null ${only}`;
