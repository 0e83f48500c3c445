// Issues the delivery note of each renewal that is due, exactly once, however many runs overlap. Each note has its own transaction:
// it locks the recurring's row, finds out what is due, writes the note, and moves the last invoicing to its cycle. So a run that is
// interrupted leaves whole notes, and the rest stays due. What is due and not issued stays due until it is issued or skipped.
import { sql } from 'kysely';
import { sealDocuments } from '../../../documents/sealed-content.ts';
import { vatByRate } from '../../../documents/vat-by-rate.ts';
import type { Author } from '../../../platform/audit.ts';
import { type Database, type Db, isDatabaseAway, isDatabaseError } from '../../../platform/database.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { Changes, writeJournal } from '../../../platform/journal.ts';
import { inSlices } from '../../../platform/slices.ts';
import { insertDeliveryNote, nextNoteId } from '../documents/insert-document.ts';
import { goodsOf, type ResolvedLine } from '../documents/sale-lines.ts';
import { CYCLES, countRenewals, renewalDates, type Schedule } from './renewal-dates.ts';

/**
 * From which day on cycles are issued; earlier ones stay due. ISS-01
 * - `automatic`: for automatic issuing. The day that the company switched it on or the day that the recurring was created or
 *   imported here, whichever is later. Nothing is issued where it is off.
 * - `entered`: for issuing by hand. The day that the recurring was created or imported here.
 * - A day: for issuing by hand, where the operator names it.
 */
export type Since = 'automatic' | 'entered' | Temporal.PlainDate;

/** A company's renewals, as they stand on a day. */
export interface Renewals {
  database: Database;
  accountId: number;
  /** The day that the notes are dated: the company's. DLV-02 */
  today: Temporal.PlainDate;
  /** The last day whose cycles count as due; not after today. */
  until: Temporal.PlainDate;
  since: Since;
}

export interface Renewal {
  recurringId: number;
  description: string;
  /** The renewal date, `YYYY-MM-DD`. */
  cycle: string;
  /** Without VAT. */
  amount: number;
}

/** A renewal that is due. `stays` says why it is not issued: it is earlier than `since`, or its amount is 0 or less. ISS-03 */
export type DueRenewal = Renewal & { stays: 'earlier' | 'amount' | null };

/** A renewal that was issued, or the one whose attempt failed and why. */
export type Outcome = (Renewal & { noteId: number }) | (Renewal & { failure: unknown });

interface RecurringRow extends Schedule {
  id: number;
  description: string;
  client_id: number;
  amount: number;
  /** VAT and surcharge included, rounded once for each rate. */
  total: number;
  /** The first day whose cycles are issued. */
  since: string;
  /** Cycles from this day on are due even before the last invoicing. */
  pending_from: string | null;
  /** The date of its latest note without a cycle: such notes came with an import. */
  noted_on: string | null;
  /** Cycles that have a note or are skipped, of those that would be due. One whose note was annulled counts as skipped. */
  settled: string[];
}

const sinceOf = (since: Since) => {
  if (since === 'automatic') return sql`greatest(r.entered_on, a.automatic_issuing_since)`;
  return since === 'entered' ? sql`r.entered_on` : sql`${since.toString()}::date`;
};

/**
 * The recurring services with all that decides what is due: those that may have something due up to `until`, or those of `ids`,
 * whatever is due. `issuable` leaves out those with nothing to issue, and the settled cycles that don't matter for issuing.
 */
