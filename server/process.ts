// The process: what is asked of it, the signals that end it, and what nobody caught.
import { runCommandLine } from './cli.ts';
import { Interrupted } from './failure.ts';

// One Ctrl-C may arrive twice: the terminal signals npm and its child, and npm passes it on.
const SAME_SIGNAL_MS = 1000;
// What is told to stop may be in no state to: after an error that nothing foresaw, and when told twice.
const STOP_AFTER_ERROR_MS = 20_000;
const STOP_IN_A_HURRY_MS = 5_000;
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

const exitWithin = (ms: number) => setTimeout(() => process.exit(1), ms).unref();

/** Does what the arguments say, by default serve, until it is done or the process is told to stop; then the process ends. */
export async function runProcess(args: readonly string[]): Promise<never> {
  const stop = new AbortController();
  const hurry = new AbortController();
  let stoppedAt = 0;

  for (const [signal, exitCode] of Object.entries(SIGNALS)) {
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

  process.exit(await runCommandLine(args.length > 0 ? args : ['serve'], { stop: stop.signal, hurry: hurry.signal }));
}
