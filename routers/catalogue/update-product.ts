import { sql } from 'kysely';
import type { z } from 'zod';
import type { Prices } from '../../entities/catalogue.ts';
import type { OperationContext } from '../../platform/context.ts';
import { derivedOf } from '../../platform/derived.ts';
import { badInput, type FieldProblem, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { changed, refuseNothing, touch, updateRecord } from '../shared/changes.ts';
import { id } from '../shared/id.ts';
import { readProduct, wholeProduct } from './product.ts';
import {
  formatColumns,
  MODES,
  newFormat,
  priceRows,
  productChanges,
  sentPrice,
  taken,
  withVat,
  wrongDefault,
  wrongPrices,
} from './product-fields.ts';

type Datos = z.output<typeof productChanges>;

/** What an update stands on. */
type Before = {
  description: string;
  reference: string;
  sku: string;
  ean: string;
  mode: string;
  vat: number;
};

/**
 * Changes what is sent of an article; answers it as `obtenerProducto` does. Prices replace those of the lists that they name; another
 * `iva` works out the prices with VAT that are not sent. Formats and variations with an id change, those without one are added. W-01
 */
export const updateProduct = operation({
  title: 'Actualizar artículo',
  description:
    'Cambia los datos enviados; "" vacía un texto o familiaId (listar_familias). articuloId: de consultar_productos. precios sustituye las tarifas que nombra; con otro iva se recalculan los precios con IVA no enviados.',
  rest: ['PUT /products/{articuloId}'],
  alias: 'actualizarArticulo',
  scope: 'svc.write',
  destructive: true,
  input: { articuloId: id('product').describe('El artículo'), datos: productChanges },
  output: wholeProduct,
  async handler({ input: { articuloId, datos }, ...call }) {
    const { db, accountId, now, journal } = call;
    refuseNothing(datos);
    // It stays locked, so that `search`, prices and positions are of what is written. Sales don't wait for it.
    const { rows } = await sql<Before>`
      select description, reference, sku, ean, mode, vat from products
      where account_id = ${accountId} and id = ${articuloId} for no key update`.execute(db);
    const [before] = rows;
    if (!before) throw notFound('articuloId');
    const [formats, variations, ...problems] = await Promise.all([
      formatsAfter(call, articuloId, datos),
      variationsAfter(call, articuloId, datos),
      // Imported articles may share a code: each keeps its own.
      datos.sku === before.sku ? [] : taken(db, accountId, 'sku', datos.sku),
      datos.codigo_ean === before.ean ? [] : taken(db, accountId, 'ean', datos.codigo_ean),
      wrongPrices(db, accountId, datos.precios),
    ]);
    const wrong = [...problems.flat(), ...formats.problems, ...variations.problems];
    if (wrong.length > 0) throw badInput(wrong);
    const columns = {
      description: datos.descripcion,
      reference: datos.referencia,
      sku: datos.sku,
      ean: datos.codigo_ean,
      family_id: datos.familiaId,
      vat: datos.iva,
      cost: datos.coste,
      mode: datos.modo && MODES[datos.modo],
      minimum_stock: datos.stock_minimo,
    };
    const { search } = derivedOf('products', changed(before, columns));
    const prices = pricesAfter(accountId, before.vat, datos);
    const [described, formatted, varied, , answer] = await Promise.all([
      updateRecord(db, 'products', { accountId, id: articuloId, now }, { ...columns, search, prices }),
      formats.write(),
      variations.write(),
      columns.mode === 'sale' && before.mode !== 'sale' && explainStock(call, articuloId),
      readProduct(db, accountId, articuloId),
    ]);
    if (!described && (formatted || varied)) await touch(db, 'products', { accountId, ids: [articuloId], now });
    if (described || formatted || varied) journal('modify', 'product', articuloId);
    return answer;
  },
});

/** SQL for the prices once `datos` is written; undefined where they stay. PRO-02 */
function pricesAfter(accountId: number, vat: number, { iva = vat, precios }: Datos) {
  if (precios === undefined && iva === vat) return undefined;
  const old = sql`prices -> l.number::text`;
  const kept =
    iva === vat
      ? old
      : sql`jsonb_build_array(${old} -> 0, case when l.with_vat then ${withVat(sql`(${old} ->> 0)::numeric`, sql`${iva}`)} end)`;
  return sql<Prices>`(
    select coalesce(jsonb_object_agg(l.number, case when n.tarifa is null then ${kept} else ${sentPrice(sql`${iva}`)} end), '{}'::jsonb)
    from price_lists l left join ${priceRows(precios ?? [])} on n.tarifa = l.number
    where l.account_id = ${accountId} and (n.tarifa is not null or prices ? l.number::text))`;
}

/** What is wrong with what was sent of the formats or variations of an article, and how it is written. */
interface Parts {
  problems: FieldProblem[];
  /** Whether anything changed. */
  write(): Promise<boolean>;
}

const NO_PARTS: Parts = { problems: [], write: () => Promise.resolve(false) };

/** What is wrong with ids of parts of which an article has those that are `known`. ID-05 */
const wrongIds = (field: string, ids: readonly (number | undefined)[], known: readonly { id: number }[]) =>
  ids.flatMap((id, index): FieldProblem[] => {
    if (id === undefined) return [];
    const campo = `datos.${field.replace('.', `[${index}].`)}`;
    if (ids.indexOf(id) < index) return [{ campo, mensaje: 'está repetido' }];
    return known.some((one) => one.id === id) ? [] : [{ campo, mensaje: 'no es de ese artículo' }];
  });

const lastOf = (known: readonly { position: number }[]) =>
  known.reduce((last, { position }) => Math.max(last, position), 0);

async function formatsAfter(
  { db, accountId, now }: OperationContext,
  productId: number,
  { formatos }: Datos,
): Promise<Parts> {
  if (formatos === undefined) return NO_PARTS;
  const known = await db
    .selectFrom('product_formats')
    .select(['id', 'position', 'for_sale', 'sale_default'])
    .where('account_id', '=', accountId)
    .where('product_id', '=', productId)
    .execute();
  const ids = formatos.map(({ formatoId }) => formatoId);
  const sold = formatos.map(({ formatoId, venta, defecto_venta }, at) => {
    const before = known.find(({ id }) => id === formatoId);
    return {
      venta: venta ?? before?.for_sale ?? true,
      defecto_venta: defecto_venta ?? before?.sale_default ?? false,
      at,
    };
  });
  const others = known.filter(({ id }) => !ids.includes(id));
  const added = formatos.filter(({ formatoId }) => formatoId === undefined).map((format) => newFormat.parse(format));
  return {
    problems: [
      ...wrongIds('formatos.formatoId', ids, known),
      ...wrongDefault([...others.map((one) => ({ venta: one.for_sale, defecto_venta: one.sale_default })), ...sold]),
    ],
    async write() {
      const written = await Promise.all([
        ...formatos.map(
          ({ formatoId: id, ...format }) =>
            id !== undefined && updateRecord(db, 'product_formats', { accountId, id, now }, formatColumns(format)),
        ),
        added.length > 0 &&
          db
            .insertInto('product_formats')
            .values(
              added.map((format, index) => ({
                account_id: accountId,
                product_id: productId,
                position: lastOf(known) + index + 1,
                ...formatColumns(format),
                title: format.titulo,
                factor: format.factor,
              })),
            )
            .execute(),
      ]);
      return added.length > 0 || written.includes(true);
    },
  };
}

async function variationsAfter(
  { db, accountId, now }: OperationContext,
  productId: number,
  { variaciones }: Datos,
): Promise<Parts> {
  if (variaciones === undefined) return NO_PARTS;
  const known = await db
    .selectFrom('product_variations')
    .select(['id', 'position'])
    .where('account_id', '=', accountId)
    .where('product_id', '=', productId)
    .execute();
  const ids = variaciones.map(({ variacionId }) => variacionId);
  const renamed = variaciones.flatMap(({ variacionId, descripcion }) =>
    variacionId === undefined ? [] : [{ id: variacionId, description: descripcion }],
  );
  const added = variaciones.filter(({ variacionId }) => variacionId === undefined);
  return {
    problems: wrongIds('variaciones.variacionId', ids, known),
    async write() {
      const [described] = await Promise.all([
        renamed.length > 0 &&
          sql`update product_variations v
            set description = n.description, version = v.version + 1, updated_at = ${now.toString()}
            from json_to_recordset(${JSON.stringify(renamed)}::json) as n(id bigint, description text)
            where v.account_id = ${accountId} and v.id = n.id and v.description <> n.description`.execute(db),
        added.length > 0 &&
          db
            .insertInto('product_variations')
            .values(
              added.map(({ descripcion: description }, index) => ({
                account_id: accountId,
                product_id: productId,
                position: lastOf(known) + index + 1,
                description,
              })),
            )
            .execute(),
      ]);
      return added.length > 0 || (described !== false && described.numAffectedRows !== 0n);
    },
  };
}

/** What there is of an article that is sold from now on, and no movement explains, is its opening movement, as imports make it. */
const explainStock = ({ db, accountId, now }: OperationContext, productId: number) => {
  const ofProduct = sql`account_id = ${accountId} and product_id = ${productId}`;
  const unexplained = sql`(select quantity from product_stocks where ${ofProduct})
    - (select coalesce(sum(quantity), 0) from stock_movements where ${ofProduct})`;
  return Promise.all([
    sql`select quantity from product_stocks where ${ofProduct} for no key update`.execute(db),
    sql`update stock_movements set quantity = quantity + ${unexplained}, version = version + 1, updated_at = ${now.toString()}
      where ${ofProduct} and opening and ${unexplained} <> 0`.execute(db),
    // Where there was none.
    sql`insert into stock_movements (account_id, product_id, moved_at, quantity, opening)
      select ${accountId}, ${productId}::bigint, least(${now.toString()}::timestamptz, m.since), m.missing, true
      from (select ${unexplained} as missing, (select min(moved_at) from stock_movements where ${ofProduct}) as since) m
      where m.missing <> 0
      returning id`.execute(db),
  ]);
};
