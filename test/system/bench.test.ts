// `npm run bench` runs: every measurement on little data and briefly. The figures don't matter here.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import type { Grown } from '../../bench/growth.ts';
import type { Many } from '../../bench/many.ts';
import type { Comparison } from '../../bench/report.ts';
import { run } from '../server/processes.ts';

const MAIN = join(import.meta.dirname, '../../bench/main.ts');
const LITTLE = ['--quick', '--seconds', '0.03', '--scale', '0.002', '--requests', '60'];
const BENCH_MS = 120_000;

const folder = await mkdtemp(join(tmpdir(), 'albaran-bench-'));

afterAll(async () => {
  await rm(folder, { recursive: true });
  const admin = new pg.Client({ connectionString: inject('adminUrl') });
  await admin.connect();
  const { rows } = await admin.query<{ name: string }>(
    `select datname as name from pg_database where datname like 'bench\\_%\\_0\\_002\\_%'`,
  );
  for (const { name } of rows) await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

/** Runs it and returns the one file of results with this ending. */
async function bench<Results>(args: string[], ending: RegExp): Promise<{ printed: string; results: Results }> {
  const env = { PATH: process.env.PATH, BENCH_DATABASE_URL: inject('adminUrl') };
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...LITTLE, '--results', folder, ...args], {
    env,
    timeout: BENCH_MS,
  });
  const file = (await readdir(folder)).find((name) => ending.test(name)) ?? '';
  return { printed: stdout, results: JSON.parse(await readFile(join(folder, file), 'utf8')) };
}

test('operations, doors and probes are measured, and every request is answered', { timeout: BENCH_MS }, async () => {
  const { printed, results } = await bench<Comparison>([], /[0-9a-z]-[0-9a-z]+\.json$/);
  const { outcomes, probes } = results;
  expect(outcomes.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['a', 'b', 'c', 'd', 'e', 'f', 'renewals', 'mcp-call', 'trpc']),
  );
  for (const { id, sides } of outcomes) {
    for (const { name, requests, refused } of sides) {
      expect([id, name, requests > 0, refused]).toEqual([id, name, true, {}]);
    }
    expect(printed).toContain(`| ${id}: `);
  }
  expect(Object.keys(probes)).toEqual(expect.arrayContaining(['client', 'memory', 'rows', 'start']));
});

test('growth is measured over sizes and over companies', { timeout: BENCH_MS }, async () => {
  const args = ['--growth', '--scales', '0.002', '--companies', '1,2', '--only', 'a,e'];
  const { results } = await bench<Record<'bySize' | 'byCompanies', Grown[]>>(args, /-growth\.json$/);
  const variants = (grown: Grown[]) => grown.map(({ id, sides }) => [id, ...sides.map(({ name }) => name)]);
  expect(variants(results.bySize)).toEqual([
    ['a', '0.002 of full size'],
    ['e', '0.002 of full size'],
  ]);
  expect(variants(results.byCompanies)).toEqual([
    ['a', '1 company', '2 companies'],
    ['e', '1 company', '2 companies'],
  ]);
});

test('many companies are made, are right, and are measured', { timeout: BENCH_MS }, async () => {
  const { printed, results } = await bench<Many>(['--many', '12'], /-many\.json$/);
  const { companies, starts, jobs, outcomes } = results;
  expect([companies, starts.length]).toEqual([12, 2]);
  expect(jobs.map(({ line }) => line)).toEqual([
    { issued: 0, failed: [] },
    { issued: 1, failed: [] },
    { removed: expect.objectContaining({ idempotency_records: 72 }), failed: [] },
    { removed: expect.objectContaining({ idempotency_records: 0 }), failed: [] },
  ]);
  for (const { id, sides } of outcomes) {
    for (const { name, requests, refused } of sides)
      expect([id, name, requests > 0, refused]).toEqual([id, name, true, {}]);
    expect(printed).toContain(`| ${id}: `);
  }
  const admin = new pg.Client({ connectionString: inject('adminUrl') });
  await admin.connect();
  const { rows } = await admin.query<{ name: string }>(
    `select datname as name from pg_database where datname like 'bench\\_many\\_12\\_%'`,
  );
  const url = new URL(inject('adminUrl'));
  for (const { name } of rows) {
    url.pathname = `/${name}`;
    const { stdout } = await run(['check'], { DATABASE_URL: url.href });
    expect(stdout).toBe('Every figure is what the records say, and every document as it was sealed\n');
    await admin.query(`drop database ${name} with (force)`);
  }
  expect(rows).toHaveLength(1);
  await admin.end();
});
