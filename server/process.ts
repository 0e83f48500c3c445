// The process: its arguments, signals and uncaught errors.
import { runCommandLine } from './cli.ts';
import { Interrupted } from './failure.ts';
import { flushOutput, unlessAborted } from './output.ts';

// One Ctrl-C may arrive twice: the terminal sends it to npm and its child, and npm forwards it.
const SAME_SIGNAL_MS = 1000;
// Deadlines for stopping after an uncaught error, and after a second signal: the process may be unable to stop by itself.
const STOP_AFTER_ERROR_MS = 20_000;
const STOP_IN_A_HURRY_MS = 5_000;
const SIGNALS = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

const exitWithin = (ms: number) => setTimeout(() => process.exit(1), ms).unref();

/** Runs the command in the arguments (default: serve) until it is done or stopped, then exits. */
export async function runProcess(args: readonly string[]): Promise<never> {
  const stop = new AbortController();
  const hurry = new AbortController();
  let stoppedAt = 0;

  for (const [signal, exitCode] of SIGNALS) {
    process.on(signal, () => {
      if (!stop.signal.aborted) {
        stoppedAt = Date.now();
        stop.abort(new Interrupted(signal, exitCode));
      } else if (Date.now() - stoppedAt > SAME_SIGNAL_MS) {
        if (hurry.signal.aborted) process.exit(1);
        exitWithin(STOP_IN_A_HURRY_MS);
        hurry.abort();
      }
    });
  }

  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error: unknown) => {
      exitWithin(STOP_AFTER_ERROR_MS);
      stop.abort(error);
    });
  }

  const exitCode = await runCommandLine(args.length > 0 ? args : ['serve'], { stop: stop.signal, hurry: hurry.signal });
  // An interrupted command needn't wait for its output.
  const outputCode = exitCode > 128 ? 0 : await waitForOutput();
  process.exit(exitCode || outputCode);

  /** Waits until the output is read. After a stop signal it waits a few seconds at most; a further signal ends the wait. */
  async function waitForOutput(): Promise<number> {
    const stopping = stop.signal.aborted;
    const deadline = AbortSignal.any([hurry.signal, AbortSignal.timeout(STOP_IN_A_HURRY_MS)]);
    try {
      return (await unlessAborted(flushOutput(), stopping ? deadline : stop.signal)) ? 0 : 1;
    } catch {
      if (stopping) return 0;
      return stop.signal.reason instanceof Interrupted ? stop.signal.reason.exitCode : 1;
    }
  }
}
