import { sql } from 'kysely';
import { z } from 'zod';
import { jsonObject } from '../../platform/json-text.ts';
import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { JsonSql, jsonPage } from '../shared/json-page.ts';
import { limit, offset, PAGE, page, paged, pageOf, text } from '../shared/schemas.ts';
import { product } from './product.ts';

/** Products with their prices on every list and their stock. Prices and cost without VAT. PRO-01, PRO-02 */
export const listProducts = operation({
  title: 'Artículos',
  description:
    'Artículos del catálogo con precios por tarifa y stock. Su articuloId sirve tal cual en las líneas de documentos. Familias: listar_familias.',
  rest: ['GET /products'],
  alias: 'consultarProductos',
  scope: 'svc.read',
  planned: 'once',
  input: {
    busqueda: text(200).optional().describe('Texto en descripción, referencia, SKU o código EAN'),
    familiaId: id('family').optional().describe('Solo los de esta familia'),
    bajo_minimo: z.boolean().optional().describe('true: solo los que tienen el stock en su mínimo o por debajo'),
    ...page(PAGE),
  },
  output: paged('total_articulos', 'articulos', product),
  async handler({ input, db, accountId }) {
    const { busqueda, familiaId, bajo_minimo } = input;
    const filters = [
      sql`p.account_id = ${accountId}`,
      ...(busqueda ? [sql`p.search like ${containing(busqueda)}`] : []),
      ...(familiaId === undefined ? [] : [sql`p.family_id = ${familiaId}`]),
      ...(bajo_minimo ? [sql`s.quantity <= p.minimum_stock`] : []),
    ];
    const where = sql.join(filters, sql` and `);
    const shown = sql`select p.card, ${pricesOf(accountId)} as prices, f.card as family, trim_scale(s.quantity) as stock,
      s.quantity <= p.minimum_stock as low`;
    const families = sql`left join product_families f on f.account_id = p.account_id and f.id = p.family_id`;
    const pageOrder = sql`order by p.description, p.id limit ${limit(input)} offset ${offset(input)}`;
    const { total, rows } = await jsonPage<z.input<typeof product>>(db, {
      row: ROW,
      ...(busqueda
        ? {
            // What is found is counted and shown: it is looked for once.
            before: sql`with found as materialized (select p.id, p.description from ${STOCKED} where ${where})`,
            total: sql`select count(*) from found`,
            rows: sql`${shown} from (select * from found p ${pageOrder}) page
              join products p on p.account_id = ${accountId} and p.id = page.id
              join product_stocks s on s.account_id = ${accountId} and s.product_id = page.id ${families}
              order by p.description, p.id`,
          }
        : {
            total:
              filters.length === 1
                ? sql`select products from record_counts where account_id = ${accountId}`
                : sql`select count(*) from ${STOCKED} where ${where}`,
            rows: sql`${shown} from ${STOCKED} ${families} where ${where} ${pageOrder}`,
          }),
    });
    return jsonObject({ total_articulos: total, ...pageOf(total, input), articulos: rows });
  },
});

const STOCKED = sql`products p join product_stocks s on s.account_id = p.account_id and s.product_id = p.id`;

/** The entries of every list there is. Those that the product has are in its row; one that it has no price on shows 0. PRO-02 */
const pricesOf = (accountId: number) => sql`
  case when p.price_count = (select count(*) from price_lists where account_id = ${accountId}) then p.price_entries
    else (select string_agg('{"tarifa":' || l.number || ',"precio":' || coalesce(trim_scale((p.prices -> l.number::text ->> 0)::numeric)::text, '0') ||
        ',"precio_con_iva":' || case when l.with_vat then coalesce(trim_scale((p.prices -> l.number::text ->> 1)::numeric)::text, '0') else 'null' end || '}',
        ',' order by l.number)
      from price_lists l where l.account_id = ${accountId}) end`;

/** `product` (product.ts), of which the row holds most as text already. */
const ROW = new JsonSql(`'{' || card || ',"precios":[' || prices || '],"familia":' ||
  coalesce(family, '{"familiaId":"","titulo":""}') || ',"stock":' || stock || ',"bajo_minimo":' || low::text || '}'`);
