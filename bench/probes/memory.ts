// Memory of the server: after its start, after many requests, and its growth with further ones.
import type { Loader } from '../load/loader.ts';
import type { RequestSpec } from '../load/requests.ts';
import { CONNECTIONS } from '../measure.ts';
import { residentMb, type Server } from '../processes.ts';

export interface Memory {
  /** MB after the start, before any request. */
  atStart: number;
  requests: number;
  /** MB after that many requests. */
  after: number;
  /** MB after each further part of a tenth as many requests. */
  then: number[];
  /** Least-squares slope of those, in MB per 100,000 requests. */
  growth: number;
}

const ROUNDS = 10;
const FURTHER = 5;

/** Sends `requests` of every kind in turns to a server that has just started; then half as many again. */
export async function memoryOf(
  loader: Loader,
  server: Server,
  kinds: readonly RequestSpec[],
  requests: number,
): Promise<Memory> {
  const atStart = residentMb(server.pid);
  const part = async () => {
    for (const request of kinds) {
      const count = Math.ceil(requests / ROUNDS / kinds.length);
      const job = { origin: server.origin, request, connections: CONNECTIONS, seconds: 3600, requests: count };
      await loader.run(job);
    }
    return residentMb(server.pid);
  };
  let after = atStart;
  for (let round = 0; round < ROUNDS; round++) after = await part();
  const then: number[] = [];
  for (let round = 0; round < FURTHER; round++) then.push(await part());
  return { atStart, requests, after, then, growth: slope([after, ...then]) * ROUNDS * (100_000 / requests) };
}

/** Least-squares slope of equidistant values. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const rise = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0);
  const run = values.reduce((sum, _value, index) => sum + (index - middle) ** 2, 0);
  return rise / run;
}
