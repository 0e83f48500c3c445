// Turns an ordinary database into one that a Citus cluster holds: companies' tables are distributed by company, what is read
// before the company is known is copied to every node, and what no company's table refers to stays on the coordinator. All
// from the catalogue, so that a table of a later version is taken along when it is run again.
import pg from 'pg';

/** One transaction of the way there. */
export interface Step {
  title: string;
  statements: string[];
}

/** Foreign keys are away while their tables move: until they are back, they are kept here. */
const KEPT = 'distribution_foreign_keys';

interface Table {
  name: string;
  /** Has `account_id`. */
  company: boolean;
  /** A unique index without `account_id`: no shard could see to it. */
  global: boolean;
  /** Moved already. */
  moved: boolean;
}

interface ForeignKey {
  name: string;
  table: string;
  target: string;
  definition: string;
}

/** What is left to be done; nothing, once the database is distributed. `client` is connected as the owner of the tables. */
export async function planDistribution(client: pg.ClientBase): Promise<Step[]> {
  const citus = await exists(client, 'pg_dist_partition');
  const moved = new Set(
    citus ? await column(client, 'select logicalrelid::regclass::text as v from pg_dist_partition') : [],
  );
  const kept = (await exists(client, KEPT))
    ? (await client.query<ForeignKey>(`select name, table_name as table, target, definition from ${KEPT}`)).rows
    : [];
  const tables = (await tablesOf(client)).map((table) => ({ ...table, moved: moved.has(table.name) }));
  const keys = await foreignKeys(client);

  const distributed = tables.filter(({ company, global }) => company && !global);
  const names = new Set(distributed.map(({ name }) => name));
  // Read by everyone: what has to be unique across companies, and what companies' tables refer to.
  const wanted = new Set(keys.concat(kept).flatMap(({ table, target }) => (names.has(table) ? [target] : [])));
  const everywhere = tables.filter(
    ({ name, company, global }) => !names.has(name) && ((company && global) || wanted.has(name)),
  );
  const waiting = [...everywhere, ...distributed].filter((table) => !table.moved);
  if (waiting.length === 0 && kept.length === 0) return [];

  const moving = new Set(waiting.map(({ name }) => name));
  const inTheWay = keys.filter(({ table, target }) => moving.has(table) || moving.has(target));
  const [first] = distributed.toSorted((a, b) => Number(b.moved) - Number(a.moved));
  const steps: Step[] = [];
  if (!citus) {
    const [database] = await column(client, 'select quote_ident(current_database()) as v');
    steps.push({
      title: 'Citus in this database, and the company of a transaction known on its workers',
      statements: [
        'create extension if not exists citus',
        `alter database ${database} set citus.propagate_set_commands = 'local'`,
      ],
    });
  }
  if (inTheWay.length > 0) {
    steps.push({
      title: `${inTheWay.length} foreign keys out of the way`,
      statements: [
        `create table if not exists ${KEPT} (name text, table_name text, target text, definition text, primary key (table_name, name))`,
        ...inTheWay.flatMap(({ name, table, target, definition }) => [
          `insert into ${KEPT} values (${[name, table, target, definition].map(pg.escapeLiteral).join(', ')})`,
          `alter table ${table} drop constraint ${name}`,
        ]),
      ],
    });
  }
  for (const { name } of everywhere.filter((table) => !table.moved)) {
    steps.push({ title: `${name} on every node`, statements: [`select create_reference_table('${name}')`] });
  }
  for (const { name } of distributed.filter((table) => !table.moved)) {
    const beside = name === first?.name ? '' : `, colocate_with => '${first?.name}'`;
    steps.push({
      title: `${name} by company`,
      statements: [`select create_distributed_table('${name}', 'account_id'${beside})`],
    });
  }
  for (const { name, table, definition } of [...kept, ...inTheWay]) {
    steps.push({
      title: `${table}: ${name} again`,
      statements: [
        `alter table ${table} add constraint ${name} ${definition}`,
        `delete from ${KEPT} where table_name = '${table}' and name = '${name}'`,
      ],
    });
  }
  steps.push({ title: 'Done', statements: [`drop table ${KEPT}`] });
  return steps;
}

/** Carries the steps out, each in a transaction of its own: what was interrupted is planned anew and goes on from there. */
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

const exists = async (client: pg.ClientBase, relation: string) =>
  (await column(client, `select to_regclass('${relation}')::text as v`))[0] !== null;
const column = async (client: pg.ClientBase, query: string) =>
  (await client.query<{ v: string }>(query)).rows.map(({ v }) => v);

async function tablesOf(client: pg.ClientBase): Promise<Omit<Table, 'moved'>[]> {
  const { rows } = await client.query<Omit<Table, 'moved'>>(
    `select c.relname as name, a.attnum is not null as company,
       exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and not a.attnum = any(i.indkey)) as global
     from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> '${KEPT}'
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