export const schedules = (
  db: Db,
  { accountId, today, until, since = 'entered' }: Omit<Renewals, 'database' | 'since'> & { since?: Since },
  { ids, issuable = false }: { ids?: readonly number[]; issuable?: boolean } = {},
) =>
  sql<RecurringRow>`
    select r.id, r.description, r.client_id, r.periodicity, r.created_on, r.start_date, r.end_date, r.last_invoiced_on,
      r.active_months, r.anchor_day, r.pending_from, d.since,
      (select coalesce(sum(l.amount), 0) from recurring_lines l
        where l.account_id = ${accountId} and l.recurring_id = r.id) as amount,
      (select v.total from ${vatByRate('recurring_lines', sql`l.account_id = ${accountId} and l.recurring_id = r.id`)} v) as total,
      (select max(n.date) from delivery_notes n where n.account_id = ${accountId} and n.recurring_id = r.id
        and n.recurring_cycle is null and n.date <= ${today.toString()}::date) as noted_on,
      array(select n.recurring_cycle::text from delivery_notes n where n.account_id = ${accountId} and n.recurring_id = r.id
          and n.recurring_cycle >= d.first
        union all select s.cycle::text from unnest(r.skipped_cycles) as s (cycle) where s.cycle >= d.first) as settled
    from recurrings r
    join accounts a on a.id = r.account_id
    cross join lateral (select ${sinceOf(since)} as since) b
    cross join lateral (select b.since, greatest(
      coalesce(r.pending_from, r.last_invoiced_on + 1, '-infinity'), ${issuable ? sql`b.since` : sql`'-infinity'`}) as first) d
    where r.account_id = ${accountId} and ${ids ? sql`r.id = any(${ids}::bigint[])` : mayBeDue(until)}
      ${since === 'automatic' ? sql`and a.automatic_issuing_since is not null` : sql``}
      ${issuable ? sql`and d.since <= ${until.toString()}::date and (r.end_date is null or r.end_date >= d.since)` : sql``}
    order by r.id`.execute(db);

/** Of a recurring `r`: whether something may be due up to a day. Where it says no there is nothing. */
const mayBeDue = (until: Temporal.PlainDate) => {
  const earliest = sql`coalesce(r.pending_from, r.last_invoiced_on, r.start_date, r.created_on)`;
  return sql`${earliest} <= ${until.toString()}::date and (r.end_date is null or r.end_date >= ${earliest})`;
};

/** The first day on which the cycle after the last invoicing may fall: with an anchor day, any day of its month. */
const EARLIEST_NEXT = sql`case r.periodicity ${sql.join(
  Object.entries(CYCLES).map(([periodicity, cycle]) =>
    'days' in cycle
      ? sql`when ${sql.lit(periodicity)} then r.last_invoiced_on + ${sql.lit(cycle.days)}`
      : sql`when ${sql.lit(periodicity)} then (date_trunc('month', r.last_invoiced_on::timestamp) + make_interval(months => ${sql.lit(cycle.months)}))::date`,
  ),
  sql` `,
)} end`;

/**
 * Whether a company, the row `accounts`, may have something to issue by itself: what a run over very many companies asks first.
 * Where it says no there is nothing.
 */
export const mayIssue = (accountId: number, now: Temporal.Instant) => sql<boolean>`automatic_issuing_since is not null
  and exists (
    select from recurrings r
    cross join lateral (select coalesce(r.pending_from, ${EARLIEST_NEXT}, r.start_date, r.created_on) as day) n
    where r.account_id = ${accountId} and n.day <= (${now.toString()}::timestamptz at time zone time_zone)::date
      and (r.end_date is null or r.end_date >= n.day))`;

/**
 * The cycles of a recurring that are due, from a day on: its renewal dates after the last invoicing, or from the earliest one that
 * is pending, without those that have a note or are skipped. REN-01..03
 */
export function dueCycles(row: RecurringRow, until: Temporal.PlainDate, since = EARLIEST): string[] {
  const { schedule, open } = openOf(row);
  const settled = new Set(row.settled);
  return renewalDates(schedule, Temporal.PlainDate.from(latest(open, since)), until).filter(
    (cycle) => !settled.has(cycle),
  );
}

