// Many small companies in one database: what the service does for all of them (start, scheduled work, backup), and the calls of many
// companies beside the same calls of one. README.md describes it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { systemClock } from '../platform/clock.ts';
import { Database } from '../platform/database.ts';
import { scheduledPurge } from '../server/purge-schedule.ts';
import { scheduledRenewals } from '../server/renewal-schedule.ts';
import type { Scheduled } from '../server/schedule.ts';
import type { Headers } from './caller.ts';
import { type Cluster, onDatabase } from './cluster.ts';
import { SMALL } from './company/small.ts';
import { copyOf, manyTemplate } from './databases.ts';
import type { Ids, RequestSpec } from './load/requests.ts';
import { type Bench, CONNECTIONS, inTurns, type Turns } from './measure.ts';
import type { Measured } from './operations.ts';
import { cpuOf, cpuOfTree, residentMb, type Server, startProduct } from './processes.ts';
import { type Outcome, outcomeOf } from './report.ts';

/** One of so many companies has a renewal that is due. */
const ONE_IN = 10;
/** Days of the company's time zone: when its renewals are due. */
const TODAY = `(now() at time zone 'Europe/Madrid')::date`;

/** Stored answers to idempotency keys of two days: a day is kept. */
const ANSWERS = `insert into idempotency_records (account_id, key, request_hash, answer, created_at)
  select a.id, gen_random_uuid(), repeat('x', 43), repeat('x', 500), now() - make_interval(hours => n)
  from accounts a, generate_series(1, 48, 4) n`;
/** Requests before the load, for each company: one that called in the last hour is found sooner. */
const WARM = 2;

/** Milliseconds of the clock and of processor time. */
export interface Cost {
  ms: number;
  serverMs: number;
  postgresMs: number;
}

export interface Many {
  companies: number;
  /** Bytes of a company, and of a row of each table, with its indexes. */
  bytesACompany: number;
  tables: { name: string; rows: number; bytesARow: number }[];
  starts: { name: string; startMs: number; cpuMs: number; residentMb: number }[];
  jobs: ({ name: string; line: Record<string, unknown> } & Cost)[];
  backup: { ms: number; postgresMs: number; bytes: number } | undefined;
  outcomes: Outcome[];
  /** After the load. */
  residentMb: number;
}

export interface ManyOptions {
  companies: number;
  turns: Turns;
  isWanted(id: string): boolean;
  tell(line: string): void;
}

export async function manyCompanies(
  cluster: Cluster,
  bench: Bench,
  { companies, turns, isWanted, tell }: ManyOptions,
): Promise<Many> {
  await using data = await copyOf(cluster.url, await manyTemplate(cluster.url, companies, tell));
  await onDatabase(data.url, async (client) => {
    await client.query(ANSWERS);
    // Today's purge is done: a server that starts does not catch up with it.
    await client.query(`insert into scheduled_runs (name, slot) values ('purge', now() + interval '1 day')`);
    await client.query('vacuum analyze');
  });
  const sizes = await sizesOf(data.url, companies);
  const starts: Many['starts'] = [];
  for (const name of ['the start', 'a restart']) {
    await using server = await startProduct(data.url);
    const { startMs, pid } = server;
    starts.push({ name, startMs, cpuMs: cpuOf(pid), residentMb: residentMb(pid) });
  }
  const jobs = isWanted('jobs') ? await jobsOf(data.url, bench, tell) : [];
  const backup = isWanted('backup') ? backupOf(data.url, bench) : undefined;
  await using product = await startProduct(data.url);
  const outcomes: Outcome[] = [];
  const operations = operationsOf(product, companies);
  const [first] = operations[0]?.sides ?? [];
  if (first) {
    const job = { origin: product.origin, request: first.request, connections: CONNECTIONS };
    await bench.loader.run({ ...job, seconds: 3600, requests: WARM * companies });
  }
  for (const operation of operations.filter(({ id }) => isWanted(id))) {
    const outcome = outcomeOf(operation, await inTurns(bench, operation.sides, turns));
    tell(`${outcome.id}: ${outcome.sides.map(({ perSecond }) => perSecond.toFixed(0)).join(' and ')} req/s`);
    outcomes.push(outcome);
  }
  return { companies, ...sizes, starts, jobs, backup, outcomes, residentMb: residentMb(product.pid) };
}

/** The key of the n-th company. */
const keyOf = (n: number): Headers => ({ 'x-api-key': `ak_${n}`, 'x-api-secret': `sk_${n}` });

