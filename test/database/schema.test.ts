// The migrations match the entities; and the migration runner.
import { MikroORM } from '@mikro-orm/postgresql';
import { expect, test } from 'vitest';
import { entities } from '../../entities/index.ts';
import { migrate } from '../../server/postgres/migrations.ts';
import { ownDatabase } from '../helpers/own-database.ts';

// In the migrations but not in the entities: foreign keys, search indexes and the functions of generated columns, which have a
// default in the entities only (so that inserts may leave them out). The catalogue shows the default of an id with a cast, so it
// always differs; isolation.test.ts checks it.
const BESIDE_THE_ENTITIES = [
  /^set names 'utf8'$/,
  /^alter table "\w+" drop constraint "\w+_fk"$/,
  /^drop index "(products|clients|contacts|invoices|estimates)_search"$/,
  /^drop function if exists "(json_text|price_entries|price_count)"/,
  /^alter table "\w+" alter column "(price_entries|price_count)" set default (''|0)$/,
  /^alter table "(\w+)" alter column "id" set default nextval\('\1_id_seq'\)$/,
];

/** Columns that only the version before reads: a migration of the version after this one drops them. */
const NO_LONGER_READ = [/^alter table "(products|product_families|clients)" drop column "card"$/];

/** What would have to be done to the database to make it what the entities say. */
async function differences(url: string): Promise<string[]> {
  const orm = await MikroORM.init({ entities: [...entities], clientUrl: url });
  try {
    const statements = (await orm.schema.getUpdateSchemaSQL({ safe: false })).split(';').map((each) => each.trim());
    return statements.filter(
      (each) => each !== '' && ![...BESIDE_THE_ENTITIES, ...NO_LONGER_READ].some((pattern) => pattern.test(each)),
    );
  } finally {
    await orm.close();
  }
}

test('the migrations make what the entities describe: columns, types, defaults, indexes, checks, policies', async () => {
  await using database = await ownDatabase();
  expect(await differences(database.directUrl)).toEqual([]);
});

test('a schema that differs from the entities in any of these ways is noticed', async () => {
  await using database = await ownDatabase();
  let known = 0;
  for (const change of [
    'alter table employees drop column email',
    'alter table products add column colour text',
    'alter table products alter column description drop not null',
    'alter table projects alter column budgeted_cost type double precision',
    'alter table clients alter column trade_name drop default',
    `alter table accounts alter column time_zone set default 'UTC'`,
    'alter table opportunities drop constraint opportunities_state_check',
    'drop index time_entries_by_entry',
    'drop policy company on invoices',
    'alter table invoices no force row level security',
    'alter policy company on estimates using (true)',
    'drop table settlements',
  ]) {
    await database.admin.query(change);
    const found = await differences(database.directUrl);
    expect(found.length, change).toBeGreaterThan(known);
    known = found.length;
  }
});

test('migrating twice changes nothing the second time', async () => {
  await using database = await ownDatabase({ migrated: false });
  const first = await migrate(database.directUrl);
  expect(first).toContain('0001_initial');
  expect(await migrate(database.directUrl)).toEqual([]);
});

test('two servers that migrate at once do it once', async () => {
  await using database = await ownDatabase({ migrated: false });
  const [one, other] = await Promise.all([migrate(database.directUrl), migrate(database.directUrl)]);
  expect([one, other].filter((names) => names.length > 0)).toHaveLength(1);
  expect(await differences(database.directUrl)).toEqual([]);
});

test('a migration that fails leaves nothing behind, and the next attempt does all of it', async () => {
  await using database = await ownDatabase({ migrated: false });
  await database.admin.query('create table treasury_movements ()');
  await expect(migrate(database.directUrl)).rejects.toThrow('treasury_movements');
  const { rows } = await database.admin.query(`select to_regclass('products') as products`);
  expect(rows).toEqual([{ products: null }]);
  await database.admin.query('drop table treasury_movements');
  expect(await migrate(database.directUrl)).toContain('0001_initial');
});

test('a database newer than the program is refused, by the name of what it has', async () => {
  await using database = await ownDatabase();
  await database.admin.query(`insert into mikro_orm_migrations (name) values ('9999_from_the_future')`);
  await expect(migrate(database.directUrl)).rejects.toThrow(
    'The database is newer than this version of Albaran: it has 9999_from_the_future',
  );
});

test('a database that does not answer is an error, not a wait', async () => {
  await expect(migrate('postgres://postgres@127.0.0.1:1/nothing')).rejects.toThrow('ECONNREFUSED');
});