/** The first renewal date after a day; null where there is none any more. */
export function nextRenewal(row: RecurringRow, after: Temporal.PlainDate): string | null {
  const earliest = latest(row.start_date ?? row.created_on, openOf(row).open);
  const first = Temporal.PlainDate.from(latest(dayAfter(after.toString()), earliest));
  // The active months come round every year, and with an anchor day a cycle may be some days late.
  return dueCycles(row, first.add({ months: 13 }), first.toString())[0] ?? null;
}

/** How many they are, without listing them: an old service has many. */
export function countDue(row: RecurringRow, until: Temporal.PlainDate): number {
  const { schedule, open } = openOf(row);
  const settled = [...new Set(row.settled)].filter((cycle) => {
    const day = Temporal.PlainDate.from(cycle);
    return cycle >= open && cycle <= until.toString() && countRenewals(schedule, day, day) > 0;
  });
  return countRenewals(schedule, Temporal.PlainDate.from(open), until) - settled.length;
}

/** The schedule of what is due, and the first day that it may fall on. */
function openOf(row: RecurringRow): { schedule: Schedule; open: string } {
  const { pending_from, noted_on, last_invoiced_on, created_on } = row;
  const open = latest(pending_from ?? dayAfter(last_invoiced_on), dayAfter(noted_on));
  // What was due once stays so, though the last invoicing has moved past the creation.
  const schedule = pending_from !== null && pending_from < created_on ? { ...row, created_on: pending_from } : row;
  return { schedule, open };
}

const EARLIEST = '0001-01-01';
const latest = (one: string | null, other: string) => (one === null || one < other ? other : one);
const dayAfter = (date: string | null) =>
  date === null ? EARLIEST : Temporal.PlainDate.from(date).add({ days: 1 }).toString();

/** Why a cycle stays due, or null. An amount of NaN, which the columns allow, goes on and fails when it is issued. */
const staysDue = ({ amount, since }: RecurringRow, cycle: string): DueRenewal['stays'] =>
  cycle < since ? 'earlier' : amount <= 0 ? 'amount' : null;

/** Every renewal that is due, by cycle: those to be issued and those that stay due. Writes nothing. */
export const dueRenewals = (renewals: Renewals): Promise<DueRenewal[]> =>
  listed(renewals, {}, (row) =>
    dueCycles(row, renewals.until).map((cycle) => ({ ...renewalOf(row, cycle), stays: staysDue(row, cycle) })),
  );

/** Only those to be issued. */
const issuableRenewals = (renewals: Renewals): Promise<Renewal[]> =>
  listed(renewals, { issuable: true }, (row) =>
    row.amount <= 0 ? [] : dueCycles(row, renewals.until, row.since).map((cycle) => renewalOf(row, cycle)),
  );

const renewalOf = ({ id, description, amount }: RecurringRow, cycle: string): Renewal => ({
  recurringId: id,
  description,
  cycle,
  amount,
});

/** How much is due in all, without the list. */
export interface DueSummary {
  renewals: number;
  /** Recurring services that they are of. */
  recurrings: number;
  /** The earliest cycle. */
  first: string | null;
}

export async function summariseDue(renewals: Renewals): Promise<DueSummary> {
  const summary: DueSummary = { renewals: 0, recurrings: 0, first: null };
  await inSlices(await rowsOf(renewals, {}), (row) => {
    const cycles = dueCycles(row, renewals.until);
    const [first] = cycles;
    if (first === undefined) return;
    summary.renewals += cycles.length;
    summary.recurrings++;
    if (summary.first === null || first < summary.first) summary.first = first;
  });
  return summary;
}

async function rowsOf(renewals: Renewals, which: { issuable?: boolean }): Promise<RecurringRow[]> {
  const { database, accountId } = renewals;
  const { rows } = await database.transaction(accountId, {}, (db) => schedules(db, renewals, which));
  return rows;
}

