// What was called is noted in memory and written soon after.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { unavailable } from '../../platform/errors.ts';
import { type Company, type Server, startServer } from '../helpers/world.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer({ alone: true });
});
afterAll(() => server.stop());

const countsOf = async ({ id }: Company) => {
  const { rows } = await server.service.database.pool.query<{ operation: string; calls: string }>(
    'select operation, calls from call_counts where account_id = $1 order by operation',
    [id],
  );
  return rows.map(({ operation, calls }) => [operation, Number(calls)]);
};

test('while the database is away, what was called waits, and is written once', async () => {
  const acme = await server.company();
  const { activity, database } = server.service;
  await acme.get('/products');
  await acme.get('/clients');
  const away = vi.spyOn(database, 'transaction').mockRejectedValueOnce(unavailable(new Error('away')));
  await activity.flush(acme.id);
  away.mockRestore();
  expect(await countsOf(acme)).toEqual([]);
  await acme.get('/clients');
  await activity.flush(acme.id);
  await activity.flush(acme.id);
  expect(await countsOf(acme)).toEqual([
    ['consultarClientes', 2],
    ['consultarProductos', 1],
  ]);
});

test('several processes add their counts up', async () => {
  const acme = await server.company();
  await using other = await startServer({ alone: true });
  for (const url of [server.url, other.url]) {
    expect((await fetch(`${url}/api/v1/products`, { headers: acme.headers })).status).toBe(200);
  }
  await Promise.all([server, other].map(({ service }) => service.activity.flush(acme.id)));
  expect(await countsOf(acme)).toEqual([['consultarProductos', 2]]);
});

test('a process that stops writes what it has', async () => {
  const acme = await server.company();
  const other = await startServer({ alone: true });
  expect((await fetch(`${other.url}/api/v1/products`, { headers: acme.headers })).status).toBe(200);
  await other.stop();
  expect(await countsOf(acme)).toEqual([['consultarProductos', 1]]);
});

test('of callers that nobody knows, and of a company that was deleted, nothing is counted', async () => {
  const acme = await server.company();
  const wrong = { ...acme.headers, 'x-api-secret': 'sk_wrong' };
  expect((await server.request('/api/v1/products', { headers: wrong })).status).toBe(401);
  await server.service.activity.flush(acme.id);
  expect(await countsOf(acme)).toEqual([]);
  await acme.get('/products');
  const { pool } = server.service.database;
  await server.service.activity.flush(acme.id);
  await pool.query('update api_keys set revoked_at = now() where account_id = $1', [acme.id]);
  expect((await acme.get('/products')).status).toBe(401);
  await server.service.activity.flush(acme.id);
  expect(await countsOf(acme)).toEqual([['consultarProductos', 1]]);
  await pool.query('delete from call_counts where account_id = $1', [acme.id]);
  await pool.query('update api_keys set revoked_at = null where account_id = $1', [acme.id]);
  await acme.get('/products');
  for (const table of ['api_keys', 'accounts']) {
    await pool.query(`delete from ${table} where ${table === 'accounts' ? 'id' : 'account_id'} = $1`, [acme.id]);
  }
  await server.service.activity.flush(acme.id);
  expect(await countsOf(acme)).toEqual([]);
});
