// Migrations that add kept figures to a database with companies in it, by a login that row-level security binds.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { importAccountFile } from '../../entities/account-file/import.ts';
import { createAccount } from '../../entities/account-file/new-account.ts';
import { FIGURES } from '../../entities/kept/figures.ts';
import { differences } from '../../entities/kept/kept.ts';
import { Database } from '../../platform/database.ts';
import { migrate } from '../../platform/migrations.ts';
import { linesOf } from '../account-file/companies.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { poolerOptions } from '../helpers/pgbouncer.ts';
import { busyCompany } from '../operations/projects/plain-books.ts';

test('[PRJ-01] [FIC-01] [PRO-01] figures of companies that were there before are filled in', async () => {
  await using own = await ownDatabase({ migrated: false });
  const owner = `albaran_owner_${randomUUID().replaceAll('-', '')}`;
  await own.admin.query(`create role ${owner} login password 'secret'`);
  await own.admin.query(`grant create on database ${new URL(own.directUrl).pathname.slice(1)} to ${owner}`);
  await own.admin.query(`alter schema public owner to ${owner}`);
  const asOwner = new URL(own.directUrl);
  asOwner.username = owner;
  asOwner.password = 'secret';
  await migrate(asOwner.href);
  const database = new Database({ url: own.url, ...poolerOptions() });
  try {
    await database.prepareRole();
    const ids: number[] = [];
    for (const [index, records] of fc.sample(busyCompany, { numRuns: 4, seed: 20_260_310 }).entries()) {
      const { id } = await createAccount(database, { slug: `c${index}`, name: 'Antes' });
      await importAccountFile(database, id, linesOf(records));
      ids.push(id);
    }
    await own.admin.query('drop table record_counts, time_entry_days, project_totals');
    await own.admin.query('alter table products drop column card, drop column price_entries, drop column price_count');
    await own.admin.query('alter table product_families drop column card');
    await own.admin.query('alter table clients drop column card');
    await own.admin.query('drop function json_text, price_entries, price_count');
    await own.admin.query('drop index if exists invoices_search, estimates_search');
    const again = ['0008_maintained_counts', '0009_project_totals', '0010_cards_counts_and_searches'];
    await own.admin.query('delete from mikro_orm_migrations where name = any($1)', [again]);
    expect(await migrate(asOwner.href)).toEqual(again);
    for (const id of ids) {
      const wrong = await database.transaction(id, {}, (db) =>
        Promise.all(FIGURES.map((figure) => differences(db, id, figure))),
      );
      expect(wrong.flat()).toEqual([]);
    }
    const { rows } = await own.admin.query<{ filled: number }>(
      'select count(*)::int as filled from project_totals where sales <> 0 and purchases <> 0 and seconds <> 0',
    );
    expect(rows[0]?.filled).toBeGreaterThan(0);
  } finally {
    await database.close();
    await own.admin.query(`drop owned by ${owner}`);
    await own.admin.query(`drop role ${owner}`);
  }
});
