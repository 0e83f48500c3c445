// What the daily purge deletes, to the second, and what it keeps. The times are years ago, so that rows of other tests are not
// affected.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { purgeCompany, purgeService } from '../../lifecycle/purge.ts';
import type { Db } from '../../platform/database.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';
import { callMcp, newApplication } from '../oauth/application.ts';

const NOW = Temporal.Instant.from('2020-06-01T12:00:00Z');
const ago = (duration: Temporal.DurationLike, beside = 0) => NOW.subtract(duration).add({ seconds: beside }).toString();

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const run = (more: object = {}) => ({
  database: server.service.database,
  now: NOW,
  stop: new AbortController().signal,
  ...more,
});
const within = <T>({ id }: Company, work: (db: Db) => Promise<T>) =>
  server.service.database.transaction(id, { write: true }, work);

const answers = ({ id }: Company, ages: Record<string, string>) =>
  Object.entries(ages).map(([key, created_at]) => ({ account_id: id, key, request_hash: '', answer: '1', created_at }));
const keysOf = async (company: Company) =>
  (
    await within(company, (db) =>
      db.selectFrom('idempotency_records').select('key').where('account_id', '=', company.id).orderBy('key').execute(),
    )
  ).map(({ key }) => key);

describe('of a company', () => {
  test('[IDEM-01] answers go after 24 hours, not before; those of another company stay', async () => {
    const [acme, other] = [await server.company(), await server.company()];
    const ages = { ended: ago({ hours: 24 }), live: ago({ hours: 24 }, 1), new: ago({ hours: 0 }) };
    for (const company of [acme, other]) {
      await within(company, (db) => db.insertInto('idempotency_records').values(answers(company, ages)).execute());
    }
    expect(await purgeCompany(run(), acme.id)).toMatchObject({ idempotency_records: 1, grants: 0, api_keys: 0 });
    expect(await keysOf(acme)).toEqual(['live', 'new']);
    expect(await keysOf(other)).toEqual(['ended', 'live', 'new']);
  });

  test('many rows go in several statements, and an end that is asked for comes between two of them', async () => {
    const acme = await server.company();
    const ages = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`k${index}`, ago({ hours: 30 })]));
    await within(acme, (db) => db.insertInto('idempotency_records').values(answers(acme, ages)).execute());
    const stopped = run({ rowsAStatement: 10, stop: AbortSignal.abort() });
    await expect(purgeCompany(stopped, acme.id)).rejects.toThrow();
    expect(await keysOf(acme)).toHaveLength(25);
    expect(await purgeCompany(run({ rowsAStatement: 10 }), acme.id)).toMatchObject({ idempotency_records: 25 });
    expect(await keysOf(acme)).toEqual([]);
  });

  test('[IDEM-01] a key that a call is just claiming anew is not waited for, and stays', async () => {
    const acme = await server.company();
    await within(acme, (db) =>
      db
        .insertInto('idempotency_records')
        .values(answers(acme, { claimed: ago({ hours: 30 }) }))
        .execute(),
    );
    await within(acme, async (db) => {
      await db
        .updateTable('idempotency_records')
        .set({ created_at: ago({ hours: 0 }) })
        .where('account_id', '=', acme.id)
        .execute();
      expect(await purgeCompany(run(), acme.id)).toMatchObject({ idempotency_records: 0 });
    });
    expect(await keysOf(acme)).toEqual(['claimed']);
  });

  test('a process whose clock is ahead takes nothing', async () => {
    const acme = await server.company();
    const now = Temporal.Now.instant();
    await within(acme, (db) =>
      db
        .insertInto('idempotency_records')
        .values(answers(acme, { fresh: now.toString() }))
        .execute(),
    );
    await purgeCompany(run({ now: now.add({ hours: 24 * 365 }) }), acme.id);
    expect(await keysOf(acme)).toEqual(['fresh']);
  });

  test('[AUTH-03] API keys go 90 days after they were revoked or expired; live ones never, however old', async () => {
    const acme = await server.company();
    const dates = {
      revoked: { revoked_at: ago({ hours: 24 * 90 }), expires_at: null },
      expired: { revoked_at: null, expires_at: ago({ hours: 24 * 90 }) },
      both: { revoked_at: ago({ hours: 24 * 90 }), expires_at: '2030-01-01T00:00:00Z' },
      lately: { revoked_at: ago({ hours: 24 * 90 }, 1), expires_at: null },
      endless: { revoked_at: null, expires_at: null },
      future: { revoked_at: null, expires_at: '2030-01-01T00:00:00Z' },
    };
    const rows = Object.entries(dates).map(([name, ends]) => ({
      account_id: acme.id,
      name,
      key: `ak_${randomUUID()}`,
      secret_hash: Buffer.alloc(32),
      can_write: true,
      created_at: '2015-01-01T00:00:00Z',
      ...ends,
    }));
    await within(acme, (db) => db.insertInto('api_keys').values(rows).execute());
    expect(await purgeCompany(run(), acme.id)).toMatchObject({ api_keys: 3 });
    const left = await within(acme, (db) =>
      db.selectFrom('api_keys').select('name').where('account_id', '=', acme.id).execute(),
    );
    expect(left.map(({ name }) => name).sort()).toEqual(['endless', 'future', 'lately', 'test']);
    expect((await acme.get('/crm/funnels')).status).toBe(200);
  });

  test('[JRN-03] changes go after 400 days, not before, and the numbers go on', async () => {
    const acme = await server.company();
    for (const nombre_fiscal of ['a', 'b', 'c']) await acme.post('/clients', { datos: { nombre_fiscal } });
    const { ultimo } = (await acme.get('/changes')).body.data;
    const age = (n: number, at: string) =>
      server.service.database.pool.query(
        'update journal_entries set created_at = $3 where account_id = $1 and n <= $2',
        [acme.id, n, at],
      );
    await age(ultimo, ago({ hours: 24 * 400 }, 1));
    await age(ultimo - 1, ago({ hours: 24 * 400 }));
    expect(await purgeCompany(run(), acme.id)).toMatchObject({ journal_entries: ultimo - 1 });
    const { cambios } = (await acme.get('/changes')).body.data;
    expect(cambios.map(({ n }: { n: number }) => n)).toEqual([ultimo]);
    expect((await acme.get('/changes', { desde: 1 })).status).toBe(ultimo > 2 ? 410 : 200);
    await purgeCompany(run({ now: Temporal.Now.instant() }), acme.id);
    await acme.post('/clients', { datos: { nombre_fiscal: 'd' } });
    expect((await acme.get('/changes')).body.data.ultimo).toBe(ultimo + 1);
  });

  test('[JRN-03] what assistants called and the counts of calls go after 400 days, access after 1,100', async () => {
    const acme = await server.company();
    const { pool } = server.service.database;
    const call = { account_id: acme.id, actor: 'key:1', operation: 'consultarClientes' };
    const day = (days: number) => NOW.toZonedDateTimeISO('UTC').toPlainDate().subtract({ days }).toString();
    await within(acme, async (db) => {
      const moments = [ago({ hours: 24 * 400 }), ago({ hours: 24 * 400 }, 1)];
      const rows = moments.flatMap((created_at) =>
        [null, 3].map((answered_rows) => ({ ...call, answered_rows, created_at })),
      );
      await db
        .insertInto('assistant_calls')
        .values(rows.map((row) => ({ ...row, request_id: 'r' })))
        .execute();
      const counts = [401, 400].map((days) => ({ ...call, day: day(days), status: 200, calls: 1 }));
      await db.insertInto('call_counts').values(counts).execute();
      const access = [ago({ hours: 24 * 1100 }), ago({ hours: 24 * 1100 }, 1)].map((created_at) => ({
        ...{ account_id: acme.id, actor: 'user:1', door: 'pages', operation: 'key create' },
        ...{ record_kind: 'apiKey', record_id: 1, request_id: 'r', created_at },
      }));
      await db.insertInto('audit_records').values(access).execute();
    });
    expect(await purgeCompany(run(), acme.id)).toMatchObject({ assistant_calls: 2, call_counts: 1, audit_records: 1 });
    for (const [table, left] of Object.entries({ assistant_calls: 2, call_counts: 1, audit_records: 1 })) {
      expect([table, (await pool.query(`select from ${table} where account_id = $1`, [acme.id])).rowCount]).toEqual([
        table,
        left,
      ]);
    }
  });

  test('[JRN-05] what was sent to a webhook goes after 30 days, then the webhook if it was deleted', async () => {
    const acme = await server.company([{ coleccion: 'webhooks' }, { coleccion: 'webhooks' }]);
    const { pool } = server.service.database;
    const [{ id: deleted }, { id: live }] = (
      await pool.query('select id from webhooks where account_id = $1 order by id', [acme.id])
    ).rows;
    const set = (id: number, deletedAt: string | null, sentAt: string) =>
      Promise.all([
        pool.query('update webhooks set deleted_at = $3 where account_id = $1 and id = $2', [acme.id, id, deletedAt]),
        pool.query('update webhook_deliveries set created_at = $3 where account_id = $1 and webhook_id = $2', [
          ...[acme.id, id, sentAt],
        ]),
      ]);
    await set(deleted, ago({ hours: 24 * 30 }), ago({ hours: 24 * 30 }, 1));
    await set(live, null, ago({ hours: 24 * 30 }));
    expect(await purgeCompany(run(), acme.id)).toMatchObject({ webhook_deliveries: 5, webhooks: 0 });
    await set(deleted, ago({ hours: 24 * 30 }), ago({ hours: 24 * 30 }));
    expect(await purgeCompany(run(), acme.id)).toMatchObject({ webhook_deliveries: 5, webhooks: 1 });
    const { rows } = await pool.query('select id from webhooks where account_id = $1', [acme.id]);
    expect(rows).toEqual([{ id: live }]);
  });

  test('[DOC-03] links to documents go a year after they ended or were revoked', async () => {
    const acme = await server.company();
    const [year, less] = [ago({ hours: 24 * 365 }), ago({ hours: 24 * 365 }, 1)];
    const links = [
      { expires_at: year, revoked_at: null, opens: 1 },
      { expires_at: less, revoked_at: null, opens: 2 },
      { expires_at: ago({ hours: 0 }), revoked_at: year, opens: 3 },
      { expires_at: ago({ hours: 0 }), revoked_at: less, opens: 4 },
      { expires_at: '2999-01-01T00:00:00Z', revoked_at: null, opens: 5 },
    ].map((link) => ({
      ...{ account_id: acme.id, record_table: 'invoices', record_id: 1, hash: Buffer.from([link.opens]) },
      ...{ created_at: '2018-01-01T00:00:00Z', ...link },
    }));
    await within(acme, (db) => db.insertInto('document_links').values(links).execute());
    expect(await purgeCompany(run(), acme.id)).toMatchObject({ document_links: 2 });
    const { rows } = await server.service.database.pool.query(
      'select opens from document_links where account_id = $1 order by opens',
      [acme.id],
    );
    expect(rows).toEqual([{ opens: 2 }, { opens: 4 }, { opens: 5 }]);
  });

  test('[LIM-01] the calls of a day are kept for 31 days', async () => {
    const acme = await server.company();
    const days = ['2020-04-30', '2020-05-01', '2020-05-31'].map((day) => ({ account_id: acme.id, day, calls: 3 }));
    await within(acme, (db) => db.insertInto('quota_days').values(days).execute());
    expect(await purgeCompany(run(), acme.id)).toMatchObject({ quota_days: 1 });
  });
});

