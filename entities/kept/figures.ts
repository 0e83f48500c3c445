// The figures that are kept: how each follows from a company's records, and so what `albaran check` compares.
import { sql } from 'kysely';
import type { Kept } from './kept.ts';

/** How many products there are: written by imports alone. */
export const productCount: Kept = {
  table: 'product_counts',
  key: [],
  values: ['products'],
  computed: (accountId) =>
    sql`select account_id, count(*)::int as products from products where account_id = ${accountId} group by account_id`,
};

/** How many time entries each day has, by the local day of entry: written by imports and by a change of time zone. FIC-01 */
export const timeEntryDays: Kept = {
  table: 'time_entry_days',
  key: ['day'],
  values: ['entries'],
  computed: (accountId) => sql`
    select account_id, (entry_at at time zone (select time_zone from accounts where id = ${accountId}))::date as day,
      count(*)::int as entries
    from time_entries where account_id = ${accountId} group by 1, 2`,
};

/** What there is of each product: where it is in sale mode, the sum of its movements. DLV-03 */
const stock: Kept = {
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
  hold: (accountId) => [
    sql`select product_id from product_stocks where account_id = ${accountId} order by product_id for no key update`,
  ],
};

/** All of them, in the order in which those who write them take their rows. */
export const FIGURES: readonly Kept[] = [productCount, timeEntryDays, stock];
