import { sql } from 'kysely';
import { z } from 'zod';
import { queries } from '../../platform/database.ts';
import type { ValueSql } from '../../platform/fixed-query.ts';
import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedAfter, momentOf } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, limit, offset, PAGE, page, text } from '../shared/schemas.ts';
import { shape } from '../shared/shape.ts';
import { low, pricesOf, product } from './product.ts';

const products = listOf('total_articulos', 'articulos', shape(product), orderOf('p', 'description', 'id'));

const stocked = queries
  .selectFrom('products as p')
  .innerJoin('product_stocks as s', (join) =>
    join.onRef('s.account_id', '=', 'p.account_id').onRef('s.product_id', '=', 'p.id'),
  );
const show = (of: typeof stocked) =>
  of
    .leftJoin('product_families as f', (join) =>
      join.onRef('f.account_id', '=', 'p.account_id').onRef('f.id', '=', 'p.family_id'),
    )
    .select(products.columns)
    .select(low.as('low'));
const shown = show(stocked);
const shownOfPage = show(stocked.innerJoin(sql<{ id: number }>`page`.as('page'), 'page.id', 'p.id'));

interface Values {
  accountId: number;
  /** Of LIKE. */
  pattern: string | undefined;
  family: number | undefined;
  isLow: true | undefined;
  /** In seconds. */
  since: number | undefined;
}

const readPage = products.readOf<Values>(({ accountId, pattern, family, isLow, since }, input) => {
  const prices = storedPricesOf(accountId).as('prices');
  const rows = shown
    .where('p.account_id', '=', accountId)
    .$call(when(pattern, (q, like) => q.where('p.search', 'like', like)))
    .$call(when(family, (q, id) => q.where('p.family_id', '=', id)))
    .$if(isLow !== undefined, (q) => q.where(low))
    .$call(when(since, (q, at) => q.where(sql<boolean>`(${changedAfter('p', at)} or ${changedAfter('s', at)})`)));
  const selected = rows.clearSelect();
  if (pattern !== undefined) {
    // A search counts and shows the same products: they are looked for once.
    const { order } = products;
    const found = order.of('found');
    return {
      before: sql`with found as materialized ${selected.select(['p.id', 'p.description'])},
        page as (select id from found where true ${found.andAfter(input)} order by ${found.by} limit ${limit(input)} offset ${offset(input)})`,
      total: sql`select count(*) from found`,
      rows: shownOfPage.where('p.account_id', '=', accountId).select(prices).select(order.keys).orderBy(order.by),
    };
  }
  const all = family === undefined && isLow === undefined && since === undefined;
  const total = queries.selectFrom('record_counts').select('products').where('account_id', '=', accountId);
  return products.wanted(input, { ...(all ? { total } : { selected }), rows: rows.select(prices) });
});

/** Products with their prices on every list and their stock. Prices and cost without VAT. PRO-01, PRO-02 */
export const listProducts = operation({
  title: 'Artículos',
  description:
    'Artículos del catálogo con precios por tarifa y stock. Su articuloId sirve tal cual en las líneas de documentos. Familias: listar_familias.',
  rest: ['GET /products'],
  alias: 'consultarProductos',
  scope: 'svc.read',
  plan: 'generic',
  input: {
    busqueda: text(200).optional().describe('Texto en descripción, referencia, SKU o código EAN'),
    familiaId: id('family').optional().describe('Solo los de esta familia'),
    bajo_minimo: z.boolean().optional().describe('true: stock en su mínimo o por debajo'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: products.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { busqueda, familiaId, bajo_minimo, modificado_desde } = input;
    return readPage(db, input, {
      accountId,
      pattern: busqueda ? containing(busqueda) : undefined,
      family: familiaId,
      isLow: bajo_minimo === true ? true : undefined,
      since: momentOf(modificado_desde, timeZone),
    });
  },
});

/** The same as `pricesOf`, stored with the product where it has a price on each list there is: quicker for a page. */
const storedPricesOf = (accountId: ValueSql<number>) => sql<string>`
  case when p.price_count = (select count(*) from price_lists where account_id = ${accountId})
    then '[' || p.price_entries || ']' else ${pricesOf(accountId)} end`;
