import { z } from 'zod';
import { jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { jsonList } from '../shared/pages.ts';
import { idOf, shape, textOf, wholeOf } from '../shared/shape.ts';

const family = shape({
  familiaId: idOf('family', 'f.id'),
  titulo: textOf('f.title'),
  num_articulos: wholeOf('products'),
});

/** The company's product families by title, and how many products each has. PAG-02 */
export const listFamilies = operation({
  title: 'Familias de artículos',
  description: 'Familias del catálogo con su número de artículos. Da el familiaId que admite consultar_productos.',
  rest: ['GET /product-families'],
  alias: 'listarFamilias',
  scope: 'svc.read',
  input: {},
  output: z.object({ familias: z.array(family.schema) }),
  async handler({ db, accountId }) {
    const products = db
      .selectFrom('products')
      .select((eb) => ['family_id', eb.fn.countAll<number>().as('products')])
      .where('account_id', '=', accountId)
      .where('family_id', 'is not', null)
      .groupBy('family_id')
      .as('n');
    const families = db
      .selectFrom('product_families as f')
      .leftJoin(products, 'n.family_id', 'f.id')
      .select(family.columns)
      .select((eb) => eb.fn.coalesce('n.products', eb.lit(0)).as('products'))
      .where('f.account_id', '=', accountId)
      .orderBy('f.title')
      .orderBy('f.id');
    const { rows } = await jsonList(db, families, family);
    return jsonObject({ familias: rows });
  },
});
