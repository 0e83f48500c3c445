// `npm run bench`: prepares the data, starts the floor and the product, measures them in turns and reports. README.md has the
// options.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { newKey } from './caller.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { copyOf, floorTemplate, productTemplate } from './databases.ts';
import { growth } from './growth.ts';
import { Loader } from './load/loader.ts';
import { manyCompanies } from './many.ts';
import { inTurns, type Turns } from './measure.ts';
import { comparedOperations, type Measured, ownOperations, smallRequests, unchangedPages } from './operations.ts';
import { PROBES, probe } from './probes/index.ts';
import { startFloor, startProduct } from './processes.ts';
import { type Comparison, load, machine, type Outcome, outcomeOf, version, writeResults } from './report.ts';
import { growthTable, manyTables, sentences, table } from './table.ts';

const ROOT = join(import.meta.dirname, '..');
const FULL: Turns = { slices: 5, seconds: 4, warmSeconds: 2 };
const QUICK: Turns = { slices: 2, seconds: 1.5, warmSeconds: 0.5 };
/** Requests before memory is read. */
const REQUESTS = { full: 100_000, quick: 5_000 };

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    growth: { type: 'boolean', default: false },
    many: { type: 'string' },
    profile: { type: 'string' },
    scales: { type: 'string', default: '0.1,1' },
    companies: { type: 'string', default: '1,10,100' },
    scale: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    requests: { type: 'string' },
    results: { type: 'string', default: join(import.meta.dirname, 'results') },
    data: { type: 'string', default: join(ROOT, '.albaran/bench') },
  },
});

const scale = Number(options.scale);
const only = options.only?.split(',').map((id) => id.trim());
const chosen = options.quick ? QUICK : FULL;
const turns = options.seconds
  ? { ...chosen, seconds: Number(options.seconds), warmSeconds: Number(options.seconds) }
  : chosen;
const requests = Number(options.requests ?? (options.quick ? REQUESTS.quick : REQUESTS.full));
const isWanted = (id: string) => only?.includes(id) ?? true;
const profiling = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : [];
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
  await using product = await startProduct(productData.url, profiling);
  await using floor = await startFloor(floorData.url);
  await using loader = new Loader();
  const bench = { loader, postgresPid: cluster.pid };
  await using cold = await startProduct(productData.url, [], { CACHE_MB: '0' });
  const world = { scale, product, cold, floor, headers };

  const compared = await comparedOperations(world);
  // Last: writes end what another one found unchanged.
  const operations = [...compared, ...ownOperations(world), ...(await unchangedPages(world, compared))];
  const unknown = only?.filter((id) => ![...PROBES, ...operations.map((operation) => operation.id)].includes(id)) ?? [];
  if (unknown.length > 0) throw new Error(`--only: there is no ${unknown.join(', ')}`);
  const outcomes: Outcome[] = [];
  for (const operation of operations.filter(({ id }) => isWanted(id))) {
    outcomes.push(await measure(operation));
  }
  const seconds = turns.seconds * turns.slices;
  const kinds = isWanted('memory') ? await smallRequests(world) : [];
  const probes = await probe(
    { databaseUrl: productData.url, product, headers, loader, seconds, requests },
    isWanted,
    kinds,
  );
  const page = outcomes.find(({ id }) => id === 'a')?.sides[0];
  console.log(`${table(outcomes)}\n\n${sentences(outcomes, probes, page?.serverMs).join('\n')}`);
  const found: Comparison = { scale, turns, load: { before, after: load() }, outcomes, probes };
  const file = writeResults(options.results, cluster, found);
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

async function grow(cluster: Cluster): Promise<void> {
  const before = load();
  const numbers = (list: string) => list.split(',').map(Number);
  const [scales, companies] = [numbers(options.scales), numbers(options.companies)];
  await using loader = new Loader();
  const bench = { loader, postgresPid: cluster.pid };
  const { bySize, byCompanies } = await growth(cluster, bench, { scales, companies, turns, isWanted, tell });
  console.log(`${growthTable(bySize)}\n\n${growthTable(byCompanies)}`);
  const found = { turns, load: { before, after: load() }, bySize, byCompanies };
  tell(
    `\nLoad ${before} before, ${load()} after; written to ${writeResults(options.results, cluster, found, 'growth')}`,
  );
}

async function measureMany(cluster: Cluster, companies: number): Promise<void> {
  const before = load();
  await using loader = new Loader();
  const bench = { loader, postgresPid: cluster.pid };
  const many = await manyCompanies(cluster, bench, { companies, turns, isWanted, tell });
  console.log(`${manyTables(many)}\n\n${table(many.outcomes)}`);
  const found = { turns, load: { before, after: load() }, ...many };
  tell(`\nLoad ${before} before, ${load()} after; written to ${writeResults(options.results, cluster, found, 'many')}`);
}

for (const [signal, exitCode] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
  process.once(signal, () => process.exit(exitCode));
}

await using cluster = await openCluster(options.data);
await (options.growth ? grow(cluster) : options.many ? measureMany(cluster, Number(options.many)) : run(cluster));
