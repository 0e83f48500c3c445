// Distribution by company. Without Citus: functions in its place record their calls, so that order, foreign keys and
// interruptions are tested on the real database.
import { expect, test } from 'vitest';
import { distribute, planDistribution } from '../../server/postgres/distribution.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';

/** Refuses what Citus refuses: a table with a foreign key to or from a table that has not moved. */
const CITUS = `
  create schema citus;
  create table citus.moved (number serial, table_name text primary key, by text, beside text);
  create view pg_dist_partition as select table_name::regclass as logicalrelid,
    case when by is null then 'n' else 'h' end as partmethod, case when by is null then 't' else 's' end as repmodel from citus.moved;
  create function run_command_on_workers(command text) returns table (success boolean, result text) language sql as $$ select true, '1' $$;
  create function citus.move(table_name text, by text, beside text) returns void language plpgsql as $$
  begin
    if exists (select from pg_constraint where contype = 'f' and table_name::regclass in (conrelid, confrelid)) then
      raise 'cannot move %: it has foreign keys', table_name;
    end if;
    if by is not null and exists (
      select from pg_index i where i.indrelid = table_name::regclass and i.indisunique and not (
        select attnum from pg_attribute where attrelid = i.indrelid and attname = by) = any(i.indkey)) then
      raise 'cannot distribute %: a unique index lacks %', table_name, by;
    end if;
    insert into citus.moved (table_name, by, beside) values (table_name, by, beside);
  end $$;
  create function create_reference_table(table_name text) returns void
    language sql as 'select citus.move(table_name, null, null)';
  create function create_distributed_table(table_name text, by text, colocate_with text default 'default') returns void
    language sql as 'select citus.move(table_name, by, colocate_with)';`;

const foreignKeys = async ({ admin }: OwnDatabase) =>
  (
    await admin.query(
      `select conrelid::regclass::text as table, conname, pg_get_constraintdef(oid) as definition
       from pg_constraint where contype = 'f' order by 1, 2`,
    )
  ).rows;

/** Without what lets the role log in: it is the whole server's, and other tests look at it. */
const planned = async (admin: OwnDatabase['admin']) =>
  (await planDistribution(admin)).filter(({ statements }) => statements[0] !== 'alter role albaran_app login');

test('the plan: Citus, foreign keys away, what everyone reads everywhere, the rest by company, foreign keys back', async () => {
  await using database = await ownDatabase();
  const steps = await planDistribution(database.admin);
  const statements = steps.flatMap((step) => step.statements);
  expect(statements[0]).toBe('alter role albaran_app login');
  const settings = statements.filter((statement) => statement.startsWith('alter database'));
  expect(settings.map((statement) => statement.replace(/albaran_own_\w+/, ''))).toEqual([
    'alter database  set citus.propagate_set_commands = local',
    'alter database  set plan_cache_mode = force_custom_plan',
  ]);
  expect(statements).toContain(`select create_reference_table('accounts')`);
  expect(statements).toContain(`select create_reference_table('api_keys')`);
  // Read by a person's own policy, before the company is known.
  expect(statements).toContain(`select create_reference_table('memberships')`);
  expect(statements).toContain(
    `select create_distributed_table('invoice_lines', 'account_id', colocate_with => 'absences')`,
  );
  // Tables without references to companies, which are read before a company is known, are not moved.
  for (const local of ['users', 'user_sessions', 'oauth_clients', 'service_secrets', 'mikro_orm_migrations']) {
    expect(statements.filter((statement) => statement.includes(`table('${local}'`))).toEqual([]);
  }
  const keys = await foreignKeys(database);
  for (const verb of ['drop', 'add']) {
    const altered = statements.filter((statement) => statement.includes(`${verb} constraint`));
    expect(altered.length).toBeGreaterThan(80);
    expect(altered.length).toBeLessThanOrEqual(keys.length);
  }
});

test('every table with a company in it moves, and every foreign key is there again, as it was', async () => {
  await using database = await ownDatabase();
  const { admin } = database;
  const before = await foreignKeys(database);
  await admin.query(CITUS);
  await Array.fromAsync(distribute(admin, await planned(admin)));
  const { rows } = await admin.query<{ name: string; by: string | null }>(
    `select c.relname as name, m.by from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind = 'r'
     left join citus.moved m on m.table_name = c.relname
     where a.attname = 'account_id' and c.relnamespace = 'public'::regnamespace order by 1`,
  );
  expect(rows.length).toBeGreaterThan(50);
  expect(
    rows.filter(({ name, by }) => by !== (['api_keys', 'memberships'].includes(name) ? null : 'account_id')),
  ).toEqual([]);
  const beside = await admin.query('select distinct beside from citus.moved where by is not null order by 1');
  expect(beside.rows).toEqual([{ beside: 'absences' }, { beside: 'default' }]);
  expect(await foreignKeys(database)).toEqual(before);
  const kept = await admin.query(`select to_regclass('distribution_foreign_keys') as kept`);
  expect(kept.rows).toEqual([{ kept: null }]);
});

test('interrupted anywhere, it goes on where it was; finished, there is nothing to do; a table of a later version is taken along', async () => {
  await using database = await ownDatabase();
  const { admin } = database;
  const before = await foreignKeys(database);
  await admin.query(CITUS);
  let rounds = 0;
  for (let steps = await planned(admin); steps.length > 0; steps = await planned(admin)) {
    const running = distribute(admin, steps);
    // The process ends after twenty steps.
    for (let step = 0; step <= 20; step++) if ((await running.next()).done) break;
    expect(++rounds).toBeLessThan(20);
  }
  expect(rounds).toBeGreaterThan(3);
  expect(await foreignKeys(database)).toEqual(before);

  await admin.query(
    `create table seasons (account_id bigint not null references accounts (id), id bigint not null, primary key (account_id, id))`,
  );
  const later = await planned(admin);
  expect(later.map(({ title }) => title)).toEqual([
    '1 foreign keys out of the way',
    'seasons by company',
    'seasons: seasons_account_id_fkey again',
    'Done',
  ]);
});

test('a failure leaves the step undone, and says what Citus said', async () => {
  await using database = await ownDatabase();
  const { admin } = database;
  await admin.query(CITUS);
  await admin.query('alter table machines add constraint machines_title unique (title)');
  const steps = await planned(admin);
  // Tables with values that are unique across companies are copied, not split.
  expect(steps.flatMap(({ statements }) => statements)).toContain(`select create_reference_table('machines')`);
  await admin.query('alter function create_reference_table(text) rename to away');
  const running = Array.fromAsync(distribute(admin, steps));
  await expect(running).rejects.toThrow('create_reference_table');
  // What came before it is done: the two settings, and the foreign keys out of the way.
  expect((await planned(admin)).length).toBe(steps.length - 3);
});
