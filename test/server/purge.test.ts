// The daily purge of running servers: it runs at the start, and on one of two servers.
import { afterAll, expect, test, vi } from 'vitest';
import { createAccount } from '../../account-file/new-account.ts';
import { ownDatabase, tenantsOf } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { serve } from './processes.ts';

vi.setConfig({ testTimeout: 60_000 });

const database = await ownDatabase();
const tenants = await tenantsOf(database);
afterAll(async () => {
  await tenants.close();
  await database[Symbol.asyncDispose]();
});

/** A company with an old answer and a new one. */
async function company(slug: string): Promise<void> {
  const { id } = await createAccount(tenants, { slug, name: 'Limpia' });
  const answer = (key: string, created_at: string) => ({ account_id: id, key, request_hash: '', created_at });
  const rows = [answer('old', '2020-01-01T00:00:00Z'), answer('new', Temporal.Now.instant().toString())];
  await tenants.transaction(id, { write: true }, (db) => db.insertInto('idempotency_records').values(rows).execute());
}

const keysLeft = async () =>
  (await database.admin.query<{ key: string }>('select key from idempotency_records order by key')).rows.map(
    ({ key }) => key,
  );

test('[IDEM-01] of two servers one purges every company, once a day, whether or not renewals are on', async () => {
  for (const slug of ['uno', 'dos']) await company(slug);
  const env = { ...databaseEnvironment(database.url), DEMO: 'false', RENEWALS: 'off' };
  await using one = await serve(env);
  await using other = await serve(env);
  await vi.waitUntil(async () => (await keysLeft()).length === 2, { timeout: 30_000 });
  // Today's run is done: what expires now waits for tomorrow.
  await vi.waitUntil(
    async () =>
      (await database.admin.query(`select from scheduled_runs where name = 'purge' and slot is not null`)).rowCount,
    { timeout: 30_000 },
  );
  await company('tres');
  await using later = await serve(env);
  const servers = [one, other, later];
  for (const server of servers) server.signal('SIGTERM');
  const ended = await Promise.all(servers.map((server) => server.ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(await keysLeft()).toEqual(['new', 'new', 'new', 'old']);
  const lines = ended
    .flatMap(({ stdout }) => stdout.split('\n'))
    .filter((line) => line.includes('what has ended was removed'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    slot: expect.stringMatching(/T03:20:00Z$/),
    removed: expect.objectContaining({ idempotency_records: 2, api_keys: 0, user_sessions: 0, oauth_clients: 0 }),
    failed: [],
  });
});
