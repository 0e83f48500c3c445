// Price lists, families and articles with their prices, variations, formats and stock.
import { z } from 'zod';
import { plusPercent } from '../checks.ts';
import { children, collection } from '../collection.ts';
import {
  choice,
  decimal,
  decimalNumber,
  decimalOr,
  type Field,
  flag,
  optional,
  optionalReference,
  optionalText,
  productNumber,
  text,
  whole,
  wholeNumber,
} from '../fields.ts';
import { rows } from '../statements.ts';

// When a list starts or stops having prices with VAT, the prices of its articles change.
const FIT_PRICES = `
  update products p set version = p.version + 1, updated_at = now(), prices = (
    select jsonb_object_agg(e.key, jsonb_build_array(e.value -> 0, case when l.with_vat then
      coalesce(nullif(e.value -> 1, 'null'), to_jsonb(round((e.value ->> 0)::numeric * (1 + p.vat / 100), 2))) end))
    from jsonb_each(p.prices) e join price_lists l on l.account_id = $1 and l.number = e.key::int)
  where p.account_id = $1 and exists (
    select from jsonb_each(p.prices) e join price_lists l on l.account_id = $1 and l.number = e.key::int
    where (e.value ->> 1 is null) = l.with_vat)`;

export const priceLists = collection(
  'tarifas',
  'price_lists',
  { tarifa: whole('number', wholeNumber(1)), con_iva: flag('with_vat', true) },
  {
    key: 'tarifa',
    async alsoWrite(db, accountId) {
      await rows(db, FIT_PRICES, [accountId]);
      return [];
    },
  },
);

export const families = collection('familias', 'product_families', { titulo: text('title') });

const price = z.strictObject({
  tarifa: wholeNumber(1),
  precio: decimalNumber(),
  precio_con_iva: optional(decimalNumber()),
});
type Price = z.output<typeof price>;

/** `prices` of a product: by list number, the price and, if the list has it, the price with VAT. PRO-02 */
const prices: Field<Price[] | null> = {
  schema: optional(z.array(price)),
  columns: ['prices'],
  write(list, row, { priceLists: lists, record, wrong }, name) {
    const stored: Record<string, readonly [number, number | null]> = {};
    for (const [index, { tarifa, precio, precio_con_iva }] of (list ?? []).entries()) {
      const at = `${name}[${index}]`;
      const withVat = lists.get(tarifa);
      if (withVat === undefined) wrong(`${at}.tarifa`, `no existe la tarifa ${tarifa}`);
      else if (tarifa in stored) wrong(`${at}.tarifa`, `la tarifa ${tarifa} ya tiene precio`);
      else if (!withVat && precio_con_iva !== null) {
        wrong(`${at}.precio_con_iva`, `la tarifa ${tarifa} no tiene precio con IVA`);
      } else {
        const computed = withVat ? plusPercent(precio, Number(record.iva)) : null;
        stored[tarifa] = [precio, precio_con_iva ?? computed];
      }
    }
    row.prices = stored;
  },
  read: ({ prices: stored }) =>
    // A row read by column name is untyped: the type is in entities/catalogue.ts.
    Object.entries(stored as Record<string, [number, number | null]>).map(([tarifa, [precio, precio_con_iva]]) => ({
      tarifa: Number(tarifa),
      precio,
      precio_con_iva,
    })),
};

/** Today's stock, in its own table: `writeStock` writes it. */
const stock: Field<number> = {
  schema: productNumber()
    .nullish()
    .transform((value) => value ?? 0),
  columns: [],
  select: {
    stock: 'coalesce((select s.quantity from product_stocks s where s.account_id = $1 and s.product_id = t.id), 0)',
  },
  write() {},
  read: ({ stock: quantity }) => quantity,
};

const STOCK = `
  insert into product_stocks (account_id, product_id, quantity)
  select $1, n.id, n.stock from json_to_recordset($2) as n(id bigint, stock numeric)
  on conflict (account_id, product_id) do update
    set quantity = excluded.quantity, version = product_stocks.version + 1, updated_at = excluded.updated_at
    where product_stocks.quantity::float8 <> excluded.quantity::float8
  returning product_id as id`;

export const products = collection(
  'articulos',
  'products',
  {
    referencia: optionalText('reference', ''),
    sku: optionalText('sku', ''),
    codigo_ean: optionalText('ean', ''),
    descripcion: text('description'),
    familia: optionalReference(families, 'family_id'),
    iva: decimalOr('vat', 21),
    coste: decimalOr('cost', 0),
    modo: choice('mode', { venta: 'sale', alquiler: 'rental', servicio: 'service' }, 'venta'),
    precios: prices,
    stock,
    stock_minimo: decimalOr('minimum_stock', 0),
  },
  {
    children: {
      variaciones: children(
        'product_variations',
        'product_id',
        { descripcion: text('description') },
        { optional: true, named: true },
      ),
      formatos: children(
        'product_formats',
        'product_id',
        {
          titulo: text('title'),
          factor: decimal('factor', decimalNumber().positive()),
          peso_variable: flag('variable_weight', false),
          venta: flag('for_sale', true),
          compra: flag('for_purchase', true),
          defecto_venta: flag('sale_default', false),
        },
        { optional: true, named: true },
      ),
    },
    async alsoWrite(db, accountId, written) {
      const list = written.map(({ id, record }) => ({ id, stock: record.stock }));
      return (await rows<{ id: number }>(db, STOCK, [accountId, JSON.stringify(list)])).map(({ id }) => id);
    },
  },
);
