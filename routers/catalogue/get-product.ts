import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonArray, jsonRecord } from '../shared/pages.ts';
import { arrayOf, enumOf, idOf, shape, textOf } from '../shared/shape.ts';
import { format, formatsOf, low, pricesOf, product } from './product.ts';

const variation = shape({ variacionId: idOf('variation', 'v.id'), descripcion: textOf('v.description') });

const detail = shape({
  ...product,
  modo: enumOf('p.mode', { venta: 'sale', alquiler: 'rental', servicio: 'service' }).describe('Solo venta mueve stock'),
  formatos: arrayOf(format, 'formats'),
  variaciones: arrayOf(variation, 'variations'),
});

/** A product as lists show it, with its mode, its formats by title and its variations. Amounts without VAT. PRO-02, DLV-04 */
export const getProduct = operation({
  title: 'Artículo',
  description:
    'Un artículo con precios, stock, modo, formatos y variaciones. articuloId: de consultar_productos. Libre en unas fechas: consultar_disponibilidad.',
  rest: ['GET /products/{articuloId}'],
  alias: 'obtenerProducto',
  scope: 'svc.read',
  input: { articuloId: id('product').describe('El artículo') },
  output: z.object({ articulo: detail.schema }),
  async handler({ input: { articuloId }, db, accountId }) {
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
  },
});
