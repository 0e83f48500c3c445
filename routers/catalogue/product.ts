// How a product is shown, for every operation that shows one.
import { z } from 'zod';
import type { Prices } from '../../entities/catalogue.ts';
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

/** A product's prices on the lists that exist, in their order; a list it has no entry for shows 0. */
export const pricesOn = (lists: readonly { number: number; with_vat: boolean }[], prices: Prices) =>
  lists.map(({ number, with_vat }) => {
    const [precio, withVat] = prices[number] ?? [0, 0];
    return { tarifa: number, precio, precio_con_iva: with_vat ? (withVat ?? 0) : null };
  });
