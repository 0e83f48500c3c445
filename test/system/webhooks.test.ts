// Webhooks of real processes: two workers, and a service that is killed.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { KEEP_WAITING, startReceiver } from '../helpers/receiver.ts';
import { type Environment, run, serve } from '../server/processes.ts';

vi.setConfig({ testTimeout: 60_000 }); // Two starts of two workers, on a busy machine.

let database: OwnDatabase;
let env: Environment;
beforeAll(async () => {
  database = await ownDatabase();
  env = {
    ...databaseEnvironment(database.url),
    DEMO: 'false',
    WORKERS: '2',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
});
afterAll(() => database[Symbol.asyncDispose]());

/** A company that was made by commands, as its key sees it. */
async function newCompany(slug: string) {
  await run(['account', 'create', '--name', slug, '--slug', slug], env);
  const { key, secret } = JSON.parse((await run(['key', 'create', '--account', slug, '--json'], env)).stdout);
  const headers = { 'x-api-key': key, 'x-api-secret': secret, 'content-type': 'application/json' };
  return async (url: string, path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${url}/api/v1${path}`, { headers, ...sent });
    const { data, errorMsg } = (await answer.json()) as { data: { ultimo: number }; errorMsg: string };
    expect([answer.status, errorMsg], path).toEqual([200, '']);
    return data;
  };
}
const client = (nombre_fiscal: string) => ({ datos: { nombre_fiscal } });
const after = (first: number, last: number) => Array.from({ length: last - first }, (_, index) => first + 1 + index);

test('[JRN-05] two workers send the changes of eight callers once each and in order', async () => {
  await using receiver = await startReceiver();
  const call = await newCompany('montalt');
  await using server = await serve(env);
  const { ultimo: desde } = await call(server.url, '/changes');
  await call(server.url, '/webhooks', { url: receiver.url, desde });
  const callers = Array.from({ length: 8 }, async (_, caller) => {
    for (let turn = 0; turn < 5; turn++) await call(server.url, '/clients', client(`Cliente ${caller}.${turn}`));
  });
  await Promise.all(callers);
  const { ultimo: last } = await call(server.url, '/changes');
  await vi.waitUntil(() => receiver.numbers().at(-1) === last, { timeout: 30_000, interval: 50 });
  expect(receiver.numbers()).toEqual(after(desde, last));
});

test('[JRN-05] a service that is killed before it noted a delivery sends the same again after its start, and goes on', async () => {
  let answers = false;
  await using receiver = await startReceiver(() => (answers ? undefined : KEEP_WAITING));
  const call = await newCompany('solana');
  let before = 0;
  {
    await using server = await serve(env);
    before = (await call(server.url, '/changes')).ultimo;
    await call(server.url, '/webhooks', { url: receiver.url, desde: before });
    await call(server.url, '/clients', client('Sol'));
    await vi.waitUntil(() => receiver.received.length > 0, { timeout: 20_000, interval: 50 });
    server.signal('SIGKILL');
    await server.ended;
  }
  answers = true;
  // As if the minute of the lease that the dead process had were over.
  await database.admin.query(
    `update webhooks set leased_until = now() - interval '1 second' where leased_until is not null`,
  );
  await database.admin.query('update webhook_queue set look_at = now()');
  await using server = await serve(env);
  await call(server.url, '/clients', client('Luna'));
  const { ultimo: last } = await call(server.url, '/changes');
  await vi.waitUntil(() => receiver.numbers().at(-1) === last, { timeout: 20_000, interval: 50 });
  const [first, again, ...more] = receiver.received;
  expect([again?.id, again?.text]).toEqual([first?.id, first?.text]);
  const rest = more.flatMap(({ cambios }) => cambios.map(({ n }) => n));
  expect([...(again?.cambios ?? []).map(({ n }) => n), ...rest]).toEqual(after(before, last));
});
