// The renewals of a running service: what is due in any company is issued.
import { randomUUID } from 'node:crypto';
import type { Service } from '../platform/context.ts';
import { companies } from './companies.ts';
import { failureLine, renewCompanies } from './renewals.ts';
import type { Scheduled } from './schedule.ts';

/** The renewals by this cron pattern. Every run is one line of the log. */
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
    for await (const outcome of renewCompanies({ database, clock, author, stop }, companies(database))) {
      if ('failure' in outcome) failed.push(failureLine(outcome));
      else issued++;
    }
    const line = { slot: slot.toString(), issued, failed, ms: Math.round(performance.now() - started) };
    log[failed.length > 0 ? 'error' : 'info'](line, 'renewals issued');
  },
});
