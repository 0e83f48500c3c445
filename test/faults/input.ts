// `npm run prove:input`: invalid requests, all of which the service must answer properly.
//
//   npm run prove:input                             100,000 requests with a random seed
//   npm run prove:input -- --seed 7 --requests 500  a reproducible run
//   npm run prove:input -- --seed 7 --only 123      one of its requests, with its answer
//
// Each answer must come in time, be no 5xx, have its interface's shape and reveal no internals; a 400 must name a parameter or say
// what is malformed. At the end the service must still run, without logged errors and without more memory. Exit 1 otherwise;
// failures are printed as commands that repeat them.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { exampleAccount, exampleRecords } from '../helpers/examples.ts';
import { isTooLong, problemOf, unnamed } from './input/judge.ts';
import { type FuzzRequest, makeRequest } from './input/requests.ts';
import { agent, NoAnswer, sendIt, stall, WIDTH } from './input/send.ts';
import { openApi } from './input/values.ts';
import type { Memory } from './inside.ts';
import { inParallel, newApiKey, newCompany, openStand, type ServiceProcess, startService, table } from './stand.ts';

/** Requests between memory readings. */
const PARTS = 10;
/** Allowed growth of memory after the first tenth: caches that fill up. */
const MOST_GROWTH = { heap: 24 * 2 ** 20, rss: 96 * 2 ** 20 };
/** Runs this long wait for half-sent requests to be closed, which the service does after a minute. */
const LONG_RUN = 50_000;
const SHOWN = 5;

const { values: options } = parseArgs({
  options: { seed: { type: 'string' }, requests: { type: 'string', default: '100000' }, only: { type: 'string' } },
});
const seed = options.seed === undefined ? randomInt(2 ** 31) : Number(options.seed);
const total = Number(options.requests);

/** A command that repeats the request on a service with the examples' company and its key. */
function asCommand({ method, path, headers, body, raw }: FuzzRequest): string {
  if (raw) return `echo ${raw.toString('base64')} | base64 -d | nc 127.0.0.1 3000`;
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const shown = headers.map(([name, value]) => {
    if (name === 'x-api-key') return '-H "X-API-KEY: $ALBARAN_KEY"';
    if (name === 'x-api-secret') return '-H "X-API-SECRET: $ALBARAN_SECRET"';
    return `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`;
  });
  const command = ['curl -sS --path-as-is', `-X ${method}`, quoted(`http://127.0.0.1:3000${path}`), ...shown].join(' ');
  if (!body) return command;
  return `echo ${body.toString('base64')} | base64 -d | ${command} --data-binary @-`;
}

interface Failure {
  number: number;
  request: FuzzRequest;
  told: string;
}

