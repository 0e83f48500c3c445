// Slices of load in turns: the compared sides alternate, a slice each, so that other work of the machine affects both.
import type { Loader } from './load/loader.ts';
import type { RequestSpec } from './load/requests.ts';
import { cpuOf, cpuOfTree, type Server } from './processes.ts';

export const CONNECTIONS = 10;

/** One side of a comparison. */
export interface Side {
  name: string;
  server: Server;
  request: RequestSpec;
}

export interface Turns {
  /** Connections of each side. */
  slices: number;
  /** Duration of a slice and of the warm-up, in ms. */
  seconds: number;
  warmSeconds: number;
}

export interface Figures {
  /** Answers with 200. */
  requests: number;
  /** Counts of other answers by status. */
  refused: Record<string, number>;
  perSecond: number;
  /** Milliseconds from sending to the last byte of the answer. */
  p50: number;
  p99: number;
  /** Milliseconds of processor time per request: of the server, of all PostgreSQL processes, of the load process. */
  serverMs: number;
  postgresMs: number | null;
  loaderMs: number;
  /** Bytes of an answer with its head. */
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
  /** The postmaster, if visible. */
  postgresPid: number | undefined;
}

/** Measures the sides in turns; figures are in their order. */
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
