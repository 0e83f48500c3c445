// `npm run prove:load`: twice what the service can take, callers that hold on to it, and what it stands on gone, held or full.
//
//   npm run prove:load                                two minutes of twice the load, the database gone for 30 s, and the rest
//   npm run prove:load -- --parts disk,locks          some of load, away, connections, locks, disk
//   npm run prove:load -- --seconds 3 --away 1 --held 2   to see that it runs
//
// Two processes behind a proxy that gives each connection to the next of them, over 200 connections. First what they can
// answer, then twice as many calls in a second: what is too much has to be refused at once, with 503 and Retry-After, and what
// is served has to be served soon. Then half as many, which has to be as before within seconds; the same beside callers who
// send slowly, say nothing or send too much. Then the database away; no connection to it left, in the pool or in PostgreSQL;
// locks that another session holds longer than anybody waits; and, on a PostgreSQL of its own, a full disk. Every call has to be
// answered in time, by what it asked for or by a refusal that says when to come again, what is written is written once and
// whole, and all has to be as before within seconds, by the same two processes. Figures are this machine's, shared with those
// who call. Exit 1 when one of them is out of its bounds.
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
/** More than writes wait for a lock (10 s), where locks are held for so long; less than they are held. */
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

/** All but the disk, by the same two processes. */
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