describe('[OAU-04] of the connector', () => {
  /** A connection made years ago, on a service with a test clock. */
  async function connected() {
    const clock = new TestClock(NOW.toString());
    const own = await startServer({ clock });
    const company = await own.company();
    const application = await newApplication(own, company);
    const tokens = await application.connect();
    const purge = () => purgeCompany(run({ now: clock.now() }), company.id);
    const count = async (table: 'grants' | 'oauth_tokens') =>
      within(
        company,
        async (db) => (await db.selectFrom(table).selectAll().where('account_id', '=', company.id).execute()).length,
      );
    return { clock, own, company, application, tokens, purge, count, [Symbol.asyncDispose]: own.stop };
  }

  test('nothing that lives goes: access for an hour, renewal for 30 days', async () => {
    await using world = await connected();
    const { own, clock, application, tokens, purge } = world;
    clock.advance({ minutes: 59 });
    expect(await purge()).toMatchObject({ oauth_tokens: 0, grants: 0 });
    expect((await callMcp(own, tokens.access)).status).toBe(200);
    clock.advance({ hours: 24 * 29 });
    expect(await purge()).toMatchObject({ oauth_tokens: 1, grants: 0 });
    expect((await application.renew(tokens.refresh)).status).toBe(200);
  });

  test('a used refresh token is known until it expires: used again, it ends what came of it', async () => {
    await using world = await connected();
    const { own, clock, application, tokens, purge } = world;
    const { body } = await application.renew(tokens.refresh);
    clock.advance({ minutes: 30 });
    expect(await purge()).toMatchObject({ oauth_tokens: 0 });
    expect((await callMcp(own, body.access_token)).status).toBe(200);
    expect((await application.renew(tokens.refresh)).status).toBe(400);
    expect((await callMcp(own, body.access_token)).status).toBe(401);
  });

  test('a used code is known as long as what came of it lives; one that nobody used goes when it expired', async () => {
    await using world = await connected();
    const { clock, own, application, purge } = world;
    const [used] = [await application.newCode(), await application.newCode()];
    const { body } = await application.exchange(used);
    clock.advance({ minutes: 30 });
    expect(await purge()).toMatchObject({ oauth_tokens: 1 });
    expect((await application.exchange(used)).status).toBe(400);
    expect((await callMcp(own, body.access_token)).status).toBe(401);
  });

  test('refresh tokens idle for 30 days end, with all of theirs; the authorization is kept for 30 days more', async () => {
    await using world = await connected();
    const { clock, application, tokens, purge, count } = world;
    clock.advance({ hours: 24 * 30 });
    expect(await purge()).toMatchObject({ oauth_tokens: 3, grants: 0 });
    expect((await application.renew(tokens.refresh)).status).toBe(400);
    clock.advance({ seconds: 30 * 24 * 3600 - 1 });
    expect(await purge()).toMatchObject({ oauth_tokens: 0, grants: 0 });
    clock.advance({ seconds: 1 });
    expect(await purge()).toMatchObject({ grants: 1 });
    expect(await Promise.all([count('grants'), count('oauth_tokens')])).toEqual([0, 0]);
  });

  test('[OAU-06] of an authorization that was withdrawn the tokens go at once', async () => {
    await using world = await connected();
    const { clock, company, purge, count } = world;
    await within(company, (db) =>
      db
        .updateTable('grants')
        .set({ revoked_at: clock.now().toString() })
        .where('account_id', '=', company.id)
        .execute(),
    );
    expect(await purge()).toMatchObject({ oauth_tokens: 3, grants: 0 });
    expect(await count('grants')).toBe(1);
  });
});

