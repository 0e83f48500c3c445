// The rollups, each with the query that computes it from a company's records. `albaran check` compares the two.
import { sql } from 'kysely';
import { companyEntries, economicFacts } from './facts.ts';
import type { Rollup } from './rollups.ts';

/** How many products and projects a company has. A company without any has no row. */
export const recordCounts: Rollup = {
  table: 'record_counts',
  key: [],
  values: ['products', 'projects'],
  computed: (accountId) => sql`
    select ${accountId}::bigint as account_id, products, projects
    from (select count(*)::int as products from products where account_id = ${accountId}) p,
      (select count(*)::int as projects from projects where account_id = ${accountId}) q
    where products + projects > 0`,
  lock: (accountId) => [
    sql`insert into record_counts (account_id) values (${accountId}) on conflict do nothing`,
    sql`select account_id from record_counts where account_id = ${accountId} for no key update`,
  ],
};

/** The company's time zone, in SQL. */
export const zoneOf = (accountId: number) => sql<string>`(select time_zone from accounts where id = ${accountId})`;

/** Time entries by the local day of entry. Recomputed by imports and when the time zone changes. FIC-01 */
export const timeEntryDays: Rollup = {
  table: 'time_entry_days',
  key: ['day'],
  values: ['entries'],
  computed: (accountId) => sql`
    select account_id, (entry_at at time zone ${zoneOf(accountId)})::date as day,
      count(*)::int as entries
    from time_entries where account_id = ${accountId} group by 1, 2`,
};

/** The stock of each product. In sale mode it is the sum of the movements; in other modes the stored figure counts. DLV-03 */
const stock: Rollup = {
  table: 'product_stocks',
  key: ['product_id'],
  values: ['quantity'],
  computed: (accountId) => sql`
    select p.account_id, p.id as product_id,
      case when p.mode = 'sale' then coalesce(m.quantity, 0) else coalesce(s.quantity, 0) end as quantity
    from products p
    left join product_stocks s on s.account_id = ${accountId} and s.product_id = p.id
    left join (
      select product_id, sum(quantity) as quantity from stock_movements where account_id = ${accountId} group by product_id
    ) m on m.product_id = p.id
    where p.account_id = ${accountId}`,
  lock: (accountId) => [
    sql`select product_id from product_stocks where account_id = ${accountId} order by product_id for no key update`,
  ],
};

/**
 * The economics of each project over all time, unrounded. Recomputed by imports and when the time zone changes; each delivery
 * note and invoice with lines of a project adds to it. `staff` and `machines` are 3,600 times the cost. PRJ-01
 */
export const projectTotals: Rollup = {
  table: 'project_totals',
  key: ['project_id'],
  values: ['sales', 'purchases', 'seconds', 'staff', 'machines'],
  computed(accountId) {
    const facts = economicFacts({
      accountId,
      timeZone: zoneOf(accountId),
      lines: sql`and l.project_id is not null`,
      entries: companyEntries(accountId, sql`and coalesce(t.project_id, k.project_id) is not null`),
      always: sql`select id as project_id, null::date as day from projects where account_id = ${accountId}`,
    });
    return sql`
      with ${facts}
      select ${accountId}::bigint as account_id, project_id, coalesce(sum(sales), 0) as sales,
        coalesce(sum(purchases), 0) as purchases, coalesce(sum(seconds), 0) as seconds, coalesce(sum(staff), 0) as staff,
        coalesce(sum(machines), 0) as machines
      from facts group by project_id`;
  },
  // Sales add to these rows at the same time. Insert the missing rows, so that every project's row can be locked.
  lock: (accountId) => [
    sql`insert into project_totals (account_id, project_id)
      select account_id, id from projects where account_id = ${accountId} order by id on conflict do nothing`,
    sql`select project_id from project_totals where account_id = ${accountId} order by project_id for no key update`,
  ],
};

/** All rollups, in the order in which writers lock their rows. */
export const ROLLUPS: readonly Rollup[] = [recordCounts, timeEntryDays, stock, projectTotals];
