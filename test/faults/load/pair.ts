// The setting of the load proofs: two processes behind a proxy, on a PostgreSQL of their own, with a company.
import { operations } from '../../../bridges/operations.ts';
import { exampleAccount, examples } from '../../helpers/examples.ts';
import { roundRobin } from '../../helpers/round-robin.ts';
import { type Call, callsOf } from '../doors.ts';
import { records } from '../once/writes.ts';
import { newApiKey, newCompany } from '../stand.ts';
import { type OwnPostgres, type Supervised, standOn, startOwnPostgres, supervise } from '../supervisor.ts';
import { Client } from './client.ts';
import type { Report } from './report.ts';

/** Small, so that 200 connections exceed the queues of both processes; one company may use all of it. */
const POOL = { DATABASE_POOL: '5', COMPANY_CONNECTIONS: '5', DATABASE_QUEUE: '20' };
/** Database connections of both processes together. */
export const POOLED = 10;
/** Time that a call waits for a connection. */
export const WAIT_MS = 5_000;

const READS = ['products.list', 'invoices.list', 'contacts.list', 'timeEntries.list'];

export interface Pair {
  postgres: OwnPostgres;
  services: readonly Supervised[];
  /** The address of both. */
  url: string;
  account: number;
  /** Of a read-write key. */
  headers: Record<string, string>;
  /** Mostly reads, some writes. */
  client: Client;
  /** Only reads. */
  reader: Client;
}

export interface PairOptions {
  /** PostgreSQL's data folder, if not in the temporary folder. */
  folder?: string;
  /** Statement timeout in milliseconds. */
  statementMs: number;
}

/** Starts a pair, which ends with the stack. */
export async function openPair(stack: AsyncDisposableStack, { folder, statementMs }: PairOptions): Promise<Pair> {
  const postgres = stack.use(await startOwnPostgres(folder));
  let account: number;
  let headers: Record<string, string>;
  {
    await using stand = await standOn(postgres.url);
    account = await newCompany(stand, records, exampleAccount);
    headers = await newApiKey(stand, account);
  }
  // Every read goes to the tables: an answer that is kept would wait for none of them.
  const settings = { ...POOL, STATEMENT_TIMEOUT_MS: String(statementMs), CACHE_MB: '0' };
  const services = await Promise.all([1, 2].map(() => supervise(postgres.url, settings)));
  for (const service of services) stack.use(service);
  const { port } = stack.use(await roundRobin(services));
  const open = (...paths: string[]) => {
    const client = new Client(port, headers, paths.map(callOf));
    stack.defer(() => client.close());
    return client;
  };
  return {
    postgres,
    services,
    account,
    headers,
    url: `http://127.0.0.1:${port}`,
    client: open(...READS, 'opportunities.move'),
    reader: open(...READS),
  };
}

/** The example of this operation, by the main path of v1. */
export function callOf(path: string): Call {
  const operation = operations.find((one) => one.path === path);
  const [call] = operation ? callsOf(operation, examples[path] ?? {}) : [];
  if (!call) throw new Error(`There is no operation ${path}`);
  return call;
}

/** Both processes are the original ones: nothing has ended them. */
export function checkAlive({ services }: Pair, report: Report): void {
  for (const { starts, endedByItself } of services) {
    report.check(starts === 1, `A process ended by itself: ${endedByItself.join('\n')}`);
  }
}
