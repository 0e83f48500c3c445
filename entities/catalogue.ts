// Products, their price lists, formats, variations and stock.
import { defineEntity, p } from '@mikro-orm/postgresql';
import {
  alphabetical,
  bigint,
  decimal,
  generatedText,
  indexOn,
  instant,
  isolated,
  record,
  stamped,
  uniqueRef,
} from './columns.ts';

/** A price list. Products show the price of number N as `pvpN`. */
export const PriceList = defineEntity({
  name: 'PriceList',
  tableName: 'price_lists',
  ...isolated,
  indexes: [uniqueRef('price_lists')],
  uniques: [{ name: 'price_lists_number', properties: ['accountId', 'number'] }],
  properties: { ...record('price_lists'), number: p.integer(), withVat: p.boolean().default(true) },
});

export const ProductFamily = defineEntity({
  name: 'ProductFamily',
  tableName: 'product_families',
  ...isolated,
  indexes: [uniqueRef('product_families')],
  properties: {
    ...record('product_families'),
    title: alphabetical(),
  },
});

/** By price-list number: the price without VAT and, where the list has it, the one with. */
export type Prices = Record<string, readonly [price: number, withVat: number | null]>;

/**
 * Prices are a column of the product; stock has a row of its own, so that selling does not rewrite products. `priceEntries`: the
 * `priceCount` prices as the JSON text that lists show (`price_entries` in 0010_cards_counts_and_searches.sql).
 */
export const Product = defineEntity({
  name: 'Product',
  tableName: 'products',
  ...isolated,
  indexes: [
    uniqueRef('products'),
    indexOn('products', 'description', 'description, id'),
    indexOn('products', 'family', 'family_id, description, id'),
  ],
  properties: {
    ...record('products'),
    reference: p.text().default(''),
    sku: p.text().default(''),
    ean: p.text().default(''),
    description: alphabetical(),
    familyId: bigint().nullable(),
    vat: decimal().default(21),
    cost: decimal().default(0),
    mode: p
      .enum(['sale', 'rental', 'service'] as const)
      .columnType('text')
      .default('sale'),
    prices: p.json<Prices>().defaultRaw(`'{}'::jsonb`),
    minimumStock: decimal().default(0),
    search: p.text(),
    priceEntries: generatedText('price_entries(prices)'),
    priceCount: p.integer().default(0).generated('(price_count(prices)) stored'),
  },
});

/** How many products and projects a company has. */
export const RecordCounts = defineEntity({
  name: 'RecordCounts',
  tableName: 'record_counts',
  ...isolated,
  properties: {
    accountId: bigint().primary().autoincrement(false),
    products: p.integer().default(0),
    projects: p.integer().default(0),
    ...stamped(),
  },
});

export const ProductStock = defineEntity({
  name: 'ProductStock',
  tableName: 'product_stocks',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    productId: bigint().primary(),
    quantity: decimal().default(0),
    ...stamped(),
  },
});

export const ProductVariation = defineEntity({
  name: 'ProductVariation',
  tableName: 'product_variations',
  ...isolated,
  indexes: [
    uniqueRef('product_variations', 'product_id'),
    indexOn('product_variations', 'product', 'product_id, position'),
  ],
  properties: { ...record('product_variations'), productId: bigint(), position: p.integer(), description: p.text() },
});

/** A commercial format, worth `factor` base units. DLV-04 */
export const ProductFormat = defineEntity({
  name: 'ProductFormat',
  tableName: 'product_formats',
  ...isolated,
  indexes: [uniqueRef('product_formats', 'product_id'), indexOn('product_formats', 'product', 'product_id, position')],
  properties: {
    ...record('product_formats'),
    productId: bigint(),
    position: p.integer(),
    title: alphabetical(),
    factor: decimal(),
    variableWeight: p.boolean().default(false),
    forSale: p.boolean().default(true),
    forPurchase: p.boolean().default(true),
    saleDefault: p.boolean().default(false),
  },
});

/**
 * A stock movement in base units, of a document or for a `reason`. `factor` is the format's nominal factor at that time. DLV-05
 */
export const StockMovement = defineEntity({
  name: 'StockMovement',
  tableName: 'stock_movements',
  ...isolated,
  indexes: [
    uniqueRef('stock_movements'),
    indexOn('stock_movements', 'product', 'product_id, moved_at, id'),
    indexOn('stock_movements', 'delivery_note', 'delivery_note_id', 'delivery_note_id is not null'),
    indexOn('stock_movements', 'invoice', 'invoice_id', 'invoice_id is not null'),
    indexOn(
      'stock_movements',
      'purchase_delivery_note',
      'purchase_delivery_note_id',
      'purchase_delivery_note_id is not null',
    ),
  ],
  properties: {
    ...record('stock_movements'),
    productId: bigint(),
    variationId: bigint().nullable(),
    movedAt: instant(),
    quantity: decimal(),
    deliveryNoteId: bigint().nullable(),
    deliveryNoteLineId: bigint().nullable(),
    factor: decimal().nullable(),
    opening: p.boolean().default(false),
    reason: p.text().nullable(),
    invoiceId: bigint().nullable(),
    purchaseDeliveryNoteId: bigint().nullable(),
  },
});
