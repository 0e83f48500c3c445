// Scheduled jobs: once for each time of the schedule, by one process at a time.
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

/** A scheduled job that counts its runs. */
async function job() {
  const name = `job-${randomUUID()}`;
  await database.admin.query('insert into scheduled_runs (name) values ($1)', [name]);
  const done: string[] = [];
  const at = (slot: Temporal.Instant, work: () => Promise<void> = async () => void done.push(slot.toString())) =>
    runOnce(database.directUrl, name, slot, work);
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
  const other = new pg.Client({ connectionString: database.directUrl });
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

test('while it is done, no session of it has a transaction open, and the lock is of its own name', async () => {
  const [one, other] = [await job(), await job()];
  await one.at(THREE, async () => {
    const { rows } = await database.admin.query(
      'select state, xact_start from pg_stat_activity where application_name = $1',
      [`albaran ${one.name}`],
    );
    expect(rows).toEqual([{ state: 'idle', xact_start: null }]);
    expect([await one.at(FOUR), await other.at(THREE)]).toEqual(['held', 'ran']);
  });
  const { rows } = await database.admin.query(
    `select from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
  );
  expect(rows, 'none is left').toEqual([]);
});

test('the version before, which holds the row while it is at it, is waited for; when both are at it, the later time stays', async () => {
  const { name, at, done } = await job();
  const before = new pg.Client({ connectionString: database.directUrl });
  await before.connect();
  await before.query('begin');
  await before.query('select from scheduled_runs where name = $1 for update', [name]);
  expect(await at(THREE)).toBe('held');
  await before.query('rollback');
  await at(THREE, () =>
    before.query('update scheduled_runs set slot = $2 where name = $1', [name, FOUR.toString()]).then(() => {}),
  );
  await before.end();
  expect([await at(FOUR), done]).toEqual(['seen', []]);
});
