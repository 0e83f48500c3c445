// What every command stands on: the settings, the database for as long as it takes, and how it answers (text for people,
// JSON with --json). What a command does is in commands/.
import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { Author } from '../platform/audit.ts';
import { Database } from '../platform/database.ts';
import { type Config, readConfig } from './config.ts';
import { openDatabase, usable } from './open-database.ts';

/** How the process is asked to end: `stop` with what it is doing brought to a good end, `hurry` at once. */
export interface Interruption {
  stop: AbortSignal;
  hurry: AbortSignal;
}

export interface Answer {
  /** With --json. */
  json: object;
  /** Without. */
  text: string;
}

export interface Opened {
  config: Config;
  database: Database;
  /** See OpenDatabase. */
  directUrl: string;
  /** Names of the migrations that were run. */
  migrated: string[];
}

export interface CommandTools extends Interruption {
  config(): Config;
  /** Runs `work` on the database, brought forward to this version's schema; prints what it answers. */
  onDatabase(work: (opened: Opened) => Promise<Answer | undefined>): Promise<void>;
}

/** Who a command is, in the audit of what it writes. */
export const commandAuthor = (): Author => ({ actor: 'command', door: 'command', requestId: randomUUID() });

/** Adds one command below its parent. */
export type AddCommand = (parent: Command, tools: CommandTools) => void;

const STATEMENT_TIMEOUT_MS = 3_600_000;

export const commandTools = (program: Command, interruption: Interruption): CommandTools => {
  const config = () => readConfig(process.env, process.stdout.isTTY);
  return {
    ...interruption,
    config,
    async onDatabase(work) {
      const settings = config();
      await using opened = await openDatabase(settings);
      // Nobody waits behind a command, and the statements of a large import take their time.
      const database = new Database({ ...opened.options, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
      try {
        await usable('DATABASE_URL', database.prepareRole());
        interruption.stop.throwIfAborted();
        const answer = await work({ ...opened, config: settings, database });
        if (answer) console.log(program.opts().json ? JSON.stringify(answer.json) : answer.text);
      } finally {
        await database.close();
      }
    },
  };
};

/** An option's date, `YYYY-MM-DD`. */
export function plainDate(text: string): Temporal.PlainDate {
  try {
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return Temporal.PlainDate.from(text);
  } catch {
    // Not a day of the calendar.
  }
  throw new InvalidArgumentError('Expected a date YYYY-MM-DD.');
}

/** Columns under their titles, as wide as they need to be. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [titles, ...rows].map(line).join('\n');
}

/** Names and values, the values under each other. */
export function fields(values: Record<string, string | number>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}`)
    .join('\n');
}

const PROGRESS_EVERY_MS = 100;

/** Passes `items` on, and counts them on the terminal, if there is one. Stops between two when asked to. */
export async function* counted<T>(
  items: Iterable<T> | AsyncIterable<T>,
  { stop }: Interruption,
  label: string,
): AsyncGenerator<T> {
  const terminal = process.stderr.isTTY;
  let count = 0;
  let shownAt = 0;
  try {
    for await (const item of items) {
      stop.throwIfAborted();
      count++;
      if (terminal && Date.now() - shownAt >= PROGRESS_EVERY_MS) {
        shownAt = Date.now();
        process.stderr.write(`\r${label}: ${count.toLocaleString('en')} records`);
      }
      yield item;
    }
  } finally {
    if (terminal) process.stderr.write('\r\x1b[K');
  }
}
