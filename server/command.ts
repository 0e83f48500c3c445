// Shared by the commands: the settings, the database connection, and the output (text, or JSON with --json). The commands are in
// commands/.

import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { Author } from '../platform/audit.ts';
import { systemClock } from '../platform/clock.ts';
import { Database, type Db } from '../platform/database.ts';
import { type Change, writeJournal } from '../platform/journal.ts';
import { type Config, readConfig } from './config.ts';
import { Failure } from './failure.ts';
import { openDatabase, usable } from './open-database.ts';
import { complaints, output } from './output.ts';

/** Signals to end the process: `stop` after finishing work in progress, `hurry` at once. */
export interface Interruption {
  stop: AbortSignal;
  hurry: AbortSignal;
}

/** The output of a command. */
export interface Answer {
  /** With --json. */
  json: object;
  /** Without --json. */
  text: string;
}

/** The settings and the opened database. */
export interface Opened {
  config: Config;
  database: Database;
  /** See OpenDatabase. */
  directUrl: string;
  /** See OpenDatabase. */
  migrated: string[];
  pending: string[];
}

/**
 * The schema that a command needs. `forward`: migrate to this version's. `current`: do not migrate, and refuse to run if it is not
 * this version's; for commands that only read. `any`: do not migrate.
 */
export type SchemaUse = 'forward' | 'current' | 'any';

/** What the commands are given. */
export interface CommandTools extends Interruption {
  config(): Config;
  /** Runs `work` on the database and prints its answer. Default schema: `forward`. */
  onDatabase(work: (opened: Opened) => Promise<Answer | undefined>, schema?: SchemaUse): Promise<void>;
}

/** The author of a command's writes in the audit. */
export const commandAuthor = (): Author => ({ actor: 'command', door: 'command', requestId: randomUUID() });

/** Writes what a command changed in a company, as the last of its transaction. JRN-01 */
export const journalByCommand = (db: Db, accountId: number, operation: string, changes: readonly Change[]) =>
  writeJournal(db, accountId, { ...commandAuthor(), operation, now: systemClock.now() }, changes);

/** Adds a command to its parent. */
export type AddCommand = (parent: Command, tools: CommandTools) => void;

const STATEMENT_TIMEOUT_MS = 3_600_000;
const FIRST_MIGRATION = '0001_initial';

/** The tools of a program's commands. */
export const commandTools = (program: Command, interruption: Interruption): CommandTools => {
  const config = () => readConfig(process.env, process.stdout.isTTY);
  return {
    ...interruption,
    config,
    async onDatabase(work, schema = 'forward') {
      const settings = config();
      const report = (line: string) => complaints.say(line);
      await using opened = await openDatabase(settings, {
        asItIs: schema !== 'forward',
        report,
        stop: interruption.stop,
      });
      if (schema === 'current') refusePending(opened.pending);
      // A long timeout: the statements of a large import take long, and no caller waits for them.
      const database = new Database({ ...opened.options, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
      try {
        if (schema !== 'any') await usable('DATABASE_URL', database.prepareRole());
        interruption.stop.throwIfAborted();
        const answer = await work({ ...opened, config: settings, database });
        if (answer) output.say(program.opts().json ? JSON.stringify(answer.json) : answer.text);
      } finally {
        await database.close();
      }
    },
  };
};

function refusePending(pending: readonly string[]): void {
  if (pending.length === 0) return;
  const state = pending.includes(FIRST_MIGRATION) ? 'is empty' : `lacks ${pending.join(', ')}`;
  throw new Failure(
    `The database ${state}, and this command only reads: run \`albaran migrate\`, or start this version of the service`,
    { json: { error: `The database ${state}`, pending } },
  );
}

/** Parses an option's date, `YYYY-MM-DD`. */
export function plainDate(text: string): Temporal.PlainDate {
  try {
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return Temporal.PlainDate.from(text);
  } catch {
    // Not a calendar day.
  }
  throw new InvalidArgumentError('Expected a date YYYY-MM-DD.');
}

/** Formats a table; columns are as wide as their longest cell. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [titles, ...rows].map(line).join('\n');
}

/** Formats names and values in two columns. */
export function fields(values: Record<string, string | number>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}`)
    .join('\n');
}

const PROGRESS_EVERY_MS = 100;

/** Yields the items and shows their count on the terminal, if there is one. Throws between two items when `stop` is aborted. */
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
