// Slices of load, in turns: what is compared with something is measured beside it, a slice of one and a slice of the other, so
// that whatever else the machine does falls on both.
import type { Loader } from './load/loader.ts';
import type { RequestSpec } from './load/requests.ts';
import { cpuOf, cpuOfTree, type Server } from './processes.ts';

export const CONNECTIONS = 10;

/** One of the things that take turns. */
export interface Side {
  name: string;
  server: Server;
  request: RequestSpec;
}

export interface Turns {
  /** Of each side. */
  slices: number;
  /** How long a slice lasts, and what goes before the first. */
  seconds: number;
  warmSeconds: number;
}

export interface Figures {
  /** Answered with 200. */
  requests: number;
  /** Answered with anything else, by status. */
  refused: Record<string, number>;
  perSecond: number;
  /** Milliseconds from sending to the last byte of the answer. */
  p50: number;
  p99: number;
  /** Milliseconds of processor time a request: of the server, of PostgreSQL as a whole, of the process that asks. */
  serverMs: number;
  postgresMs: number | null;
  loaderMs: number;
  /** Bytes of an answer, head included. */
  bytes: number;
}

interface Sum {
  refused: Record<string, number>;
  latencies: number[];
  seconds: number;
  serverMs: number;
  postgresMs: number;
  loaderMs: number;
  bytes: number;
}

export interface Bench {
  loader: Loader;
  /** The first process of PostgreSQL, when it is to be seen. */
  postgresPid: number | undefined;
}

/** Measures the sides in turns; the figures are in the order of the sides. */
export async function inTurns(
  { loader, postgresPid }: Bench,
  sides: readonly Side[],
  { slices, seconds, warmSeconds }: Turns,
): Promise<Figures[]> {
  const job = ({ server: { origin }, request }: Side, howLong: number) =>
    loader.run({ origin, request, connections: CONNECTIONS, seconds: howLong });
  const postgresCpu = () => (postgresPid === undefined ? 0 : cpuOfTree(postgresPid));
  const sums = sides.map(
    (): Sum => ({ latencies: [], refused: {}, seconds: 0, serverMs: 0, postgresMs: 0, loaderMs: 0, bytes: 0 }),
  );
  for (const side of sides) await job(side, warmSeconds);
  for (let slice = 0; slice < slices; slice++) {
    for (const [index, side] of sides.entries()) {
      const sum = sums[index];
      if (!sum) continue;
      const before = { server: cpuOf(side.server.pid), postgres: postgresCpu() };
      const { latencies, refused, seconds: took, bytes, cpuMs } = await job(side, seconds);
      sum.serverMs += cpuOf(side.server.pid) - before.server;
      sum.postgresMs += postgresCpu() - before.postgres;
      sum.loaderMs += cpuMs;
      sum.seconds += took;
      sum.bytes += bytes;
      for (const [status, count] of Object.entries(refused)) sum.refused[status] = (sum.refused[status] ?? 0) + count;
      for (const latency of latencies) sum.latencies.push(latency);
    }
  }
  return sums.map((sum) => figuresOf(sum, postgresPid !== undefined));
}

function figuresOf(
  { latencies, refused, seconds, serverMs, postgresMs, loaderMs, bytes }: Sum,
  seesPostgres: boolean,
): Figures {
  const sorted = Float64Array.from(latencies).sort();
  const requests = sorted.length;
  const percentile = (share: number) => (sorted[Math.min(requests - 1, Math.floor(requests * share))] ?? 0) / 1000;
  return {
    requests,
    refused,
    perSecond: requests / seconds,
    p50: percentile(0.5),
    p99: percentile(0.99),
    serverMs: serverMs / requests,
    postgresMs: seesPostgres ? postgresMs / requests : null,
    loaderMs: loaderMs / requests,
    bytes: bytes / requests,
  };
}