async function listed<T extends Renewal>(
  renewals: Renewals,
  which: { issuable?: boolean },
  of: (row: RecurringRow) => T[],
): Promise<T[]> {
  const found: T[][] = [];
  await inSlices(await rowsOf(renewals, which), (row) => found.push(of(row)));
  return found
    .flat()
    .sort((one, other) =>
      one.cycle < other.cycle ? -1 : one.cycle > other.cycle ? 1 : one.recurringId - other.recurringId,
    );
}

/**
 * Issues what is due, the oldest cycles first, and answers each as it is done. A recurring that another run holds is left to it, and looked
 * at once more in the end, when that one may have left some of it; who goes on holding it keeps it.
 * What is earlier than `since`, or comes to 0 or less, stays due. A recurring that fails is answered with its failure and not tried
 * again in this run; only an unreachable database ends the run. ISS-01, ISS-03
 */
export async function* issueRenewals(
  renewals: Renewals & { now: Temporal.Instant; author: Author },
): AsyncGenerator<Outcome> {
  const failed = new Set<number>();
  const held = new Map<number, Renewal>();
  const issue = (renewal: Renewal, patient = false) =>
    issueNext(renewals, renewal.recurringId, patient).catch((failure: unknown): Outcome | 'held' => {
      if (isDatabaseAway(failure)) throw failure;
      if (patient && isDatabaseError(failure) && failure.code === LOCK_NOT_AVAILABLE) return 'held';
      failed.add(renewal.recurringId);
      return { ...renewal, failure };
    });
  for (const renewal of await issuableRenewals(renewals)) {
    if (failed.has(renewal.recurringId)) continue;
    const outcome = await issue(renewal);
    if (outcome === 'held') held.set(renewal.recurringId, renewal);
    else if (outcome) yield outcome;
  }
  for (const renewal of held.values()) {
    while (!failed.has(renewal.recurringId)) {
      const outcome = await issue(renewal, true);
      if (outcome === 'held') return;
      if (!outcome) break;
      yield outcome;
    }
  }
}

const LOCK_NOT_AVAILABLE = '55P03';
const PATIENCE_MS = 2000;

/**
 * Issues the first issuable cycle of a recurring; undefined when there is none left. A recurring that another run holds is waited for a
 * moment if `patient`, and fails then; else it is left.
 */
const issueNext = (
  renewals: Renewals & { now: Temporal.Instant; author: Author },
  recurringId: number,
  patient: boolean,
): Promise<Outcome | 'held' | undefined> =>
  renewals.database.transaction(renewals.accountId, { write: true }, async (db, { beforeCommit }) => {
    const { accountId, until, author } = renewals;
    const [, held, { rows }, lines] = await Promise.all([
      patient && sql`set local lock_timeout = ${sql.lit(PATIENCE_MS)}`.execute(db),
      sql`select id from recurrings where account_id = ${accountId} and id = ${recurringId}
        for update ${patient ? sql`` : sql`skip locked`}`.execute(db),
      schedules(db, renewals, { ids: [recurringId] }),
      linesOf(db, accountId, recurringId),
    ]);
    const [row] = rows;
    if (held.rows.length === 0) return 'held';
    if (row === undefined) return undefined;
    const due = openCycles(row, until);
    const cycle = due.find((date) => date <= until.toString() && staysDue(row, date) === null);
    if (cycle === undefined) return undefined;

    const noteId = await issueCycle(db, renewals, { row, lines, due, cycle });
    const changes = new Changes();
    changes.add('create', 'deliveryNote', noteId);
    changes.add('modify', 'recurring', recurringId);
    changes.add('modify', 'product', goodsOf(lines));
    const origin = { ...author, operation: 'renew', now: renewals.now };
    beforeCommit(sealDocuments(db, { accountId, origin }, [{ table: 'delivery_notes', id: noteId, action: 'issue' }]));
    beforeCommit(writeJournal(db, accountId, origin, changes.certain));
    return { ...renewalOf(row, cycle), noteId };
  });

