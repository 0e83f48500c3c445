// What projects, and the company, sold, bought and worked, in one statement, and how it is shown.
import { type RawBuilder, sql } from 'kysely';
import type { DateRange } from '../../figures/counted-lines.ts';
import { companyEntries, economicFacts } from '../../figures/facts.ts';
import { instantsOf } from '../shared/local-days.ts';
import { decimalOf, shape } from '../shared/shape.ts';

/** Of figures `e`. Amounts without VAT; `margen` in percent of `ventas`; decimal hours. PRJ-01 */
export const economics = shape({
  ventas: decimalOf('e.sales'),
  compras: decimalOf('e.purchases'),
  coste_personal: decimalOf('e.staff'),
  coste_maquinaria: decimalOf('e.machines'),
  costes: decimalOf('e.costs'),
  resultado: decimalOf('e.result'),
  margen: decimalOf('e.margin'),
  horas: decimalOf('e.hours'),
});

export interface EconomicsRange extends DateRange {
  accountId: number;
  timeZone: string;
}

/**
 * Economics as a relation with the columns of EconomicsRow and those asked for. `ctes` are those of a statement, of which the
 * last is `facts`; `columns` of it name a group. Each figure is computed exactly and rounded once, here. PRJ-01
 */
const economicsBy = (ctes: RawBuilder<unknown>, columns: RawBuilder<unknown>, groupBy: RawBuilder<unknown>) => sql`(
    with ${ctes},
    figures as (
      select ${columns}, round(coalesce(sum(sales), 0), 2) as sales,
        round(coalesce(sum(purchases), 0), 2) as purchases, round(coalesce(sum(staff), 0) / 3600, 2) as staff,
        round(coalesce(sum(machines), 0) / 3600, 2) as machines, round(coalesce(sum(seconds), 0) / 3600, 2) as hours
      from facts group by ${groupBy})
    select *, purchases + staff + machines as costs, sales - (purchases + staff + machines) as result,
      case when sales <> 0 then round((sales - (purchases + staff + machines)) * 100 / sales, 2)
           when purchases + staff + machines > 0 then -100 else 0 end as margin
    from figures)`;

/**
 * The economics of the projects in `ids` (a query with a column `id`), as a relation with `project_id` and the columns of
 * EconomicsRow, a row for each project. Without dates they are those that are kept. PRJ-01, PRJ-02
 */
export function projectEconomics(ids: RawBuilder<unknown>, range: EconomicsRange): RawBuilder<unknown> {
  const { accountId, from, to } = range;
  const wantedIds = sql`ids as materialized (${ids})`;
  if (from === undefined && to === undefined) {
    // One by one, by their keys: joined freely, all the projects there are would be read.
    const facts = sql`facts as (
      select i.id as project_id, t.sales, t.purchases, t.seconds, t.staff, t.machines
      from ids i left join lateral (
        select * from project_totals t where t.account_id = ${accountId} and t.project_id = i.id limit 1) t on true)`;
    return economicsBy(sql`${wantedIds}, ${facts}`, sql`project_id`, sql`project_id`);
  }
  const always = sql`select id as project_id, null::date as day from ids`;
  // As a list, so that the projects' own indexes serve it whatever the planner knows of the tables.
  const facts = projectFacts(sql`(select array_agg(id) from ids)::bigint[]`, range, always);
  return economicsBy(sql`${wantedIds}, ${facts}`, sql`project_id`, sql`project_id`);
}

/** The facts of the projects in an array of ids: CTEs of a statement, as `economicFacts` has them. PRJ-01 */
export function projectFacts(
  wanted: RawBuilder<unknown>,
  range: EconomicsRange,
  always?: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { accountId, timeZone, from, to } = range;
  const taskIds = sql`(select array_agg(id) from tasks
    where account_id = ${accountId} and project_id = any(${wanted}))::bigint[]`;
  const columns = sql`t.id, t.employee_id, t.machine_id, t.entry_at, t.exit_at, t.break_minutes`;
  return economicFacts({
    ...{ accountId, timeZone: sql<string>`${timeZone}`, range: { from, to }, always },
    lines: sql`and l.project_id = any(${wanted})`,
    entries: sql`
      select t.project_id, ${columns} from time_entries t
      where t.account_id = ${accountId} and t.project_id = any(${wanted}) and t.exit_at is not null ${enteredWithin(range)}
      union all
      select k.project_id, ${columns}
      from tasks k join time_entries t on t.account_id = ${accountId} and t.task_id = k.id
      where k.account_id = ${accountId} and k.project_id = any(${wanted}) and t.task_id = any(${taskIds})
        and t.project_id is null and t.exit_at is not null ${enteredWithin(range)}`,
  });
}

/** Narrows the time entries `t` to those entered in the range. FIC-01 */
function enteredWithin({ from, to, timeZone }: EconomicsRange): RawBuilder<unknown> {
  const { since, until } = instantsOf(from, to, timeZone);
  return sql`and t.entry_at >= ${since} and t.entry_at < ${until}`;
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
  const { accountId, timeZone, from, to } = range;
  const months = sql`select null::bigint as project_id, month::date as day
    from generate_series(date_trunc('month', ${from}::timestamp), ${to}::timestamp, '1 month') month`;
  const facts = economicFacts({
    ...{ accountId, timeZone: sql<string>`${timeZone}`, range: { from, to } },
    entries: companyEntries(accountId, enteredWithin(range)),
    always: by === 'month' ? months : undefined,
  });
  if (!by) return economicsBy(facts, sql`1 as whole`, sql`()`);
  const key = by === 'month' ? sql`date_trunc('month', day::timestamp)` : sql`project_id`;
  const columns = sql`grouping(${key}) as whole, ${by === 'month' ? sql`to_char(${key}, 'YYYY-MM') as month` : key}`;
  return economicsBy(facts, columns, sql`grouping sets ((), (${key}))`);
}
