// Days of a company as instants.
import { type RawBuilder, sql } from 'kysely';

/** A day that begins twice, when the clocks go back at its midnight, begins the first time; PostgreSQL takes the second. */
function startOf(day: Temporal.PlainDate, timeZone: string): RawBuilder<string> {
  return sql<string>`to_timestamp(${day.toZonedDateTime(timeZone).epochMilliseconds / 1000}::float8)`;
}

/**
 * The instants from which and until which (not included) the days of a range last where the company is. A side without a
 * day is open. An index on an instant serves a comparison with these, which it would not serve with local dates. DATE-02
 */
export function instantsOf(from: string | undefined, to: string | undefined, timeZone: string) {
  return {
    since: from ? startOf(Temporal.PlainDate.from(from), timeZone) : sql<string>`'-infinity'::timestamptz`,
    until: to ? startOf(Temporal.PlainDate.from(to).add({ days: 1 }), timeZone) : sql<string>`'infinity'::timestamptz`,
  };
}
