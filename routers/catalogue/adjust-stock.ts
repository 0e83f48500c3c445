import { sql } from 'kysely';
import { badField, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonRow } from '../shared/pages.ts';
import { decimalInput, text } from '../shared/schemas.ts';
import { decimalOf, idOf, shape } from '../shared/shape.ts';

const adjusted = shape({
  articuloId: idOf('product', 's.product_id'),
  stock_anterior: decimalOf('before'),
  stock: decimalOf('after'),
});

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
  output: adjusted.schema,
  async handler({ input, db, accountId, now, audit }) {
    const { articuloId, recuento, cantidad, motivo, variacionId } = input;
    if ((recuento === undefined) === (cantidad === undefined)) {
      throw badField('recuento', 'se esperaba recuento o cantidad, y no los dos');
    }
    if (recuento !== undefined && variacionId !== undefined) {
      throw badField('variacionId', 'el recuento es del artículo entero');
    }
    const { rows } = await sql<{ mode: string; fits: boolean }>`
      select p.mode, ${variacionId ?? null}::bigint is null or exists (select from product_variations v
        where v.account_id = ${accountId} and v.id = ${variacionId ?? null} and v.product_id = s.product_id) as fits
      from product_stocks s join products p on p.account_id = ${accountId} and p.id = s.product_id
      where s.account_id = ${accountId} and s.product_id = ${articuloId} for no key update of s`.execute(db);
    const [product] = rows;
    if (!product) throw notFound('articuloId');
    if (product.mode !== 'sale') throw badField('articuloId', 'solo los artículos de modo venta tienen stock');
    if (!product.fits) throw badField('variacionId', 'no es una variación de ese artículo');
    audit('product', articuloId);
    const after = sql<number>`coalesce(${recuento ?? null}::numeric, s.quantity + ${cantidad ?? null}::numeric)`;
    const stock = sql`s.account_id = ${accountId} and s.product_id = ${articuloId}`;
    const answered = sql<typeof adjusted.needs>`
      select s.product_id, s.quantity as before, ${after} as after from product_stocks s where ${stock}`;
    const [answer] = await Promise.all([
      jsonRow(db, answered, adjusted),
      sql`insert into stock_movements (account_id, product_id, variation_id, moved_at, quantity, reason)
        select ${accountId}, s.product_id, ${variacionId ?? null}::bigint, ${now.toString()}, ${after} - s.quantity, ${motivo}
        from product_stocks s where ${stock} and s.quantity <> ${after}
        returning id`.execute(db),
      sql`update product_stocks s set quantity = ${after}, version = s.version + 1, updated_at = ${now.toString()}
        where ${stock} and s.quantity <> ${after}`.execute(db),
    ]);
    return answer;
  },
});
