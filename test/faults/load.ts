// `npm run prove:load`: twice what the service can take, callers that hold on to it, and its database gone.
//
//   npm run prove:load                                two minutes of load, the database gone for 30 s
//   npm run prove:load -- --seconds 6 --away 2        to see that it runs
//
// Two processes behind a proxy that gives each connection to the next of them, over 200 connections. First what they can
// answer, then twice as many calls in a second: what is too much has to be refused at once, with 503 and Retry-After, and what
// is served has to be served soon. Then half as many, which has to be as before within seconds; the same beside callers who
// send slowly, say nothing or send too much; and with the database away. Figures are this machine's, shared with those who
// call. Exit 1 when one of them is out of its bounds.
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { operations } from '../../bridges/operations.ts';
import { exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { type Call, callsOf, headersOf } from './doors.ts';
import { newApiKey, newCompany, table } from './stand.ts';
import { type Supervised, standOn, startOwnPostgres, supervise } from './supervisor.ts';

const CONNECTIONS = 200;
const CALLERS = 24;
/** Small, so that 200 connections are more than the two processes let wait. */
const PROCESS = { DATABASE_POOL: '5', DATABASE_QUEUE: '20', LOG_LEVEL: 'info' };
const PATHS = ['products.list', 'invoices.list', 'contacts.list', 'opportunities.move', 'timeEntries.list'];
/** As much more than they can answer as is tried until something is refused. */
const MOST_FACTOR = 8;
const TICK_MS = 10;
/** What compiles while it runs is slow at first. */
const WARM_MS = 1_500;
/** Of a phase in which something has to happen. */
const SHORTEST_MS = 2_000;

/** What a call may take that is served in the overload, in 99 of 100. */
const SERVED_MS = 3_000;
const QUIET_MS = 1_000;
/** When, after the overload, calls are no longer refused. */
const NORMAL_MS = 5_000;
/** What an answer may take that says that the database is away: the wait for a connection, and some. */
const AWAY_MS = 7_000;
/** From the first connection that the database takes until no call fails. */
const BACK_MS = 10_000;

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '120' }, away: { type: 'string', default: '30' } },
});

interface Proxy extends AsyncDisposable {
  port: number;
}

