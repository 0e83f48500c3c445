// Another session holds a lock for longer than any timeout: rows that writes need, then a table.
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Proof } from '../once/proof.ts';
import { keepWriting } from '../once/writes.ts';
import { standOn } from '../supervisor.ts';
import { afterMs, BACK_MS } from './overload.ts';
import { type Pair, WAIT_MS } from './pair.ts';
import { quietAfter, type Report, refused, seconds, served, within } from './report.ts';

const WRITERS = 6;
const RATE = 20;

export interface LockTimes {
  /** Duration of the lock. */
  milliseconds: number;
  /** The statement timeout. */
  statementMs: number;
}

/** What each writer and reader sees during a lock and afterwards. */
export async function lockHeld(
  name: string,
  lock: string,
  pair: Pair,
  { proof, report, milliseconds, statementMs }: LockTimes & { proof: Proof; report: Report },
): Promise<void> {
  const after = afterMs(milliseconds);
  const written: Answer[] = [];
  proof.onAnswer = (answer) => written.push(answer);
  const over = new AbortController();
  const writing = Array.from({ length: WRITERS }, () =>
    keepWriting(proof, { seed: 0, index: writers++, doors: 'all', patient: true }, over.signal),
  );
  await wait(1_000);
  const stand = await standOn(pair.postgres.url);
  let released: number;
  let locked: number;
  let reads: Answer[];
  try {
    await stand.admin.query(`begin; ${lock.replaceAll('$1', String(pair.account))}`);
    locked = performance.now();
    const read = pair.reader.atRate(RATE, milliseconds + after);
    await wait(milliseconds);
    await stand.admin.query('rollback');
    released = performance.now();
    reads = (await read).answers;
  } finally {
    await stand[Symbol.asyncDispose]();
    over.abort();
    await Promise.all(writing);
  }
  const during = ({ at }: Answer) => at > locked && at <= released;
  const later = ({ at }: Answer) => at > released;
  report.phase(`${name}: writes`, written.filter(during), released - locked);
  report.phase(`${name}: reads`, reads.filter(during), released - locked);
  report.phase('  released: writes', written.filter(later), after);
  report.phase('  released: reads', reads.filter(later), after);
  // One call may wait for a connection three times: to authenticate, to count the call, to run it.
  const bound = statementMs + 3 * WAIT_MS;
  const all = [...written, ...reads];
  report.check(within(1, all) <= bound, `${name}: an answer took more than ${seconds(bound)} s`);
  const quiet = quietAfter(released, all.filter(later));
  report.notes.push([`as before, ${name} no more, in s`, seconds(quiet)]);
  report.check(quiet <= BACK_MS, `${name}: calls were still refused after it`);
  report.check(served(written.filter(later)).length > 0, `${name}: nothing was written after it`);
  if (milliseconds > bound) {
    report.check(refused(written.filter(during)).length > 0, `${name}: no write was told that it could not be done`);
  }
}

let writers = 0;

/** The locks: the document counters, which some writes need; and a table that reads need too. */
export const LOCKS = {
  'rows locked': 'select from document_counters where account_id = $1 for update',
  'a table locked': 'lock table products in access exclusive mode',
};
