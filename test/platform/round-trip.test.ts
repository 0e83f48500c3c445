// Statements that go to the database together, and what comes of each when one of them fails.
import { CompiledQuery, sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Database } from '../../platform/database.ts';
import { connect, type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseProxy } from '../helpers/tcp-proxy.ts';

let own: OwnDatabase;
let database: Database;

beforeEach(async () => {
  own = await ownDatabase();
  database = new Database({ url: own.directUrl, poolSize: 1 });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await database.close();
  await own[Symbol.asyncDispose]();
});

type Work<T> = Parameters<typeof database.transaction<T>>[2];
const read = <T>(work: Work<T>) => database.transaction(1, {}, work);
const outcomes = (statements: readonly Promise<{ rows: unknown }>[]) =>
  Promise.allSettled(statements).then((settled) =>
    settled.map((one) => (one.status === 'fulfilled' ? one.value.rows : (one.reason.code ?? one.reason.message))),
  );

test('each has its own rows, and its values come as they are', () =>
  read(async (db) => {
    const [nothing, some, typed] = await Promise.all([
      sql`select 1 as one where false`.execute(db),
      sql`select n from generate_series(1, ${3}::int) n`.execute(db),
      sql`select ${null}::text as nothing, ${['a,b', '"', null]}::text[] as texts, ${{ a: 1 }}::jsonb as json,
        ${Buffer.from('ñ')}::bytea as bytes, ${true}::boolean as yes, 12.50 as amount, date '2026-02-28' as day`.execute(
        db,
      ),
    ]);
    expect(nothing.rows).toEqual([]);
    expect(some.rows).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(typed.rows).toEqual([
      {
        nothing: null,
        texts: ['a,b', '"', null],
        json: { a: 1 },
        bytes: Buffer.from('ñ'),
        yes: true,
        amount: 12.5,
        day: '2026-02-28',
      },
    ]);
  }));

test('they are sent as one, and a connection prepares each once and asks for its columns once', async () => {
  const [sync, parse, describe] = (['sync', 'parse', 'describe'] as const).map((name) =>
    vi.spyOn(pg.Connection.prototype, name),
  );
  const twice = () =>
    read((db) => Promise.all([1, 2].map(async (n) => (await sql`select ${n}::int as n`.execute(db)).rows)));
  expect(await twice()).toEqual([[{ n: 1 }], [{ n: 2 }]]);
  expect(await twice()).toEqual([[{ n: 1 }], [{ n: 2 }]]);
  expect(sync).toHaveBeenCalledTimes(2);
  expect(parse).toHaveBeenCalledTimes(1);
  expect(describe).toHaveBeenCalledTimes(1);
});

test('after one that fails the others are not run, and the connection serves the next call', async () => {
  const failing = (divisor: number) =>
    read((db) =>
      outcomes([
        sql`select 1 as before`.execute(db),
        sql`select 1 / ${divisor}::int as quotient`.execute(db),
        sql`select 1 as after`.execute(db),
      ]),
    );
  expect(await failing(0)).toEqual([[{ before: 1 }], '22012', '25P02']);
  expect(await failing(1)).toEqual([[{ before: 1 }], [{ quotient: 1 }], [{ after: 1 }]]);
  expect(database.pool.totalCount).toBe(1);
});

test('values that can’t be sent fail their own statement', async () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const sent = read((db) => outcomes([sql`select ${circle}::jsonb`.execute(db), sql`select 1 as one`.execute(db)]));
  expect(await sent).toEqual([expect.stringContaining('circular'), [{ one: 1 }]]);
});

test('a value that can’t be read fails its own statement', async () => {
  const { getTypeParser } = pg.types;
  const unreadable = () => {
    throw new Error('unreadable');
  };
  vi.spyOn(pg.types, 'getTypeParser').mockImplementation((oid) =>
    oid === pg.types.builtins.MONEY ? unreadable : getTypeParser(oid),
  );
  const sent = read((db) => outcomes([sql`select 12.5::money`.execute(db), sql`select 1 as one`.execute(db)]));
  expect(await sent).toEqual(['unreadable', [{ one: 1 }]]);
});

test('a statement whose columns a migration changes fails once, and is then prepared anew', async () => {
  await using owner = await connect(own);
  await owner.query(
    'create table plates (n int); insert into plates values (1); grant select on plates to albaran_app',
  );
  const all = () => read((db) => outcomes([sql`select * from plates`.execute(db)]));
  expect(await all()).toEqual([[{ n: 1 }]]);
  await owner.query("alter table plates add city text not null default 'Lugo'");
  expect(await all()).toEqual(['0A000']);
  expect(await all()).toEqual([[{ n: 1, city: 'Lugo' }]]);
});

test('a statement without text has no rows', async () => {
  expect(await read((db) => outcomes([db.executeQuery(CompiledQuery.raw(''))]))).toEqual([[]]);
});

test('all fail with the connection, and the next call has another', async () => {
  await using proxy = await databaseProxy(own.directUrl);
  const behind = new Database({ url: proxy.url, poolSize: 1 });
  let seen: unknown;
  const ask = () =>
    behind.transaction(1, {}, async (db) => {
      seen = await outcomes([sql`select 1 as one`.execute(db), sql`select 2 as two`.execute(db)]);
    });
  await ask();
  expect(seen).toEqual([[{ one: 1 }], [{ two: 2 }]]);
  const swallowed = proxy.swallowAnswers();
  const failed = expect(ask()).rejects.toThrow('Connection terminated');
  await swallowed;
  await proxy.cut();
  await failed;
  expect(seen).toEqual(Array(2).fill('Connection terminated unexpectedly'));
  await proxy.restore();
  await ask();
  expect(seen).toEqual([[{ one: 1 }], [{ two: 2 }]]);
  await behind.close();
});
