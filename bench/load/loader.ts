// Controls the load process.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Job, LoadResult } from './worker.ts';

export class Loader implements AsyncDisposable {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'worker.ts'), { stdio: 'inherit' });

  /** Runs a job to its end. Throws if a connection breaks. */
  async run(job: Job): Promise<LoadResult> {
    const answered = once(this.#child, 'message');
    this.#child.send(job);
    // worker.ts sends nothing else.
    const [{ result, error }] = (await answered) as [{ result?: LoadResult; error?: string }];
    if (!result) throw new Error(`${job.request.method} ${job.request.path}: ${error}`);
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    await gone;
  }
}
