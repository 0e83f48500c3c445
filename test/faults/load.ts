// `npm run prove:load`: double load, callers that hold connections, and a database that is gone, locked or full.
//
//   npm run prove:load                                two minutes of double load, the database gone for 30 s, and the rest
//   npm run prove:load -- --parts disk,locks          some of load, away, connections, locks, disk
//   npm run prove:load -- --seconds 3 --away 1 --held 2   a trial
//
// Two processes behind a proxy that balances by connection, over 200 connections. First their capacity is measured, then they get
// twice as many calls per second: the excess must be refused at once, with 503 and Retry-After, and the rest served soon. Then half
// the capacity, which must be served as before within seconds; and the same beside callers that send slowly, send nothing or send
// too much. Then the database is gone; all its connections are taken, in the pool or in PostgreSQL; another session holds locks for
// longer than any timeout; and, on a separate PostgreSQL, the disk is full. Every call must be answered in time, with its result or
// a refusal that says when to try again; writes happen once and completely; and the same two processes must recover within seconds.
// The figures are those of this machine, shared with the callers. Exit 1 if one is out of bounds.
import { parseArgs } from 'node:util';
import { CONNECTIONS } from './load/client.ts';
import { poolHeld, postgresFull } from './load/connections.ts';
import { checkWritten, fullDisk } from './load/full-disk.ts';
import { LOCKS, lockHeld } from './load/locks.ts';
import { databaseAway, overload } from './load/overload.ts';
import { checkAlive, openPair } from './load/pair.ts';
import { Report } from './load/report.ts';
import { Proof } from './once/proof.ts';
import { table } from './stand.ts';
import { runProof } from './supervisor.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    away: { type: 'string', default: '30' },
    held: { type: 'string', default: '40' },
    parts: { type: 'string', default: 'load,away,connections,locks,disk' },
  },
});
const parts = options.parts.split(',');
const milliseconds = (text: string) => Number(text) * 1000;
/** Where locks are held: longer than the lock timeout of writes (10 s), shorter than the locks are held. */
const statementMs = Math.min(15_000, milliseconds(options.held) / 2);

async function main(stack: AsyncDisposableStack): Promise<boolean> {
  const report = new Report();
  await onePostgres(stack, report);
  if (parts.includes('disk')) {
    await fullDisk(stack, report, { milliseconds: milliseconds(options.held) / 4, statementMs });
  }
  console.log(`${CONNECTIONS} connections to 2 processes\n\n${table(report.rows)}\n\n${table(report.notes)}\n`);
  if (report.failures.length > 0) console.error(report.failures.join('\n'));
  console.log(report.failures.length === 0 ? 'The service holds under load.' : 'Not proved.');
  return report.failures.length === 0;
}

/** All but the disk, with the same two processes. */
async function onePostgres(outer: AsyncDisposableStack, report: Report): Promise<void> {
  if (parts.every((part) => part === 'disk')) return;
  await using stack = outer.use(new AsyncDisposableStack());
  const pair = await openPair(stack, { statementMs });
  if (parts.includes('load')) await overload(pair, report, milliseconds(options.seconds));
  if (parts.includes('away')) await databaseAway(pair, report, milliseconds(options.away));
  if (parts.includes('connections')) {
    const held = milliseconds(options.held) / 4;
    await poolHeld(pair, report, held);
    await postgresFull(pair, report, held);
  }
  if (parts.includes('locks')) {
    const proof = new Proof(() => pair.url, pair.headers);
    const times = { milliseconds: milliseconds(options.held), statementMs };
    for (const [name, lock] of Object.entries(LOCKS)) await lockHeld(name, lock, pair, { proof, report, ...times });
    await checkWritten(proof, pair, report, 'beside locks');
  }
  checkAlive(pair, report);
}

await runProof(main);
