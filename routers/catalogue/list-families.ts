import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';

/** The company's product families by title, and how many products each has. PAG-02 */
export const listFamilies = operation({
  title: 'Familias de artículos',
  description: 'Familias del catálogo con su número de artículos. Da el familiaId que admite consultar_productos.',
  rest: ['GET /product-families'],
  alias: 'listarFamilias',
  scope: 'svc.read',
  input: {},
  output: z.object({
    familias: z.array(z.object({ familiaId: sealedId('family'), titulo: z.string(), num_articulos: z.int() })),
  }),
  async handler({ db, accountId }) {
    const products = db
      .selectFrom('products')
      .select((eb) => ['family_id', eb.fn.countAll<number>().as('products')])
      .where('account_id', '=', accountId)
      .where('family_id', 'is not', null)
      .groupBy('family_id')
      .as('n');
    const rows = await db
      .selectFrom('product_families as f')
      .leftJoin(products, 'n.family_id', 'f.id')
      .select(['f.id', 'f.title', 'n.products'])
      .where('f.account_id', '=', accountId)
      .orderBy('f.title')
      .orderBy('f.id')
      .execute();
    return {
      familias: rows.map(({ id, title, products }) => ({ familiaId: id, titulo: title, num_articulos: products ?? 0 })),
    };
  },
});
