// `npm run prove:journal`: every change of a company exactly once in its journal, in the order of the commits, while the service is killed.
//
//   npm run prove:journal                     15 kills, 5 restarts and 6 imports, random seed
//   npm run prove:journal -- --seed 7         the same inputs and choices; their timing differs
//   npm run prove:journal -- --kills 2 --restarts 1 --imports 2    a trial
//
// Twelve writers, four of them through the connector, call every writing operation; account files are imported between. Six readers follow
// the journal by `desde`, three of them with `espera`, and ask again after each failure. The service is killed by SIGKILL at any moment,
// PostgreSQL shut down. At the end each reader must have met 1, 2, 3, ... to the last change once, in this order, and the export of the
// company must differ from the one at the start in those records alone that the journal names. Exit 1 otherwise.
import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { exportAccountFile } from '../../account-file/export.ts';
import { COLLECTIONS } from '../../account-file/format.ts';
import { OWNERS } from '../../platform/journal.ts';
import { exampleAccount } from '../helpers/examples.ts';
import { disturb } from './disturb.ts';
import { Proof } from './once/proof.ts';
import { keepWriting, records, writes } from './once/writes.ts';
import { newApiKey, newCompany, type Stand, table } from './stand.ts';
import { runProof, standOn, startOwnPostgres, supervise } from './supervisor.ts';

const WRITERS = 12;
const BY_CONNECTOR = 4;
const READERS = 6;
const SHOWN = 20;

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    kills: { type: 'string', default: '15' },
    restarts: { type: 'string', default: '5' },
    imports: { type: 'string', default: '6' },
  },
});
const seed = Number(options.seed);

const pageSchema = z.object({
  data: z.object({
    epoca: z.string(),
    cambios: z.array(z.object({ n: z.int() })),
    siguiente: z.int(),
    hay_mas: z.boolean(),
  }),
});

/** What a reader met: its changes' numbers, and how often it asked in vain. */
interface Met {
  numbers: number[];
  epochs: Set<string>;
  failures: number;
}

/** Follows the journal until `last` says how far it goes, and it is there. */
async function follow(
  url: () => string,
  headers: Record<string, string>,
  { espera, limite, last }: { espera: number; limite: number; last: () => number | undefined },
): Promise<Met> {
  const met: Met = { numbers: [], epochs: new Set(), failures: 0 };
  for (let desde = 0; ; ) {
    const end = last();
    if (end !== undefined && desde >= end) return met;
    try {
      const query = new URLSearchParams({ desde: String(desde), limite: String(limite), espera: String(espera) });
      const signal = AbortSignal.timeout(40_000);
      const response = await fetch(`${url()}/api/v1/changes?${query}`, { headers, signal });
      if (response.status !== 200) throw new Error(await response.text());
      const { data } = pageSchema.parse(await response.json());
      met.epochs.add(data.epoca);
      for (const { n } of data.cambios) met.numbers.push(n);
      desde = data.siguiente;
      if (espera === 0 && !data.hay_mas) await wait(20);
    } catch {
      met.failures++;
      await wait(100);
    }
  }
}

/** The company's records by `<table> <id>`; what has no read of its own is looked at with the records that show it. */
async function state({ database }: Stand, account: number): Promise<Map<string, string>> {
  const tables = new Map(COLLECTIONS.map(({ name, table }) => [name, table]));
  const found = new Map<string, string>();
  for await (const line of exportAccountFile(database, account)) {
    const { coleccion, id } = JSON.parse(line);
    const name = tables.get(coleccion);
    if (name && id && !(name in OWNERS)) found.set(`${name} ${id}`, line);
  }
  return found;
}

async function main(stack: AsyncDisposableStack): Promise<boolean> {
  console.log(
    `seed ${seed}: ${WRITERS} writers, ${READERS} readers, ${writes.length} operations, ${options.kills} kills, ${options.restarts} restarts, ${options.imports} imports`,
  );
  const started = performance.now();
  const postgres = stack.use(await startOwnPostgres());
  let account: number;
  let headers: Record<string, string>;
  let before: Map<string, string>;
  let begun: number;
  {
    await using stand = await standOn(postgres.url);
    account = await newCompany(stand, records, exampleAccount);
    headers = await newApiKey(stand, account);
    before = await state(stand, account);
    begun = await newest(stand, account);
  }
  const service = stack.use(await supervise(postgres.url));
  const proof = new Proof(service.url, headers);
  const over = new AbortController();
  const writing = Array.from({ length: WRITERS }, (_, index) =>
    keepWriting(proof, { seed, index, doors: index < BY_CONNECTOR ? 'connector' : 'others' }, over.signal),
  );
  let last: number | undefined;
  const reading = Array.from({ length: READERS }, (_, index) =>
    follow(service.url, headers, {
      espera: index % 2 ? 5 : 0,
      limite: [1000, 7, 100][index % 3] ?? 100,
      last: () => last,
    }),
  );
  try {
    await disturb(proof, { ...options, service, postgres, account, seed });
  } finally {
    over.abort();
    await Promise.all(writing);
  }

  await using stand = await standOn(postgres.url);
  last = await newest(stand, account);
  const expected = Array.from({ length: last }, (_, index) => index + 1);
  const readers = await Promise.all(reading);
  for (const [index, { numbers, epochs }] of readers.entries()) {
    const wrong = expected.findIndex((n, at) => numbers[at] !== n);
    if (wrong >= 0)
      proof.violation(`Reader ${index} met ${numbers.slice(wrong, wrong + 5)} where ${wrong + 1} comes next`);
    else if (numbers.length !== expected.length) proof.violation(`Reader ${index} met more than there is`);
    if (epochs.size > 1) proof.violation(`Reader ${index} met ${epochs.size} epochs`);
  }
  const after = await state(stand, account);
  const { rows } = await stand.admin.query<{ record: string }>(
    `select distinct record_table || ' ' || record_id as record from journal_entries where account_id = $1 and n > $2`,
    [account, begun],
  );
  const named = new Set(rows.map(({ record }) => record));
  const changed = new Set([...before.keys(), ...after.keys()].filter((key) => before.get(key) !== after.get(key)));
  for (const record of changed.difference(named)) proof.violation(`${record} changed, and is not in the journal`);
  for (const text of service.endedByItself) proof.violation(`The service ended by itself:\n${text}`);

  const { violations } = proof;
  const summary = [
    [`seed ${seed}`, ''],
    ['calls acknowledged', proof.acknowledged],
    ['changes in the journal', last],
    ['records that changed', changed.size],
    ['answers that readers did not get, and asked again', readers.reduce((sum, { failures }) => sum + failures, 0)],
    ['starts of the service', service.starts],
    ['seconds', Math.round((performance.now() - started) / 1000)],
    ['violations', violations.length],
  ];
  console.log(`\n${table(summary)}\n`);
  if (violations.length > 0) console.error(violations.slice(0, SHOWN).join('\n'));
  console.log(violations.length === 0 ? 'Every change is in the journal exactly once.' : `Not proved; seed ${seed}.`);
  return violations.length === 0;
}

async function newest({ admin }: Stand, account: number): Promise<number> {
  const { rows } = await admin.query<{ n: string }>('select n from journals where account_id = $1', [account]);
  return Number(rows[0]?.n ?? 0);
}

await runProof(main);
