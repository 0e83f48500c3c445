// The daily purge of a running service: removes expired rows of every company.

import { purgeCompany, purgeService, type Removed, sumOf } from '../lifecycle/purge.ts';
import type { Service } from '../platform/context.ts';
import { isDatabaseAway } from '../platform/database.ts';
import { companies } from './companies.ts';
import type { Scheduled } from './schedule.ts';

/** At night in Europe, and not on the full hour, when renewals are issued. */
const DAILY = '20 3 * * *';

/** The purge's schedule. Each run logs one line with the removed rows by table. A company that fails is tried again the next day. */
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
