import { sql } from 'kysely';
import type { z } from 'zod';
import { derivedOf } from '../../platform/derived.ts';
import { badInput, type FieldProblem } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import {
  formatColumns,
  MODES,
  priceRows,
  productFields,
  sentPrice,
  taken,
  wrongDefault,
  wrongPrices,
} from './product-fields.ts';

/**
 * Creates an article with its prices, formats and variations; what is in stock comes in as its opening movement. Prices and cost
 * without VAT, for a base unit. 400 for the SKU or EAN code of another article, for a price on a list that there isn't, and for one
 * with VAT on a list that has none.
 */
export const createProduct = operation({
  title: 'Crear artículo',
  description:
    'Crea un artículo con precios, formatos y variaciones. Un sku o codigo_ean de otro artículo se rechaza. familiaId: de listar_familias.',
  rest: ['POST /products'],
  alias: 'crearArticulo',
  scope: 'svc.write',
  input: { datos: productFields },
  output: sealedId('product').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { datos }, db, accountId, now, newId, beforeCommit, journal }) {
    const [productId, ...problems] = await Promise.all([
      newId('product'),
      taken(db, accountId, 'sku', datos.sku),
      taken(db, accountId, 'ean', datos.codigo_ean),
      wrongPrices(db, accountId, datos.precios),
      wrongOfMode(datos),
    ]);
    if (problems.flat().length > 0) throw badInput(problems.flat());
    const { descripcion, iva, modo, precios = [], stock_inicial, formatos = [], variaciones = [] } = datos;
    const columns = {
      description: descripcion,
      reference: datos.referencia ?? '',
      sku: datos.sku ?? '',
      ean: datos.codigo_ean ?? '',
    };
    const { search } = derivedOf('products', columns);
    const prices = sql`(
      select coalesce(jsonb_object_agg(n.tarifa, ${sentPrice(sql`${iva}`)}), '{}'::jsonb)
      from ${priceRows(precios)} join price_lists l on l.account_id = ${accountId} and l.number = n.tarifa)`;
    beforeCommit(
      sql`insert into products (account_id, id, description, reference, sku, ean, search, family_id, vat, cost, mode,
          minimum_stock, prices)
        select ${accountId}, ${productId}, ${descripcion}, ${columns.reference}, ${columns.sku}, ${columns.ean}, ${search},
          ${datos.familiaId ?? null}::bigint, ${iva}, ${datos.coste}, ${MODES[modo]}, ${datos.stock_minimo}, ${prices}
        returning id`.execute(db),
    );
    beforeCommit(
      db
        .insertInto('product_stocks')
        .values({ account_id: accountId, product_id: productId, quantity: stock_inicial })
        .execute(),
    );
    const of = (position: number) => ({ account_id: accountId, product_id: productId, position: position + 1 });
    if (variaciones.length > 0) {
      const rows = variaciones.map(({ descripcion: description }, index) => ({ ...of(index), description }));
      beforeCommit(db.insertInto('product_variations').values(rows).execute());
    }
    if (formatos.length > 0) {
      const rows = formatos.map((one, index) => ({
        ...of(index),
        ...formatColumns(one),
        title: one.titulo,
        factor: one.factor,
      }));
      beforeCommit(db.insertInto('product_formats').values(rows).execute());
    }
    if (stock_inicial !== 0) {
      const opening = { account_id: accountId, product_id: productId, quantity: stock_inicial, opening: true };
      beforeCommit(
        db
          .insertInto('stock_movements')
          .values({ ...opening, moved_at: now.toString() })
          .execute(),
      );
    }
    beforeCommit(
      sql`insert into record_counts as c (account_id, products) values (${accountId}, 1)
        on conflict (account_id) do update
          set products = c.products + 1, version = c.version + 1, updated_at = excluded.updated_at`.execute(db),
    );
    journal('create', 'product', productId);
    return productId;
  },
});

/** What does not go together. DLV-03, DLV-04 */
function wrongOfMode({ modo, stock_inicial, formatos = [] }: z.output<typeof productFields>): FieldProblem[] {
  const stocked = modo === 'venta' || stock_inicial === 0;
  const mensaje = 'solo los artículos de modo venta tienen stock';
  return [
    ...(stocked ? [] : [{ campo: 'datos.stock_inicial', mensaje }]),
    ...wrongDefault(formatos.map((format, at) => ({ ...format, at }))),
  ];
}
