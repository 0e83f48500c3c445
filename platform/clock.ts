// The source of the current time. Tests replace it.

/** Tells the current time. */
export interface Clock {
  now(): Temporal.Instant;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Temporal.Now.instant() };

interface Day {
  date: Temporal.PlainDate;
  /** In milliseconds since 1970. */
  starts: number;
  ends: number;
}

/** The day that was last asked for, by time zone: every call asks, and finding it takes longer than comparing. */
const days = new Map<string, Day>();

/** The date in a time zone. */
export function dateIn(timeZone: string, now: Temporal.Instant): Temporal.PlainDate {
  const moment = now.epochMilliseconds;
  let day = days.get(timeZone);
  if (!day || moment < day.starts || moment >= day.ends) {
    const date = now.toZonedDateTimeISO(timeZone).toPlainDate();
    // Not 24 hours later: a clock may be changed that day, even at midnight.
    const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).epochMilliseconds;
    day = { date, starts: startOf(date), ends: startOf(date.add({ days: 1 })) };
    days.set(timeZone, day);
  }
  return day.date;
}
