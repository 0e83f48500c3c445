// When a recurring service renews: the one rule behind the renewals report, the treasury forecast and what is issued.
import type { PERIODICITIES } from '../../../entities/values.ts';

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
  /** When it was registered: the anchor where there is no other. */
  created_on: string;
  start_date: string | null;
  end_date: string | null;
  last_invoiced_on: string | null;
  /** 1..12; null is all. Ignored for yearly services. */
  active_months: readonly number[] | null;
  /** The day of the month to return to after shorter months; null: the anchor's own. */
  anchor_day: number | null;
}

/**
 * The renewal dates within `from`..`to`, both included, in order: anchor + k cycles for every whole k, within the validity
 * and the active months. An inactive month's cycle is skipped, not moved. REN-01..03
 */
export const renewalDates = (schedule: Schedule, from: Temporal.PlainDate, to: Temporal.PlainDate): string[] =>
  cyclesWithin(schedule, from, to).map(text);

/** How many they are, without listing them: centuries of a weekly service take no longer than a year. */
export function countRenewals(schedule: Schedule, from: Temporal.PlainDate, to: Temporal.PlainDate): number {
  const { cycle, dateOf, first, last, firstK, months } = seriesOf(schedule, from, to);
  if (first > last) return 0;
  let low = firstK;
  while (dateOf(low) < first) low++;
  let high = Math.max(low, cyclesBefore(schedule, last)) - 1;
  while (dateOf(high + 1) <= last) high++;
  if (months === null) return high - low + 1;
  let count = 0;
  if ('months' in cycle) {
    // The months repeat every year: each of the first year's cycles stands for those of the years after it.
    const round = Math.min(12 / cycle.months, high - low + 1);
    for (let k = low; k < low + round; k++) {
      if (months.includes(monthOf(dateOf(k)))) count += 1 + Math.floor((high - k) / (12 / cycle.months));
    }
    return count;
  }
  // Month by month: from the first cycle of one to the first of the next.
  while (low <= high) {
    const date = dateOf(low);
    const next = Math.min(
      high + 1,
      cyclesBefore(schedule, pack(yearOf(date), monthOf(date), lastDayOf(monthsOf(date)))) + 1,
    );
    if (months.includes(monthOf(date))) count += next - low;
    low = next;
  }
  return count;
}

function cyclesWithin(schedule: Schedule, from: Temporal.PlainDate, to: Temporal.PlainDate): Packed[] {
  const { dateOf, first, last, firstK, months } = seriesOf(schedule, from, to);
  const dates: Packed[] = [];
  if (first > last) return dates;
  for (let k = firstK; ; k++) {
    const date = dateOf(k);
    if (date > last) return dates;
    if (date >= first && (months === null || months.includes(monthOf(date)))) dates.push(date);
  }
}

/** The cycles of a schedule: `dateOf(k)`, from `firstK` on, of which those from `first` to `last` count. */
function seriesOf(schedule: Schedule, from: Temporal.PlainDate, to: Temporal.PlainDate) {
  const { periodicity, created_on, start_date, end_date, last_invoiced_on, active_months } = schedule;
  const anchor = anchorOf(schedule);
  const earliest = start_date ?? (last_invoiced_on && last_invoiced_on < created_on ? last_invoiced_on : created_on);
  const first = Math.max(packed(from), read(earliest));
  const last = Math.min(packed(to), end_date === null ? Number.POSITIVE_INFINITY : read(end_date));
  const cycle = CYCLES[periodicity];
  return {
    cycle,
    first,
    last,
    firstK: firstCycle(anchor, first, cycle),
    dateOf: 'days' in cycle ? dayStep(anchor, cycle.days) : monthStep(anchor, cycle.months, schedule.anchor_day),
    months: periodicity === 'yearly' ? null : active_months,
  };
}

const anchorOf = ({ last_invoiced_on, start_date, created_on }: Schedule) =>
  read(last_invoiced_on ?? start_date ?? created_on);

/** The last cycle at or before `date`; where cycles are months, it may be later in the same one. */
const cyclesBefore = (schedule: Schedule, date: Packed) =>
  firstCycle(anchorOf(schedule), date, CYCLES[schedule.periodicity]);

/**
 * A date as one number that compares as dates do: 20260131. A report makes hundreds of thousands of them; as objects of Temporal
 * they would block other calls for seconds.
 */
type Packed = number;

const pack = (year: number, month: number, day: number): Packed => (year * 100 + month) * 100 + day;
const packed = ({ year, month, day }: Temporal.PlainDate): Packed => pack(year, month, day);
const read = (date: string): Packed => Number(date.replaceAll('-', ''));
const yearOf = (date: Packed) => Math.floor(date / 10_000);
const monthOf = (date: Packed) => Math.floor(date / 100) % 100;
const dayOf = (date: Packed) => date % 100;

/** Texts of dates: a report has the same days for many services. */
const texts = new Map<Packed, string>();
const MOST_TEXTS = 20_000;

function text(date: Packed): string {
  const known = texts.get(date);
  if (known !== undefined) return known;
  if (texts.size >= MOST_TEXTS) texts.clear();
  const made = write(date);
  texts.set(date, made);
  return made;
}

function write(date: Packed): string {
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

/** Counted from the anchor's month, so that the 31st comes back after a shorter month. */
function monthStep(anchor: Packed, step: number, anchorDay: number | null) {
  const start = monthsOf(anchor);
  const day = anchorDay ?? dayOf(anchor);
  return (k: number): Packed => {
    const months = start + step * k;
    return pack(Math.floor(months / 12), (months % 12) + 1, day <= 28 ? day : Math.min(day, lastDayOf(months)));
  };
}

/** The last cycle at or before `date`; where cycles are months, it may be later in the same one. */
function firstCycle(anchor: Packed, date: Packed, cycle: (typeof CYCLES)[Periodicity]): number {
  if ('days' in cycle) return Math.floor((daysSinceEpoch(date) - daysSinceEpoch(anchor)) / cycle.days);
  return Math.floor((monthsOf(date) - monthsOf(anchor)) / cycle.months);
}
