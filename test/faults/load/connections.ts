// No free connection: calls that wait hold those of the pair, or others hold those of PostgreSQL.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Stand } from '../stand.ts';
import { standOn } from '../supervisor.ts';
import { Client } from './client.ts';
import { afterMs, backToNormal } from './overload.ts';
import { callOf, type Pair, POOLED, WAIT_MS } from './pair.ts';
import { type Report, refused, served, within } from './report.ts';

const RATE = 40;
/** Longest time of a refusal: the wait for a connection and a margin. */
const REFUSED_MS = WAIT_MS + 2_000;

/** Calls that wait for a lock hold every connection of the pool; other calls must be refused in time. */
export async function poolHeld(
  { client, postgres, url, headers }: Pair,
  report: Report,
  milliseconds: number,
): Promise<void> {
  await using stand = await standOn(postgres.url);
  await stand.admin.query('begin; lock table products in access exclusive mode');
  // Over new connections, so that the proxy gives each process half of them.
  const caller = new Client(Number(new URL(url).port), headers, [callOf('products.list')]);
  const holders = Array.from({ length: POOLED }, () => caller.ask());
  await waitingForLocks(stand);
  const others = client.atRate(RATE, milliseconds, callOf('contacts.list'));
  await wait(milliseconds);
  await stand.admin.query('rollback');
  const [held, { answers }] = await Promise.all([Promise.all(holders), others]);
  caller.close();
  report.phase('every connection of the pool held', answers, milliseconds);
  report.phase('  those that held them', held, milliseconds);
  report.check(served(held).length === POOLED, 'Calls that waited for a lock were not served when it was gone');
  report.check(within(1, refused(answers)) <= REFUSED_MS, `A refusal took more than ${REFUSED_MS} ms`);
  if (milliseconds > WAIT_MS) report.check(refused(answers).length > 0, 'Calls were served without a connection');
  await backToNormal(client, report, 'connections again', afterMs(milliseconds));
}

/** Resolves when as many wait for a lock as the pair has connections. */
async function waitingForLocks({ admin }: Stand): Promise<void> {
  const count = `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock'`;
  for (const until = Date.now() + WAIT_MS; ; await wait(50)) {
    // A new transaction each time: statistics don't change within one.
    await admin.query('select pg_stat_clear_snapshot()');
    const { rows } = await admin.query<{ waiting: number }>(count);
    if (rows[0]?.waiting === POOLED) return;
    if (Date.now() > until) throw new Error(`${rows[0]?.waiting} of ${POOLED} calls wait for the lock`);
  }
}

/** Others hold all connections of PostgreSQL. */
export async function postgresFull({ client, postgres }: Pair, report: Report, milliseconds: number): Promise<void> {
  const others: pg.Client[] = [];
  {
    await using stand = await standOn(postgres.url);
    // The service asks for what is to be sent each second, so it may be faster than this: until none of its connections is left.
    for (let ended = 1; ended > 0; ) {
      const { rowCount } = await stand.admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> '${OTHERS}'`,
      );
      ended = rowCount ?? 0;
      await fill();
    }
    // The test's own connection would be the last free one: take it too.
  }
  await fill();
  const { answers } = await client.atRate(RATE, milliseconds);
  await Promise.all(others.map((other) => other.end()));
  report.phase('PostgreSQL takes no connection', answers, milliseconds);
  report.notes.push(['connections that others held', others.length]);
  report.check(served(answers).length === 0, 'Calls were served without a connection');
  report.check(within(1, answers) <= REFUSED_MS, `A refusal took more than ${REFUSED_MS} ms`);
  await backToNormal(client, report, 'connections to be had', afterMs(milliseconds));

  async function fill(): Promise<void> {
    for (;;) {
      const other = new pg.Client({ connectionString: postgres.url, application_name: OTHERS });
      other.on('error', () => {});
      try {
        await other.connect();
        others.push(other);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === TOO_MANY) return;
        throw error;
      }
    }
  }
}

const TOO_MANY = '53300';
const OTHERS = 'others';
