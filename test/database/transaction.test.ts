// The company transaction: atomic, for one company, with errors that state the cause.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database, queries } from '../../platform/database.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { poolerOptions } from '../helpers/pgbouncer.ts';

const ACCOUNT = 31;

let own: OwnDatabase;
let database: Database;

beforeAll(async () => {
  own = await ownDatabase();
  database = new Database({ url: own.url, poolSize: 3, ...poolerOptions() });
  await database.prepareRole();
  await database.transaction(ACCOUNT, { write: true }, (db) =>
    db.insertInto('accounts').values({ id: ACCOUNT, slug: 'acme', name: 'Acme' }).execute(),
  );
});

afterAll(async () => {
  await database.close();
  await own[Symbol.asyncDispose]();
});

const write = <T>(work: Parameters<typeof database.transaction<T>>[2]) =>
  database.transaction(ACCOUNT, { write: true }, work);
const channel = (title: string) => ({ account_id: ACCOUNT, title });
const channels = () =>
  database.transaction(ACCOUNT, {}, async (db) => {
    const rows = await db
      .selectFrom('channels')
      .select('title')
      .where('account_id', '=', ACCOUNT)
      .orderBy('title')
      .execute();
    return rows.map(({ title }) => title);
  });

test('what fails leaves nothing behind, in the work, in what was sent along, or in another statement', async () => {
  await expect(
    write(async (db) => {
      await db.insertInto('channels').values(channel('work')).execute();
      throw new Error('changed my mind');
    }),
  ).rejects.toThrow('changed my mind');
  await expect(
    write(async (db, { beforeCommit }) => {
      await db.insertInto('channels').values(channel('later')).execute();
      beforeCommit(sql`select 1 / 0`.execute(db));
      return 'answered';
    }),
  ).rejects.toMatchObject({ code: '22012' });
  await expect(
    write(async (db) => {
      await db.insertInto('channels').values(channel('swallowed')).execute();
      await sql`select 1 / 0`.execute(db).catch(() => {});
      return 'as if nothing had happened';
    }),
  ).rejects.toThrow('not committed');
  expect(await channels()).toEqual([]);
});

test('[TEN-02] a statement in each of many companies sees each one’s own rows, on one connection', async () => {
  const others = [32, 33];
  for (const id of others) {
    await database.transaction(id, { write: true }, async (db) => {
      await db
        .insertInto('accounts')
        .values({ id, slug: `acme-${id}`, name: 'Acme' })
        .execute();
      await db
        .insertInto('channels')
        .values({ account_id: id, title: `of ${id}` })
        .execute();
    });
  }
  // The conditions of these statements do not name the company: row-level security alone keeps the others out.
  const all = () => queries.selectFrom('channels').select('title').where('title', 'like', 'of %').compile();
  const waiting = Array.from({ length: 3 }, () => database.inEach([33, ACCOUNT, 99, 32], all));
  for (const found of await Promise.all(waiting)) expect(found).toEqual([{ title: 'of 33' }, { title: 'of 32' }]);
  const failing = () => sql<{ title: string }>`select 1 / 0 as title`.compile(queries);
  await expect(database.inEach([ACCOUNT, 32], failing)).rejects.toMatchObject({ code: '22012' });
  expect(await database.inEach([32], all)).toEqual([{ title: 'of 32' }]);
});

test('a write that need not last does not wait for the disk, and the next one on its connection does', async () => {
  // Tests have it off.
  await own.admin.query(`alter database ${new URL(own.url).pathname.slice(1)} set synchronous_commit = on`);
  const waiting = new Database({ url: own.url, poolSize: 1, ...poolerOptions() });
  const waits = (durable?: boolean) =>
    waiting.transaction(ACCOUNT, { write: true, ...(durable !== undefined && { durable }) }, async (db) => {
      const { rows } = await sql<{ waits: string }>`select current_setting('synchronous_commit') as waits`.execute(db);
      return rows[0]?.waits;
    });
  expect([await waits(), await waits(false), await waits(true)]).toEqual(['on', 'off', 'on']);
  await waiting.close();
});

