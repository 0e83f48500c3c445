// Writes to standard output and standard error. Texts are written completely and in order, even if the reader is slow. A text that
// could not be written changes the exit code.
import { writeFile } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';

/** Terminals and pipes use Node's stream. For files, Node's stream would treat a partial write as complete. */
function writerOf(stream: NodeJS.WritableStream & { fd: number }): (text: string) => Promise<void> {
  if (!(stream instanceof Socket)) return (text) => promisify(writeFile)(stream.fd, text);
  stream.on('error', () => {}); // The failed write's callback gets the error.
  return (text) => new Promise((done, fail) => stream.write(text, (error) => (error ? fail(error) : done())));
}

class Output {
  readonly name: string;
  readonly #write: (text: string) => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  constructor(name: string, stream: NodeJS.WritableStream & { fd: number }) {
    this.name = name;
    this.#write = writerOf(stream);
  }

  /** The first error of `say` or `tell`. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Resolves once the text is written; rejects if it fails. Such a failure does not change the exit code. */
  write(text: string): Promise<void> {
    const written = this.#last.then(() => this.#write(text));
    this.#last = written.catch(() => {});
    return written;
  }

  /** Writes a line without waiting. */
  say(text: string): void {
    void this.tell(`${text}\n`).catch(() => {});
  }

  /** Writes a long text; resolves once it is written. */
  async tell(text: string): Promise<void> {
    try {
      await this.write(text);
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
      throw this.#failure;
    }
  }

  /** Resolves once everything is written or has failed. */
  written(): Promise<void> {
    return this.#last;
  }
}

/** For results. */
export const output = new Output('standard output', process.stdout);
/** For errors and progress. */
export const complaints = new Output('standard error', process.stderr);

const both = [output, complaints];

/** Whether the error is a failed write, which is reported when the process ends. */
export const isOutputFailure = (error: unknown): boolean => both.some(({ failure }) => failure && failure === error);

/** Waits until all output is written and reports failures. Returns whether everything was written. */
export async function flushOutput(): Promise<boolean> {
  await output.written();
  const { failure } = output;
  // EPIPE: the reader closed the pipe on purpose (`| head`).
  if (failure && !('code' in failure && failure.code === 'EPIPE')) {
    complaints.say(`${output.name} can't be written: ${failure.message}`);
  }
  await complaints.written();
  return both.every((one) => !one.failure);
}

/** The result of `work`; rejects as soon as the signal is aborted. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Characters of log lines that are written at once. */
const LINES_AT_ONCE = 32 * 1024;

/** Writes log lines in groups: a system call for each line would be a noticeable part of a call's cost. */
export class LogLines {
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #reported = false;

  [Symbol.dispose](): void {
    this.flush();
  }

  write(line: string): void {
    this.#text += line;
    if (this.#text.length >= LINES_AT_ONCE) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), 100);
  }

  /** Writes the pending lines. A failure is reported once and does not stop the process; the next lines are tried again. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    output.write(text).catch(({ code, message }: NodeJS.ErrnoException) => {
      if (!this.#reported && code !== 'EPIPE') complaints.say(`The log can't be written: ${message}`);
      this.#reported = true;
    });
  }
}
