// Records the statements that a service sends to its database.
import type pg from 'pg';
import type { Service } from '../../platform/context.ts';
import { RoundTrip } from '../../platform/round-trip.ts';

export interface Statement {
  text: string;
  values: readonly unknown[];
}

/** Records every statement from now on. `take` returns those since its last call. */
export function recordStatements({ database: { pool } }: Pick<Service, 'database'>) {
  let sent: Statement[] = [];
  const watched = new WeakSet<pg.PoolClient>();
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query.bind(client);
    // `query` has many overloads: the arguments are passed on unchanged.
    client.query = ((...args: unknown[]) => {
      sent.push(...statementsOf(args));
      return Reflect.apply(query, client, args);
    }) as typeof client.query;
  });
  return {
    take(): Statement[] {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}

function statementsOf([first, second]: unknown[]): readonly Statement[] {
  if (first instanceof RoundTrip) return first.statements;
  if (typeof first === 'string') return [{ text: first, values: Array.isArray(second) ? second : [] }];
  const { text, values } = first as pg.QueryConfig<unknown[]>;
  return [{ text, values: values ?? [] }];
}
