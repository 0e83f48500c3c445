import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { format, formatsOf, product, productOf } from './product.ts';

const MODES = { sale: 'venta', rental: 'alquiler', service: 'servicio' } as const;

/** A product as lists show it, with its mode, its formats by title and its variations. Amounts without VAT. PRO-02, DLV-04 */
export const getProduct = operation({
  title: 'Artículo',
  description:
    'Un artículo con precios, stock, modo, formatos y variaciones. articuloId: de consultar_productos. Libre en unas fechas: consultar_disponibilidad.',
  rest: ['GET /products/{articuloId}'],
  alias: 'obtenerProducto',
  scope: 'svc.read',
  input: { articuloId: id('product').describe('El artículo') },
  output: z.object({
    articulo: product.extend({
      modo: z.enum(['venta', 'alquiler', 'servicio']).describe('Solo venta mueve stock'),
      formatos: z.array(format),
      variaciones: z.array(z.object({ variacionId: sealedId('variation'), descripcion: z.string() })),
    }),
  }),
  async handler({ input: { articuloId }, db, accountId }) {
    const [found, lists, formatos, variations] = await Promise.all([
      db
        .selectFrom('products as p')
        .innerJoin('product_stocks as s', (join) =>
          join.onRef('s.account_id', '=', 'p.account_id').onRef('s.product_id', '=', 'p.id'),
        )
        .leftJoin('product_families as f', (join) =>
          join.onRef('f.account_id', '=', 'p.account_id').onRef('f.id', '=', 'p.family_id'),
        )
        .select(['p.id', 'p.reference', 'p.sku', 'p.ean', 'p.description', 'p.family_id', 'f.title as family'])
        .select(['p.vat', 'p.cost', 'p.prices', 's.quantity as stock', 'p.minimum_stock', 'p.mode'])
        .select(sql<boolean>`s.quantity <= p.minimum_stock`.as('low'))
        .where('p.account_id', '=', accountId)
        .where('p.id', '=', articuloId)
        .executeTakeFirst(),
      db
        .selectFrom('price_lists')
        .select(['number', 'with_vat'])
        .where('account_id', '=', accountId)
        .orderBy('number')
        .execute(),
      formatsOf(db, accountId, articuloId),
      db
        .selectFrom('product_variations')
        .select(['id', 'description'])
        .where('account_id', '=', accountId)
        .where('product_id', '=', articuloId)
        .orderBy('position')
        .orderBy('id')
        .execute(),
    ]);
    if (!found) throw notFound('articuloId');
    return {
      articulo: {
        ...productOf(found, lists),
        modo: MODES[found.mode],
        formatos,
        variaciones: variations.map((row) => ({ variacionId: row.id, descripcion: row.description })),
      },
    };
  },
});
