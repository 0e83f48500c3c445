// Days of a company as instants.
import { type RawBuilder, sql } from 'kysely';

/** The instant as PostgreSQL has it, to the millisecond before. */
const instantAt = (milliseconds: number) => sql<string>`to_timestamp(${milliseconds / 1000}::float8)`;

/** A day that begins twice, when the clocks go back at its midnight, begins the first time; PostgreSQL takes the second. */
function startOf(day: Temporal.PlainDate, timeZone: string): RawBuilder<string> {
  return instantAt(day.toZonedDateTime(timeZone).epochMilliseconds);
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

/**
 * Whether a record `row` was created or changed since `modificado_desde`, a day of the company or an instant; undefined where that was not
 * sent. `column`: when that was.
 */
export function changedIn(
  row: string,
  moment: string | undefined,
  timeZone: string,
  column = 'updated_at',
): RawBuilder<boolean> | undefined {
  if (!moment) return undefined;
  const since = moment.includes('T')
    ? instantAt(Temporal.Instant.from(moment).epochMilliseconds)
    : startOf(Temporal.PlainDate.from(moment), timeZone);
  return sql`${sql.ref(`${row}.${column}`)} >= ${since}`;
}

/** An instant as the company's clocks show it, with their offset: ISO 8601, to the millisecond. */
export function momentText(instant: RawBuilder<unknown>, timeZone: string): RawBuilder<string> {
  const local = sql`(${instant} at time zone ${timeZone})`;
  const ahead = sql`(${local} - ${instant} at time zone 'UTC')`;
  return sql<string>`to_char(${local}, 'YYYY-MM-DD"T"HH24:MI:SS.MS')
    || case when ${ahead} < '0' then '-' else '+' end || to_char(greatest(${ahead}, -${ahead}), 'HH24:MI')`;
}
