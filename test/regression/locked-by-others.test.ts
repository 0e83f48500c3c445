// Answers while sessions outside the service hold locks, such as an operator's or a migration.
import { expect, test } from 'vitest';
import { ownDatabase } from '../helpers/own-database.ts';
import { startServer } from '../helpers/world.ts';

const contact = { datos: { nombre: 'Ana', email: 'ana@example.com' } };
const key = { 'x-idempotency-key': 'the call' };

test('[IDEM-01] [ENV-04] a table of keys that is locked is a 503: it was told as a first call that is still running', async () => {
  await using database = await ownDatabase();
  await using server = await startServer({ database: { url: database.url }, idempotencyWaitMs: 100 });
  const acme = await server.company();
  await database.admin.query('begin; lock table idempotency_records in access exclusive mode');
  const refused = await acme.post('/crm/contacts', contact, key);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(refused.text).toContain('El servicio no está disponible en este momento (petición ');
  await database.admin.query('rollback');
  expect(await acme.post('/crm/contacts', contact, key), 'and the key is free').toMatchObject({ status: 200 });
});
