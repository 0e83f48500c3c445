import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dateIn } from '../../platform/clock.ts';

// In the last three, clocks change at midnight, by half an hour, or a day is left out (30 December 2011).
const ZONES = ['Europe/Madrid', 'Atlantic/Canary', 'UTC', 'America/Santiago', 'Australia/Lord_Howe', 'Pacific/Apia'];
const FROM = Date.UTC(2011, 0, 1);
const UNTIL = Date.UTC(2027, 0, 1);
const HOUR = 3_600_000;

test('the date is that of the time zone, in whatever order moments are asked for', () => {
  const zone = fc.constantFrom(...ZONES);
  const hours = fc.array(fc.integer({ min: -30 * 60, max: 30 * 60 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(zone, fc.integer({ min: FROM, max: UNTIL }), hours, (timeZone, around, minutes) => {
      for (const minute of minutes) {
        const now = Temporal.Instant.fromEpochMilliseconds(around + (minute * HOUR) / 60);
        const slowly = now.toZonedDateTimeISO(timeZone).toPlainDate();
        expect(dateIn(timeZone, now).toString()).toBe(slowly.toString());
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['Europe/Madrid', '2026-03-28T23:00:00Z', '2026-03-29'],
  ['Europe/Madrid', '2026-03-29T21:59:59.999Z', '2026-03-29'],
  ['Europe/Madrid', '2026-03-29T22:00:00Z', '2026-03-30'],
  ['Pacific/Apia', '2011-12-30T09:59:59Z', '2011-12-29'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31'],
  ['America/Santiago', '2022-09-11T03:59:59Z', '2022-09-10'],
  ['America/Santiago', '2022-09-11T04:00:00Z', '2022-09-11'],
])('in %s it is at %s %s', (timeZone, instant, date) => {
  expect(dateIn(timeZone, Temporal.Instant.from(instant)).toString()).toBe(date);
});
