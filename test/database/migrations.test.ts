// Migrating a database in use: lock waits, retries and interrupted attempts.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MigrationFailed, migrate, pendingMigrations } from '../../server/postgres/migrations.ts';
import { MIGRATIONS, migrations } from '../helpers/migrations-folder.ts';
import { connect, type OwnDatabase, ownDatabase, untilWaiting } from '../helpers/own-database.ts';

test('a migration that has landed never changes: landed.json holds what each was', async () => {
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort();
  const now = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(MIGRATIONS, file));
      return [file.slice(0, -4), createHash('sha256').update(text).digest('hex')] as const;
    }),
  );
  const landed: unknown = JSON.parse(await readFile(join(MIGRATIONS, 'landed.json'), 'utf8'));
  expect(Object.fromEntries(now), 'a new one gets its line: sha256sum entities/migrations/<file>').toEqual(landed);
});

describe('a table that others use', () => {
  const ADD = { '9000_add': 'alter table families_kept add column colour text' };

  async function inUse(): Promise<OwnDatabase> {
    const database = await ownDatabase();
    await database.admin.query('create table families_kept (id int)');
    return database;
  }

  test('is waited for a moment at a time, so that calls go on; the log says whose lock it is', async () => {
    await using database = await inUse();
    await using folder = await migrations(ADD);
    await using backup = await connect(database, 'pg_dump');
    await backup.query('begin; select * from families_kept');
    const lines: string[] = [];
    const { promise: waits, resolve } = Promise.withResolvers<void>();
    const report = (line: string) => {
      lines.push(line);
      if (line.includes('waits')) resolve();
    };
    const running = migrate(database.directUrl, { folder: folder.url, report, reportAfterMs: 0, lockTimeoutMs: 60 });
    await waits;
    await database.admin.query('select * from families_kept');
    expect(await pendingMigrations(database.directUrl, { folder: folder.url })).toEqual(['9000_add']);
    await backup.query('commit');
    expect(await running).toEqual(['9000_add']);
    expect(lines[0]).toBe('migration 9000_add (1 of 1)');
    expect(lines[1]).toMatch(/^migration 9000_add waits for a lock: held by session \d+ \(pg_dump, for \d+ s\)$/);
  });

  test('for ever, is one plain line, and nothing of it is kept', async () => {
    await using database = await inUse();
    await using folder = await migrations({ '9000_add': `create table beside (); ${ADD['9000_add']}` });
    await using backup = await connect(database, 'pg_dump');
    await backup.query('begin; select * from families_kept');
    const running = migrate(database.directUrl, { folder: folder.url, lockTimeoutMs: 60, patienceMs: 500 });
    await expect(running).rejects.toThrow(MigrationFailed);
    await expect(running).rejects.toThrow(
      /^The migration 9000_add got no lock in \d attempts: held by session \d+ \(pg_dump, for \d+ s\)\. When that has ended, start again$/,
    );
    const { rows } = await database.admin.query(`select to_regclass('beside') as beside`);
    expect(rows).toEqual([{ beside: null }]);
  });

  test('in the other order is tried again: of two that wait for each other the migration lets go', async () => {
    await using database = await inUse();
    await database.admin.query('create table others (id int)');
    const both = 'alter table families_kept add column colour text; alter table others add column colour text';
    await using folder = await migrations({ '9000_both': both });
    await using call = await connect(database, 'albaran');
    await call.query('begin; insert into others values (1)');
    const running = migrate(database.directUrl, { folder: folder.url, lockTimeoutMs: 400 });
    await untilWaiting(database.admin);
    await call.query('insert into families_kept values (1)');
    await call.query('commit');
    expect(await running).toEqual(['9000_both']);
  });
});

describe('in batches', () => {
  const NAMES = {
    '9000_add': 'alter table product_families add column short text',
    '9001_fill': `-- run: in batches
with batch as (
  select account_id, id, left(title, 3) as short from product_families
  where account_id = $2 and id > coalesce($1, '0')::bigint
  order by id limit 2
), filled as (
  update product_families f set short = b.short from batch b where f.account_id = $2 and f.id = b.id
)
select max(id)::text as ended from batch;
`,
  };

  async function withFamilies(): Promise<OwnDatabase> {
    const database = await ownDatabase();
    await database.admin.query(`insert into accounts (slug, name, time_zone)
      select 'company' || n, 'Company', 'Europe/Madrid' from generate_series(1, 3) n;
      insert into product_families (account_id, title)
      select a.id, 'Grifería ' || n from accounts a, generate_series(1, 5) n`);
    return database;
  }

  test('every company is filled, each batch a transaction of its own', async () => {
    await using database = await withFamilies();
    await using folder = await migrations(NAMES);
    expect(await migrate(database.directUrl, { folder: folder.url })).toEqual(['9000_add', '9001_fill']);
    const { rows } = await database.admin.query(
      'select short, count(*)::int as rows, count(distinct xmin::text)::int as batches from product_families group by short',
    );
    expect(rows).toEqual([{ short: 'Gri', rows: 15, batches: 9 }]);
  });

  test('one that is cut off keeps what it did, and is done anew', async () => {
    await using database = await withFamilies();
    await using folder = await migrations(NAMES);
    await database.admin.query(`update product_families set title = 'Ojo' where account_id = 2`);
    await using refused = await migrations({
      ...NAMES,
      '9001_fill': NAMES['9001_fill'].replace('left(title, 3)', `1 / (length(title) - 3)`),
    });
    await expect(migrate(database.directUrl, { folder: refused.url })).rejects.toThrow(
      'The migration 9001_fill failed: ',
    );
    const filled =
      'select account_id::int as account, count(short)::int as filled from product_families group by 1 order by 1';
    expect((await database.admin.query(filled)).rows.map((row) => row.filled)).toEqual([5, 0, 0]);
    expect(await migrate(database.directUrl, { folder: folder.url })).toEqual(['9001_fill']);
    expect((await database.admin.query(filled)).rows.map((row) => row.filled)).toEqual([5, 5, 5]);
  });
});

