// Double load, callers that hold connections, and the database gone.
import type { Client } from './client.ts';
import { hangOn } from './hang-on.ts';
import { type Pair, WAIT_MS } from './pair.ts';
import { quietAfter, type Report, refused, seconds, served, within } from './report.ts';

const CALLERS = 24;
/** The rate is raised by this factor until something is refused. */
const MOST_FACTOR = 8;
/** Warm-up: compilation is slow at first. */
const WARM_MS = 1_500;
/** Duration of a phase in which something has to happen. */
const SHORTEST_MS = 2_000;

/** Longest time of 99 of 100 calls served during the overload. */
const SERVED_MS = 3_000;
/** Time after the overload within which refusals end. */
const NORMAL_MS = 5_000;
/** Longest time of an answer that the database is gone: the wait for a connection and a margin. */
const AWAY_MS = WAIT_MS + 2_000;
/** Time from the database's first connection until no call fails. */
export const BACK_MS = 10_000;
/** Calls per second during and after an outage. */
const FEW = 50;

/** Measures the capacity, then double and half of it. */
export async function overload({ client, url, headers }: Pair, report: Report, milliseconds: number): Promise<void> {
  await client.steadily(CALLERS, Math.max(WARM_MS, milliseconds * 0.05));
  const alone = await client.steadily(CALLERS, milliseconds * 0.15);
  report.phase(`${CALLERS} callers`, alone, milliseconds * 0.15);
  const capacity = (served(alone).length / (milliseconds * 0.15)) * 1000;

  // Refusals are cheap: if nothing is refused, the load was not double the capacity.
  let factor = 2;
  let over = await client.atRate(factor * capacity, milliseconds);
  while (refused(over.answers).length === 0 && factor < MOST_FACTOR) {
    factor *= 2;
    over = await client.atRate(factor * capacity, milliseconds);
  }
  report.phase(`${factor} times as much`, over.answers, milliseconds);
  const goodput = (served(over.answers).length / milliseconds) * 1000;
  report.notes.push(['served in the overload, of what could be, %', Math.round((goodput / capacity) * 100)]);
  report.notes.push(['not sent, with all connections waiting', over.unsent]);
  report.notes.push(['99 of 100 refusals within ms', within(0.99, refused(over.answers))]);
  report.check(refused(over.answers).length > 0, 'Nothing was refused: this was no overload');
  report.check(within(0.99, served(over.answers)) <= SERVED_MS, `Served calls took more than ${SERVED_MS} ms`);
  report.check(goodput > capacity / 4, 'In the overload hardly anything was served');

  // Share of the capacity that is still served, beside refusals and other work of the machine.
  const lasting = Math.min(capacity, goodput);
  const begun = performance.now();
  const calm = await client.atRate(lasting / 2, Math.max(milliseconds * 0.15, SHORTEST_MS));
  report.phase('half of what was served', calm.answers, performance.now() - begun);
  const normal = quietAfter(begun, calm.answers);
  report.notes.push(['as before, after the overload, in s', seconds(normal)]);
  report.check(normal <= NORMAL_MS, `${seconds(normal)} s after the overload calls were still refused`);
  await besideThoseWhoHoldOn(lasting / 4);

  async function besideThoseWhoHoldOn(rate: number): Promise<void> {
    const besideMs = Math.max(milliseconds * 0.25, SHORTEST_MS);
    const [beside, held] = await Promise.all([
      client.atRate(rate, besideMs),
      hangOn(Number(new URL(url).port), headers, besideMs),
    ]);
    report.phase('a quarter, beside 250 that hold on', beside.answers, besideMs);
    report.notes.push(
      ['slow callers that kept their connection', held.slow],
      ['bodies too large, told so', held.tooLarge],
    );
    report.check(held.tooLarge > 0, 'Nobody was told that a body is too large');
    report.check(within(0.99, served(beside.answers)) <= SERVED_MS, 'Callers who hold on held up the others');
    const share = refused(beside.answers).length / beside.answers.length;
    // A connection to the database or a worker for each of them would leave hardly any.
    report.check(share < 0.2, `Beside callers who hold on, ${Math.round(share * 100)} % of the others were refused`);
  }
}

/** Ends the database as by a crash, for a time. */
export async function databaseAway({ client, postgres }: Pair, report: Report, away: number): Promise<void> {
  await postgres.end('immediate');
  const [without, health] = await Promise.all([
    client.atRate(FEW, away),
    client.ask({ door: 'v1', method: 'GET', path: '/health/live' }),
  ]);
  report.phase('the database away', without.answers, away);
  report.check(health.status === 200, 'Without its database the process counts as dead');
  report.check(served(without.answers).length === 0, 'Calls were served without a database');
  report.check(within(1, without.answers) <= AWAY_MS, `An answer without the database took more than ${AWAY_MS} ms`);
  await postgres.start();
  await backToNormal(client, report, 'the database back', afterMs(away));
}

/** How long calls are watched after a fault of this duration. */
export const afterMs = (milliseconds: number) => Math.min(8_000, Math.max(SHORTEST_MS, milliseconds));

/** Calls after a fault: none may be refused after some seconds. `milliseconds`: duration of the calls. */
export async function backToNormal(client: Client, report: Report, name: string, milliseconds: number): Promise<void> {
  const begun = performance.now();
  const { answers } = await client.atRate(FEW, milliseconds);
  report.phase(name, answers, performance.now() - begun);
  const quiet = quietAfter(begun, answers);
  report.notes.push([`as before, with ${name}, in s`, seconds(quiet)]);
  report.check(quiet <= BACK_MS && served(answers).length > 0, `With ${name}, calls were still refused`);
}
