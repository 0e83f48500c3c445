// The daily sealing of a running service: documents that a version before sealing wrote.
import { hasUnsealed, sealUnsealed } from '../lifecycle/seal.ts';
import type { Service } from '../platform/context.ts';
import { isDatabaseAway } from '../platform/database.ts';
import { companies } from './companies.ts';
import type { Scheduled } from './schedule.ts';

/** After the purge. */
const DAILY = '50 3 * * *';

/** The schedule. A run that sealed something, or failed for a company, logs one line. */
export const scheduledSealing = ({ database, clock, log }: Pick<Service, 'database' | 'clock' | 'log'>): Scheduled => ({
  name: 'seal',
  pattern: DAILY,
  failure: 'documents without a seal were not sealed',
  async work(slot, stop) {
    const origin = { actor: 'schedule', door: 'schedule', operation: 'seal', now: clock.now() } as const;
    const failed: string[] = [];
    let documents = 0;
    for await (const { id, slug } of companies(database, hasUnsealed)) {
      try {
        documents += await sealUnsealed(database, { accountId: id, origin }, stop);
      } catch (failure) {
        if (stop.aborted || isDatabaseAway(failure)) throw failure;
        failed.push(`${slug}: ${failure instanceof Error ? failure.message : String(failure)}`);
      }
    }
    const line = { slot: slot.toString(), documents, failed };
    if (failed.length > 0) log.error(line, 'documents without a seal were sealed');
    else if (documents > 0) log.info(line, 'documents without a seal were sealed');
  },
});
