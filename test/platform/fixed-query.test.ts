// Queries that are put together once.
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { fixedQueries, fixedQuery } from '../../platform/fixed-query.ts';

test('a value has one number, however often it is used; one that is not used is not sent', () => {
  const query = fixedQuery<{ account: number; id: number; unused: string; text: string }>(
    ({ account, id, text }) => sql`
      select ${text}::text from t where a = ${account} and id = ${id} and exists (select from u where a = ${account})`,
  );
  expect(query({ account: 1, id: 2, unused: '-', text: 'x' })).toMatchObject({
    sql: 'select $1::text from t where a = $2 and id = $3 and exists (select from u where a = $2)',
    parameters: ['x', 1, 2],
  });
});

test('it is put together once; its text is the same one, with the values of each call', () => {
  let times = 0;
  const query = fixedQuery<{ id: number | null }>(({ id }) => {
    times++;
    return sql`select ${id}::bigint`;
  });
  const calls = [query({ id: 1 }), query({ id: null }), query({ id: 3 })];
  expect(times).toBe(1);
  expect(new Set(calls.map((call) => call.sql)).size).toBe(1);
  expect(calls.map(({ parameters }) => parameters)).toEqual([[1], [null], [3]]);
});

test('there is one text for each choice of values that are there, and for each form', () => {
  const made: string[] = [];
  const query = fixedQueries<number, { id: number; name: string | undefined }>(({ id, name }, most) => {
    made.push(`${most} ${name ? 'named' : ''}`);
    return sql`select from t where id = ${id} ${name ? sql`and name = ${name}` : sql``} limit ${sql.lit(most)}`;
  });
  const asked = [
    query({ id: 1, name: undefined }, 20),
    query({ id: 2, name: 'a' }, 20),
    query({ id: 3, name: 'b' }, 20),
    query({ id: 4, name: 'c' }, 100),
    query({ id: 5, name: undefined }, 20),
  ];
  expect(made).toEqual(['20 ', '20 named', '100 named']);
  expect(asked.map(({ sql, parameters }) => [sql, parameters])).toEqual([
    ['select from t where id = $1  limit 20', [1]],
    ['select from t where id = $1 and name = $2 limit 20', [2, 'a']],
    ['select from t where id = $1 and name = $2 limit 20', [3, 'b']],
    ['select from t where id = $1 and name = $2 limit 100', [4, 'c']],
    ['select from t where id = $1  limit 20', [5]],
  ]);
});

test('more than nine values keep their places', () => {
  const names = Array.from({ length: 12 }, (_, index) => `v${index}`);
  const query = fixedQuery<Record<string, number>>(
    (values) => sql`select ${sql.join(names.map((name) => sql`${values[name]}`))}`,
  );
  expect(query(Object.fromEntries(names.map((name, index) => [name, index])))).toMatchObject({
    sql: `select ${names.map((_, index) => `$${index + 1}`).join(', ')}`,
    parameters: names.map((_, index) => index),
  });
});

test('a value that is no mark is refused, since it would be that of the first call for ever', () => {
  const query = fixedQuery<{ id: number }>(({ id }) => sql`select ${id}::bigint, ${7}`);
  expect(() => query({ id: 1 })).toThrow('another value');
});
