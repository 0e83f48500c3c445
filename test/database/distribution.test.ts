// The way to a cluster. Citus itself is not here: the functions that it would add to the database stand in its place and note
// what they were asked for, so that order, foreign keys and interruptions are the real database's.
import { expect, test } from 'vitest';
import { distribute, planDistribution } from '../../platform/distribution.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';

/** Refuses what Citus refuses: a table with a foreign key to one that has not moved, or from one that has not. */
const CITUS = `
  create schema citus;
  create table citus.moved (number serial, table_name text primary key, by text, beside text);
  create view pg_dist_partition as select table_name::regclass::oid as logicalrelid from citus.moved;
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

test('the plan: Citus, foreign keys away, what everyone reads everywhere, the rest by company, foreign keys back', async () => {
  await using database = await ownDatabase();
  const steps = await planDistribution(database.admin);
  const statements = steps.flatMap((step) => step.statements);
  expect(statements[0]).toBe('create extension if not exists citus');
  expect(statements[1]).toMatch(/^alter database albaran_own_\w+ set citus\.propagate_set_commands = 'local'$/);
  expect(statements).toContain(`select create_reference_table('accounts')`);
  expect(statements).toContain(`select create_reference_table('api_keys')`);
  expect(statements).toContain(
    `select create_distributed_table('invoice_lines', 'account_id', colocate_with => 'absences')`,
  );
  // What is looked up before a company is known, and no company refers to, stays where it is.
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
  await Array.fromAsync(distribute(admin, await planDistribution(admin)));
  const { rows } = await admin.query<{ name: string; by: string | null }>(
    `select c.relname as name, m.by from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind = 'r'
     left join citus.moved m on m.table_name = c.relname
     where a.attname = 'account_id' and c.relnamespace = 'public'::regnamespace order by 1`,
  );
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter(({ name, by }) => by !== (name === 'api_keys' ? null : 'account_id'))).toEqual([]);
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
  for (let steps = await planDistribution(admin); steps.length > 0; steps = await planDistribution(admin)) {
    const running = distribute(admin, steps);
    // Twenty steps, and the process is gone.
    for (let step = 0; step <= 20; step++) if ((await running.next()).done) break;
    expect(++rounds).toBeLessThan(20);
  }
  expect(rounds).toBeGreaterThan(3);
  expect(await foreignKeys(database)).toEqual(before);

  await admin.query(
    `create table seasons (account_id bigint not null references accounts (id), id bigint not null, primary key (account_id, id))`,
  );
  const later = await planDistribution(admin);
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
  const steps = await planDistribution(admin);
  // What has to be unique across companies is copied rather than split.
  expect(steps.flatMap(({ statements }) => statements)).toContain(`select create_reference_table('machines')`);
  await admin.query('alter function create_reference_table(text) rename to away');
  await expect(Array.fromAsync(distribute(admin, steps))).rejects.toThrow('create_reference_table');
  expect((await planDistribution(admin)).length).toBe(steps.length - 1);
});
