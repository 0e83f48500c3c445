// The load process: gets a job, keeps its connections busy for its duration, and reports.
import { Connection } from './connection.ts';
import { type RequestSpec, requestsOf } from './requests.ts';

export interface Job {
  /** `http://127.0.0.1:3000` */
  origin: string;
  request: RequestSpec;
  connections: number;
  /** How long new requests are sent, unless `requests` are done earlier. */
  seconds: number;
  requests?: number | undefined;
}

export interface LoadResult {
  /** Microseconds of every request answered as expected. */
  latencies: number[];
  /** Counts of other answers by status. */
  refused: Record<string, number>;
  bytes: number;
  /** From the first request to the last answer. */
  seconds: number;
  /** Processor time of this process in between. */
  cpuMs: number;
}

async function run({ origin, request, connections, seconds, requests = Number.POSITIVE_INFINITY }: Job) {
  const { hostname, port, host } = new URL(origin);
  const next = requestsOf(request, host);
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(hostname, Number(port))));
  const result: LoadResult = { latencies: [], refused: {}, bytes: 0, seconds: 0, cpuMs: 0 };
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const until = begun + seconds * 1000;
  let left = requests;
  await Promise.all(
    open.map(async (connection) => {
      for (let now = performance.now(); now < until && left > 0; ) {
        left--;
        const text = next();
        const { status, bytes } = await connection.send(text);
        const then = performance.now();
        result.bytes += bytes;
        if (status === (request.expected ?? 200)) result.latencies.push(Math.round((then - now) * 1000));
        else result.refused[status] = (result.refused[status] ?? 0) + 1;
        now = then;
      }
    }),
  );
  result.seconds = (performance.now() - begun) / 1000;
  const used = process.cpuUsage(cpu);
  result.cpuMs = (used.user + used.system) / 1000;
  for (const connection of open) connection.close();
  return result;
}

process.on('message', async (job: Job) => {
  try {
    process.send?.({ result: await run(job) });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.message : String(error) });
  }
});