/** A recurring that is locked, and its cycles that are due. */
interface Held {
  row: RecurringRow;
  due: readonly string[];
}

/** Writes the delivery note of a cycle and moves the last invoicing to it; cycles that are due before it stay due. */
async function issueCycle(
  db: Db,
  { accountId, today, now }: { accountId: number; today: Temporal.PlainDate; now: Temporal.Instant },
  { row, lines, due, cycle }: Held & { lines: readonly ResolvedLine[]; cycle: string },
): Promise<number> {
  const noteId = await nextNoteId(db);
  const last = latest(row.last_invoiced_on, cycle);
  await Promise.all([
    insertDeliveryNote(db, {
      id: noteId,
      accountId,
      date: today,
      now,
      clientId: row.client_id,
      priceList: 1, // Every line has its price.
      concept: row.description,
      recurringId: row.id,
      recurringCycle: cycle,
      lines,
    }),
    db
      .updateTable('recurrings')
      .set((eb) => ({
        last_invoiced_on: last,
        anchor_day: row.anchor_day ?? anchorDay(row),
        pending_from: firstBefore(last, due, (date) => date === cycle),
        version: eb('version', '+', 1),
        updated_at: eb.fn('now'),
      }))
      .where('account_id', '=', accountId)
      .where('id', '=', row.id)
      .execute(),
  ]);
  return noteId;
}

/**
 * Settles one cycle of a recurring by hand, whatever it comes to and however early it is: issues its delivery note, or marks it as
 * skipped. Without `cycle`, the earliest that is due. A cycle whose note was annulled counts as skipped, but is issued again where it is
 * named. 400 for any other that is not due. Answers the cycle, the note's id or null, and the articles whose stock moved. W-02, W-04
 */
export async function settleCycle(
  db: Db,
  renewals: { accountId: number; today: Temporal.PlainDate; now: Temporal.Instant },
  recurringId: number,
  { action, cycle: wanted }: { action: 'issue' | 'skip'; cycle?: string | undefined },
): Promise<{ cycle: string; noteId: number | null; goods: number[] }> {
  const { accountId, today } = renewals;
  const [, { rows }, lines, { rows: annulled }] = await Promise.all([
    sql`select id from recurrings where account_id = ${accountId} and id = ${recurringId} for update`.execute(db),
    schedules(db, { accountId, today, until: today }, { ids: [recurringId] }),
    linesOf(db, accountId, recurringId),
    sql<{ cycle: string }>`select n.recurring_cycle::text as cycle from delivery_notes n
      where n.account_id = ${accountId} and n.recurring_id = ${recurringId} and n.recurring_cycle = ${wanted ?? null}::date
      group by n.recurring_cycle having bool_and(n.annulled_at is not null)`.execute(db),
  ]);
  const [row] = rows;
  if (!row) throw notFound('recurrenteId');
  const due = openCycles(row, today);
  const ripe = due.filter((date) => date <= today.toString());
  const again = action === 'issue' ? annulled[0]?.cycle : undefined;
  const cycle = again ?? ripe.find((date) => wanted === undefined || date === wanted);
  if (cycle === undefined) {
    throw badField(
      'ciclo',
      ripe.length === 0 ? 'no hay ciclos pendientes' : `no está pendiente; el primero es ${ripe[0]}`,
    );
  }
  if (action === 'issue') {
    return { cycle, noteId: await issueCycle(db, renewals, { row, lines, due, cycle }), goods: goodsOf(lines) };
  }
  await skipCycles(db, accountId, { row, due }, [cycle]);
  return { cycle, noteId: null, goods: [] };
}

/** Marks cycles that are due as skipped. */
function skipCycles(db: Db, accountId: number, { row, due }: Held, cycles: readonly string[]) {
  const skipped = new Set(cycles);
  const pendingFrom = firstBefore(row.last_invoiced_on, due, (cycle) => skipped.has(cycle));
  return sql`update recurrings set pending_from = ${pendingFrom}::date, version = version + 1, updated_at = now(),
      skipped_cycles = array(select distinct c from unnest(skipped_cycles || ${cycles}::date[]) as c order by c)
    where account_id = ${accountId} and id = ${row.id}`.execute(db);
}

