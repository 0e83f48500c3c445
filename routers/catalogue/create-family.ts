import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { folded } from '../shared/folded.ts';
import { sealedId } from '../shared/id.ts';
import { text } from '../shared/schemas.ts';

/** Creates a product family, or answers the one that has the title: then with `X-Existing: true`. W-03 */
export const createFamily = operation({
  title: 'Crear familia',
  description:
    'Crea una familia de artículos. Si ya hay una con ese título, sin contar mayúsculas ni acentos, da esa (existente true).',
  rest: ['POST /product-families'],
  alias: 'crearFamilia',
  scope: 'svc.write',
  existing: true,
  input: { datos: z.object({ titulo: text(200).min(1) }) },
  output: sealedId('family').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { datos }, db, accountId, newId, header, beforeCommit, journal }) {
    // One family of a company at a time: two calls with one title would each find none.
    const [next, , { rows }] = await Promise.all([
      newId('family'),
      sql`select pg_advisory_xact_lock(hashtextextended('family', ${accountId}))`.execute(db),
      sql<{ id: number }>`
        select id from product_families
        where account_id = ${accountId} and ${folded(sql`title`)} = ${folded(sql`${datos.titulo}::text`)}
        order by id limit 1`.execute(db),
    ]);
    const [known] = rows;
    const id = known?.id ?? next;
    if (known) header('X-Existing', 'true');
    else {
      beforeCommit(
        db.insertInto('product_families').values({ account_id: accountId, id, title: datos.titulo }).execute(),
      );
      journal('create', 'family', id);
    }
    return id;
  },
});
