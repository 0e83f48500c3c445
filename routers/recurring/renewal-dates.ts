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
  const anchor = read(last_invoiced_on ?? start_date ?? created_on);
  const earliest = start_date ?? (last_invoiced_on && last_invoiced_on < created_on ? last_invoiced_on : created_on);
  const first = Math.max(packed(from), read(earliest));
  const last = Math.min(packed(to), end_date === null ? Number.POSITIVE_INFINITY : read(end_date));
  if (first > last) return [];

  const cycle = CYCLES[periodicity];
  const dateOf = 'days' in cycle ? dayStep(anchor, cycle.days) : monthStep(anchor, cycle.months, schedule.anchor_day);
  const months = periodicity === 'yearly' ? null : active_months;
  const dates: string[] = [];
  for (let k = firstCycle(anchor, first, cycle); ; k++) {
    const date = dateOf(k);
    if (date > last) return dates;
    if (date >= first && (months === null || months.includes(monthOf(date)))) dates.push(text(date));
  }
}

/**
 * A date as one number that compares as dates do: 20260131. A report makes hundreds of thousands of them, which as objects
 * of Temporal would hold everybody else's calls up for seconds.
 */
type Packed = number;

const pack = (year: number, month: number, day: number): Packed => (year * 100 + month) * 100 + day;
const packed = ({ year, month, day }: Temporal.PlainDate): Packed => pack(year, month, day);
const read = (date: string): Packed => Number(date.replaceAll('-', ''));
const yearOf = (date: Packed) => Math.floor(date / 10_000);
const monthOf = (date: Packed) => Math.floor(date / 100) % 100;
const dayOf = (date: Packed) => date % 100;

function text(date: Packed): string {
  const digits = String(date).padStart(8, '0');
  return `${digits.slice(0, -4)}-${digits.slice(-4, -2)}-${digits.slice(-2)}`;
}

const DAY_MS = 86_400_000;
const daysSinceEpoch = (date: Packed) =>
  new Date(0).setUTCFullYear(yearOf(date), monthOf(date) - 1, dayOf(date)) / DAY_MS;

const dayStep = (anchor: Packed, days: number) => {
  const start = daysSinceEpoch(anchor);
  return (k: number): Packed => {
    const date = new Date((start + days * k) * DAY_MS);
    return pack(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
  };
};

const monthsOf = (date: Packed) => yearOf(date) * 12 + monthOf(date) - 1;
/** Of the months since the year 0. */
const lastDayOf = (months: number) =>
  new Date(Date.UTC(2000 + (Math.floor(months / 12) % 400), (months % 12) + 1, 0)).getUTCDate();

/** Steps from the anchor's month, so that the 31st returns to the 31st after a shorter month. */
function monthStep(anchor: Packed, step: number, anchorDay: number | null) {
  const start = monthsOf(anchor);
  const day = anchorDay ?? dayOf(anchor);
  return (k: number): Packed => {
    const months = start + step * k;
    return pack(Math.floor(months / 12), (months % 12) + 1, day <= 28 ? day : Math.min(day, lastDayOf(months)));
  };
}

/** A cycle that lies at or before `date`, and not long before. */
function firstCycle(anchor: Packed, date: Packed, cycle: (typeof CYCLES)[Periodicity]): number {
  if ('days' in cycle) return Math.floor((daysSinceEpoch(date) - daysSinceEpoch(anchor)) / cycle.days);
  return Math.floor((monthsOf(date) - monthsOf(anchor)) / cycle.months);
}
