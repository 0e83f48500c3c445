// Updates derived data after an import: opening stock movements, document counters and the stored figures.
import { raiseCounter } from '../documents/series.ts';
import { projectTotals, recordCounts, timeEntryDays } from '../figures/figures.ts';
import { recompute } from '../figures/rollups.ts';
import type { Db } from '../platform/database.ts';
import type { Collection } from './collection.ts';
import { products } from './collections/catalogue.ts';
import { contracts } from './collections/people.ts';
import { machines, projects, tasks, timeEntries } from './collections/projects.ts';
import { purchaseDeliveryNotes, purchaseInvoices } from './collections/purchases.ts';
import { deliveryNotes, estimates, invoices } from './collections/sales.ts';
import { stockMovements } from './collections/stock.ts';
import { rows } from './statements.ts';

/**
 * Gives each article in sale mode an opening movement with the difference between its stock and the sum of its other movements,
 * or none if they are equal. So the stock is always the sum of the movements. `$1` is the company.
 */
const OPENINGS = `
  with missing as (
    select p.id, case when p.mode = 'sale' then coalesce(s.quantity, 0) - coalesce(m.moved, 0) else 0 end as quantity, m.since
    from products p
    left join product_stocks s on s.account_id = $1 and s.product_id = p.id
    left join (
      select product_id, sum(quantity) filter (where not opening) as moved, min(moved_at) filter (where not opening) as since
      from stock_movements where account_id = $1 group by product_id
    ) m on m.product_id = p.id
    where p.account_id = $1
  ), changed as (
    update stock_movements o set quantity = n.quantity, version = o.version + 1, updated_at = now()
    from missing n
    where o.account_id = $1 and o.opening and o.product_id = n.id and n.quantity <> 0 and o.quantity <> n.quantity
  ), removed as (
    delete from stock_movements o using missing n
    where o.account_id = $1 and o.opening and o.product_id = n.id and n.quantity = 0
  )
  insert into stock_movements (account_id, product_id, moved_at, quantity, opening)
  select $1, n.id, least(now(), n.since), n.quantity, true from missing n
  where n.quantity <> 0 and not exists (
    select from stock_movements o where o.account_id = $1 and o.opening and o.product_id = n.id)
  returning id`;

/** Raises the counter of projects to the highest number in the service's format, such as 26-001. DLV-02 */
const PROJECT_COUNTERS = `
  insert into document_counters (account_id, document, year, last_number)
  select $1, 'project', 2000 + left(number, 2)::int, max(substring(number from 4)::int) from projects
  where account_id = $1 and number ~ '^\\d{2}-\\d{3,9}$'
  group by left(number, 2)
  on conflict (account_id, document, year) do update
    set last_number = excluded.last_number, version = document_counters.version + 1, updated_at = excluded.updated_at
    where document_counters.last_number < excluded.last_number`;

/** Collections of numbered documents: with the names of their counters. */
const NUMBERED = [
  [deliveryNotes, 'delivery_note'],
  [invoices, 'invoice'],
  [invoices, 'rectification'],
  [estimates, 'estimate'],
] as const;

/** The collections that the economics of projects are computed from. PRJ-01 */
const ECONOMIC = [
  projects,
  tasks,
  timeEntries,
  contracts,
  machines,
  deliveryNotes,
  invoices,
  purchaseDeliveryNotes,
  purchaseInvoices,
];

/** Updates what is derived from the touched collections, and from the time zone if it changed. */
export async function settle(
  db: Db,
  accountId: number,
  touched: ReadonlySet<Collection>,
  { zoneChanged }: { zoneChanged: boolean },
): Promise<void> {
  if (touched.has(products) || touched.has(stockMovements)) await rows(db, OPENINGS, [accountId]);
  for (const [collection, document] of NUMBERED) {
    if (touched.has(collection)) await raiseCounter(db, accountId, document);
  }
  if (touched.has(projects)) await rows(db, PROJECT_COUNTERS, [accountId]);
  if (touched.has(products) || touched.has(projects)) await recompute(db, accountId, recordCounts);
  if (zoneChanged || touched.has(timeEntries)) await recompute(db, accountId, timeEntryDays);
  // Last, as in sales: the same lock order avoids deadlocks.
  if (zoneChanged || ECONOMIC.some((collection) => touched.has(collection)))
    await recompute(db, accountId, projectTotals);
}
