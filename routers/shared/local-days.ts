// Days of a company as instants.
import { type RawBuilder, sql } from 'kysely';
import type { ValueSql } from '../../platform/fixed-query.ts';

/** The instant as PostgreSQL has it. */
const instantAt = (seconds: ValueSql<number>) => sql<string>`to_timestamp(${seconds}::float8)`;

/** When a day begins, in seconds. One that begins twice, when the clocks go back at its midnight, begins the first time; PostgreSQL takes the second. */
const secondsTo = (day: Temporal.PlainDate, timeZone: string) => day.toZonedDateTime(timeZone).epochMilliseconds / 1000;

const startOf = (day: Temporal.PlainDate, timeZone: string) => instantAt(secondsTo(day, timeZone));

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

/** When `modificado_desde` is, a day of the company or an instant, in seconds; undefined where it was not sent. */
export function momentOf(moment: string | undefined, timeZone: string): number | undefined {
  if (!moment) return undefined;
  if (moment.includes('T')) return Temporal.Instant.from(moment).epochMilliseconds / 1000;
  return secondsTo(Temporal.PlainDate.from(moment), timeZone);
}

/** Whether a record `row` was created or changed since then. `column`: when that was. */
export const changedAfter = (row: string, moment: ValueSql<number>, column = 'updated_at'): RawBuilder<boolean> =>
  sql`${sql.ref(`${row}.${column}`)} >= ${instantAt(moment)}`;

/** The same of `modificado_desde`; undefined where that was not sent. */
export function changedIn(
  row: string,
  moment: string | undefined,
  timeZone: string,
  column?: string,
): RawBuilder<boolean> | undefined {
  const since = momentOf(moment, timeZone);
  return since === undefined ? undefined : changedAfter(row, since, column);
}

/** An instant as the company's clocks show it, with their offset: ISO 8601, to the millisecond. */
export function momentText(instant: RawBuilder<unknown>, timeZone: string): RawBuilder<string> {
  const local = sql`(${instant} at time zone ${timeZone})`;
  const ahead = sql`(${local} - ${instant} at time zone 'UTC')`;
  return sql<string>`to_char(${local}, 'YYYY-MM-DD"T"HH24:MI:SS.MS')
    || case when ${ahead} < '0' then '-' else '+' end || to_char(greatest(${ahead}, -${ahead}), 'HH24:MI')`;
}
