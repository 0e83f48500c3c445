// Errors that end a command.

/** An error that the user can fix: printed as these lines, without a stack. No lines means that it has already been reported. */
export class Failure extends Error {
  readonly lines: readonly string[];
  /** The output with `--json`; default `{error}`. */
  readonly json: object;
  /** 1: failure; 2: wrong arguments. */
  readonly exitCode: 1 | 2;

  constructor(
    lines: string | readonly string[],
    { exitCode = 1, json, cause }: { exitCode?: 1 | 2; json?: object; cause?: unknown } = {},
  ) {
    const all = typeof lines === 'string' ? [lines] : lines;
    super(all.join('\n'), { cause });
    this.name = 'Failure';
    this.lines = all;
    this.json = json ?? { error: this.message };
    this.exitCode = exitCode;
  }
}

/** The process received a signal to end. */
export class Interrupted extends Error {
  readonly signal: NodeJS.Signals;
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals, exitCode: number) {
    super(`Interrupted by ${signal}`);
    this.name = 'Interrupted';
    this.signal = signal;
    this.exitCode = exitCode;
  }
}
