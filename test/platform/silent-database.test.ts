// A database that is there and doesn't answer.
import { sql } from 'kysely';
import { afterEach, expect, inject, test, vi } from 'vitest';
import { Database } from '../../platform/database.ts';
import { asApiError } from '../../platform/errors.ts';
import { databaseProxy } from '../helpers/tcp-proxy.ts';

afterEach(() => void vi.useRealTimers());

test('[ENV-04] a statement that is not answered in time is a 503, and the next call has a connection of its own', async () => {
  await using proxy = await databaseProxy(inject('databaseUrl'));
  const database = new Database({ url: proxy.url, statementTimeoutMs: 1000 });
  const ask = () => database.transaction(1, {}, (db) => sql<{ one: number }>`select 1 as one`.execute(db));
  expect((await ask()).rows).toEqual([{ one: 1 }]);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const swallowed = proxy.swallowAnswers();
  const failed = ask().catch(asApiError);
  await swallowed;
  vi.advanceTimersByTime(5999);
  expect(database.pool.totalCount).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await failed).toMatchObject({ kind: 'unavailable', cause: { message: 'Query read timeout' } });
  vi.useRealTimers();
  await proxy.cut();
  await proxy.restore();
  expect((await ask()).rows).toEqual([{ one: 1 }]);
  await database.close();
});
