// Distributes an ordinary database over a Citus cluster: companies' tables are distributed by company, tables read before the
// company is known are copied to every node, and tables that no company's table refers to stay on the coordinator. The tables are
// read from the catalogue, so running it again covers tables added later.
import pg from 'pg';
import { hasCitus } from '../../platform/spread.ts';
import { TENANT_ROLE } from '../../platform/tenant-role.ts';

/** One step, run in a transaction of its own. */
export interface Step {
  title: string;
  statements: string[];
}

/** The table that stores foreign keys dropped while their tables move, until they are added again. */
const DROPPED_KEYS = 'distribution_foreign_keys';

interface Table {
  name: string;
  /** Has `account_id`. */
  company: boolean;
  /** Has a unique index without `account_id`, which can't be enforced across shards, or a policy for reads before the company is known. */
  global: boolean;
  /** Already distributed or copied. */
  moved: boolean;
}

interface ForeignKey {
  name: string;
  table: string;
  target: string;
  definition: string;
}

/** Why the cluster is not ready, in one line that says what to do; undefined when it is. */
export async function obstacle(client: pg.ClientBase): Promise<string | undefined> {
  const { rowCount } = await client.query(`select from pg_available_extensions where name = 'citus'`);
  if (rowCount === 0) return 'This PostgreSQL has no Citus: install it on every node first (docs/scale.md)';
  if (!(await hasCitus(client))) {
    return 'Citus is not in this database: create extension citus, here and in the database of that name on every worker (docs/scale.md)';
  }
  const { rows } = await client.query<{ groupid: number; holds: boolean }>(
    `select groupid, shouldhaveshards as holds from pg_dist_node where noderole = 'primary' and isactive`,
  );
  const coordinator = rows.find(({ groupid }) => groupid === 0);
  if (!coordinator) {
    return `The cluster does not know its coordinator: select citus_set_coordinator_host('its address', its port) (docs/scale.md)`;
  }
  // COPY and INSERT ... SELECT bypass the policies of shards on the node that plans them.
  if (coordinator.holds) {
    return `The coordinator may not hold companies: select citus_set_node_property(nodename, nodeport, 'shouldhaveshards', false) from pg_dist_node where groupid = 0 (docs/scale.md)`;
  }
  if (rows.length === 1) {
    return `The cluster has no worker: select citus_add_node('its address', its port) for each (docs/scale.md)`;
  }
  return undefined;
}

/** The remaining steps; empty once the database is distributed. `client` must be connected as the owner of the tables. */
export async function planDistribution(client: pg.ClientBase): Promise<Step[]> {
  const { citus, dropped, keys, everywhere, distributed } = await destinations(client);
  const waiting = [...everywhere, ...distributed].filter((table) => !table.moved);
  const settings = await missingSettings(client, citus);
  const steps = settings.map((statement) => ({
    title: 'What the workers know of a transaction',
    statements: [statement],
  }));
  if (waiting.length === 0 && dropped.length === 0) return steps;

  const moving = new Set(waiting.map(({ name }) => name));
  const inTheWay = keys.filter(({ table, target }) => moving.has(table) || moving.has(target));
  if (inTheWay.length > 0) {
    steps.push({
      title: `${inTheWay.length} foreign keys out of the way`,
      statements: [
        `create table if not exists ${DROPPED_KEYS} (name text, table_name text, target text, definition text, primary key (table_name, name))`,
        ...inTheWay.flatMap(({ name, table, target, definition }) => [
          `insert into ${DROPPED_KEYS} values (${[name, table, target, definition].map(pg.escapeLiteral).join(', ')})`,
          `alter table ${table} drop constraint ${name}`,
        ]),
      ],
    });
  }
  for (const { name } of everywhere.filter((table) => !table.moved)) {
    steps.push({ title: `${name} on every node`, statements: [copied(name)] });
  }
  for (const { name } of distributed.filter((table) => !table.moved)) {
    steps.push({ title: `${name} by company`, statements: [spread(name, distributed)] });
  }
  for (const { name, table, definition } of [...dropped, ...inTheWay]) {
    steps.push({
      title: `${table}: ${name} again`,
      statements: [
        `alter table ${table} add constraint ${name} ${definition}`,
        `delete from ${DROPPED_KEYS} where table_name = '${table}' and name = '${name}'`,
      ],
    });
  }
  steps.push({ title: 'Done', statements: [`drop table ${DROPPED_KEYS}`] });
  return steps;
}

const copied = (name: string) => `select create_reference_table('${name}')`;

/** Beside the tables of companies that are distributed, or else beside the first. */
function spread(name: string, distributed: readonly Table[]): string {
  const first = distributed.find(({ moved }) => moved) ?? distributed[0];
  const beside = name === first?.name ? '' : `, colocate_with => '${first?.name}'`;
  return `select create_distributed_table('${name}', 'account_id'${beside})`;
}

