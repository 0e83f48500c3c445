// A real Citus cluster: what `distribute` refuses, and companies kept apart on the workers.
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { checkSpread } from '../../platform/spread.ts';
import { distribute, obstacle, planDistribution } from '../../server/postgres/distribution.ts';
import { migrate } from '../../server/postgres/migrations.ts';
import { startCitus } from '../helpers/citus.ts';
import { citusInstalled } from './needs.ts';

const ONE = 1;
const OTHER = 2;

async function connected(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** A statement of the company's, in a transaction of its own. */
async function as(client: pg.Client, company: number, statement: string) {
  await client.query('begin');
  await client.query('set local role albaran_app');
  await client.query(`set local app.account_id = '${company}'`);
  return client.query(statement).finally(() => client.query('rollback'));
}

describe.skipIf(!citusInstalled())('on a Citus cluster', () => {
  test('[TEN-02] distribute waits for a cluster that is ready, and the service for companies that are off the coordinator', async () => {
    await using citus = await startCitus();
    const url = await citus.database('spread');
    await migrate(url);
    await using client = await connected(url);
    const holds = (does: boolean) =>
      client.query(
        `select citus_set_node_property(nodename, nodeport, 'shouldhaveshards', $1) from pg_dist_node where groupid = 0`,
        [does],
      );
    const workers = 'from pg_dist_node where groupid <> 0';
    await client.query(`select citus_disable_node(nodename, nodeport, true) ${workers}`);
    expect(await obstacle(client)).toContain('no worker');
    await client.query(`select citus_activate_node(nodename, nodeport) ${workers}`);
    await holds(true);
    expect(await obstacle(client)).toContain('may not hold companies');
    await holds(false);
    expect(await obstacle(client)).toBeUndefined();

    expect(await checkSpread(client)).toBe(false);
    await Array.fromAsync(distribute(client, await planDistribution(client)));
    expect(await planDistribution(client)).toEqual([]);
    {
      // What the database is set to is known to new connections.
      await using later = await connected(url);
      expect(await checkSpread(later)).toBe(true);
    }
    await expect(checkSpread(client)).rejects.toThrow('run albaran distribute');

    await using tenant = await connected(url);
    for (const company of [ONE, OTHER]) {
      await client.query('insert into accounts (id, slug, name) values ($1, $2, $2)', [company, `c${company}`]);
      await client.query(`insert into channels (account_id, title) values ($1, 'Correo')`, [company]);
    }
    const seen = async (statement: string) => (await as(tenant, ONE, statement)).rows;
    expect(await seen('select account_id::int as company from channels')).toEqual([{ company: ONE }]);
    expect(await seen(`select title from channels where account_id = ${OTHER}`)).toEqual([]);
    expect((await as(tenant, ONE, `update channels set title = 'x' where account_id = ${OTHER}`)).rowCount).toBe(0);
    const foreign = [
      `insert into channels (account_id, title) values (${OTHER}, 'x')`,
      `insert into channels (account_id, title) select ${OTHER}, name from accounts`,
      `insert into channels (account_id, title) select ${OTHER}, name from accounts returning id`,
    ];
    for (const statement of foreign) {
      await expect(as(tenant, ONE, statement), statement).rejects.toThrow(/row-level security/);
    }

    // The hole that this is about: a shard on the node that plans takes other companies' rows.
    await holds(true);
    await client.query(`select citus_move_shard_placement(shardid, nodename, nodeport, '127.0.0.1', ${citus.coordinator.port}, 'block_writes')
      from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
      where logicalrelid = 'channels'::regclass order by shardid limit 1`);
    await using moved = await connected(url);
    await expect(checkSpread(moved)).rejects.toThrow('companies lie on the coordinator');
  }, 180_000);
});
