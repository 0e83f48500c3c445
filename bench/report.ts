// The findings of a run and their file.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { type Cluster, SETTINGS } from './cluster.ts';
import { CONNECTIONS, type Figures, type Turns } from './measure.ts';
import type { Measured } from './operations.ts';
import type { Probes } from './probes/index.ts';

export interface Outcome {
  id: string;
  title: string;
  sides: ({ name: string } & Figures)[];
  /** Ratio of the product's requests per second to those of the second side; null without one. */
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

/** The machine and its software, without anything that identifies it. */
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

/** Average number of processes that waited for a core in the last minute. */
export const load = () => Math.round((loadavg()[0] ?? 0) * 100) / 100;

/** The measured commit, and whether files differ from it. */
export function version(): { commit: string; changed: boolean } {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const parts = ['server', 'bridges', 'lifecycle', 'account-file', 'figures', 'platform', 'routers', 'entities'].map(
      (folder) => `:/${folder}`,
    );
    return {
      commit: git('rev-parse', '--short', 'HEAD'),
      changed: git('status', '--porcelain', '--', ...parts) !== '',
    };
  } catch {
    return { commit: 'unknown', changed: true };
  }
}

/** The description of every run. */
export interface Run {
  turns: Turns;
  load: { before: number; after: number };
}

export interface Comparison extends Run {
  scale: number;
  outcomes: Outcome[];
  probes: Partial<Probes>;
}

/** Writes the results into `folder` and returns the file's path. */
export function writeResults(folder: string, cluster: Cluster, run: Run, kind?: string): string {
  const { commit, changed } = version();
  const date = new Date().toISOString();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${[date.slice(0, 10), commit, ...(kind ? [kind] : [])].join('-')}.json`);
  const rounded = (_key: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(5)) : value);
  const content = { date, commit, changed, machine: machine(cluster), connections: CONNECTIONS, ...run };
  writeFileSync(file, `${JSON.stringify(content, rounded, 2)}\n`);
  return file;
}
