import { sql } from 'kysely';
import { z } from 'zod';
import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { offset, PAGE, page, paged, pageOf, text } from '../shared/schemas.ts';
import { product, productOf } from './product.ts';

/** Products with their prices on every list and their stock. Prices and cost without VAT. PRO-01, PRO-02 */
export const listProducts = operation({
  title: 'Artículos',
  description:
    'Artículos del catálogo con precios por tarifa y stock. Su articuloId sirve tal cual en las líneas de documentos. Familias: listar_familias.',
  rest: ['GET /products'],
  alias: 'consultarProductos',
  scope: 'svc.read',
  input: {
    busqueda: text(200).optional().describe('Texto en descripción, referencia, SKU o código EAN'),
    familiaId: id('family').optional().describe('Solo los de esta familia'),
    bajo_minimo: z.boolean().optional().describe('true: solo los que tienen el stock en su mínimo o por debajo'),
    ...page(PAGE),
  },
  output: paged('total_articulos', 'articulos', product),
  async handler({ input, db, accountId }) {
    const { busqueda, familiaId, bajo_minimo } = input;
    const selected = db
      .selectFrom('products as p')
      .innerJoin('product_stocks as s', (join) =>
        join.onRef('s.account_id', '=', 'p.account_id').onRef('s.product_id', '=', 'p.id'),
      )
      .where('p.account_id', '=', accountId)
      .$if(Boolean(busqueda), (q) => q.where('p.search', 'like', containing(busqueda ?? '')))
      .$if(familiaId !== undefined, (q) => q.where('p.family_id', '=', familiaId ?? 0))
      .$if(bajo_minimo === true, (q) => q.whereRef('s.quantity', '<=', 'p.minimum_stock'));

    const [{ total }, lists, rows] = await Promise.all([
      selected.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      db
        .selectFrom('price_lists')
        .select(['number', 'with_vat'])
        .where('account_id', '=', accountId)
        .orderBy('number')
        .execute(),
      selected
        .leftJoin('product_families as f', (join) =>
          join.onRef('f.account_id', '=', 'p.account_id').onRef('f.id', '=', 'p.family_id'),
        )
        .select(['p.id', 'p.reference', 'p.sku', 'p.ean', 'p.description', 'p.family_id', 'f.title as family'])
        .select(['p.vat', 'p.cost', 'p.prices', 's.quantity as stock', 'p.minimum_stock'])
        .select(sql<boolean>`s.quantity <= p.minimum_stock`.as('low'))
        .orderBy('p.description')
        .orderBy('p.id')
        .limit(input.por_pagina)
        .offset(offset(input))
        .execute(),
    ]);
    return {
      total_articulos: total,
      ...pageOf(total, input),
      articulos: rows.map((row) => productOf(row, lists)),
    };
  },
});
