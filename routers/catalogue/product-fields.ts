// What articles are written with, and what of it does not fit.
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { containing } from '../../platform/text.ts';
import { id, idOrNone } from '../shared/id.ts';
import { decimalInput, text } from '../shared/schemas.ts';

const amount = () => decimalInput().min(0);

const price = z.object({
  tarifa: z.int().min(1).describe('De consultar_tarifas'),
  precio: amount().describe('Sin IVA, por unidad base'),
  precio_con_iva: amount().optional().describe('Si falta, el precio más su IVA'),
});
type Price = z.output<typeof price>;

const ofFormat = {
  titulo: text(200).min(1),
  factor: decimalInput()
    .refine((value) => value > 0, 'tiene que ser mayor que 0')
    .describe('Unidades base de una'),
  peso_variable: z.boolean(),
  venta: z.boolean(),
  compra: z.boolean(),
  defecto_venta: z.boolean(),
};

/** A new format. */
export const newFormat = z.object({
  ...ofFormat,
  peso_variable: ofFormat.peso_variable.default(false),
  venta: ofFormat.venta.default(true),
  compra: ofFormat.compra.default(true),
  defecto_venta: ofFormat.defecto_venta.default(false),
});

const changedFormat = z
  .object({
    formatoId: id('format', 'badInput').optional().describe('De consultar_formatos; sin él se añade'),
    ...ofFormat,
  })
  .partial()
  .check(({ value: format, issues }) => {
    for (const path of ['titulo', 'factor'] as const) {
      if (format.formatoId !== undefined || format[path] !== undefined) continue;
      issues.push({ code: 'custom', path: [path], message: 'es obligatorio en un formato nuevo', input: format });
    }
  });

const variation = z.object({ descripcion: text(500).min(1) });
const changedVariation = variation.extend({
  variacionId: id('variation').optional().describe('De obtener_producto; sin él se añade'),
});

const fields = {
  descripcion: text(500).min(1),
  referencia: text(100).optional(),
  sku: text(100).optional(),
  codigo_ean: text(50).optional(),
  iva: decimalInput().min(0).max(100),
  coste: amount().describe('Por unidad base'),
  modo: z.enum(['venta', 'alquiler', 'servicio']).describe('Solo venta mueve stock'),
  precios: z.array(price).max(100).optional(),
  stock_minimo: amount(),
};

/** `datos` of a new article. */
export const productFields = z.object({
  ...fields,
  familiaId: id('family').optional(),
  iva: fields.iva.default(21),
  coste: fields.coste.default(0),
  modo: fields.modo.default('venta'),
  stock_minimo: fields.stock_minimo.default(0),
  stock_inicial: amount().default(0),
  formatos: z.array(newFormat).max(100).optional(),
  variaciones: z.array(variation).max(500).optional(),
});

/** `datos` of a change: what is left out stays. W-01 */
export const productChanges = z
  .object({
    ...fields,
    familiaId: idOrNone('family'),
    formatos: z.array(changedFormat).max(100),
    variaciones: z.array(changedVariation).max(500),
  })
  .partial();

export const MODES = { venta: 'sale', alquiler: 'rental', servicio: 'service' } as const;

/** The columns of a format; those that were not sent are undefined. */
export const formatColumns = (format: Partial<z.output<typeof newFormat>>) => ({
  title: format.titulo,
  factor: format.factor,
  variable_weight: format.peso_variable,
  for_sale: format.venta,
  for_purchase: format.compra,
  sale_default: format.defecto_venta,
});

/** SQL for a price with its VAT. PRO-02 */
export const withVat = (price: RawBuilder<unknown>, vat: RawBuilder<unknown>) =>
  sql`round(${price} * (1 + ${vat}::numeric / 100), 2)`;

/** SQL for the rows `n` of prices that were sent. */
export const priceRows = (prices: readonly Price[]) =>
  sql`json_to_recordset(${JSON.stringify(prices)}::json) as n(tarifa bigint, precio numeric, precio_con_iva numeric)`;

/** SQL for what is stored of a price `n` on a list `l`. PRO-02 */
export const sentPrice = (vat: RawBuilder<unknown>) => sql`jsonb_build_array(n.precio,
  case when l.with_vat then coalesce(n.precio_con_iva, ${withVat(sql`n.precio`, vat)}) end)`;

const CODES = { sku: 'sku', ean: 'codigo_ean' } as const;

/** What is wrong with a code that another article has. Until the end of the transaction no other call looks for who has it. */
export async function taken(db: Db, accountId: number, column: keyof typeof CODES, code = ''): Promise<FieldProblem[]> {
  if (code === '') return [];
  const [, { rows }] = await Promise.all([
    sql`select pg_advisory_xact_lock(hashtextextended(${`product ${column} ${code}`}, ${accountId}))`.execute(db),
    // The text that products are searched by has an index, and holds the code.
    sql<{ description: string }>`
      select description from products where account_id = ${accountId} and search like ${containing(code)}
        and ${sql.ref(column)} = ${code} order by id limit 1`.execute(db),
  ]);
  return rows.map(({ description }) => ({
    campo: `datos.${CODES[column]}`,
    mensaje: `lo tiene otro artículo: ${description}`,
  }));
}

/** What is wrong with prices, by the lists there are. PRO-02 */
export async function wrongPrices(db: Db, accountId: number, prices: readonly Price[] = []): Promise<FieldProblem[]> {
  if (prices.length === 0) return [];
  const rows = await db
    .selectFrom('price_lists')
    .select(['number', 'with_vat'])
    .where('account_id', '=', accountId)
    .execute();
  const lists = new Map(rows.map(({ number, with_vat }) => [number, with_vat]));
  const problemOf = ({ tarifa, precio_con_iva }: Price, index: number): [string, string] | undefined => {
    if (!lists.has(tarifa)) return ['tarifa', `no existe la tarifa ${tarifa}`];
    if (prices.findIndex((one) => one.tarifa === tarifa) < index)
      return ['tarifa', `la tarifa ${tarifa} ya tiene precio`];
    if (lists.get(tarifa) || precio_con_iva === undefined) return undefined;
    return ['precio_con_iva', `la tarifa ${tarifa} no tiene precio con IVA`];
  };
  return prices.flatMap((one, index) => {
    const [field, mensaje] = problemOf(one, index) ?? [];
    return field && mensaje ? [{ campo: `datos.precios[${index}].${field}`, mensaje }] : [];
  });
}

/** Whether a format may be sold, and is what is sold by default; `at`: its place in what was sent, if it was. */
export interface Sold {
  venta: boolean;
  defecto_venta: boolean;
  at?: number | undefined;
}

/** What is wrong with the format that an article is sold in by default, of all that it has. DLV-04 */
export function wrongDefault(formats: readonly Sold[]): FieldProblem[] {
  const defaults = formats.filter(({ defecto_venta }) => defecto_venta);
  const problem = ({ at }: Sold, mensaje: string) => ({
    campo: at === undefined ? 'datos.formatos' : `datos.formatos[${at}].defecto_venta`,
    mensaje,
  });
  const unsold = defaults.filter(({ venta }) => !venta);
  const last = defaults.length > 1 ? defaults.findLast(({ at }) => at !== undefined) : undefined;
  return [
    ...unsold.map((format) => problem(format, 'ese formato no se puede vender')),
    ...(last ? [problem(last, 'solo uno puede ser el de venta por defecto')] : []),
  ];
}
