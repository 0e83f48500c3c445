// How a product and its formats are shown, for every operation that shows one.
import { z } from 'zod';
import type { Prices } from '../../entities/catalogue.ts';
import type { Db } from '../../platform/database.ts';
import { sealedId } from '../shared/id.ts';

/** One entry for each price list of the company; `precio_con_iva` is null where the list has no such column. PRO-02 */
export const price = z.object({ tarifa: z.int(), precio: z.number(), precio_con_iva: z.number().nullable() });

export const product = z.object({
  articuloId: sealedId('product'),
  referencia: z.string(),
  sku: z.string(),
  codigo_ean: z.string(),
  descripcion: z.string(),
  familia: z.object({ familiaId: sealedId('family'), titulo: z.string() }),
  iva: z.number(),
  coste: z.number(),
  precios: z.array(price),
  stock: z.number(),
  stock_minimo: z.number(),
  bajo_minimo: z.boolean(),
});

export interface ProductRow {
  id: number;
  reference: string;
  sku: string;
  ean: string;
  description: string;
  family_id: number | null;
  family: string | null;
  vat: number;
  cost: number;
  prices: Prices;
  stock: number;
  minimum_stock: number;
  low: boolean;
}

export const productOf = (row: ProductRow, lists: Parameters<typeof pricesOn>[0]) => ({
  articuloId: row.id,
  referencia: row.reference,
  sku: row.sku,
  codigo_ean: row.ean,
  descripcion: row.description,
  familia: { familiaId: row.family_id, titulo: row.family ?? '' },
  iva: row.vat,
  coste: row.cost,
  precios: pricesOn(lists, row.prices),
  stock: row.stock,
  stock_minimo: row.minimum_stock,
  bajo_minimo: row.low,
});

/** A product's prices on the lists that exist, in their order; a list it has no entry for shows 0. */
export const pricesOn = (lists: readonly { number: number; with_vat: boolean }[], prices: Prices) =>
  lists.map(({ number, with_vat }) => {
    const [precio, withVat] = prices[number] ?? [0, 0];
    return { tarifa: number, precio, precio_con_iva: with_vat ? (withVat ?? 0) : null };
  });

/** A commercial format; `factor`: base units in one. DLV-04 */
export const format = z.object({
  formatoId: sealedId('format'),
  titulo: z.string(),
  factor: z.number(),
  peso_variable: z.boolean(),
  permite_venta: z.boolean(),
  permite_compra: z.boolean(),
  por_defecto_venta: z.boolean(),
});

/** The formats of one product, by title. PAG-02 */
export async function formatsOf(db: Db, accountId: number, productId: number) {
  const rows = await db
    .selectFrom('product_formats')
    .select(['id', 'title', 'factor', 'variable_weight', 'for_sale', 'for_purchase', 'sale_default'])
    .where('account_id', '=', accountId)
    .where('product_id', '=', productId)
    .orderBy('title')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    formatoId: row.id,
    titulo: row.title,
    factor: row.factor,
    peso_variable: row.variable_weight,
    permite_venta: row.for_sale,
    permite_compra: row.for_purchase,
    por_defecto_venta: row.sale_default,
  }));
}
