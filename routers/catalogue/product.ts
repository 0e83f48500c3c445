// How a product and its formats are shown, for every operation that shows one.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import type { ValueSql } from '../../platform/fixed-query.ts';
import { jsonObject } from '../../platform/json-text.ts';
import { jsonArray, jsonRecord } from '../shared/pages.ts';
import { arrayOf, decimalOf, enumOf, flagOf, idOf, shape, textOf, wholeOf } from '../shared/shape.ts';
import { MODES } from './product-fields.ts';

/**
 * One entry for each price list of the company; `precio_con_iva` is null where the list has no such column. The database function
 * `price_entries` writes the same. PRO-02
 */
export const price = shape({
  tarifa: wholeOf('number'),
  precio: decimalOf('price'),
  precio_con_iva: decimalOf('price_with_vat').orNull(),
});

/** A product `p` of a family `f` with its stock `s`; the query adds the text of `prices`, and whether the stock is `low`. */
export const product = {
  articuloId: idOf('product', 'p.id'),
  referencia: textOf('p.reference'),
  sku: textOf('p.sku'),
  codigo_ean: textOf('p.ean'),
  descripcion: textOf('p.description'),
  familia: { familiaId: idOf('family', 'p.family_id'), titulo: textOf('f.title as family') },
  iva: decimalOf('p.vat'),
  coste: decimalOf('p.cost'),
  precios: arrayOf(price, 'prices'),
  stock: decimalOf('s.quantity as stock'),
  stock_minimo: decimalOf('p.minimum_stock'),
  bajo_minimo: flagOf('low'),
};

/** SQL for the prices of a product `p` on the lists there are, as text, in their order; a list that it has no price on shows 0. */
export const pricesOf = (accountId: ValueSql<number>) =>
  jsonArray(
    sql<{ number: number; price: number; price_with_vat: number | null }>`
      select l.number, coalesce((p.prices -> l.number::text ->> 0)::numeric, 0) as price,
        case when l.with_vat then coalesce((p.prices -> l.number::text ->> 1)::numeric, 0) end as price_with_vat
      from price_lists l where l.account_id = ${accountId} order by l.number`,
    price,
  );

/** SQL for whether the stock `s` of a product `p` is at its minimum or below. */
export const low = sql<boolean>`s.quantity <= p.minimum_stock`;

/** A commercial format `o`; `factor`: base units in one. DLV-04 */
export const format = shape({
  formatoId: idOf('format', 'o.id'),
  titulo: textOf('o.title'),
  factor: decimalOf('o.factor'),
  peso_variable: flagOf('o.variable_weight'),
  permite_venta: flagOf('o.for_sale'),
  permite_compra: flagOf('o.for_purchase'),
  por_defecto_venta: flagOf('o.sale_default'),
});

/** The formats of one product, by title. PAG-02 */
export const formatsOf = (db: Db, accountId: number, productId: number) =>
  db
    .selectFrom('product_formats as o')
    .select(format.columns)
    .where('o.account_id', '=', accountId)
    .where('o.product_id', '=', productId)
    .orderBy('o.title')
    .orderBy('o.id');

const variation = shape({ variacionId: idOf('variation', 'v.id'), descripcion: textOf('v.description') });

const detail = shape({
  ...product,
  modo: enumOf('p.mode', MODES).describe('Solo venta mueve stock'),
  formatos: arrayOf(format, 'formats'),
  variaciones: arrayOf(variation, 'variations'),
});

/** A product by itself. */
export const wholeProduct = z.object({ articulo: detail.schema });

/** The product `articuloId` with its formats and variations; 404 without one. */
export async function readProduct(db: Db, accountId: number, articuloId: number) {
  const variations = db
    .selectFrom('product_variations as v')
    .select(variation.columns)
    .where('v.account_id', '=', accountId)
    .where('v.product_id', '=', articuloId)
    .orderBy('v.position')
    .orderBy('v.id');
  const articulo = await jsonRecord(
    db,
    db
      .selectFrom('products as p')
      .innerJoin('product_stocks as s', (join) =>
        join.onRef('s.account_id', '=', 'p.account_id').onRef('s.product_id', '=', 'p.id'),
      )
      .leftJoin('product_families as f', (join) =>
        join.onRef('f.account_id', '=', 'p.account_id').onRef('f.id', '=', 'p.family_id'),
      )
      .select(detail.columns)
      .select([pricesOf(accountId).as('prices'), low.as('low')])
      .select(jsonArray(formatsOf(db, accountId, articuloId), format).as('formats'))
      .select(jsonArray(variations, variation).as('variations'))
      .where('p.account_id', '=', accountId)
      .where('p.id', '=', articuloId),
    detail,
  );
  if (!articulo) throw notFound('articuloId');
  return jsonObject({ articulo });
}
