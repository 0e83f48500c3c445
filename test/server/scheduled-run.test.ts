// What is done by the clock: once for each time of the schedule, by one process at a time.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOnce } from '../../server/scheduled-run.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';

let database: OwnDatabase;
beforeAll(async () => {
  database = await ownDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const THREE = Temporal.Instant.from('2026-03-10T03:00:00Z');
const FOUR = THREE.add({ hours: 1 });

/** Something to be done by the clock, and how often it was. */
async function job() {
  const name = `job-${randomUUID()}`;
  await database.admin.query('insert into scheduled_runs (name) values ($1)', [name]);
  const done: string[] = [];
  const at = (slot: Temporal.Instant, work: () => Promise<void> = async () => void done.push(slot.toString())) =>
    runOnce(database.url, name, slot, work);
  return { name, at, done };
}

test('each time of the schedule is seen to once, and those before it count as seen to', async () => {
  const { at, done } = await job();
  expect([await at(THREE), await at(THREE), await at(FOUR), await at(THREE)]).toEqual(['ran', 'seen', 'ran', 'seen']);
  expect(done).toEqual([THREE.toString(), FOUR.toString()]);
});

test('while one is at it another is told so; what failed is left to be done', async () => {
  const { at, done } = await job();
  await expect(
    at(THREE, async () => {
      expect(await at(THREE)).toBe('held');
      throw new Error('away');
    }),
  ).rejects.toThrow('away');
  expect(done).toEqual([]);
  expect(await at(THREE)).toBe('ran');
});

test('whoever loses its connection in the middle has lost the run to others', async () => {
  const { name, at, done } = await job();
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  const lost = at(THREE, async () => {
    await other.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1', [
      `albaran ${name}`,
    ]);
    expect(await at(THREE)).toBe('ran');
  });
  await expect(lost).rejects.toThrow();
  await other.end();
  expect(done).toEqual([THREE.toString()]);
  expect(await at(THREE)).toBe('seen');
});
