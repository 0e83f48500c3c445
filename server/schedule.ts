// Scheduled jobs of a running service. They run at the times of a cron pattern, and at the start for the latest past time. One of
// the processes runs each; if it dies, another one takes over.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Cron } from 'croner';
import type { Service } from '../platform/context.ts';
import { runOnce } from './scheduled-run.ts';

const RETRY_MS = 1000;

/** A scheduled job. */
export interface Scheduled {
  /** Its row in `scheduled_runs`. */
  name: string;
  /** A cron pattern, in UTC. */
  pattern: string;
  /** The log message of a failed run. */
  failure: string;
  /** Runs the job for this time of the schedule; `stop` asks it to end early. */
  work(slot: Temporal.Instant, stop: AbortSignal): Promise<void>;
}

/** What jobs need to run. */
export interface ScheduleOptions extends Pick<Service, 'clock' | 'log'> {
  /** See OpenDatabase. */
  directUrl: string;
}

/** Follows the schedule until `stop`; resolves once a run in progress has ended. */
export async function followSchedule(
  options: ScheduleOptions,
  { name, pattern, failure, work }: Scheduled,
  stop: AbortSignal,
): Promise<void> {
  const { directUrl, clock, log } = options;
  let running: Promise<void> | undefined;
  const job = new Cron(pattern, { timezone: 'UTC' }, start);
  start();
  if (!stop.aborted) await once(stop, 'abort');
  job.stop();
  await running;

  /** Starts a run for the latest time of the schedule (now included), unless one is still in progress. */
  function start(): void {
    const now = clock.now();
    const [latest] = job.previousRuns(1, new Date(now.epochMilliseconds + 1));
    if (!latest || running) return;
    const slot = Temporal.Instant.fromEpochMilliseconds(latest.getTime());
    running = runOrWait(slot)
      .catch((error: unknown) => {
        if (!stop.aborted) log.error({ err: error, slot: slot.toString() }, failure);
      })
      .finally(() => {
        running = undefined;
      });
  }

  /** Runs the job, or waits while another process runs it, ready to take over. */
  async function runOrWait(slot: Temporal.Instant): Promise<void> {
    while ((await runOnce(directUrl, name, slot, () => work(slot, stop))) === 'held') {
      await delay(RETRY_MS, undefined, { signal: stop });
    }
  }
}
