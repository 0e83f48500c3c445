// `npm run bench`: prepares the data, starts the floor and the product, measures them in turns, says what came of it.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { newKey } from './caller.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { copyOf, floorTemplate, productTemplate } from './databases.ts';
import { Loader } from './load/loader.ts';
import { inTurns, type Turns } from './measure.ts';
import { comparedOperations, type Measured, ownOperations } from './operations.ts';
import { startFloor, startProduct } from './processes.ts';
import { load, machine, type Outcome, outcomeOf, table, version, writeResults } from './report.ts';

const ROOT = join(import.meta.dirname, '..');
const FULL: Turns = { slices: 5, seconds: 4, warmSeconds: 2 };
const QUICK: Turns = { slices: 2, seconds: 1.5, warmSeconds: 0.5 };

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    scale: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    results: { type: 'string', default: join(import.meta.dirname, 'results') },
    data: { type: 'string', default: join(ROOT, '.albaran/bench') },
  },
});

const scale = Number(options.scale);
const only = options.only?.split(',').map((id) => id.trim());
const chosen = options.quick ? QUICK : FULL;
const turns = options.seconds ? { ...chosen, seconds: Number(options.seconds) } : chosen;
const isWanted = (id: string) => only?.includes(id) ?? true;
const tell = (line: string) => console.error(line);

async function run(cluster: Cluster): Promise<void> {
  const before = load();
  const { commit, changed } = version();
  console.log(
    `Commit ${commit}${changed ? ', changed since' : ''}; ${JSON.stringify(machine(cluster))}; load ${before}\n`,
  );
  const template = await productTemplate(cluster.url, scale, tell);
  const floorsTemplate = await floorTemplate(cluster.url, scale, tell);
  await using productData = await copyOf(cluster.url, template);
  await using floorData = await copyOf(cluster.url, floorsTemplate);
  const headers = await newKey(productData.url);
  await using product = await startProduct(productData.url);
  await using floor = await startFloor(floorData.url);
  await using loader = new Loader();
  const bench = { loader, postgresPid: cluster.pid };
  const world = { scale, product, floor, headers };

  const operations = [...(await comparedOperations(world)), ...ownOperations(world)];
  const unknown = only?.filter((id) => !operations.some((operation) => operation.id === id)) ?? [];
  if (unknown.length > 0) throw new Error(`--only: there is no ${unknown.join(', ')}`);
  const outcomes: Outcome[] = [];
  for (const operation of operations.filter(({ id }) => isWanted(id))) {
    outcomes.push(await measure(operation));
  }
  console.log(table(outcomes));
  const file = writeResults(options.results, cluster, {
    scale,
    turns,
    load: { before, after: load() },
    outcomes,
    others: {},
  });
  tell(`\nLoad ${before} before, ${load()} after; written to ${file}`);

  async function measure(operation: Measured): Promise<Outcome> {
    const outcome = outcomeOf(operation, await inTurns(bench, operation.sides, turns));
    const [{ perSecond } = { perSecond: 0 }] = outcome.sides;
    tell(
      `${outcome.id}: ${perSecond.toFixed(1)} req/s${outcome.ratio === null ? '' : `, ratio ${outcome.ratio.toFixed(2)}`}`,
    );
    return outcome;
  }
}

await using cluster = await openCluster(options.data);
await run(cluster);
