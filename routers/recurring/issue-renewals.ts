// Issues what recurring services owe: the delivery note of each renewal that is due, exactly once, however often and by
// however many it is asked for. A transaction a note: it holds the recurring's row, works out from it what is due, writes the
// note, and moves the last invoicing to its cycle. So whatever ends a run leaves whole notes, and the rest due as before.
import { sql } from 'kysely';
import { type Author, noteWrite } from '../../platform/audit.ts';
import { type Database, type Db, isDatabaseError } from '../../platform/database.ts';
import { asApiError } from '../../platform/errors.ts';
import { insertDeliveryNote, nextNoteId } from '../sales/insert-document.ts';
import type { ResolvedLine } from '../sales/sale-lines.ts';
import { CYCLES, renewalDates, type Schedule } from './renewal-dates.ts';

/** A company's renewals, as they stand on a day. */
export interface Renewals {
  database: Database;
  accountId: number;
  /** The day that the notes are dated: the company's. DLV-02 */
  today: Temporal.PlainDate;
  /** The last day whose cycles count as due; not after today. */
  until: Temporal.PlainDate;
}

export interface Renewal {
  recurringId: number;
  description: string;
  /** The renewal date, `YYYY-MM-DD`. */
  cycle: string;
  /** Without VAT. */
  amount: number;
}

/** A renewal that was issued, or the one whose attempt failed and why. */
export type Outcome = (Renewal & { noteId: number }) | (Renewal & { failure: unknown });

interface RecurringRow extends Schedule {
  id: number;
  description: string;
  client_id: number;
  amount: number;
  /** VAT included, rounded once for each rate. */
  total: number;
  /** The latest of its notes that don't say which cycle they are: those of elsewhere, which came with an import. */
  noted_on: string | null;
  /** Cycles after the last invoicing that have a note all the same, as when an older file was imported again. */
  issued: string[];
}

/** The recurring services that may have something due up to `until`, with all that decides it. */
export const schedules = (db: Db, { accountId, today, until }: Omit<Renewals, 'database'>, recurringId?: number) =>
  sql<RecurringRow>`
    select r.id, r.description, r.client_id, r.periodicity, r.created_on, r.start_date, r.end_date, r.last_invoiced_on,
      r.active_months, r.anchor_day,
      (select coalesce(sum(l.amount), 0) from recurring_lines l
        where l.account_id = r.account_id and l.recurring_id = r.id) as amount,
      (select coalesce(sum(rate.base + round(rate.base * rate.vat / 100, 2)), 0)
        from (select l.vat, sum(l.amount) as base from recurring_lines l
          where l.account_id = r.account_id and l.recurring_id = r.id group by l.vat) rate) as total,
      (select max(n.date) from delivery_notes n where n.account_id = r.account_id and n.recurring_id = r.id
        and n.recurring_cycle is null and n.date <= ${today.toString()}::date) as noted_on,
      array(select n.recurring_cycle::text from delivery_notes n where n.account_id = r.account_id and n.recurring_id = r.id
        and n.recurring_cycle > coalesce(r.last_invoiced_on, '-infinity')) as issued
    from recurrings r
    where r.account_id = ${accountId} ${recurringId === undefined ? sql`` : sql`and r.id = ${recurringId}`}
      and coalesce(r.last_invoiced_on, r.start_date, r.created_on) <= ${until.toString()}::date
      and (r.end_date is null or r.end_date >= coalesce(r.last_invoiced_on, r.start_date, r.created_on))
    order by r.id`.execute(db);

const EARLIEST = Temporal.PlainDate.from('0001-01-01');

/** What is due of a recurring: its renewal dates after the last invoicing, those that have a note left out. REN-01..03 */
export function dueCycles(row: RecurringRow, until: Temporal.PlainDate): string[] {
  const covered = [row.last_invoiced_on, row.noted_on].reduce((one, other) =>
    (one ?? '') < (other ?? '') ? other : one,
  );
  const from = covered === null ? EARLIEST : Temporal.PlainDate.from(covered).add({ days: 1 });
  return renewalDates(row, from, until).filter((cycle) => !row.issued.includes(cycle));
}

