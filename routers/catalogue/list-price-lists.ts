import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { price, pricesOn } from './product.ts';

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
    tarifas: z.array(
      z.object({
        tarifa: z.int(),
        por_defecto: z.boolean(),
        campo_precio: z.string(),
        campo_precio_con_iva: z.string(),
        num_clientes: z.int(),
      }),
    ),
    articulo: z
      .object({ articuloId: sealedId('product'), descripcion: z.string(), precios: z.array(price) })
      .optional(),
  }),
  async handler({ input: { articuloId }, db, accountId }) {
    // Clients without a list of their own are counted on list 1.
    const clients = db
      .selectFrom('clients')
      .select((eb) => [sql<number>`coalesce(price_list, 1)`.as('number'), eb.fn.countAll<number>().as('clients')])
      .where('account_id', '=', accountId)
      .groupBy(sql`coalesce(price_list, 1)`)
      .as('c');
    const [lists, found] = await Promise.all([
      db
        .selectFrom('price_lists as l')
        .leftJoin(clients, 'c.number', 'l.number')
        .select(['l.number', 'l.with_vat', 'c.clients'])
        .where('l.account_id', '=', accountId)
        .orderBy('l.number')
        .execute(),
      articuloId === undefined
        ? undefined
        : db
            .selectFrom('products')
            .select(['id', 'description', 'prices'])
            .where('account_id', '=', accountId)
            .where('id', '=', articuloId)
            .executeTakeFirst(),
    ]);
    return {
      total_tarifas: lists.length,
      tarifas: lists.map(({ number, with_vat, clients }) => ({
        tarifa: number,
        por_defecto: number === 1,
        campo_precio: `pvp${number}`,
        campo_precio_con_iva: with_vat ? `pvp${number}_iva` : '',
        num_clientes: clients ?? 0,
      })),
      ...(found && {
        articulo: {
          articuloId: found.id,
          descripcion: found.description,
          precios: pricesOn(lists, found.prices),
        },
      }),
    };
  },
});
