// The process: what is asked of it (without arguments: serve), the signals that end it, and what nobody caught. The only
// module that does something when it is imported.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { Interrupted } from './failure.ts';

// Halves what a command takes; where it can't be written there is none. So the rest is imported after this.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/albaran'));
const { runCommandLine } = await import('./cli.ts');

// One Ctrl-C may arrive twice: the terminal signals npm and its child, and npm passes it on.
const SAME_SIGNAL_MS = 1000;
// What is told to stop may be in no state to: after an error that nothing foresaw, and when told twice.
const STOP_AFTER_ERROR_MS = 20_000;
const STOP_IN_A_HURRY_MS = 5_000;
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

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

const exitWithin = (ms: number) => setTimeout(() => process.exit(1), ms).unref();

const args = process.argv.slice(2);
process.exit(await runCommandLine(args.length > 0 ? args : ['serve'], { stop: stop.signal, hurry: hurry.signal }));