/** Every renewal that is due, by cycle. Nothing is written. */
export async function dueRenewals(renewals: Renewals): Promise<Renewal[]> {
  const { database, accountId, until } = renewals;
  const { rows } = await database.transaction(accountId, {}, (db) => schedules(db, renewals));
  return rows
    .flatMap((row) => {
      const { id: recurringId, description, amount } = row;
      return dueCycles(row, until).map((cycle): Renewal => ({ recurringId, description, cycle, amount }));
    })
    .sort((one, other) =>
      one.cycle < other.cycle ? -1 : one.cycle > other.cycle ? 1 : one.recurringId - other.recurringId,
    );
}

/**
 * Issues what is due, the oldest cycles first, and answers each as it is done. What others issue meanwhile, or hold, is left
 * to them. A recurring that fails is answered with its failure and left alone until the next time; only a database that is
 * away ends the whole.
 */
export async function* issueRenewals(
  renewals: Renewals & { now: Temporal.Instant; author: Author },
): AsyncGenerator<Outcome> {
  const failed = new Set<number>();
  for (const renewal of await dueRenewals(renewals)) {
    if (failed.has(renewal.recurringId)) continue;
    const outcome = await issueNext(renewals, renewal.recurringId).catch((failure: unknown): Outcome => {
      if (isDatabaseAway(failure)) throw failure;
      failed.add(renewal.recurringId);
      return { ...renewal, failure };
    });
    if (outcome) yield outcome;
  }
}

/** Whether nothing more can be done: what the database itself answers is about one statement. */
export const isDatabaseAway = (error: unknown) => !isDatabaseError(error) && asApiError(error).kind === 'unavailable';

/** Issues the first cycle that is due of a recurring; undefined when there is none any more, or somebody else is at it. */
const issueNext = (
  renewals: Renewals & { now: Temporal.Instant; author: Author },
  recurringId: number,
): Promise<Outcome | undefined> =>
  renewals.database.transaction(renewals.accountId, { write: true }, async (db, later) => {
    const { accountId, today, now, until, author } = renewals;
    const [held, { rows }, lines] = await Promise.all([
      sql`select id from recurrings where account_id = ${accountId} and id = ${recurringId}
        for update skip locked`.execute(db),
      schedules(db, renewals, recurringId),
      linesOf(db, accountId, recurringId),
    ]);
    const [row] = rows;
    const [cycle] = row ? dueCycles(row, until) : [];
    if (held.rows.length === 0 || row === undefined || cycle === undefined) return undefined;

    const noteId = await nextNoteId(db);
    await insertDeliveryNote(db, {
      id: noteId,
      accountId,
      date: today,
      now,
      clientId: row.client_id,
      priceList: 1, // Every line has its price.
      concept: row.description,
      recurringId,
      recurringCycle: cycle,
      lines,
    });
    later(
      db
        .updateTable('recurrings')
        .set((eb) => ({
          last_invoiced_on: cycle,
          anchor_day: row.anchor_day ?? anchorDay(row),
          version: eb('version', '+', 1),
          updated_at: eb.fn('now'),
        }))
        .where('account_id', '=', accountId)
        .where('id', '=', recurringId)
        .execute(),
    );
    later(noteWrite(db, accountId, author, { operation: 'renew', kind: 'deliveryNote', id: noteId }));
    return { recurringId, description: row.description, cycle, amount: row.amount, noteId };
  });

/** The day to return to once a shorter month has become the anchor; services that go by days need none. REN-02 */
function anchorDay({ periodicity, last_invoiced_on, start_date, created_on }: Schedule): number | null {
  if ('days' in CYCLES[periodicity]) return null;
  return Temporal.PlainDate.from(last_invoiced_on ?? start_date ?? created_on).day;
}

/** Its lines as those of a note. A reservation is of one document and is not repeated. DLV-03 */
async function linesOf(db: Db, accountId: number, recurringId: number): Promise<ResolvedLine[]> {
  const { rows } = await sql<ResolvedLine>`
    select l.position, l.description, l.quantity, l.unit_price, l.discount, l.vat, l.product_id, l.variation_id, l.format_id,
      l.base_quantity, l.extended_description, l.project_id, null as start_date, null as end_date, f.factor,
      coalesce(p.mode = 'sale', false) as moves_stock
    from recurring_lines l
    left join products p on p.account_id = l.account_id and p.id = l.product_id
    left join product_formats f on f.account_id = l.account_id and f.id = l.format_id
    where l.account_id = ${accountId} and l.recurring_id = ${recurringId}
    order by l.position, l.id`.execute(db);
  return rows;
}