async function main(): Promise<boolean> {
  console.log(`seed ${seed}, ${total.toLocaleString('en')} requests`);
  await using stand = await openStand();
  const company = await newCompany(stand, exampleRecords, exampleAccount);
  await using service = await startService(stand);
  const credentials = await newApiKey(stand, company);
  const document = openApi.parse(await (await fetch(`${service.url}/api/v1/openapi.json`)).json());
  const make = (number: number) => makeRequest(seed, number, document, credentials);
  if (options.only !== undefined) return await showOne(service, make(Number(options.only)));

  const failures = new Map<string, Failure[]>();
  const statuses = new Map<string, Map<string, number>>();
  let slowest = 0;
  const memory: Memory[] = [];
  const stalled = total >= LONG_RUN ? stall(service.url) : [];
  const started = performance.now();
  const fail = (problem: string, failure: Failure) =>
    failures.set(problem, [...(failures.get(problem) ?? []), failure]);

  async function one(number: number): Promise<void> {
    const request = make(number);
    try {
      const response = await sendIt(service.url, request);
      slowest = Math.max(slowest, response.ms);
      const door = request.raw ? 'bytes' : request.shape === 'any' ? 'elsewhere' : doorOf(request);
      const counts = statuses.get(door) ?? new Map<string, number>();
      statuses.set(door, counts);
      const name = response.status === 0 ? 'hung up' : String(response.status);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const problem = problemOf(request, response);
      if (problem) fail(problem, { number, request, told: `${response.status} ${response.text.slice(0, 300)}` });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      // The service may stop reading a body that is too large, and does not know an unread request as HEAD.
      const tooLarge = (request.body?.length ?? 0) >= 2 ** 20;
      const unread = request.method === 'HEAD' && isTooLong(request);
      if (!tooLarge && !unread) fail(error.message, { number, request, told: '' });
    }
  }

  for (let part = 0; part < PARTS && service.alive(); part++) {
    const from = Math.floor((total * part) / PARTS);
    const to = Math.floor((total * (part + 1)) / PARTS);
    await inParallel(
      WIDTH,
      Array.from({ length: to - from }, (_, index) => () => one(from + index)),
    );
    if (service.alive()) memory.push(await service.memory());
    if (total >= LONG_RUN) console.log(`${to.toLocaleString('en')} sent, ${megabytes(memory.at(-1)?.heap)} MB of heap`);
  }
  const seconds = (performance.now() - started) / 1000;
  const alive = service.alive();
  const hungUpOn = (await Promise.all(stalled)).filter((inTime) => inTime).length;
  agent.destroy();
  await service.stop();
  const errors = service.log.filter((line) => /"level":(50|60)/.test(line));

  for (const [problem, all] of failures) {
    console.log(`\n${problem}: ${all.length}`);
    for (const { number, request, told } of all.slice(0, SHOWN)) {
      console.log(`  --only ${number}: ${request.about.join(', ')}\n  ${told}\n  ${asCommand(request).slice(0, 3000)}`);
    }
  }
  for (const line of errors.slice(0, SHOWN)) console.log(`logged as an error: ${line.slice(0, 600)}`);

  const [first, last] = [memory[0], memory.at(-1)];
  const growth = first && last ? { heap: last.heap - first.heap, rss: last.rss - first.rss } : { heap: 0, rss: 0 };
  const failed = [...failures.values()].reduce((sum, all) => sum + all.length, 0);
  const classes = ['200', '400', '401', '403', '404', '405', '409', '413', '415', '422', 'other'];
  const rows = [...statuses].sort().map(([door, counts]) => {
    const known = classes.map((name) => counts.get(name) ?? 0);
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    known[classes.length - 1] = all - known.reduce((sum, count) => sum + count, 0);
    return [door, all, ...known];
  });
  const stalledText = stalled.length === 0 ? 'not tried in so short a run' : `${hungUpOn} of ${stalled.length}`;
  console.log(`
${table([['door', 'requests', ...classes], ...rows])}

${table([['refused as a whole, in words that name no parameter', 'times'], ...[...unnamed].sort(([, one], [, other]) => other - one)])}

${table([
  ['', 'found'],
  ['requests', total],
  ['requests a second', Math.round(total / seconds)],
  ['slowest answer, ms', Math.round(slowest)],
  ['wrong answers, or none', failed],
  ['errors in the log', errors.length],
  ['half requests hung up on', stalledText],
  ['heap after the first tenth, MB', megabytes(first?.heap)],
  ['heap at the end, MB', megabytes(last?.heap)],
  ['resident after the first tenth, MB', megabytes(first?.rss)],
  ['resident at the end, MB', megabytes(last?.rss)],
])}
`);
  const grown = growth.heap > MOST_GROWTH.heap || growth.rss > MOST_GROWTH.rss;
  const holds = alive && failed === 0 && errors.length === 0 && hungUpOn === stalled.length && !grown;
  if (!alive) console.log('The service is gone.');
  if (grown) console.log('Memory grew.');
  console.log(holds ? `Input holds. Seed ${seed}.` : `Input does not hold. Seed ${seed}.`);
  return holds;
}

const megabytes = (bytes = 0) => Math.round(bytes / 2 ** 20);

const doorOf = ({ shape, path }: FuzzRequest) =>
  shape !== 'envelope' ? shape : path.startsWith('/api/v1') ? 'v1' : 'v0';

async function showOne(service: ServiceProcess, request: FuzzRequest): Promise<boolean> {
  console.log(`${request.about.join(', ')}\n${asCommand(request)}\n`);
  const response = await sendIt(service.url, request);
  const problem = problemOf(request, response);
  console.log(`${response.status} ${response.text}\n\n${problem ?? 'as it should be'}`);
  await service.stop();
  for (const line of service.log) if (/"level":(50|60)/.test(line)) console.log(line);
  agent.destroy();
  return problem === undefined;
}

process.exitCode = (await main()) ? 0 : 1;