describe('concurrently', () => {
  const INDEX = {
    '9000_index': `-- run: concurrently
drop index concurrently if exists families_by_title;
create unique index concurrently families_by_title on product_families (title);
`,
  };

  test('an index that failed half-way is made anew', async () => {
    await using database = await ownDatabase();
    await using folder = await migrations(INDEX);
    await database.admin.query(`insert into accounts (slug, name, time_zone) values ('one', 'One', 'Europe/Madrid');
      insert into product_families (account_id, title) select id, 'Grifos' from accounts, generate_series(1, 2)`);
    await expect(migrate(database.directUrl, { folder: folder.url })).rejects.toThrow('could not create unique index');
    await database.admin.query(`update product_families set title = title || id`);
    expect(await migrate(database.directUrl, { folder: folder.url })).toEqual(['9000_index']);
    const { rows } = await database.admin.query(
      `select indisvalid as valid from pg_index where indexrelid = 'families_by_title'::regclass`,
    );
    expect(rows).toEqual([{ valid: true }]);
  });

  test('of two servers that start at once one makes it: the one that waits does not hold it up', async () => {
    await using database = await ownDatabase();
    await using folder = await migrations(INDEX);
    const both = await Promise.all([1, 2].map(() => migrate(database.directUrl, { folder: folder.url })));
    expect(both.flat()).toEqual(['9000_index']);
  });
});

test('what is told to stop stops where it waits, and keeps what is done', async () => {
  await using database = await ownDatabase();
  await database.admin.query('create table families_kept (id int)');
  await using backup = await connect(database, 'pg_dump');
  await backup.query('begin; select * from families_kept');
  const two = 'alter table families_kept add column colour text';
  await using folder = await migrations({ '9000_one': 'create table one ()', '9001_two': two });
  const stop = new AbortController();
  const report = () => stop.abort(new Error('told to stop'));
  const running = migrate(database.directUrl, { folder: folder.url, stop: stop.signal, report, lockTimeoutMs: 40 });
  await expect(running).rejects.toThrow('told to stop');
  expect(await pendingMigrations(database.directUrl, { folder: folder.url })).toEqual(['9001_two']);
});

describe('a database of a time when a migration had another name and text', () => {
  /** The generated columns and defaults, the indexes and the SQL functions of the schema. */
  const SCHEMA = `select array(select a.attrelid::regclass || '.' || a.attname || ' ' || pg_get_expr(d.adbin, d.adrelid)
      from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum order by 1) as columns,
    array(select indexdef from pg_indexes where schemaname = 'public' order by 1) as indexes,
    array(select p.oid::regprocedure || pg_get_functiondef(p.oid) from pg_proc p
      where p.pronamespace = 'public'::regnamespace and p.prolang = (select oid from pg_language where lanname = 'sql') order by 1) as functions`;

  test.each(['0010_product_cards', '0010_cards_and_counts'])('%s', async (name) => {
    const sql = await readFile(join(import.meta.dirname, 'earlier-forms', `${name}.sql`), 'utf8');
    await using earlier = await migrations({ [name]: sql }, { upTo: '0010' });
    await using database = await ownDatabase({ migrated: false });
    await migrate(database.directUrl, { folder: earlier.url });
    await database.admin.query(`insert into accounts (slug, name, time_zone) values ('one', 'One', 'Europe/Madrid')`);
    await database.admin.query(`insert into product_families (account_id, title) select id, 'Grifos' from accounts`);

    const done = await migrate(database.directUrl);
    expect(done).not.toContain('0010_cards_counts_and_searches');
    expect(await pendingMigrations(database.directUrl)).toEqual([]);
    await using current = await ownDatabase();
    const [mine, itsOwn] = await Promise.all([database, current].map(({ admin }) => admin.query(SCHEMA)));
    expect(mine?.rows).toEqual(itsOwn?.rows);
    const { rows } = await database.admin.query('select card from product_families');
    expect(rows).toEqual([{ card: expect.stringMatching(/^\{"familiaId":\t21:\d+\t,"titulo":"Grifos"\}$/) }]);
  });
});
