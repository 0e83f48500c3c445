// Issues due renewals on a schedule, for companies with automatic issuing on. ISS-01
import { randomUUID } from 'node:crypto';
import type { Service } from '../platform/context.ts';
import { mayIssue } from '../routers/shared/renewals/issue-renewals.ts';
import { companies } from './companies.ts';
import { failureLine, renewCompanies } from './renewals.ts';
import type { Scheduled } from './schedule.ts';

/** The renewals' schedule by this cron pattern. Each run logs one line. */
export const scheduledRenewals = (
  { database, clock, log }: Pick<Service, 'database' | 'clock' | 'log'>,
  pattern: string,
): Scheduled => ({
  name: 'renewals',
  pattern,
  failure: 'renewals were not issued',
  async work(slot, stop) {
    const author = { actor: 'schedule', door: 'schedule', requestId: randomUUID() } as const;
    const started = performance.now();
    let issued = 0;
    const failed: string[] = [];
    const run = { database, clock, author, stop, since: 'automatic' } as const;
    const candidates = companies(database, (id) => mayIssue(id, clock.now()));
    for await (const outcome of renewCompanies(run, candidates)) {
      if ('failure' in outcome) failed.push(failureLine(outcome));
      else issued++;
    }
    const line = { slot: slot.toString(), issued, failed, ms: Math.round(performance.now() - started) };
    log[failed.length > 0 ? 'error' : 'info'](line, 'renewals issued');
  },
});
