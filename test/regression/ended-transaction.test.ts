import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import type { Db } from '../../platform/database.ts';
import { startServer } from '../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

test('[TEN-02] what is sent after a transaction ended never reaches the database', async () => {
  const acme = await server.company();
  const channels = (db: Db) => db.selectFrom('channels').selectAll().where('account_id', '=', acme.id).execute();
  const insert = (db: Db) => db.insertInto('channels').values({ account_id: acme.id, title: 'Tarde' }).execute();
  let left: Db | undefined;

  const failed = server.service.database.transaction(acme.id, { write: true }, async (db) => {
    left = db;
    await sql`select 1`.execute(db);
    throw new Error('given up');
  });
  await expect(failed).rejects.toThrow('given up');
  if (!left) throw new Error('the work did not run');
  await expect(insert(left)).rejects.toThrow('The transaction has ended');

  await server.service.database.transaction(acme.id, { write: true }, async (db) => {
    left = db;
  });
  await expect(insert(left)).rejects.toThrow('The transaction has ended');
  expect(await server.service.database.transaction(acme.id, {}, channels)).toEqual([]);
});

test('[DLV-03] a note with an unknown article leaves nothing behind, however the answers arrive', async () => {
  const acme = await server.company([
    { coleccion: 'clientes', ref: 'c', id: 1, nombre_fiscal: 'C' },
    { coleccion: 'articulos', ref: 'a', id: 1, descripcion: 'A', stock: 5 },
  ]);
  for (let time = 0; time < 20; time++) {
    const detalles = [1, 999].map((articulo_fk) => ({ cantidad: 1, articulo_fk }));
    const { status } = await acme.post('/delivery-notes', { cliente: { id: 1 }, pedido: { obra: 'x' }, detalles });
    expect(status).toBe(404);
  }
  const rows = await server.service.database.pool.query('select 1 from delivery_notes where account_id = $1', [
    acme.id,
  ]);
  expect(rows.rowCount).toBe(0);
});
