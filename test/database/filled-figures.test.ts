// Migrations that fill in new columns and tables of existing companies, run by a login bound by row-level security.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { importAccountFile } from '../../account-file/import.ts';
import { createAccount } from '../../account-file/new-account.ts';
import { ROLLUPS } from '../../figures/figures.ts';
import { differences } from '../../figures/rollups.ts';
import { Database } from '../../platform/database.ts';
import { migrate } from '../../server/postgres/migrations.ts';
import { linesOf } from '../account-file/companies.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { poolerOptions } from '../helpers/pgbouncer.ts';
import { busyCompany } from '../operations/projects/plain-books.ts';

/** A database migrated by its owner, a login that is no superuser, with the service's pool. */
async function migratedByOwner() {
  const own = await ownDatabase({ migrated: false });
  const owner = `albaran_owner_${randomUUID().replaceAll('-', '')}`;
  await own.admin.query(`create role ${owner} login password 'secret'; grant albaran_app to ${owner}`);
  await own.admin.query(`grant create on database ${new URL(own.directUrl).pathname.slice(1)} to ${owner}`);
  await own.admin.query(`alter schema public owner to ${owner}`);
  const asOwner = new URL(own.directUrl);
  asOwner.username = owner;
  asOwner.password = 'secret';
  await migrate(asOwner.href);
  const database = new Database({ url: own.url, ...poolerOptions() });
  await database.prepareRole();
  return {
    own,
    asOwner: asOwner.href,
    database,
    async [Symbol.asyncDispose]() {
      await database.close();
      await own.admin.query(`drop owned by ${owner}`);
      await own.admin.query(`drop role ${owner}`);
      await own[Symbol.asyncDispose]();
    },
  };
}

test('[PRJ-01] [FIC-01] [PRO-01] figures of companies that were there before are filled in', async () => {
  await using before = await migratedByOwner();
  const { own, asOwner, database } = before;
  const ids: number[] = [];
  for (const [index, records] of fc.sample(busyCompany, { numRuns: 4, seed: 20_260_310 }).entries()) {
    const { id } = await createAccount(database, { slug: `c${index}`, name: 'Antes' });
    // Nothing could be annulled then.
    const earlier = records.map(({ anulado_el, motivo_anulacion, ...record }) => record);
    await importAccountFile(database, id, linesOf(earlier));
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
  expect(await migrate(asOwner)).toEqual(again);
  for (const id of ids) {
    const wrong = await database.transaction(id, {}, (db) =>
      Promise.all(ROLLUPS.map((figure) => differences(db, id, figure))),
    );
    expect(wrong.flat()).toEqual([]);
  }
  const { rows } = await own.admin.query<{ filled: number }>(
    'select count(*)::int as filled from project_totals where sales <> 0 and purchases <> 0 and seconds <> 0',
  );
  expect(rows[0]?.filled).toBeGreaterThan(0);
});

test('[ISS-01] companies that were there before have automatic issuing off, and services that entered on the day of their row', async () => {
  await using before = await migratedByOwner();
  const { own, asOwner, database } = before;
  const { id } = await createAccount(database, { slug: 'antes', name: 'Antes', timeZone: 'Europe/Madrid' });
  const records = [
    { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Antes' },
    { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL' },
    {
      coleccion: 'recurrentes',
      ref: 'r',
      descripcion: 'Cuota',
      cliente: 'cli',
      periodicidad: 'mensual',
      fecha_creacion: '2019-01-01',
      lineas: [],
    },
  ];
  await importAccountFile(database, id, linesOf(records));
  await own.admin.query('alter table accounts drop column automatic_issuing_since');
  await own.admin.query(
    'alter table recurrings drop column entered_on, drop column pending_from, drop column skipped_cycles',
  );
  await own.admin.query(`update recurrings set created_at = '2026-05-31T22:30:00Z'`); // June in Madrid.
  const again = ['0011_automatic_issuing', '0018_recurrings_entered'];
  await own.admin.query('delete from mikro_orm_migrations where name = any($1)', [again]);
  expect(await migrate(asOwner)).toEqual(again);
  const { rows } = await own.admin.query(
    `select a.automatic_issuing_since, r.entered_on::text, r.pending_from, r.skipped_cycles::text[]
     from accounts a join recurrings r on r.account_id = a.id`,
  );
  expect(rows).toEqual([
    { automatic_issuing_since: null, entered_on: '2026-06-01', pending_from: null, skipped_cycles: [] },
  ]);
});

test('[DLV-02] the numbers of projects go on from those of companies that were there before', async () => {
  await using before = await migratedByOwner();
  const { own, asOwner, database } = before;
  const { id } = await createAccount(database, { slug: 'antes', name: 'Antes' });
  const numbers = Array.from({ length: 1100 }, (_, index) => `26-${1100 - index}`);
  const records = [
    { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Antes' },
    ...[...numbers, '25-007', '24-1', 'Obra'].map((numero) => ({
      coleccion: 'proyectos',
      ref: numero,
      numero,
      descripcion: 'x',
    })),
  ];
  await importAccountFile(database, id, linesOf(records));
  const counters = async () =>
    (await own.admin.query('select document, year, last_number from document_counters order by year')).rows;
  const imported = await counters();
  expect(imported).toEqual([
    { document: 'project', year: 2025, last_number: 7 },
    { document: 'project', year: 2026, last_number: 1100 },
  ]);
  await own.admin.query('delete from document_counters');
  const again = ['0019_project_numbers'];
  await own.admin.query('delete from mikro_orm_migrations where name = any($1)', [again]);
  expect(await migrate(asOwner)).toEqual(again);
  expect(await counters()).toEqual(imported);
});
