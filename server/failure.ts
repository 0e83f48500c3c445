// How a command ends other than well.

/** What a person can put right: told in lines of its own, without a stack. Without lines, it has been told already. */
export class Failure extends Error {
  readonly lines: readonly string[];
  /** What `--json` answers instead of `{error}`. */
  readonly json: object;
  /** 1: it failed; 2: it was asked for in a wrong way. */
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

/** A signal asked for the end. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: string, exitCode: number) {
    super(`Interrupted by ${signal}`);
    this.name = 'Interrupted';
    this.exitCode = exitCode;
  }
}
