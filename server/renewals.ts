// Issues the renewals of companies, one company after another. Shared by `albaran renew` and the schedule of the service.
import type { Author } from '../platform/audit.ts';
import { type Clock, dateIn } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { isDatabaseAway } from '../platform/database.ts';
import { issueRenewals, type Outcome, type Since } from '../routers/shared/renewals/issue-renewals.ts';
import type { Company } from './companies.ts';

/** The company's local day, and the last day whose renewals are due (default: the same). */
export function daysOf({ time_zone }: Company, now: Temporal.Instant, until?: Temporal.PlainDate) {
  const today = dateIn(time_zone, now);
  return { today, until: until ?? today };
}

/** The settings of a run. */
export interface RenewalRun {
  database: Database;
  clock: Clock;
  author: Author;
  /** Stops the run between two notes. */
  stop: AbortSignal;
  since: Since;
  until?: Temporal.PlainDate | undefined;
}

/** The outcome of a renewal, or the failure to read a company's renewals. */
export type CompanyOutcome = { company: Company } & (Outcome | { failure: unknown });

/** Issues the due renewals of these companies, by each company's local day. Only an unreachable database ends the whole run. */
export async function* renewCompanies(
  { database, clock, author, stop, since, until }: RenewalRun,
  companies: Iterable<Company> | AsyncIterable<Company>,
): AsyncGenerator<CompanyOutcome> {
  for await (const company of companies) {
    stop.throwIfAborted();
    if (since === 'automatic' && company.automatic_issuing_since === null) continue;
    const now = clock.now();
    const renewals = { database, accountId: company.id, ...daysOf(company, now, until), since, now, author };
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

/** A failure as one line: company, renewal, reason. */
export function failureLine(outcome: CompanyOutcome & { failure: unknown }): string {
  const { company, failure } = outcome;
  const what = 'recurringId' in outcome ? ` ${outcome.recurringId} (${outcome.description}), ${outcome.cycle}` : '';
  return `${company.slug}${what}: ${failure instanceof Error ? failure.message : String(failure)}`;
}
