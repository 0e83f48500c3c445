// What projects, and the company, sold, bought and worked, in one statement, and how it is shown.
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { instantsOf } from '../shared/local-days.ts';
import { countedLines, type DateRange } from './counted-lines.ts';

/** Amounts without VAT; `margen` in percent of `ventas`; decimal hours. PRJ-01 */
export const economics = z.object({
  ventas: z.number(),
  compras: z.number(),
  coste_personal: z.number(),
  coste_maquinaria: z.number(),
  costes: z.number(),
  resultado: z.number(),
  margen: z.number(),
  horas: z.number(),
});

export interface EconomicsRow {
  sales: number;
  purchases: number;
  staff: number;
  machines: number;
  costs: number;
  result: number;
  margin: number;
  hours: number;
}

export const economicsOf = (row: EconomicsRow) => ({
  ventas: row.sales,
  compras: row.purchases,
  coste_personal: row.staff,
  coste_maquinaria: row.machines,
  costes: row.costs,
  resultado: row.result,
  margen: row.margin,
  horas: row.hours,
});

export interface EconomicsRange extends DateRange {
  accountId: number;
  timeZone: string;
}

/** Of a closed time entry: exact seconds less the pauses, never negative. FIC-03 */
export const WORKED_SECONDS = sql<number>`greatest(extract(epoch from exit_at - entry_at) - break_minutes * 60, 0)`;

/** What the figures are made of, and by what they are grouped. */
interface Facts {
  /** CTEs that the rest stands on, each with its comma. */
  first?: RawBuilder<unknown>;
  /** Narrows the document lines, as `l`. */
  lines?: RawBuilder<unknown>;
  /** The time entries, with the `project_id` that they count for. */
  entries: RawBuilder<unknown>;
  /** Rows of `project_id` and `day` for which there are figures whatever happened. */
  always?: RawBuilder<unknown>;
  /** What of `facts` names a group, and its GROUP BY. */
  columns?: RawBuilder<unknown>;
  groupBy: RawBuilder<unknown>;
}

/**
 * Economics as a relation with the columns of EconomicsRow and those asked for. Documents count by header date, hours by the
 * local date of entry; what an invoice brings from a delivery note was counted with the note. Each figure is computed
 * exactly and rounded once. PRJ-01, PRJ-02
 */
function economicsBy(facts: Facts, range: EconomicsRange): RawBuilder<unknown> {
  const { accountId, timeZone } = range;
  const { first = sql``, lines = sql``, entries, always, columns, groupBy } = facts;
  return sql`(
    with ${first} entry as (${entries}),
    worked as (
      select project_id, employee_id, machine_id, (entry_at at time zone ${timeZone})::date as day,
        ${WORKED_SECONDS} as seconds
      from entry),
    per_day as (
      select project_id, employee_id, day, sum(seconds) as seconds from worked group by project_id, employee_id, day),
    facts as (
      select project_id, date as day, amount as sales, null::numeric as purchases, null::numeric as seconds,
        null::numeric as staff, null::numeric as machines
      from (${countedLines('sales', range, lines)}) s
      union all
      select project_id, date, null, amount, null, null, null from (${countedLines('purchases', range, lines)}) p
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
      ${always ? sql`union all select project_id, day, null, null, null, null, null from (${always}) a` : sql``}),
    figures as (
      select ${columns ? sql`${columns},` : sql``} round(coalesce(sum(sales), 0), 2) as sales,
        round(coalesce(sum(purchases), 0), 2) as purchases, round(coalesce(sum(staff), 0) / 3600, 2) as staff,
        round(coalesce(sum(machines), 0) / 3600, 2) as machines, round(coalesce(sum(seconds), 0) / 3600, 2) as hours
      from facts group by ${groupBy})
    select *, purchases + staff + machines as costs, sales - (purchases + staff + machines) as result,
      case when sales <> 0 then round((sales - (purchases + staff + machines)) * 100 / sales, 2)
           when purchases + staff + machines > 0 then -100 else 0 end as margin
    from figures)`;
}

/**
 * The economics of the projects in `ids` (a query with a column `id`), as a relation with `project_id` and the columns of
 * EconomicsRow, a row for each project. PRJ-01, PRJ-02
 */
export function projectEconomics(ids: RawBuilder<unknown>, range: EconomicsRange): RawBuilder<unknown> {
  const { accountId } = range;
  // As a list, so that the projects' own indexes serve it whatever the planner knows of the tables.
  const wanted = sql`(select array_agg(id) from ids)::bigint[]`;
  const taskIds = sql`(select array_agg(id) from tasks
    where account_id = ${accountId} and project_id = any(${wanted}))::bigint[]`;
  const columns = sql`t.employee_id, t.machine_id, t.entry_at, t.exit_at, t.break_minutes`;
  return economicsBy(
    {
      first: sql`ids as materialized (${ids}),`,
      lines: sql`and l.project_id = any(${wanted})`,
      entries: sql`
        select t.project_id, ${columns} from time_entries t
        where t.account_id = ${accountId} and t.project_id = any(${wanted}) and ${closedWithin(range)}
        union all
        select k.project_id, ${columns}
        from tasks k join time_entries t on t.account_id = ${accountId} and t.task_id = k.id
        where k.account_id = ${accountId} and k.project_id = any(${wanted}) and t.task_id = any(${taskIds})
          and t.project_id is null and ${closedWithin(range)}`,
      always: sql`select id as project_id, null::date as day from ids`,
      columns: sql`project_id`,
      groupBy: sql`project_id`,
    },
    range,
  );
}

/** Of `t`: entered in the range, and left. FIC-02 */
function closedWithin({ from, to, timeZone }: EconomicsRange): RawBuilder<unknown> {
  const { since, until } = instantsOf(from, to, timeZone);
  return sql`t.exit_at is not null and t.entry_at >= ${since} and t.entry_at < ${until}`;
}

/**
 * The economics of the whole company, with or without a project, as a relation with the columns of EconomicsRow: one row
 * where `whole` is 1, and one for each group, where it is 0. `month`: every month of the range, in the column `month`
 * (`YYYY-MM`). `project`: every project with a line or an entry that counts, and those without a project together, in the
 * column `project_id`. PRJ-01, PRJ-02
 */
export function companyEconomics(
  range: EconomicsRange & { from: string; to: string },
  by?: 'month' | 'project',
): RawBuilder<unknown> {
  const { accountId, from, to } = range;
  const entries = sql`
    select coalesce(t.project_id, k.project_id) as project_id, t.employee_id, t.machine_id, t.entry_at, t.exit_at,
      t.break_minutes
    from time_entries t left join tasks k on k.account_id = ${accountId} and k.id = t.task_id
    where t.account_id = ${accountId} and ${closedWithin(range)}`;
  if (!by) return economicsBy({ entries, columns: sql`1 as whole`, groupBy: sql`()` }, range);
  const months = sql`select null::bigint as project_id, month::date as day
    from generate_series(date_trunc('month', ${from}::timestamp), ${to}::timestamp, '1 month') month`;
  const key = by === 'month' ? sql`date_trunc('month', day::timestamp)` : sql`project_id`;
  return economicsBy(
    {
      entries,
      ...(by === 'month' && { always: months }),
      columns: sql`grouping(${key}) as whole, ${by === 'month' ? sql`to_char(${key}, 'YYYY-MM') as month` : key}`,
      groupBy: sql`grouping sets ((), (${key}))`,
    },
    range,
  );
}
