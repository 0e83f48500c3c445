import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  CYCLES,
  countRenewals,
  type Periodicity,
  renewalDates,
  type Schedule,
} from '../../../routers/shared/renewals/renewal-dates.ts';

const monthly: Schedule = {
  periodicity: 'monthly',
  created_on: '2025-01-15',
  start_date: null,
  end_date: null,
  last_invoiced_on: null,
  active_months: null,
  anchor_day: null,
};
const dates = (schedule: Partial<Schedule>, from: string, to: string) =>
  renewalDates({ ...monthly, ...schedule }, Temporal.PlainDate.from(from), Temporal.PlainDate.from(to));

test('[REN-02] the 31st gives the last day of shorter months and returns to the 31st', () => {
  expect(dates({ last_invoiced_on: '2026-01-31', start_date: '2025-01-01' }, '2026-01-01', '2026-05-31')).toEqual([
    '2026-01-31',
    '2026-02-28',
    '2026-03-31',
    '2026-04-30',
    '2026-05-31',
  ]);
  expect(dates({ last_invoiced_on: '2024-02-29', periodicity: 'yearly' }, '2025-02-01', '2028-12-31')).toEqual([
    '2025-02-28',
    '2026-02-28',
    '2027-02-28',
    '2028-02-29',
  ]);
});

test('[REN-02] weekly and fortnightly go by blocks of days, also across a year', () => {
  const weekly = { periodicity: 'weekly', start_date: '2025-12-22' } as const;
  expect(dates(weekly, '2025-12-25', '2026-01-12')).toEqual(['2025-12-29', '2026-01-05', '2026-01-12']);
  const fortnightly = { periodicity: 'fortnightly', start_date: '2026-01-01' } as const;
  expect(dates(fortnightly, '2026-02-01', '2026-03-01')).toEqual(['2026-02-12', '2026-02-26']);
});

test('[REN-01] anchored on the last invoicing, else the validity start, else the creation; k may be negative', () => {
  expect(dates({ start_date: '2025-03-10', last_invoiced_on: '2026-05-20' }, '2026-03-01', '2026-06-30')).toEqual([
    '2026-03-20',
    '2026-04-20',
    '2026-05-20',
    '2026-06-20',
  ]);
  expect(dates({ start_date: '2026-03-10' }, '2026-01-01', '2026-04-30')).toEqual(['2026-03-10', '2026-04-10']);
  expect(dates({ created_on: '2026-03-05' }, '2026-01-01', '2026-04-30')).toEqual(['2026-03-05', '2026-04-05']);
  // Without a start of validity nothing is before the earlier of creation and last invoicing.
  expect(dates({ created_on: '2026-03-05', last_invoiced_on: '2026-02-03' }, '2026-01-01', '2026-03-31')).toEqual([
    '2026-02-03',
    '2026-03-03',
  ]);
});

test('[REN-03] inactive months are skipped, yearly disregards them, both ends of the validity count', () => {
  const season = { start_date: '2026-01-31', active_months: [1, 2, 4] };
  expect(dates(season, '2026-01-01', '2026-12-31')).toEqual(['2026-01-31', '2026-02-28', '2026-04-30']);
  expect(dates({ ...season, periodicity: 'yearly', active_months: [7] }, '2026-01-01', '2027-12-31')).toEqual([
    '2026-01-31',
    '2027-01-31',
  ]);
  expect(dates({ start_date: '2026-01-10', end_date: '2026-03-10' }, '2025-01-01', '2027-01-01')).toEqual([
    '2026-01-10',
    '2026-02-10',
    '2026-03-10',
  ]);
});

test('an anchor day brings the service back after a shorter month', () => {
  expect(
    dates({ last_invoiced_on: '2026-02-28', start_date: '2025-01-01', anchor_day: 31 }, '2026-03-01', '2026-04-30'),
  ).toEqual(['2026-03-31', '2026-04-30']);
});

/** The naive way: every day of the range, and every k that could reach it. */
function slowly(schedule: Schedule, from: Temporal.PlainDate, to: Temporal.PlainDate): string[] {
  const anchor = Temporal.PlainDate.from(schedule.last_invoiced_on ?? schedule.start_date ?? schedule.created_on);
  const cycle = CYCLES[schedule.periodicity];
  const all = new Set<string>();
  for (let k = -1500; k <= 1500; k++) {
    if ('days' in cycle) all.add(anchor.add({ days: k * cycle.days }).toString());
    else {
      let month = anchor.toPlainYearMonth();
      month = month.add({ months: k * cycle.months });
      const day = Math.min(schedule.anchor_day ?? anchor.day, month.daysInMonth);
      all.add(month.toPlainDate({ day }).toString());
    }
  }
  const floor =
    schedule.start_date ?? [schedule.created_on, schedule.last_invoiced_on ?? schedule.created_on].sort()[0] ?? '';
  const found: string[] = [];
  for (let day = from; Temporal.PlainDate.compare(day, to) <= 0; day = day.add({ days: 1 })) {
    const text = day.toString();
    const inMonths =
      schedule.periodicity === 'yearly' || !schedule.active_months || schedule.active_months.includes(day.month);
    if (all.has(text) && text >= floor && text <= (schedule.end_date ?? '9999') && inMonths) found.push(text);
  }
  return found;
}

test('[REN-01] [REN-02] [REN-03] the same as the slow way, for any schedule and range', () => {
  const epoch = Temporal.PlainDate.from('2023-01-01');
  const date = fc.integer({ min: 0, max: 1800 }).map((days) => epoch.add({ days }).toString());
  const schedule: fc.Arbitrary<Schedule> = fc.record({
    periodicity: fc.constantFrom(...(Object.keys(CYCLES) as Periodicity[])),
    created_on: date,
    start_date: fc.option(date),
    end_date: fc.option(date),
    last_invoiced_on: fc.option(date),
    active_months: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 12 }))),
    anchor_day: fc.option(fc.integer({ min: 1, max: 31 })),
  });
  fc.assert(
    fc.property(schedule, date, fc.integer({ min: 0, max: 400 }), (given, start, days) => {
      const from = Temporal.PlainDate.from(start);
      const to = from.add({ days });
      expect(renewalDates(given, from, to)).toEqual(slowly(given, from, to));
      expect(countRenewals(given, from, to)).toBe(renewalDates(given, from, to).length);
    }),
    { numRuns: 80 },
  );
  fc.assert(
    fc.property(schedule, date, fc.integer({ min: -400_000, max: 40_000 }), (given, end, days) => {
      const from = Temporal.PlainDate.from(end).add({ days });
      const to = Temporal.PlainDate.from(end);
      const long = { ...given, start_date: from.toString() };
      expect(countRenewals(long, from, to)).toBe(renewalDates(long, from, to).length);
    }),
    { numRuns: 300 },
  );
});
