// Metrics for Prometheus: calls by operation, door and outcome, their latency, the pool, the quota and the process.
// They name no company: readers of metrics may not have access to companies' data.
import type pg from 'pg';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Door } from './audit.ts';

/** An answered call of an operation. */
export interface AnsweredCall {
  /** The v0 alias, also used in the log and the audit. */
  operation: string;
  door: Door;
  /** The `errorCode` of the answer; 200 on success. */
  status: number;
  milliseconds: number;
}

const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of a process at a moment, to be sent to another one. */
export type MetricsSnapshot = readonly object[];

/** Adds up what several processes counted. */
const added = (snapshots: readonly MetricsSnapshot[]) => AggregatorRegistry.aggregate([...snapshots]);

/** The sum in Prometheus' text format. */
export const sumOfMetrics = (snapshots: readonly MetricsSnapshot[]): Promise<string> => added(snapshots).metrics();

/** The counts in these snapshots, without what a process that has ended no longer has: memory, connections. */
export const countsOf = (snapshots: readonly MetricsSnapshot[]): MetricsSnapshot =>
  added(snapshots)
    .getMetricsAsArray()
    .filter((metric: object) => 'type' in metric && (metric.type === 'counter' || metric.type === 'histogram'));

/** The metrics of one process. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #calls = this.#own(
    new Counter({
      name: 'albaran_calls_total',
      help: 'Calls of operations, by their outcome (errorCode).',
      labelNames: ['operation', 'door', 'outcome'],
      registers: [],
    }),
  );
  readonly #callSeconds = this.#own(
    new Histogram({
      name: 'albaran_call_seconds',
      help: 'How long calls of operations took.',
      labelNames: ['operation', 'door'],
      buckets: CALL_SECONDS,
      registers: [],
    }),
  );
  readonly #requests = this.#own(
    new Counter({
      name: 'albaran_http_requests_total',
      help: 'HTTP requests of every kind, by route and status.',
      labelNames: ['method', 'route', 'status'],
      registers: [],
    }),
  );
  readonly #quota = this.#own(
    new Counter({
      name: 'albaran_quota_calls_total',
      help: 'Calls that asked for a place in their company’s quota: counted, or refused because it is spent.',
      labelNames: ['result'],
      registers: [],
    }),
  );

  readonly #replica = this.#own(
    new Counter({
      name: 'albaran_replica_reads_total',
      help: 'Reads that allow a lag: answered by the replica, or by the primary because that was behind or away.',
      labelNames: ['result'],
      registers: [],
    }),
  );

  constructor(pool: pg.Pool) {
    this.#own(
      new Gauge({
        name: 'albaran_database_connections',
        help: 'Connections of the pool, and calls that wait for one.',
        labelNames: ['state'],
        registers: [],
        collect() {
          this.set({ state: 'idle' }, pool.idleCount);
          this.set({ state: 'used' }, pool.totalCount - pool.idleCount);
          this.set({ state: 'waiting' }, pool.waitingCount);
        },
      }),
    );
    // Memory, CPU, event-loop lag, garbage collection.
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Counts a call and its duration. */
  callAnswered({ operation, door, status, milliseconds }: AnsweredCall): void {
    this.#calls.inc({ operation, door, outcome: status });
    this.#callSeconds.observe({ operation, door }, milliseconds / 1000);
  }

  /** `route` is the pattern, not the URL: URLs are unlimited in number and contain ids. */
  requestAnswered(method: string, route: string, status: number): void {
    this.#requests.inc({ method, route, status });
  }

  /** Counts a call against the quota. */
  quotaAsked(result: 'counted' | 'refused'): void {
    this.#quota.inc({ result });
  }

  /** Counts a read that allows a lag. */
  replicaAsked(result: 'answered' | 'behind' | 'away'): void {
    this.#replica.inc({ result });
  }

  /** The content type of `text`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** All metrics for `sumOfMetrics`. */
  snapshot(): Promise<MetricsSnapshot> {
    return this.#registry.getMetricsAsJSON();
  }

  #own<M extends Counter | Histogram | Gauge>(metric: M): M {
    this.#registry.registerMetric(metric);
    return metric;
  }
}