/** The cycles that are due up to a day, or up to the last invoicing where that is later. */
const openCycles = (row: RecurringRow, until: Temporal.PlainDate): string[] =>
  dueCycles(row, Temporal.PlainDate.from(latest(row.last_invoiced_on, until.toString())));

/** The first cycle before the last invoicing that is neither settled nor among those being settled; null without one. */
const firstBefore = (last: string | null, due: readonly string[], settled: (cycle: string) => boolean) =>
  due.find((cycle) => last !== null && cycle < last && !settled(cycle)) ?? null;

/**
 * Marks the cycles that are due before this day as skipped: they are never issued, nor due again. Each recurring has its own
 * transaction. Answers what was skipped. ISS-01
 */
export async function skipRenewals(
  renewals: Omit<Renewals, 'since'> & { now: Temporal.Instant; author: Author },
  before: Temporal.PlainDate,
): Promise<Renewal[]> {
  const due = await dueRenewals({ ...renewals, since: before });
  const ids = new Set(due.filter(({ cycle }) => cycle < before.toString()).map(({ recurringId }) => recurringId));
  const skipped: Renewal[] = [];
  for (const id of ids) skipped.push(...(await skipOf(renewals, id, before.toString())));
  return skipped;
}

const skipOf = (
  renewals: Omit<Renewals, 'since'> & { now: Temporal.Instant; author: Author },
  recurringId: number,
  before: string,
): Promise<Renewal[]> =>
  renewals.database.transaction(renewals.accountId, { write: true }, async (db, { beforeCommit }) => {
    const { accountId, until, author, now } = renewals;
    const [, { rows }] = await Promise.all([
      sql`select id from recurrings where account_id = ${accountId} and id = ${recurringId} for update`.execute(db),
      schedules(db, renewals, { ids: [recurringId] }),
    ]);
    const [row] = rows;
    if (row === undefined) return [];
    const due = openCycles(row, until);
    const cycles = due.filter((cycle) => cycle < before);
    if (cycles.length === 0) return [];
    beforeCommit(skipCycles(db, accountId, { row, due }, cycles));
    const changes = new Changes();
    changes.add('modify', 'recurring', recurringId);
    beforeCommit(writeJournal(db, accountId, { ...author, operation: 'skip renewals', now }, changes.certain));
    return cycles.map((cycle) => renewalOf(row, cycle));
  });

/** The day of the month to return to after a shorter month; null for cycles of days. REN-02 */
function anchorDay({ periodicity, last_invoiced_on, start_date, created_on }: Schedule): number | null {
  if ('days' in CYCLES[periodicity]) return null;
  return Temporal.PlainDate.from(last_invoiced_on ?? start_date ?? created_on).day;
}

/** A recurring's lines as lines of a note. Reservation dates are not copied: they belong to one document. DLV-03 */
async function linesOf(db: Db, accountId: number, recurringId: number): Promise<ResolvedLine[]> {
  const { rows } = await sql<ResolvedLine>`
    select l.position, l.description, l.quantity, l.unit_price, l.discount, l.vat, l.surcharge, l.exemption, l.product_id,
      l.variation_id, l.format_id, l.base_quantity, l.extended_description, l.project_id, null as start_date, null as end_date, f.factor,
      coalesce(p.mode = 'sale', false) as moves_stock
    from recurring_lines l
    left join products p on p.account_id = ${accountId} and p.id = l.product_id
    left join product_formats f on f.account_id = ${accountId} and f.id = l.format_id
    where l.account_id = ${accountId} and l.recurring_id = ${recurringId}
    order by l.position, l.id`.execute(db);
  return rows;
}
