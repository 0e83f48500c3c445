// The daily purge of a running service: what has ended, and nothing looks at any more, is removed from every company.
import type { Service } from '../platform/context.ts';
import { purgeCompany, purgeService, type Removed, sumOf } from '../platform/purge.ts';
import { isDatabaseAway } from '../routers/recurring/issue-renewals.ts';
import { companies } from './companies.ts';
import type { Scheduled } from './schedule.ts';

/** In the small hours of Europe, and beside the full hour at which renewals are issued. */
const DAILY = '20 3 * * *';

/** Every run is one line of the log, with the rows it removed by table. A company that fails is left for the next day. */
export const scheduledPurge = ({ database, clock, log }: Pick<Service, 'database' | 'clock' | 'log'>): Scheduled => ({
  name: 'purge',
  pattern: DAILY,
  failure: 'what has ended was not removed',
  async work(slot, stop) {
    const started = performance.now();
    const run = { database, now: clock.now(), stop };
    const removed: Removed[] = [];
    const failed: string[] = [];
    for await (const { id, slug } of companies(database)) {
      try {
        removed.push(await purgeCompany(run, id));
      } catch (failure) {
        if (stop.aborted || isDatabaseAway(failure)) throw failure;
        failed.push(`${slug}: ${failure instanceof Error ? failure.message : String(failure)}`);
      }
    }
    removed.push(await purgeService(run));
    const line = {
      slot: slot.toString(),
      removed: sumOf(removed),
      failed,
      ms: Math.round(performance.now() - started),
    };
    log[failed.length > 0 ? 'error' : 'info'](line, 'what has ended was removed');
  },
});
