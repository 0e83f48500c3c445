import { afterAll, expect, inject, test, vi } from 'vitest';
import { startServer } from '../helpers/world.ts';

const server = await startServer({
  alone: true,
  database: { url: inject('databaseUrl'), poolSize: 2 },
  databaseQueue: 2,
});
afterAll(() => server.stop());

test('[ENV-04] calls beyond those that may wait for the database are refused at once, by every door', async () => {
  const { pool } = server.service.database;
  const acme = await server.company();
  expect(await acme.get('/crm/channels')).toMatchObject({ status: 200 });

  const held = [await pool.connect(), await pool.connect()];
  const waiting = [acme.get('/crm/channels'), acme.get('/crm/channels')];
  await vi.waitUntil(() => pool.waitingCount === 2);
  const headers = {
    ...acme.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'listar_canales', arguments: {} } };
  const refused = [
    await acme.get('/crm/channels'),
    await acme.alias('listarCanales'),
    await server.request('/trpc/channels.list', { headers }),
    await server.request('/mcp', { method: 'POST', headers, body: JSON.stringify(rpc) }),
    // No `100 Continue` for a body that won't be read.
    await acme.post('/crm/contacts', { datos: { nombre: 'x'.repeat(900_000) } }),
  ];
  for (const { status, headers: told, text } of refused) {
    expect([status, told.get('retry-after')]).toEqual([503, '1']);
    expect(text).toContain('El servicio está atendiendo todas las llamadas que puede (petición ');
  }
  expect(await server.request('/health/live'), 'who watches is answered').toMatchObject({ status: 200 });

  for (const connection of held) connection.release();
  for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ status: 200 });
  expect(await acme.get('/crm/channels'), 'and all is as before').toMatchObject({ status: 200 });
});
