// PostgreSQL on a full disk: first tables can't grow, then the WAL can't, which ends the server; then there is room again.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { compare } from '../once/compare.ts';
import { type Answer, Proof } from '../once/proof.ts';
import { keepWriting } from '../once/writes.ts';
import { type OwnPostgres, standOn } from '../supervisor.ts';
import { afterMs, BACK_MS } from './overload.ts';
import { checkAlive, openPair, type Pair, WAIT_MS } from './pair.ts';
import { quietAfter, type Report, refused, seconds, served, within } from './report.ts';
import { mountSmallDisk } from './small-disk.ts';

const MEGABYTES = 400;
const WRITERS = 8;
const RATE = 30;
const BEFORE_MS = 2_000;
const SEGMENTS = 20;

/** Runs the part, or reports in the table why it can't. `milliseconds`: duration of each of two stages. */
export async function fullDisk(
  outer: AsyncDisposableStack,
  report: Report,
  { milliseconds, statementMs }: { milliseconds: number; statementMs: number },
): Promise<void> {
  await using stack = outer.use(new AsyncDisposableStack());
  const disk = await mountSmallDisk(stack, MEGABYTES);
  if (typeof disk === 'string') {
    report.notes.push(['A FULL DISK WAS NOT TRIED: no small file system can be mounted here', disk]);
    return;
  }
  const pair = await openPair(stack, { folder: disk.folder, statementMs });
  const { postgres } = pair;
  const proof = new Proof(() => pair.url, pair.headers);
  const written: Answer[] = [];
  proof.onAnswer = (answer) => written.push(answer);
  const over = new AbortController();
  const writing = Array.from({ length: WRITERS }, (_, index) =>
    keepWriting(proof, { seed: 1, index, doors: 'all', patient: true }, over.signal),
  );
  const watching = watch(postgres, over.signal);

  /** The answers during a stage. */
  const stage = async (name: string, ms: number) => {
    const begun = performance.now();
    const { answers: reads } = await pair.reader.atRate(RATE, ms);
    const writes = written.splice(0);
    report.phase(`${name}: writes`, writes, performance.now() - begun);
    report.phase(`${name}: reads`, reads, performance.now() - begun);
    const bound = statementMs + 3 * WAIT_MS;
    report.check(within(1, [...reads, ...writes]) <= bound, `${name}: an answer took more than ${seconds(bound)} s`);
    return { begun, reads, writes };
  };

  try {
    await stage('room on the disk', BEFORE_MS);
    await disk.fill();
    const full = await stage('the disk full', milliseconds);
    report.check(refused(full.writes).length > 0, 'The disk full: no write was refused');
    await disk.fill();
    const [without] = await Promise.all([stage('none for its log', milliseconds), exhaustLog(postgres.url)]);
    report.check(refused(without.writes).length > 0, 'None for its log: no write was refused');
    await disk.free();
    const again = await stage('room again', afterMs(milliseconds));
    const quiet = quietAfter(again.begun, [...again.reads, ...again.writes]);
    report.notes.push(['as before, with room on the disk, in s', seconds(quiet)]);
    report.check(quiet <= BACK_MS, 'With room on the disk, calls were still refused');
    report.check(served(again.writes).length > 0, 'With room on the disk, nothing was written');
  } finally {
    over.abort();
    await Promise.all(writing);
  }
  const { sessionsLost, starts } = await watching;
  report.notes.push(
    ['sessions that PostgreSQL lost on the full disk', sessionsLost],
    ['starts of PostgreSQL by who watches it', starts],
  );
  await checkWritten(proof, pair, report, 'the full disk');
  checkAlive(pair, report);
}

/** Everything acknowledged exists once; nothing is incomplete. */
export async function checkWritten(proof: Proof, { postgres, account }: Pair, report: Report, name: string) {
  await using stand = await standOn(postgres.url);
  await compare(proof, stand, account);
  report.notes.push([`writes acknowledged, ${name}`, proof.acknowledged], ['  violations', proof.violations.length]);
  report.failures.push(...proof.violations.slice(0, 5));
}

/** Makes PostgreSQL switch WAL files until there is no room for another. */
async function exhaustLog(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    for (let count = 0; count < SEGMENTS; count++) {
      await client.query(`select pg_logical_emit_message(true, 'proof', repeat('x', 1000)); select pg_switch_wal()`);
    }
  } catch {
    // Expected: it is meant to fail.
  } finally {
    await client.end().catch(() => {});
  }
}

/** Restarts PostgreSQL whenever it has ended, as systemd does, and counts lost sessions. */
async function watch(postgres: OwnPostgres, over: AbortSignal): Promise<{ sessionsLost: number; starts: number }> {
  const [starts, sessionsLost] = await Promise.all([keepStarted(postgres, over), countLost(postgres.url, over)]);
  return { starts, sessionsLost };
}

async function keepStarted(postgres: OwnPostgres, over: AbortSignal): Promise<number> {
  let starts = 0;
  for (; !over.aborted; await wait(500)) {
    if (await postgres.runs()) continue;
    // There may be no room to start yet.
    const started = await postgres.start().then(
      () => true,
      () => false,
    );
    if (started) starts++;
  }
  return starts;
}

async function countLost(connectionString: string, over: AbortSignal): Promise<number> {
  let lost = 0;
  for (; !over.aborted; await wait(100)) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    const gone = new Promise<true>((resolve) => client.on('end', () => resolve(true)));
    try {
      await client.connect();
    } catch {
      continue;
    }
    const stop = new Promise<false>((resolve) => over.addEventListener('abort', () => resolve(false), { once: true }));
    if (over.aborted || !(await Promise.race([gone, stop]))) await client.end();
    else lost++;
  }
  return lost;
}
