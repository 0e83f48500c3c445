import { sql } from 'kysely';
import { z } from 'zod';
import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { rowsOf } from '../shared/rows.ts';
import { limit, offset, PAGE, page, paged, pageOf, text } from '../shared/schemas.ts';
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
    const found = db
      .selectFrom('products as p')
      .where('p.account_id', '=', accountId)
      .$if(Boolean(busqueda), (q) => q.where('p.search', 'like', containing(busqueda ?? '')))
      .$if(familiaId !== undefined, (q) => q.where('p.family_id', '=', familiaId ?? 0));
    const selected = found
      .innerJoin('product_stocks as s', (join) =>
        join.onRef('s.account_id', '=', 'p.account_id').onRef('s.product_id', '=', 'p.id'),
      )
      .$if(bajo_minimo === true, (q) => q.whereRef('s.quantity', '<=', 'p.minimum_stock'));
    const all = !busqueda && familiaId === undefined && !bajo_minimo;

    const [counted, lists, rows] = await Promise.all([
      all
        ? db
            .selectFrom('product_counts')
            .select('products as total')
            .where('account_id', '=', accountId)
            .executeTakeFirst()
        : // Every product has its row of stock, which counts only where it decides.
          (bajo_minimo ? selected : found).select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirst(),
      db
        .selectFrom('price_lists')
        .select(['number', 'with_vat'])
        .where('account_id', '=', accountId)
        .orderBy('number')
        .execute(),
      rowsOf(
        db,
        selected
          .leftJoin('product_families as f', (join) =>
            join.onRef('f.account_id', '=', 'p.account_id').onRef('f.id', '=', 'p.family_id'),
          )
          .select(['p.id', 'p.reference', 'p.sku', 'p.ean', 'p.description', 'p.family_id', 'f.title as family'])
          .select(['p.vat', 'p.cost', 'p.prices', 's.quantity as stock', 'p.minimum_stock'])
          .select(sql<boolean>`s.quantity <= p.minimum_stock`.as('low'))
          .orderBy('p.description')
          .orderBy('p.id')
          .limit(limit(input))
          .offset(offset(input)),
      ),
    ]);
    const total = counted?.total ?? 0;
    return {
      total_articulos: total,
      ...pageOf(total, input),
      articulos: rows.map((row) => productOf(row, lists)),
    };
  },
});
