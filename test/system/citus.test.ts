// A real Citus cluster: what `distribute` refuses, and companies kept apart on the workers.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { checkSpread } from '../../platform/spread.ts';
import { distribute, obstacle, planDistribution } from '../../server/postgres/distribution.ts';
import { migrate } from '../../server/postgres/migrations.ts';
import { type Citus, startCitus } from '../helpers/citus.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples, ONCE } from '../helpers/examples.ts';
import { migrations } from '../helpers/migrations-folder.ts';
import type { SystemPostgres } from '../helpers/system-postgres.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';
import { citusInstalled } from './needs.ts';

const ONE = 1;
const OTHER = 2;

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 }); // Each makes a database and distributes it.

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

let citus: Citus;

/** A database of the cluster, distributed. */
async function distributed(name: string, workers = citus.workers): Promise<string> {
  const url = await citus.database(name, workers);
  await migrate(url);
  await using client = await connected(url);
  await Array.fromAsync(distribute(client, await planDistribution(client)));
  return url;
}

/** The worker that the company is on. */
async function workerOf({ service }: Server, { id }: Company): Promise<SystemPostgres | undefined> {
  const { rows } = await service.database.pool.query<{ port: number }>(
    `select nodeport as port from pg_dist_placement join pg_dist_node using (groupid)
     where shardid = get_shard_id_for_distribution_column('channels', $1::bigint)`,
    [id],
  );
  return citus.workers.find(({ port }) => port === rows[0]?.port);
}

/** A company with examples on each worker. */
async function onEachWorker(server: Server): Promise<Company[]> {
  const companies = new Map<SystemPostgres | undefined, Company>();
  while (companies.size < citus.workers.length) {
    // Its operations are called often, by a clock that stands.
    const cuenta = { ...exampleAccount, cuota_por_minuto: 10_000 };
    const company = await server.company([...exampleRecords], { cuenta });
    companies.set(await workerOf(server, company), company);
  }
  return citus.workers.map((worker) => companies.get(worker)).filter((company) => company !== undefined);
}

/** What operations answer the company, all at once: the path of each under its status. */
async function answersOf(company: Company): Promise<Record<string, string[]>> {
  const answers: Record<string, string[]> = {};
  // After one of them the other is refused, and some succeed once.
  const called = operations.filter(({ path }) => path !== 'opportunities.close' && !ONCE.has(path));
  await Promise.all(
    called.map(async ({ alias, path }) => {
      const { status, headers } = await company.alias(alias, examples[path], { 'x-idempotency-key': randomUUID() });
      const answer = status === 503 && !headers.has('retry-after') ? '503 without Retry-After' : status;
      answers[answer] = [...(answers[answer] ?? []), path];
    }),
  );
  return answers;
}