/**
 * Runs a migration's `create table` on a distributed database, in its transaction, and takes the table where it belongs: until then
 * rows that the migration inserts would find nothing behind its foreign keys, and its policies would not hold.
 */
export async function createDistributed(client: pg.ClientBase, name: string, statement: string): Promise<void> {
  // With a foreign key to a table on every node, Citus would take it for one of its own, and refuse those to companies' tables.
  await client.query('set local citus.enable_ddl_propagation = off');
  await client.query(statement);
  await client.query('set local citus.enable_ddl_propagation = on');
  const { everywhere, distributed } = await destinations(client);
  const isIt = (table: Table) => table.name === name && !table.moved;
  if (everywhere.some(isIt)) await client.query(copied(name));
  if (distributed.some(isIt)) await client.query(spread(name, distributed));
}

/** Where the tables belong: on every node, or by company. */
async function destinations(client: pg.ClientBase) {
  const citus = await hasCitus(client);
  // Tables that Citus added to its metadata by itself, for a foreign key to a copied table, still have to move.
  const moved = new Set(
    citus
      ? await column(
          client,
          `select logicalrelid::regclass::text as v from pg_dist_partition where partmethod = 'h' or repmodel = 't'`,
        )
      : [],
  );
  const dropped = (await exists(client, DROPPED_KEYS))
    ? (await client.query<ForeignKey>(`select name, table_name as table, target, definition from ${DROPPED_KEYS}`)).rows
    : [];
  const tables = (await tablesOf(client)).map((table) => ({ ...table, moved: moved.has(table.name) }));
  const keys = await foreignKeys(client);

  const distributed = tables.filter(({ company, global }) => company && !global);
  const names = new Set(distributed.map(({ name }) => name));
  // Copied to every node: companies' tables with unique indexes across companies, and tables that companies' tables refer to.
  const wanted = new Set(keys.concat(dropped).flatMap(({ table, target }) => (names.has(table) ? [target] : [])));
  const everywhere = tables.filter(
    ({ name, company, global }) => !names.has(name) && ((company && global) || wanted.has(name)),
  );
  return { citus, dropped, keys, everywhere, distributed };
}

/** Runs the steps, each in its own transaction. After an interruption, plan again to get the remaining steps. */
export async function* distribute(client: pg.ClientBase, steps: readonly Step[]): AsyncGenerator<Step> {
  for (const step of steps) {
    yield step;
    await client.query('begin');
    try {
      for (const statement of step.statements) await client.query(statement);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  }
}

/**
 * The workers must know the transaction's company, let the tenant role log in, and plan for each company's node: a generic plan
 * is not routed to it.
 */
async function missingSettings(client: pg.ClientBase, citus: boolean): Promise<string[]> {
  const [database] = await column(client, 'select quote_ident(current_database()) as v');
  const set = await column(
    client,
    `select unnest(setconfig) as v from pg_db_role_setting
     where setrole = 0 and setdatabase = (select oid from pg_database where datname = current_database())`,
  );
  const settings = ['citus.propagate_set_commands = local', 'plan_cache_mode = force_custom_plan']
    .filter((setting) => !set.includes(setting.replaceAll(' ', '')))
    .map((setting) => `alter database ${database} set ${setting}`);
  // Citus gives the workers' roles what the coordinator's have.
  const shut = citus
    ? await column(
        client,
        `select rolname as v from pg_roles where rolname = '${TENANT_ROLE}' and (not rolcanlogin or exists (
           select from run_command_on_workers($$select count(*) from pg_roles where rolname = '${TENANT_ROLE}' and rolcanlogin$$)
           where result <> '1'))`,
      )
    : [TENANT_ROLE];
  return [...shut.map((role) => `alter role ${role} login`), ...settings];
}

const exists = async (client: pg.ClientBase, relation: string) =>
  (await column(client, `select to_regclass('${relation}')::text as v`))[0] !== null;
const column = async (client: pg.ClientBase, query: string) =>
  (await client.query<{ v: string }>(query)).rows.map(({ v }) => v);

async function tablesOf(client: pg.ClientBase): Promise<Omit<Table, 'moved'>[]> {
  const { rows } = await client.query<Omit<Table, 'moved'>>(
    `select c.relname as name, a.attnum is not null as company,
       exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and not a.attnum = any(i.indkey))
         or (select count(*) from pg_policy p where p.polrelid = c.oid) > 1 as global
     from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> '${DROPPED_KEYS}'
     order by c.relname`,
  );
  return rows;
}

const foreignKeys = async (client: pg.ClientBase): Promise<ForeignKey[]> =>
  (
    await client.query<ForeignKey>(
      `select conname as name, conrelid::regclass::text as table, confrelid::regclass::text as target,
         pg_get_constraintdef(oid) as definition
       from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace order by 2, 1`,
    )
  ).rows;