test('of statements sent together, the error is the first one’s, though a later one is heard of sooner', async () => {
  const slowly = async <T>(statement: Promise<T>): Promise<T> => {
    try {
      return await statement;
    } finally {
      await new Promise(setImmediate);
    }
  };
  await expect(
    write((db) => Promise.all([slowly(sql`select 1 / 0`.execute(db)), sql`select 1`.execute(db)])),
  ).rejects.toMatchObject({ code: '22012' });
  await expect(
    write(async (db, { beforeCommit }) => {
      beforeCommit(slowly(sql`select 1 / 0`.execute(db)));
      beforeCommit(sql`select 1`.execute(db));
    }),
  ).rejects.toMatchObject({ code: '22012' });
});

test('a read can’t write', async () => {
  await expect(
    database.transaction(ACCOUNT, {}, (db) => db.insertInto('channels').values(channel('x')).execute()),
  ).rejects.toMatchObject({ code: '25006' });
});

test('whose lock is not to be had in time gives up, and the connection goes on', async () => {
  await own.admin.query('begin; lock table channels in exclusive mode');
  const waiting = database.transaction(ACCOUNT, { write: true, lockTimeoutMs: 100 }, (db) =>
    db.insertInto('channels').values(channel('x')).execute(),
  );
  await expect(waiting).rejects.toMatchObject({ code: '55P03' });
  await own.admin.query('rollback');
  expect(await channels()).toEqual([]);
});

test('[AUTH-03] a credential that no longer lives fails the transaction, whatever else happens in it', async () => {
  const [key] = await write((db) =>
    db
      .insertInto('api_keys')
      .values({
        account_id: ACCOUNT,
        key: 'ak_1',
        secret_hash: Buffer.alloc(32),
        name: 'x',
        can_write: true,
        expires_at: '2026-01-01T10:00:00Z',
      })
      .returning('id')
      .execute(),
  );
  const at = (moment: string) => ({
    credential: { kind: 'key' as const, id: key?.id ?? 0 },
    now: Temporal.Instant.from(moment),
  });
  const insert = (moment: string, work = async () => {}) =>
    database.transaction(ACCOUNT, { write: true, credential: at(moment) }, async (db) => {
      await Promise.all([work(), db.insertInto('channels').values(channel(moment)).execute()]);
    });
  await insert('2026-01-01T09:59:59Z');
  expect(await channels()).toEqual(['2026-01-01T09:59:59Z']);
  const unauthorized = { code: 'UNAUTHORIZED' };
  await expect(insert('2026-01-01T10:00:00Z')).rejects.toMatchObject(unauthorized);
  await expect(insert('2026-01-01T10:00:01Z', () => Promise.reject(new Error('another')))).rejects.toMatchObject(
    unauthorized,
  );
  await write((db) =>
    db.updateTable('api_keys').set({ revoked_at: 'now' }).where('account_id', '=', ACCOUNT).execute(),
  );
  await expect(insert('2026-01-01T09:00:00Z')).rejects.toMatchObject(unauthorized);
  // Another company's key is not a valid credential here.
  await expect(
    database.transaction(ACCOUNT + 1, { credential: at('2026-01-01T09:00:00Z') }, async () => {}),
  ).rejects.toMatchObject(unauthorized);
  expect(await channels()).toEqual(['2026-01-01T09:59:59Z']);
});

test('connections are given back, whatever became of the work', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) =>
      write(async (db) => {
        if (index % 3 === 0) throw new Error('early');
        await sql`select 1 / ${index % 3 === 1 ? 0 : 1}::int`.execute(db);
      }),
    ),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  expect(database.pool.waitingCount).toBe(0);
  await expect.poll(() => database.pool.idleCount).toBe(database.pool.totalCount);
});

test('numbers and dates arrive as JSON has them: exact sums are made before', async () => {
  const { rows } = await database.transaction(ACCOUNT, {}, (db) =>
    sql`select 9007199254740991::bigint as big, 0.1::numeric + 0.2::numeric as sum, '2026-03-29'::date as day, true as yes,
      null::numeric as none`.execute(db),
  );
  expect(rows).toEqual([{ big: 9007199254740991, sum: 0.3, day: '2026-03-29', yes: true, none: null }]);
});