test('beyond companies: sessions that ended, attempts whose time is over, old notes of sign-ins, applications that nobody authorised', async () => {
  const { service } = server.service.database;
  const mark = randomUUID();
  const { id: user_id } = await service
    .insertInto('users')
    .values({ email: `${mark}@x.es`, email_key: `${mark}@x.es`, name: 'Ana', password_hash: '' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const session = (name: string, expires_at: string, last_seen_at: string) => ({
    token_hash: Buffer.from(`${mark} ${name}`),
    user_id,
    expires_at,
    last_seen_at,
  });
  await service
    .insertInto('user_sessions')
    .values([
      session('expired', ago({ hours: 0 }), ago({ hours: 0 })),
      session('idle', ago({ hours: 0 }, 3600), ago({ hours: 12 })),
      session('live', ago({ hours: 0 }, 1), ago({ hours: 12 }, 1)),
    ])
    .execute();
  await service
    .insertInto('sign_in_attempts')
    .values([
      { subject: `${mark} over`, starts_at: ago({ minutes: 15 }), attempts: 50 },
      { subject: `${mark} live`, starts_at: ago({ minutes: 15 }, 1), attempts: 50 },
    ])
    .execute();
  const signIn = (address: string, created_at: string) => ({
    user_id,
    address,
    outcome: 'refused' as const,
    known_browser: false,
    request_id: mark,
    created_at,
  });
  await service
    .insertInto('sign_ins')
    .values([signIn('old', ago({ hours: 90 * 24 })), signIn('kept', ago({ hours: 90 * 24 }, 1))])
    .execute();
  await service
    .insertInto('failed_attempts')
    .values([
      { address: `${mark} over`, starts_at: ago({ minutes: 1 }), failures: 50 },
      { address: `${mark} live`, starts_at: ago({ minutes: 1 }, 1), failures: 50 },
    ])
    .execute();
  await service
    .insertInto('oauth_registrations')
    .values([
      { network: `${mark} over`, starts_at: ago({ hours: 1 }), registered: 5 },
      { network: `${mark} live`, starts_at: ago({ hours: 1 }, 1), registered: 5 },
    ])
    .execute();
  const client = (name: string, registered_at: string, authorized_at: string | null) => ({
    id: `${mark} ${name}`,
    name: mark,
    redirect_uris: ['https://x.es'],
    registered_from: mark,
    registered_at,
    authorized_at,
  });
  await service
    .insertInto('oauth_clients')
    .values([
      client('unused', ago({ hours: 24 }), null),
      client('young', ago({ hours: 24 }, 1), null),
      client('used', ago({ hours: 999 }), ago({ hours: 998 })),
    ])
    .execute();

  await purgeService(run());
  const sessions = await service
    .selectFrom('user_sessions')
    .select('token_hash')
    .where('user_id', '=', user_id)
    .execute();
  expect(sessions.map(({ token_hash }) => token_hash.toString())).toEqual([`${mark} live`]);
  const subjects = await service
    .selectFrom('sign_in_attempts')
    .select('subject')
    .where('subject', 'like', `${mark}%`)
    .execute();
  expect(subjects).toEqual([{ subject: `${mark} live` }]);
  const noted = await service.selectFrom('sign_ins').select('address').where('request_id', '=', mark).execute();
  expect(noted).toEqual([{ address: 'kept' }]);
  const addresses = await service
    .selectFrom('failed_attempts')
    .select('address')
    .where('address', 'like', `${mark}%`)
    .execute();
  expect(addresses).toEqual([{ address: `${mark} live` }]);
  const networks = await service
    .selectFrom('oauth_registrations')
    .select('network')
    .where('network', 'like', `${mark}%`)
    .execute();
  expect(networks).toEqual([{ network: `${mark} live` }]);
  const clients = await service
    .selectFrom('oauth_clients')
    .select('id')
    .where('name', '=', mark)
    .orderBy('id')
    .execute();
  expect(clients.map(({ id }) => id)).toEqual([`${mark} used`, `${mark} young`]);
});
