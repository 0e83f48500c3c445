import { sql } from 'kysely';
import { z } from 'zod';
import { badField, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { decimalInput, text } from '../shared/schemas.ts';

/**
 * Sets the stock of an article to what was counted, or adds to it, by a movement that says why. The stock is locked meanwhile: what is
 * sold at the same time is sold before or after the count. Stock is not kept by variation. DLV-03
 */
export const adjustStock = operation({
  title: 'Ajustar stock',
  description:
    'Ajusta el stock de un artículo de venta: recuento (lo que hay) o cantidad (con signo), en unidades base. articuloId: de consultar_productos.',
  rest: ['POST /products/{articuloId}/stock'],
  alias: 'ajustarStock',
  scope: 'svc.write',
  input: {
    articuloId: id('product').describe('El artículo'),
    recuento: decimalInput().min(0).optional().describe('Lo que hay'),
    cantidad: decimalInput()
      .refine((value) => value !== 0, 'no puede ser 0')
      .optional()
      .describe('Lo que entra o, negativo, sale'),
    motivo: text(500).min(3),
    variacionId: id('variation').optional().describe('De obtener_producto; solo con cantidad'),
  },
  output: z.object({ articuloId: sealedId('product'), stock_anterior: z.number(), stock: z.number() }),
  async handler({ input, db, accountId, now, beforeCommit, journal }) {
    const { articuloId, recuento, cantidad, motivo, variacionId } = input;
    if ((recuento === undefined) === (cantidad === undefined)) {
      throw badField('recuento', 'se esperaba recuento o cantidad, y no los dos');
    }
    if (recuento !== undefined && variacionId !== undefined) {
      throw badField('variacionId', 'el recuento es del artículo entero');
    }
    const after = sql<number>`coalesce(${recuento ?? null}::numeric, s.quantity + ${cantidad ?? null}::numeric)`;
    const { rows } = await sql<{ mode: string; fits: boolean; before: number; after: number; moved: string }>`
      select p.mode, s.quantity as before, ${after} as after, (${after} - s.quantity)::text as moved, ${variacionId ?? null}::bigint is null or exists (select from product_variations v
        where v.account_id = ${accountId} and v.id = ${variacionId ?? null} and v.product_id = s.product_id) as fits
      from product_stocks s join products p on p.account_id = ${accountId} and p.id = s.product_id
      where s.account_id = ${accountId} and s.product_id = ${articuloId} for no key update of s`.execute(db);
    const [product] = rows;
    if (!product) throw notFound('articuloId');
    if (product.mode !== 'sale') throw badField('articuloId', 'solo los artículos de modo venta tienen stock');
    if (!product.fits) throw badField('variacionId', 'no es una variación de ese artículo');
    const { before, after: stock, moved } = product;
    // The stock's row stays locked, so what was read is what is written.
    if (stock !== before) {
      journal('modify', 'product', articuloId);
      beforeCommit(
        sql`insert into stock_movements (account_id, product_id, variation_id, moved_at, quantity, reason)
          values (${accountId}, ${articuloId}, ${variacionId ?? null}::bigint, ${now.toString()}, ${moved}::numeric, ${motivo})`.execute(
          db,
        ),
      );
      beforeCommit(
        sql`update product_stocks s set quantity = ${after}, version = s.version + 1, updated_at = ${now.toString()}
          where s.account_id = ${accountId} and s.product_id = ${articuloId}`.execute(db),
      );
    }
    return { articuloId, stock_anterior: before, stock };
  },
});
