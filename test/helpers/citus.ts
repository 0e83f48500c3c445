// A Citus cluster of a test's own: a coordinator that holds no shards, and two workers, each a PostgreSQL of the system's programs.
import pg from 'pg';
import { type SystemPostgres, startSystemPostgres } from './system-postgres.ts';

export interface Citus extends AsyncDisposable {
  coordinator: SystemPostgres;
  workers: readonly SystemPostgres[];
  /**
   * An empty database with Citus on every node, where the coordinator knows these workers (default: all); its address, for the
   * superuser.
   */
  database(name: string, known?: readonly SystemPostgres[]): Promise<string>;
}

const SETTINGS = [
  'shared_preload_libraries=citus',
  'wal_level=logical',
  'max_connections=300',
  'max_prepared_transactions=300',
  // Between nodes of one machine.
  'citus.node_conninfo=sslmode=disable',
  'citus.local_hostname=127.0.0.1',
  'citus.enable_statistics_collection=off',
  // Two for each worker: every company's tables are as many.
  'citus.shard_count=4',
];

/** `settings` are PostgreSQL's, for every node. */
export async function startCitus(settings: readonly string[] = []): Promise<Citus> {
  const nodes: SystemPostgres[] = [];
  const stop = async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]();
  };
  try {
    for (let node = 0; node < 3; node++) {
      nodes.push(await startSystemPostgres({ provide: async () => [...SETTINGS, ...settings] }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const [coordinator, ...workers] = nodes;
  if (!coordinator) throw new Error('A cluster has a coordinator');
  return {
    coordinator,
    workers,
    async database(name, known = workers) {
      for (const node of nodes) {
        await node.query('postgres', `create database ${pg.escapeIdentifier(name)}`);
        await node.query(name, 'create extension citus');
      }
      await coordinator.query(name, `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
      for (const { port } of known) await coordinator.query(name, `select citus_add_node('127.0.0.1', ${port})`);
      return coordinator.urlOf('postgres', name);
    },
    [Symbol.asyncDispose]: stop,
  };
}
