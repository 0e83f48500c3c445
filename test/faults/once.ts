// `npm run prove:once`: every write exactly once, while the service is killed and its database restarted.
//
//   npm run prove:once                                30 kills and 10 restarts, random seed
//   npm run prove:once -- --seed 7                    the same inputs and choices; their timing differs
//   npm run prove:once -- --kills 2 --restarts 1      a trial
//
// Eight writers, three of them through the connector, call every writing operation with idempotency keys, and repeat each call until
// it is answered. Sometimes they send two at once, do not wait for the answer, or give up. The service is killed by SIGKILL at any
// moment, PostgreSQL by a fast and an immediate shutdown in turns. At the end rows and API must agree: acknowledged writes exist
// once, others once or not at all, and derived data fit the records. Exit 1 otherwise.
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { exampleAccount } from '../helpers/examples.ts';
import { type Comparison, compare } from './once/compare.ts';
import { type Doors, LIMIT_MS, Proof } from './once/proof.ts';
import { readBack } from './once/read-back.ts';
import { keepWriting, records, writes } from './once/writes.ts';
import { Random } from './random.ts';
import { newApiKey, newCompany, table } from './stand.ts';
import {
  MAIN,
  type OwnPostgres,
  proofEnvironment,
  runProof,
  type Supervised,
  standOn,
  startOwnPostgres,
  supervise,
} from './supervisor.ts';

const WRITERS = 8;
const BY_CONNECTOR = 3;
const SHOWN = 20;

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    kills: { type: 'string', default: '30' },
    restarts: { type: 'string', default: '10' },
  },
});
const seed = Number(options.seed);

/** Kills and restarts in the seed's order, each while calls are being answered. */
async function disturb(proof: Proof, service: Supervised, postgres: OwnPostgres): Promise<void> {
  const random = new Random(seed, WRITERS);
  const events = [
    ...Array.from({ length: Number(options.kills) }, () => 'kill' as const),
    ...Array.from({ length: Number(options.restarts) }, (_, index) => (index % 2 ? 'immediate' : 'fast')),
  ]
    .map((what) => ({ what, at: random.next() }))
    .sort((one, other) => one.at - other.at);
  for (const { what } of events) {
    await service.up();
    const enough = proof.acknowledged + random.int(5, 60);
    for (const until = Date.now() + LIMIT_MS; proof.acknowledged < enough; await wait(5)) {
      if (Date.now() > until) throw new Error('No calls are answered any more');
    }
    await wait(random.int(0, 30));
    if (what === 'kill') {
      service.kill();
      // Some hit it while it starts.
      if (random.chance(0.2)) await wait(random.int(50, 800));
    } else {
      await postgres.end(what === 'fast' ? 'fast' : 'immediate');
      await wait(random.int(0, 1000));
      await postgres.start();
    }
  }
  await service.up();
}

const DOOR_NAMES: Record<Doors, string> = {
  connector: 'the connector',
  others: 'v1, v0, tRPC',
  all: 'any, to read back',
};

/** Attempts by interface. `late`: the service ended, or the writer stopped listening, between commit and answer. */
const doorRows = ({ counts }: Proof, late: Comparison['late']): (string | number)[][] => [
  ['', 'acknowledged', 'attempts', 'without an answer', '503', '409, still running', 'done by an earlier attempt'],
  ...(['connector', 'others', 'all'] as const).map((doors) => {
    const { acknowledged, attempts, unanswered, unavailable, waiting } = counts[doors];
    return [DOOR_NAMES[doors], acknowledged, attempts, unanswered, unavailable, waiting, late[doors]];
  }),
];

async function main(stack: AsyncDisposableStack): Promise<boolean> {
  console.log(
    `seed ${seed}: ${WRITERS} writers, ${writes.length} operations, ${options.kills} kills, ${options.restarts} restarts`,
  );
  const started = performance.now();
  const postgres = stack.use(await startOwnPostgres());
  let account: number;
  let headers: Record<string, string>;
  {
    await using stand = await standOn(postgres.url);
    account = await newCompany(stand, records, exampleAccount);
    headers = await newApiKey(stand, account);
  }
  const service = stack.use(await supervise(postgres.url));
  const proof = new Proof(service.url, headers);
  const over = new AbortController();
  const writing = Array.from({ length: WRITERS }, (_, index) =>
    keepWriting(proof, { seed, index, doors: index < BY_CONNECTOR ? 'connector' : 'others' }, over.signal),
  );
  try {
    await disturb(proof, service, postgres);
  } finally {
    over.abort();
    await Promise.all(writing);
  }

  await using stand = await standOn(postgres.url);
  const { rows, late } = await compare(proof, stand, account);
  const read = await readBack(proof, service.url(), headers, new Random(seed, WRITERS + 1));
  const { rows: grown } = await stand.admin.query<{ keys: number }>(
    'select count(*)::int as keys from idempotency_records where account_id = $1',
    [account],
  );
  for (const text of service.endedByItself) proof.violation(`The service ended by itself:\n${text}`);
  const env = proofEnvironment(postgres.url);
  await promisify(execFile)(process.execPath, [MAIN, 'check'], { env }).catch((error: { stderr?: string }) =>
    proof.violation(`albaran check: ${error.stderr}`),
  );

  const { violations } = proof;
  const summary = [
    [`seed ${seed}`, ''],
    ['calls acknowledged', proof.acknowledged],
    ['answers that came again, the same', proof.replays],
    ['keys with an effect', grown[0]?.keys ?? 0],
    ['read back by the API and sent again by any door', read],
    ['kills', Number(options.kills)],
    ['starts of the service', service.starts],
    ['restarts of PostgreSQL', Number(options.restarts)],
    ['seconds', Math.round((performance.now() - started) / 1000)],
    ['violations', violations.length],
  ];
  console.log(`\n${table(rows)}\n\n${table(doorRows(proof, late))}\n\n${table(summary)}\n`);
  if (violations.length > 0) console.error(violations.slice(0, SHOWN).join('\n'));
  console.log(violations.length === 0 ? 'Every write is there exactly once.' : `Not proved; seed ${seed}.`);
  return violations.length === 0;
}

await runProof(main);
