// What a run says: a table for who reads, and a file for who compares.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { type Cluster, SETTINGS } from './cluster.ts';
import { CONNECTIONS, type Figures, type Turns } from './measure.ts';
import type { Measured } from './operations.ts';

export interface Outcome {
  id: string;
  title: string;
  sides: ({ name: string } & Figures)[];
  /** Requests a second of the product to those of the second side; null where there is none. */
  ratio: number | null;
  target: Measured['target'] | null;
}

export function outcomeOf({ id, title, sides, target }: Measured, figures: readonly Figures[]): Outcome {
  const named = sides.flatMap(({ name }, index) => {
    const figure = figures[index];
    return figure ? [{ name, ...figure }] : [];
  });
  const [first, second] = named;
  return {
    id,
    title,
    sides: named,
    ratio: first && second ? first.perSecond / second.perSecond : null,
    target: target ?? null,
  };
}

const decimals = (value: number | null, digits: number) => (value === null ? '-' : value.toFixed(digits));

/** Lines of a Markdown table, of which each row is one side of one operation. */
export function table(outcomes: readonly Outcome[]): string {
  const head = ['', '', 'req/s', 'p50 ms', 'p99 ms', 'server CPU ms', 'PostgreSQL CPU ms', 'ratio', 'target'];
  const rows = outcomes.flatMap(({ id, title, sides, ratio, target }) =>
    sides.map(({ name, perSecond, p50, p99, serverMs, postgresMs }, index) => [
      index === 0 ? `${id}: ${title}` : '',
      name,
      decimals(perSecond, perSecond < 100 ? 1 : 0),
      decimals(p50, 2),
      decimals(p99, 2),
      decimals(serverMs, 2),
      decimals(postgresMs, 2),
      index === 0 ? decimals(ratio, 2) : '',
      index === 0 && target ? `${target.least} (${target.outstanding})` : '',
    ]),
  );
  return markdown(head, rows);
}

/** A Markdown table whose columns are in line. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (column < 2 ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column < 2 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** The machine and what runs on it, by nothing that names it. */
export function machine({ version }: Cluster) {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? '',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres: version,
    settings: process.env.BENCH_DATABASE_URL ? 'its own' : SETTINGS,
  };
}

/** Processes that waited for a core, on average, in the last minute. */
export const load = () => Math.round((loadavg()[0] ?? 0) * 100) / 100;

/** What is measured: the commit, and whether the files are as it has them. */
export function version(): { commit: string; changed: boolean } {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const parts = ['server', 'bridges', 'platform', 'routers', 'entities'].map((folder) => `:/${folder}`);
    return {
      commit: git('rev-parse', '--short', 'HEAD'),
      changed: git('status', '--porcelain', '--', ...parts) !== '',
    };
  } catch {
    return { commit: 'unknown', changed: true };
  }
}

export interface Run {
  scale: number;
  turns: Turns;
  load: { before: number; after: number };
  outcomes: Outcome[];
  /** What is no slice of load: start, memory, what doors add. */
  others: Record<string, unknown>;
}

/** Writes the file of a run into `folder` and answers where it is. */
export function writeResults(folder: string, cluster: Cluster, run: Run): string {
  const { commit, changed } = version();
  const date = new Date().toISOString();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${date.slice(0, 10)}-${commit}.json`);
  const rounded = (_key: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(5)) : value);
  const content = { date, commit, changed, machine: machine(cluster), connections: CONNECTIONS, ...run };
  writeFileSync(file, `${JSON.stringify(content, rounded, 2)}\n`);
  return file;
}