/** Gives each connection to the next of the services. */
async function roundRobin(services: readonly Supervised[]): Promise<Proxy> {
  const open = new Set<Socket>();
  let next = 0;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const service = services[next++ % services.length];
    const far = connect({ port: Number(new URL(service?.url() ?? '').port), host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

interface Answer {
  /** 0 when the connection was lost. */
  status: number;
  ms: number;
  retryAfter: string | undefined;
  text: string;
  /** When it came. */
  at: number;
}

/** Calls of a company, over connections that stay open. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  readonly #port: number;
  readonly #headers: Record<string, string>;
  readonly #calls: readonly Call[];
  #next = 0;
  inFlight = 0;

  constructor(port: number, headers: Record<string, string>, calls: readonly Call[]) {
    this.#port = port;
    this.#headers = headers;
    this.#calls = calls;
  }

  /** The next of the calls in turn, or this one. */
  async ask(call = this.#calls[this.#next++ % this.#calls.length]): Promise<Answer> {
    if (!call) throw new Error('Nothing to call');
    const { method, path, body = '' } = call;
    const headers = { ...headersOf(call, { key: this.#headers }), 'content-length': Buffer.byteLength(body) };
    const begun = performance.now();
    this.inFlight++;
    const answer = await new Promise<IncomingMessage | undefined>((resolve) => {
      const to = { host: '127.0.0.1', port: this.#port, method, path, headers, agent: this.#agent };
      httpRequest(to, resolve)
        .on('error', () => resolve(undefined))
        .end(body);
    });
    const text = answer ? await textOf(answer) : undefined;
    this.inFlight--;
    const at = performance.now();
    const lost = answer === undefined || text === undefined;
    const status = lost ? 0 : (answer.statusCode ?? 0);
    return { status, ms: at - begun, retryAfter: answer?.headers['retry-after'], text: text ?? '', at };
  }

  /** As many at once, each after the other, for so long. */
  async steadily(callers: number, milliseconds: number): Promise<Answer[]> {
    const until = performance.now() + milliseconds;
    const answers: Answer[] = [];
    const caller = async () => {
      while (performance.now() < until) answers.push(await this.ask());
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return answers;
  }

  /** So many in a second, whatever becomes of them, as long as a connection is free. `unsent`: those for which none was. */
  async atRate(rate: number, milliseconds: number): Promise<{ answers: Answer[]; unsent: number }> {
    const begun = performance.now();
    const answers: Answer[] = [];
    const sent: Promise<unknown>[] = [];
    let unsent = 0;
    for (let due = 0, asked = 0; performance.now() - begun < milliseconds; await wait(TICK_MS)) {
      due = ((performance.now() - begun) / 1000) * rate;
      for (; asked < due; asked++) {
        if (this.inFlight >= CONNECTIONS) unsent++;
        else sent.push(this.ask().then((answer) => answers.push(answer)));
      }
    }
    await Promise.all(sent);
    return { answers, unsent };
  }

  close(): void {
    this.#agent.destroy();
  }
}

const textOf = (answer: IncomingMessage) =>
  new Promise<string | undefined>((resolve) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (part) => {
      text += part;
    });
    answer.on('end', () => resolve(text));
    answer.on('error', () => resolve(undefined));
  });

/** The time that this share of the answers did not exceed, in milliseconds. */
function within(share: number, answers: readonly Answer[]): number {
  const times = answers.map(({ ms }) => ms).sort((one, other) => one - other);
  return Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0);
}

const served = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200);
const refused = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 503);

/** When, after this moment, a second began in which nothing was refused; in milliseconds. */
function quietAfter(begun: number, answers: readonly Answer[]): number {
  let quiet = 0;
  for (const at of refused(answers)
    .map((answer) => answer.at - begun)
    .sort((one, other) => one - other)) {
    if (at - quiet >= QUIET_MS) break;
    quiet = at;
  }
  return quiet;
}

const seconds = (milliseconds: number) => Math.round(milliseconds / 100) / 10;

class Report {
  readonly rows: (string | number)[][] = [
    ['', 'calls a second', 'served', '503', 'other', 'median ms', '99 of 100', 'longest'],
  ];
  readonly notes: (string | number)[][] = [['', '']];
  readonly failures: string[] = [];

  /** A phase: its figures, and that nothing came of its calls but an answer or a refusal that says when to come again. */
  phase(name: string, answers: readonly Answer[], milliseconds: number): void {
    const good = served(answers);
    const other = answers.length - good.length - refused(answers).length;
    const figures = [within(0.5, good), within(0.99, good), within(1, good)];
    const rate = Math.round((answers.length / milliseconds) * 1000);
    this.rows.push([name, rate, good.length, refused(answers).length, other, ...figures]);
    const odd = answers.find(({ status }) => status !== 200 && status !== 503);
    if (odd) this.failures.push(`${name}: ${other} answers were neither served nor refused: ${odd.status} ${odd.text}`);
    const mute = refused(answers).find(({ retryAfter, text }) => !retryAfter || !text.includes('(petición '));
    if (mute) this.failures.push(`${name}: a refusal without Retry-After or request id: ${mute.text}`);
  }

  check(holds: boolean, otherwise: string): void {
    if (!holds) this.failures.push(otherwise);
  }
}

/** Callers that take connections and give little: half a request slowly, nothing at all, too much. Answers how they ended. */
async function hangOn(port: number, headers: Record<string, string>, milliseconds: number) {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const begin = (length: number) =>
    `POST /api/v1/crm/contacts HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${head.join('')}Content-Length: ${length}\r\n\r\n`;
  const sockets: Socket[] = [];
  const told: string[] = [];
  const open = (first: string) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.setEncoding('utf8').on('data', (text: string) => told.push(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? ''));
    socket.on('error', () => {});
    if (first) socket.write(first);
    sockets.push(socket);
    return socket;
  };
  const slow = Array.from({ length: 50 }, () => open(begin(500)));
  for (let count = 0; count < CONNECTIONS; count++) open('');
  const until = performance.now() + milliseconds;
  const tooMuch = 'x'.repeat(64 * 1024);
  while (performance.now() < until) {
    for (const socket of slow) if (socket.writable) socket.write(' ');
    const large = open(begin(8 * 1024 * 1024));
    large.write(tooMuch);
    await wait(100);
  }
  const held = slow.filter(({ destroyed }) => !destroyed).length;
  for (const socket of sockets) socket.destroy();
  return { slow: held, tooLarge: told.filter((status) => status === '413').length };
}

async function main(): Promise<boolean> {
  const milliseconds = Number(options.seconds) * 1000;
  const report = new Report();
  await using postgres = await startOwnPostgres();
  await using stack = new AsyncDisposableStack();
  let headers: Record<string, string>;
  {
    await using stand = await standOn(postgres.url);
    const account = await newCompany(stand, exampleRecords, exampleAccount);
    headers = await newApiKey(stand, account);
  }
  const services = await Promise.all([1, 2].map(() => supervise(postgres.url, PROCESS)));
  for (const service of services) stack.use(service);
  const proxy = stack.use(await roundRobin(services));
  const chosen = operations.filter(({ path }) => PATHS.includes(path));
  const calls = chosen.flatMap((operation) => callsOf(operation, examples[operation.path] ?? {}).slice(0, 1));
  const client = new Client(proxy.port, headers, calls);
  stack.defer(() => client.close());
  await client.steadily(CALLERS, Math.max(WARM_MS, milliseconds * 0.05));

  const alone = await client.steadily(CALLERS, milliseconds * 0.15);
  report.phase(`${CALLERS} callers`, alone, milliseconds * 0.15);
  const capacity = (served(alone).length / (milliseconds * 0.15)) * 1000;

  // What is refused costs little: only where nothing is, twice as much was not too much.
  let factor = 2;
  let over = await client.atRate(factor * capacity, milliseconds * 0.4);
  while (refused(over.answers).length === 0 && factor < MOST_FACTOR) {
    factor *= 2;
    over = await client.atRate(factor * capacity, milliseconds * 0.4);
  }
  report.phase(`${factor} times as much`, over.answers, milliseconds * 0.4);
  const goodput = (served(over.answers).length / (milliseconds * 0.4)) * 1000;
  report.notes.push(['served in the overload, of what could be, %', Math.round((goodput / capacity) * 100)]);
  report.notes.push(['not sent, with all connections waiting', over.unsent]);
  report.notes.push(['99 of 100 refusals within ms', within(0.99, refused(over.answers))]);
  report.check(refused(over.answers).length > 0, 'Nothing was refused: this was no overload');
  report.check(within(0.99, served(over.answers)) <= SERVED_MS, `Served calls took more than ${SERVED_MS} ms`);
  report.check(goodput > capacity / 4, 'In the overload hardly anything was served');

  const begun = performance.now();
  const calm = await client.atRate(capacity / 2, Math.max(milliseconds * 0.15, SHORTEST_MS));
  report.phase('half as much', calm.answers, performance.now() - begun);
  const normal = quietAfter(begun, calm.answers);
  report.notes.push(['as before, after the overload, in s', seconds(normal)]);
  report.check(normal <= NORMAL_MS, `${seconds(normal)} s after the overload calls were still refused`);

  const besideMs = Math.max(milliseconds * 0.25, SHORTEST_MS);
  const [beside, held] = await Promise.all([
    client.atRate(capacity / 4, besideMs),
    hangOn(proxy.port, headers, besideMs),
  ]);
  report.phase('a quarter, beside 250 that hold on', beside.answers, besideMs);
  report.notes.push(
    ['slow callers that kept their connection', held.slow],
    ['bodies too large, told so', held.tooLarge],
  );
  report.check(held.tooLarge > 0, 'Nobody was told that a body is too large');
  report.check(within(0.99, served(beside.answers)) <= SERVED_MS, 'Callers who hold on held up the others');
  const share = refused(beside.answers).length / beside.answers.length;
  // Had they a connection to the database each, or a worker, hardly any other would have one.
  report.check(share < 0.2, `Beside callers who hold on, ${Math.round(share * 100)} % of the others were refused`);

  await postgres.end('immediate');
  const away = Number(options.away) * 1000;
  const [without, health] = await Promise.all([
    client.atRate(Math.min(capacity / 4, 50), away),
    client.ask({ door: 'v1', method: 'GET', path: '/health/live' }),
  ]);
  report.phase('the database away', without.answers, away);
  report.notes.push(['99 of 100 of its answers within ms', within(0.99, without.answers)]);
  report.check(health.status === 200, 'Without its database the process counts as dead');
  report.check(served(without.answers).length === 0, 'Calls were served without a database');
  report.check(within(1, without.answers) <= AWAY_MS, `An answer without the database took more than ${AWAY_MS} ms`);
  await postgres.start();
  const back = performance.now();
  const after = await client.atRate(Math.min(capacity / 4, 50), Math.max(SHORTEST_MS, milliseconds * 0.1));
  report.phase('the database back', after.answers, performance.now() - back);
  const again = quietAfter(back, after.answers);
  report.notes.push(['as before, with the database back, in s', seconds(again)]);
  report.check(again <= BACK_MS && served(after.answers).length > 0, 'The service did not come back with its database');
  for (const { starts, endedByItself } of services) {
    report.check(starts === 1, `A process ended by itself: ${endedByItself.join('\n')}`);
  }

  console.log(`${CONNECTIONS} connections to 2 processes\n\n${table(report.rows)}\n\n${table(report.notes)}\n`);
  if (report.failures.length > 0) console.error(report.failures.join('\n'));
  console.log(report.failures.length === 0 ? 'The service holds under load.' : 'Not proved.');
  return report.failures.length === 0;
}

process.exitCode = (await main()) ? 0 : 1;
