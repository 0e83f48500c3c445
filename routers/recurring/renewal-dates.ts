// When a recurring service renews: the one rule behind the renewals report, the treasury forecast and what is issued.
import type { PERIODICITIES } from '../../entities/sales.ts';

export type Periodicity = (typeof PERIODICITIES)[number];

/** Wire name, nominal days, and the step of one cycle: days, or calendar months for 30 days and more. REN-02 */
export const CYCLES = {
  weekly: { name: 'semanal', periodicidad_dias: 7, days: 7 },
  fortnightly: { name: 'quincenal', periodicidad_dias: 14, days: 14 },
  monthly: { name: 'mensual', periodicidad_dias: 30, months: 1 },
  bimonthly: { name: 'bimensual', periodicidad_dias: 60, months: 2 },
  quarterly: { name: 'trimestral', periodicidad_dias: 90, months: 3 },
  'half-yearly': { name: 'semestral', periodicidad_dias: 180, months: 6 },
  yearly: { name: 'anual', periodicidad_dias: 365, months: 12 },
} as const satisfies Record<Periodicity, { name: string; periodicidad_dias: number; days?: number; months?: number }>;

/** The dates of a recurring service that decide when it renews; all `YYYY-MM-DD`. */
export interface Schedule {
  periodicity: Periodicity;
  /** When it was registered: the anchor of last resort. */
  created_on: string;
  start_date: string | null;
  end_date: string | null;
  last_invoiced_on: string | null;
  /** 1..12; null is all. Yearly services disregard it. */
  active_months: readonly number[] | null;
  /** The day of the month to return to after shorter months; null: the anchor's own. */
  anchor_day: number | null;
}

/**
 * The renewal dates within `from`..`to`, both included, in order: anchor + k cycles for every whole k, within the validity
 * and the active months. An inactive month's cycle is skipped, not moved. REN-01..03
 */
export function renewalDates(schedule: Schedule, from: Temporal.PlainDate, to: Temporal.PlainDate): string[] {
  const { periodicity, created_on, start_date, end_date, last_invoiced_on, active_months } = schedule;
  const anchor = Temporal.PlainDate.from(last_invoiced_on ?? start_date ?? created_on);
  const earliest = start_date ?? (last_invoiced_on && last_invoiced_on < created_on ? last_invoiced_on : created_on);
  const first = later(from, Temporal.PlainDate.from(earliest));
  const last = end_date === null ? to : earlier(to, Temporal.PlainDate.from(end_date));
  if (Temporal.PlainDate.compare(first, last) > 0) return [];

  const cycle = CYCLES[periodicity];
  const dateOf = 'days' in cycle ? dayStep(anchor, cycle.days) : monthStep(anchor, cycle.months, schedule.anchor_day);
  const months = periodicity === 'yearly' ? null : active_months;
  const dates: string[] = [];
  for (let k = firstCycle(anchor, first, cycle); ; k++) {
    const date = dateOf(k);
    if (Temporal.PlainDate.compare(date, last) > 0) return dates;
    if (Temporal.PlainDate.compare(date, first) < 0) continue;
    if (months === null || months.includes(date.month)) dates.push(date.toString());
  }
}

const later = (a: Temporal.PlainDate, b: Temporal.PlainDate) => (Temporal.PlainDate.compare(a, b) > 0 ? a : b);
const earlier = (a: Temporal.PlainDate, b: Temporal.PlainDate) => (Temporal.PlainDate.compare(a, b) < 0 ? a : b);

const dayStep = (anchor: Temporal.PlainDate, days: number) => (k: number) => anchor.add({ days: days * k });

/** Steps from the anchor's month, so that the 31st returns to the 31st after a shorter month. */
function monthStep(anchor: Temporal.PlainDate, months: number, anchorDay: number | null) {
  const start = anchor.toPlainYearMonth();
  const day = anchorDay ?? anchor.day;
  return (k: number) => start.add({ months: months * k }).toPlainDate({ day });
}

/** A cycle that lies at or before `date`, and not long before. */
function firstCycle(anchor: Temporal.PlainDate, date: Temporal.PlainDate, cycle: (typeof CYCLES)[Periodicity]): number {
  if ('days' in cycle) return Math.floor(anchor.until(date, { largestUnit: 'days' }).days / cycle.days);
  const months = (date.year - anchor.year) * 12 + date.month - anchor.month;
  return Math.floor(months / cycle.months);
}
