// A database that Citus spreads by company: whether it is one, and whether companies are kept apart on it.
import type pg from 'pg';

type Queryable = Pick<pg.ClientBase | pg.Pool, 'query'>;

/** Whether Citus is in this database. */
export async function hasCitus(client: Queryable): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('pg_dist_partition') is not null as there`,
  );
  return rows[0]?.there === true;
}

/** Whether companies' tables are spread over its nodes. */
export async function isSpread(client: Queryable): Promise<boolean> {
  if (!(await hasCitus(client))) return false;
  const { rowCount } = await client.query(`select from pg_dist_partition where partmethod = 'h' limit 1`);
  return rowCount === 1;
}

/**
 * Whether companies' tables are spread. Throws one line, with what to run, where companies would not be kept apart: COPY and
 * INSERT ... SELECT pass by the policies of shards that lie on the node which plans them. TEN-02
 */
export async function checkSpread(client: Queryable): Promise<boolean> {
  if (!(await isSpread(client))) return false;
  const { rows } = await client.query<{ local: boolean; alone: boolean; coordinator: boolean; told: boolean }>(
    `select exists (select from pg_dist_shard s join pg_dist_placement p using (shardid) join pg_dist_partition t using (logicalrelid)
         where p.groupid = 0 and t.partmethod = 'h') as local,
       exists (select from pg_dist_partition t join pg_attribute a on a.attrelid = t.logicalrelid and a.attname = 'account_id'
         where t.partmethod = 'n' and t.repmodel = 's') as alone,
       (select groupid = 0 from pg_dist_local_group) as coordinator,
       current_setting('citus.propagate_set_commands', true) = 'local' as told`,
  );
  const [found] = rows;
  if (!found) throw new Error('PostgreSQL says nothing of the cluster');
  if (found.local) {
    throw new Error(
      'companies lie on the coordinator of the cluster, where they are not kept apart: move them to the workers (docs/scale.md#citus)',
    );
  }
  if (found.alone) {
    throw new Error('a table of companies is not distributed: run albaran distribute (docs/scale.md#citus)');
  }
  if (!found.coordinator) throw new Error('this is a worker of the cluster: the service goes to its coordinator');
  if (!found.told) {
    throw new Error('the workers are not told whose transaction it is: run albaran distribute (docs/scale.md#citus)');
  }
  return true;
}