describe.skipIf(!citusInstalled())('on a Citus cluster', () => {
  beforeAll(async () => {
    citus = await startCitus();
  });
  afterAll(() => citus?.[Symbol.asyncDispose]());

  test('[TEN-02] distribute waits for a cluster that is ready, and the service for companies that are off the coordinator', async () => {
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
  });

  test('a worker lost: its companies are told to come again, others notice nothing; back, all is as before', async () => {
    const url = await distributed('lost');
    await using server = await startServer({ database: { url }, clock: new TestClock(EXAMPLE_NOW) });
    const [gone, other] = await onEachWorker(server);
    const [worker] = citus.workers;
    if (!gone || !other || !worker) throw new Error('There are two workers');
    const statuses = async (company: Company) => Object.keys(await answersOf(company));
    expect(await statuses(gone)).toEqual(['200']);
    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      // Some are answered before it is gone, and none is refused for good.
      const during = answersOf(gone);
      await worker.stop(signal);
      expect(['200', '503']).toEqual(expect.arrayContaining(Object.keys(await during)));
      for (let times = 0; times < 3; times++) {
        expect(await statuses(gone)).toEqual(['503']);
        expect(await answersOf(other)).toEqual({ 200: expect.anything() });
      }
      expect((await server.request('/health/ready')).status).toBe(200);
      // They succeed once: at the first loss alone.
      if (signal === 'SIGINT') {
        for (const { alias, path } of operations.filter((operation) => ONCE.has(operation.path))) {
          expect([path, (await other.alias(alias, examples[path])).status]).toEqual([path, 200]);
        }
      }
      await worker.start();
      for (let times = 0; times < 3; times++) {
        for (const company of [gone, other]) expect(await answersOf(company)).toEqual({ 200: expect.anything() });
      }
    }
  });

  test('a later version’s migrations: new tables are distributed as they are made, fills go company by company', async () => {
    const url = await distributed('later');
    await using server = await startServer({ database: { url }, clock: new TestClock(EXAMPLE_NOW) });
    const companies = await onEachWorker(server);
    const policy = (table: string) => `alter table ${table} enable row level security;
alter table ${table} force row level security;
create policy company on ${table} using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
`;
    await using folder = await migrations({
      '9000_short': `alter table product_families add column short text;
alter table product_families add check (short <> '');
alter table products add column short text;
`,
      '9001_fill': `-- run: in batches
with batch as (
  select id, left(title, 3) as short from product_families
  where account_id = $2 and id > coalesce($1, '0')::bigint order by id limit 1
), filled as (
  update product_families f set short = b.short from batch b where f.account_id = $2 and f.id = b.id
)
select max(id)::text as ended from batch;
`,
      '9002_index': `-- run: concurrently
drop index concurrently if exists families_by_short;
create index concurrently families_by_short on product_families (account_id, short);
`,
      '9003_seasons': `-- What a migration usually makes: ends of lines, and not of statements; in what is quoted too.
create sequence seasons_id_seq as bigint;
create table seasons (
  account_id bigint not null references accounts (id),
  id bigint not null default nextval('seasons_id_seq'),
  family_id bigint not null,
  primary key (account_id, id),
  foreign key (account_id, family_id) references product_families (account_id, id)
);
create table season_notes (
  account_id bigint not null references accounts (id),
  id bigint not null,
  primary key (account_id, id)
);
${policy('seasons')}${policy('season_notes')}do $$
begin
  create index seasons_by_family on seasons (account_id, family_id);
end
$$;
insert into seasons (account_id, id, family_id) select account_id, id, id from product_families;
`,
    });
    expect(await migrate(url, { folder: folder.url })).toHaveLength(4);

    await using client = await connected(url);
    expect(await planDistribution(client)).toEqual([]);
    expect(await checkSpread(client)).toBe(true);
    const { rows: tables } = await client.query(
      `select partmethod as by from pg_dist_partition where logicalrelid::text in ('seasons', 'season_notes')`,
    );
    expect(tables).toEqual([{ by: 'h' }, { by: 'h' }]);
    const { rows: unfilled } = await client.query(
      'select from product_families f left join seasons s using (account_id, id) where f.short is null or s.id is null',
    );
    expect(unfilled).toEqual([]);
    await using tenant = await connected(url);
    for (const company of companies) {
      const { rows } = await as(tenant, company.id, 'select distinct account_id::int as company from seasons');
      expect(rows).toEqual([{ company: company.id }]);
      expect(await answersOf(company)).toEqual({ 200: expect.anything() });
    }

    // One that somebody makes by hand lies on the coordinator, until it is distributed too.
    await client.query(
      'create table by_hand (account_id bigint not null references accounts (id), id bigint, primary key (account_id, id))',
    );
    await expect(checkSpread(client)).rejects.toThrow('run albaran distribute');
    await Array.fromAsync(distribute(client, await planDistribution(client)));
    expect(await checkSpread(client)).toBe(true);
  });

  test('companies move to a new worker under calls: nothing is lost or done twice, and what is refused is to be called again', async () => {
    const [first, second] = citus.workers;
    if (!first || !second) throw new Error('There are two workers');
    const url = await distributed('grows', [first]);
    await using server = await startServer({ database: { url }, clock: new TestClock(EXAMPLE_NOW) });
    const companies = [];
    while (companies.length < 4) companies.push(await server.company([...exampleRecords], { cuenta: exampleAccount }));
    const refused = new Map<string, number>();
    let over = false;
    /** Creates contacts, each until it is created, and reads, until told to stop. Returns the number created. */
    const calls = async (company: Company) => {
      let created = 0;
      for (let done = true; !over || !done; ) {
        const datos = { nombre: 'Ana', email: `ana.${created}@example.com` };
        const write = await company.post('/crm/contacts', { datos }, { 'x-idempotency-key': `ana-${created}` });
        const read = await company.get('/products');
        for (const { status, body } of [write, read]) {
          if (status !== 200)
            refused.set(`${status} ${body.errorMsg}`, (refused.get(`${status} ${body.errorMsg}`) ?? 0) + 1);
        }
        done = write.status === 200;
        if (done) created++;
      }
      return created;
    };
    const calling = Promise.all(companies.map(calls));
    await using client = await connected(url);
    await client.query(`select citus_add_node('127.0.0.1', ${second.port})`);
    await Array.fromAsync(distribute(client, await planDistribution(client)));
    // Logical replication can't: it stops at tables with row-level security.
    await client.query(`select rebalance_table_shards(shard_transfer_mode => 'block_writes')`);
    over = true;
    const created = await calling;
    for (const answer of refused.keys()) expect(answer).toMatch(/^503 /);
    const { rows: nodes } =
      await client.query(`select distinct nodeport as port from pg_dist_shard join pg_dist_placement using (shardid)
      join pg_dist_node using (groupid) where logicalrelid = 'contacts'::regclass order by 1`);
    expect(nodes).toHaveLength(2);
    for (const [index, company] of companies.entries()) {
      const { body } = await company.get('/crm/contacts', { busqueda: 'ana.', por_pagina: 500 });
      expect(body.data.total_contactos).toBe(created[index]);
      expect(await answersOf(company)).toEqual({ 200: expect.anything() });
    }
  });
});
