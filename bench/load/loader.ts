// The asking process, from the side of the one that measures.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Job, LoadResult } from './worker.ts';

export class Loader implements AsyncDisposable {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'worker.ts'), { stdio: 'inherit' });

  /** Runs a job to its end. Throws when a connection breaks, or any answer was not 200. */
  async run(job: Job): Promise<LoadResult> {
    const answered = once(this.#child, 'message');
    this.#child.send(job);
    // What worker.ts sends, and nothing else does.
    const [{ result, error }] = (await answered) as [{ result?: LoadResult; error?: string }];
    const name = `${job.request.method} ${job.request.path}`;
    if (!result) throw new Error(`${name}: ${error}`);
    const refused = Object.entries(result.refused).map(([status, count]) => `${count} answers ${status}`);
    if (refused.length > 0) throw new Error(`${name}: ${refused.join(', ')}`);
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    await gone;
  }
}
