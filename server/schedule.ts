// What a running service does by the clock: at the times of a schedule, and at its start for the last of them. Of several
// processes one does it, and those alive see to what one that died left.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Cron } from 'croner';
import type { Service } from '../platform/context.ts';
import { runOnce } from './scheduled-run.ts';

const ASK_AGAIN_MS = 1000;

export interface Scheduled {
  /** Its row of `scheduled_runs`. */
  name: string;
  /** When: a cron pattern, in UTC. */
  pattern: string;
  /** What the log says when it could not be done. */
  failure: string;
  /** Does it for this time of the schedule; `stop` asks it to end early. */
  work(slot: Temporal.Instant, stop: AbortSignal): Promise<void>;
}

export interface ScheduleOptions extends Pick<Service, 'clock' | 'log'> {
  /** See OpenDatabase. */
  directUrl: string;
}

/** Follows the schedule until `stop`; resolves once what is under way has ended. */
export async function followSchedule(
  options: ScheduleOptions,
  { name, pattern, failure, work }: Scheduled,
  stop: AbortSignal,
): Promise<void> {
  const { directUrl, clock, log } = options;
  let running: Promise<void> | undefined;
  const job = new Cron(pattern, { timezone: 'UTC' }, see);
  see();
  if (!stop.aborted) await once(stop, 'abort');
  job.stop();
  await running;

  /** The latest time of the schedule, this moment included. A run that takes longer than to the next is left to finish. */
  function see(): void {
    const now = clock.now();
    const [latest] = job.previousRuns(1, new Date(now.epochMilliseconds + 1));
    if (!latest || running) return;
    const slot = Temporal.Instant.fromEpochMilliseconds(latest.getTime());
    running = seeTo(slot)
      .catch((error: unknown) => {
        if (!stop.aborted) log.error({ err: error, slot: slot.toString() }, failure);
      })
      .finally(() => {
        running = undefined;
      });
  }

  /** By this process or another: while another is at it, this one stays ready. */
  async function seeTo(slot: Temporal.Instant): Promise<void> {
    while ((await runOnce(directUrl, name, slot, () => work(slot, stop))) === 'held') {
      await delay(ASK_AGAIN_MS, undefined, { signal: stop });
    }
  }
}
