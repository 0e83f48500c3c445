// The renewals of companies, one company after the other: what `albaran renew` and the schedule of the service share.
import type { Author } from '../platform/audit.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { isDatabaseAway, issueRenewals, type Outcome } from '../routers/recurring/issue-renewals.ts';
import type { Company } from './companies.ts';

/** Its own today, and the last day whose renewals are due: that, unless an earlier one is asked for. */
export function daysOf({ time_zone }: Company, now: Temporal.Instant, until?: Temporal.PlainDate) {
  const today = now.toZonedDateTimeISO(time_zone).toPlainDate();
  return { today, until: until ?? today };
}

export interface RenewalRun {
  database: Database;
  clock: Clock;
  author: Author;
  /** Ends the run between two notes. */
  stop: AbortSignal;
  until?: Temporal.PlainDate | undefined;
}

/** What became of a renewal, or of a company whose renewals could not be looked at. */
export type CompanyOutcome = { company: Company } & (Outcome | { failure: unknown });

/** Issues what is due in these companies, each by its own day. Only a database that is away ends the whole. */
export async function* renewCompanies(
  { database, clock, author, stop, until }: RenewalRun,
  companies: Iterable<Company> | AsyncIterable<Company>,
): AsyncGenerator<CompanyOutcome> {
  for await (const company of companies) {
    stop.throwIfAborted();
    const now = clock.now();
    const renewals = { database, accountId: company.id, ...daysOf(company, now, until), now, author };
    try {
      for await (const outcome of issueRenewals(renewals)) {
        yield { company, ...outcome };
        stop.throwIfAborted();
      }
    } catch (failure) {
      if (stop.aborted || isDatabaseAway(failure)) throw failure;
      yield { company, failure };
    }
  }
}

/** A failure as the line of a list: whose, of what, why. */
export function failureLine(outcome: CompanyOutcome & { failure: unknown }): string {
  const { company, failure } = outcome;
  const what = 'recurringId' in outcome ? ` ${outcome.recurringId} (${outcome.description}), ${outcome.cycle}` : '';
  return `${company.slug}${what}: ${failure instanceof Error ? failure.message : String(failure)}`;
}