/** The same request by any of the companies and by one of them. */
function operationsOf(server: Server, companies: number): Measured[] {
  const all = Array.from({ length: companies }, (_, index) => keyOf(index + 1));
  const one = all.slice(Math.floor(companies / 2)).slice(0, 1);
  const measured = (id: string, title: string, request: Omit<RequestSpec, 'headers'>): Measured => ({
    id,
    title,
    sides: [
      { name: `${companies} companies`, server, request: { ...request, headers: {}, callers: all } },
      { name: 'one of them', server, request: { ...request, headers: {}, callers: one } },
    ],
  });
  const get = (path: string) => ({ method: 'GET', path: `/api/v1${path}` }) as const;
  const post = (path: string, body: RequestSpec['body'] & {}) =>
    ({ method: 'POST', path: `/api/v1${path}`, body, keyed: true }) as const;
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const ids: Ids = {
    clients: numbers(SMALL.clients),
    products: numbers(SMALL.products),
    funnels: [{ id: 1, stages: [101, 102, 103] }],
  };
  return [
    measured('account', 'GET /account', get('/account')),
    measured('products', 'GET /products', get('/products')),
    measured('search', 'GET /products?busqueda=', get('/products?busqueda=modelo')),
    measured('times', 'GET /employees/times', get('/employees/times?fecha_inicio=2023-01-01&fecha_fin=2023-12-31')),
    measured('projects', 'GET /projects', get('/projects')),
    measured(
      'opportunities',
      'POST /crm/opportunities',
      post('/crm/opportunities', { kind: 'opportunity', funnels: ids.funnels, leads: SMALL.contacts }),
    ),
    measured('notes', 'POST /delivery-notes, 3 lines', post('/delivery-notes', { kind: 'deliveryNote', ...ids })),
  ];
}

async function sizesOf(url: string, companies: number): Promise<Pick<Many, 'bytesACompany' | 'tables'>> {
  return await onDatabase(url, async (client) => {
    const { rows } = await client.query<{ name: string; rows: number; bytes: number }>(
      `select relname as name, reltuples::float8 as rows, pg_total_relation_size(oid)::float8 as bytes from pg_class
       where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples >= $1 order by bytes desc`,
      [companies],
    );
    return {
      bytesACompany: rows.reduce((sum, { bytes }) => sum + bytes, 0) / companies,
      tables: rows.map(({ name, rows, bytes }) => ({ name, rows, bytesARow: bytes / rows })),
    };
  });
}

/** The scheduled work over all companies, in this process: with nothing to do, and with something. */
async function jobsOf(url: string, { postgresPid }: Bench, tell: (line: string) => void): Promise<Many['jobs']> {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const database = new Database({ url });
  const service = { database, clock: systemClock, log };
  const found: Many['jobs'] = [];
  const run = async (name: string, { work }: Scheduled) => {
    const cpu = process.cpuUsage();
    const begun = { ms: performance.now(), postgres: postgresPid === undefined ? 0 : cpuOfTree(postgresPid) };
    await work(systemClock.now(), new AbortController().signal);
    const used = process.cpuUsage(cpu);
    const cost = {
      ms: performance.now() - begun.ms,
      serverMs: (used.user + used.system) / 1000,
      postgresMs: postgresPid === undefined ? 0 : cpuOfTree(postgresPid) - begun.postgres,
    };
    const { issued, removed, failed } = lines.at(-1) ?? {};
    const line = { issued, removed, failed };
    tell(`${name}: ${Math.round(cost.ms)} ms, ${JSON.stringify(line)}`);
    found.push({ name, line, ...cost });
  };
  try {
    await database.prepareRole();
    const renewals = scheduledRenewals(service, '0 * * * *');
    await run('renewals, none due', renewals);
    await onDatabase(url, (client) =>
      client.query(`update recurrings set last_invoiced_on = ${TODAY} - 14
        where periodicity = 'fortnightly' and account_id % ${ONE_IN} = 0`),
    );
    await run(`renewals, one due in one of ${ONE_IN} companies`, renewals);
    await run('purge, half of 12 answers of each company expired', scheduledPurge(service));
    await run('purge, nothing expired', scheduledPurge(service));
  } finally {
    await database.close();
  }
  return found;
}

/** As docs/operations.md has it. Undefined where there is no pg_dump. */
function backupOf(url: string, { postgresPid }: Bench): Many['backup'] {
  const folder = mkdtempSync(join(tmpdir(), 'albaran-bench-'));
  const file = join(folder, 'albaran.dump');
  const begun = { ms: performance.now(), postgres: postgresPid === undefined ? 0 : cpuOfTree(postgresPid) };
  try {
    execFileSync('pg_dump', ['--format=custom', `--file=${file}`, url], { stdio: ['ignore', 'ignore', 'inherit'] });
    return {
      ms: performance.now() - begun.ms,
      postgresMs: postgresPid === undefined ? 0 : cpuOfTree(postgresPid) - begun.postgres,
      bytes: statSync(file).size,
    };
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
