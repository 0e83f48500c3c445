import { sql } from 'kysely';
import { z } from 'zod';
import { jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonList, jsonRecord } from '../shared/pages.ts';
import { arrayOf, flagOf, idOf, shape, textOf, wholeOf } from '../shared/shape.ts';
import { price, pricesOf } from './product.ts';

const priceList = shape({
  tarifa: wholeOf('l.number'),
  por_defecto: flagOf('first'),
  campo_precio: textOf('column'),
  campo_precio_con_iva: textOf('column_with_vat'),
  num_clientes: wholeOf('clients'),
});

const priced = shape({
  articuloId: idOf('product', 'p.id'),
  descripcion: textOf('p.description'),
  precios: arrayOf(price, 'prices'),
});

/** The company's price lists, and one product's prices on them when it is asked for. TAR-01 */
export const listPriceLists = operation({
  title: 'Tarifas',
  description:
    'Tarifas (columnas de precio) de la empresa y cuántos clientes usan cada una; con articuloId (de consultar_productos) añade sus precios.',
  rest: ['GET /price-lists'],
  alias: 'consultarTarifas',
  scope: 'svc.read',
  input: { articuloId: id('product').optional().describe('Añade los precios de este artículo') },
  output: z.object({
    total_tarifas: z.int(),
    tarifas: z.array(priceList.schema),
    articulo: priced.schema.optional(),
  }),
  async handler({ input: { articuloId }, db, accountId }) {
    // Clients without a list of their own are counted on list 1.
    const clients = db
      .selectFrom('clients')
      .select((eb) => [sql<number>`coalesce(price_list, 1)`.as('number'), eb.fn.countAll<number>().as('clients')])
      .where('account_id', '=', accountId)
      .groupBy(sql`coalesce(price_list, 1)`)
      .as('c');
    const lists = db
      .selectFrom('price_lists as l')
      .leftJoin(clients, 'c.number', 'l.number')
      .select(priceList.columns)
      .select([
        sql<boolean>`l.number = 1`.as('first'),
        sql<string>`'pvp' || l.number`.as('column'),
        sql<string>`case when l.with_vat then 'pvp' || l.number || '_iva' end`.as('column_with_vat'),
        sql<number>`coalesce(c.clients, 0)`.as('clients'),
      ])
      .where('l.account_id', '=', accountId)
      .orderBy('l.number');
    const product = (wanted: number) =>
      db
        .selectFrom('products as p')
        .select(priced.columns)
        .select(pricesOf(accountId).as('prices'))
        .where('p.account_id', '=', accountId)
        .where('p.id', '=', wanted);
    const [{ total, rows }, articulo] = await Promise.all([
      jsonList(db, lists, priceList),
      articuloId === undefined ? undefined : jsonRecord(db, product(articuloId), priced),
    ]);
    return jsonObject({ total_tarifas: total, tarifas: rows, ...(articulo && { articulo }) });
  },
});
