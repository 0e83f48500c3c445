// The renewals of a running service: at the times of its schedule, and at its start for the last of them, what is due in any
// company is issued. Of several processes one does it, and those alive see to what one that died left.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Cron } from 'croner';
import type { Service } from '../platform/context.ts';
import { companies } from './companies.ts';
import { failureLine, renewCompanies } from './renewals.ts';
import { runOnce } from './scheduled-run.ts';

const ASK_AGAIN_MS = 1000;

interface Options extends Pick<Service, 'database' | 'clock' | 'log'> {
  /** See OpenDatabase. */
  directUrl: string;
}

/**
 * Sees to it that the renewals of this time of the schedule are issued, by this process or another: while another is at it,
 * it stays ready. Every run is one line of the log. Throws when the database is away, or `stop` is.
 */
export async function renewOnce(options: Options, slot: Temporal.Instant, stop: AbortSignal): Promise<void> {
  const { directUrl, database, clock, log } = options;
  const author = { actor: 'schedule', door: 'schedule', requestId: randomUUID() } as const;
  const work = async () => {
    const started = performance.now();
    let issued = 0;
    const failed: string[] = [];
    for await (const outcome of renewCompanies({ database, clock, author, stop }, companies(database))) {
      if ('failure' in outcome) failed.push(failureLine(outcome));
      else issued++;
    }
    const line = { slot: slot.toString(), issued, failed, ms: Math.round(performance.now() - started) };
    log[failed.length > 0 ? 'error' : 'info'](line, 'renewals issued');
  };
  while ((await runOnce(directUrl, 'renewals', slot, work)) === 'held') {
    await delay(ASK_AGAIN_MS, undefined, { signal: stop });
  }
}

/** Follows the schedule (a cron pattern, in UTC) until `stop`; resolves once the note being written is. */
export async function followSchedule(options: Options, pattern: string, stop: AbortSignal): Promise<void> {
  let running: Promise<void> | undefined;
  const job = new Cron(pattern, { timezone: 'UTC' }, see);
  see();
  if (!stop.aborted) await once(stop, 'abort');
  job.stop();
  await running;

  /** The latest time of the schedule, this moment included. A run that takes longer than to the next is left to finish. */
  function see(): void {
    const now = options.clock.now();
    const [latest] = job.previousRuns(1, new Date(now.epochMilliseconds + 1));
    if (!latest || running) return;
    const slot = Temporal.Instant.fromEpochMilliseconds(latest.getTime());
    running = renewOnce(options, slot, stop)
      .catch((error: unknown) => {
        if (!stop.aborted) options.log.error({ err: error, slot: slot.toString() }, 'renewals were not issued');
      })
      .finally(() => {
        running = undefined;
      });
  }
}
