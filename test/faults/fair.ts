// `npm run prove:fair`: the effect of one aggressive caller at full speed, with or without credentials, on another company.
//
//   npm run prove:fair                          every caller, 10 s each
//   npm run prove:fair -- --only planning,year  only callers whose name contains one of these words
//   npm run prove:fair -- --seconds 2 --small   a trial
//
// One process with the settings of `npm start`. A small company reads its account again and again, first alone, then beside each
// caller: 99 of 100 reads must be answered within 10 times the time alone and within 250 ms, and the process must stay below
// 400 MB. Quotas are set out of reach, since they are not what is tested. The figures are those of this machine, shared with the
// callers and the database. Exit 1 if one is out of bounds.
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { largeCompany } from './fair/company.ts';
import { type Answers, CALLERS, type Target } from './fair/rude.ts';
import { Client } from './load/client.ts';
import { within } from './load/report.ts';
import type { Answer } from './once/proof.ts';
import { newApiKey, newCompany, openStand, table } from './stand.ts';
import { runProof, supervise } from './supervisor.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    small: { type: 'boolean', default: false },
  },
});
const milliseconds = Number(options.seconds) * 1000;

const SIZES = options.small
  ? { employees: 10, tasksEach: 4, recurrings: 50, invoices: 100, attachment: 1_000_000 }
  : { employees: 150, tasksEach: 40, recurrings: 4_000, invoices: 2_000, attachment: 20_000_000 };

/** As `npm start` and the image run it. */
const SETTINGS = {
  NODE_ENV: 'production',
  FAILED_KEYS_PER_MINUTE: '1000000',
  NODE_OPTIONS: '--max-old-space-size=384 --max-semi-space-size=8',
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
};
const TIMES_ALONE = 10;
const MOST_MS = 250;
const MOST_MEGABYTES = 400;
const PAUSE_MS = 15;
const WARM_MS = 1_000;

async function main(stack: AsyncDisposableStack): Promise<boolean> {
  const stand = stack.use(await openStand());
  const light = await newApiKey(stand, await newCompany(stand, []));
  const { headers, readOnly } = await largeCompany(stand, SIZES);
  const service = stack.use(await supervise(stand.url, SETTINGS));
  const url = service.url();
  const client = new Client(Number(new URL(url).port), light, [{ door: 'v1', method: 'GET', path: '/api/v1/account' }]);
  stack.defer(() => client.close());

  const failures: string[] = [];
  const rows: (string | number)[][] = [
    ['beside', 'light calls', 'not 200', 'median ms', '99 of 100', 'longest', 'memory MB', "the caller's answers"],
  ];
  const note = (name: string, answers: readonly Answer[], megabytes: number, theirs = '') => {
    const refused = answers.filter(({ status }) => status !== 200).length;
    const [p50, p99, longest] = [within(0.5, answers), within(0.99, answers), within(1, answers)];
    rows.push([name, answers.length, refused, p50, p99, longest, Math.round(megabytes), theirs]);
    if (process.stdout.isTTY) console.log(`${name}: ${p99} ms`);
    return { refused, p99 };
  };

  await lightCalls(client, WARM_MS);
  const alone = note('nobody', await lightCalls(client, milliseconds), await memoryOf(service.pid()));
  const bound = Math.min(MOST_MS, TIMES_ALONE * Math.max(1, alone.p99));
  for (const caller of CALLERS.filter((name) => options.only.split(',').some((words) => name.includes(words)))) {
    const target = { caller, url, headers, readOnly, link: await linkOf(url, headers) };
    const { answers, megabytes, theirs } = await beside(target, client, () => memoryOf(service.pid()));
    const { refused, p99 } = note(caller, answers, megabytes, told(theirs));
    if (refused > 0) failures.push(`${caller}: ${refused} light calls were not answered`);
    if (p99 > bound) failures.push(`${caller}: a light call took ${p99} ms, where ${bound} are allowed`);
    if (megabytes > MOST_MEGABYTES) failures.push(`${caller}: the process held ${Math.round(megabytes)} MB`);
    await quiet(client, alone.p99);
  }
  if (service.endedByItself.length > 0)
    failures.push(`The process ended by itself: ${service.endedByItself.join('\n')}`);

  console.log(`${table(rows)}\n`);
  if (failures.length > 0) console.error(failures.join('\n'));
  console.log(failures.length === 0 ? 'Nobody pays for another.' : 'Not proved.');
  return failures.length === 0;
}

/** The light calls beside an aggressive caller, and the highest memory of the process. */
async function beside(target: Target, client: Client, memory: () => Promise<number>) {
  const worker = new Worker(new URL('./fair/rude.ts', import.meta.url), { workerData: target });
  const failed = new Promise<never>((_, reject) => worker.on('error', reject));
  const samples: number[] = [];
  const sampler = setInterval(async () => samples.push(await memory()), 250);
  try {
    await Promise.race([wait(WARM_MS), failed]);
    const answers = await Promise.race([lightCalls(client, milliseconds), failed]);
    const theirs = await new Promise<Answers>((resolve) => {
      worker.on('message', resolve);
      worker.postMessage('stop');
    });
    return { answers, theirs, megabytes: Math.max(...samples) };
  } finally {
    clearInterval(sampler);
    await worker.terminate();
  }
}

/** One call after the other, with a pause between two. */
async function lightCalls(client: Client, forMs: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const until = performance.now() + forMs; performance.now() < until; await wait(PAUSE_MS)) {
    answers.push(await client.ask());
  }
  return answers;
}

/** Waits until the caller's backlog is done: ten light calls in a row as fast as most are alone, but at most 10 s. */
async function quiet(client: Client, aloneMs: number): Promise<void> {
  const until = performance.now() + 10_000;
  for (let inRow = 0; inRow < 10 && performance.now() < until; await wait(PAUSE_MS)) {
    inRow = (await client.ask()).ms <= 2 * aloneMs ? inRow + 1 : 0;
  }
}

const told = (answers: Answers) =>
  Object.entries(answers)
    .map(([status, count]) => `${status === '0' ? 'ended' : status}: ${count}`)
    .join(', ');

/** Resident memory of a process in MB. */
async function memoryOf(pid: number | undefined): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}

/** A new signed address of the attachment. */
async function linkOf(url: string, headers: Record<string, string>): Promise<string> {
  const firstOf = async (path: string, field: string): Promise<string> => {
    const text = await (await fetch(`${url}/api/v1${path}`, { headers })).text();
    const [, value] = new RegExp(`"${field}":"([^"]+)"`).exec(text) ?? [];
    if (!value) throw new Error(`No ${field} in ${text}`);
    return value;
  };
  const estimate = await firstOf('/estimates', 'presupuestoId');
  return firstOf(`/estimates/${estimate}/attachments`, 'url');
}

await runProof(main);
