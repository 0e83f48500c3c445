// The lines of a document as a caller sends them, and what they become once their articles are known.
import { sql } from 'kysely';
import { z } from 'zod';
import { EXEMPTIONS } from '../../../entities/values.ts';
import { beyondLimits, LINE_TOO_LARGE, SUM_TOO_LARGE } from '../../../platform/amounts.ts';
import type { Db } from '../../../platform/database.ts';
import { badField, badInput, type FieldProblem } from '../../../platform/errors.ts';
import { id } from '../id.ts';
import { decimalInput, isoDate, percentInput, text } from '../schemas.ts';

const filled = (value: unknown) => value !== undefined && value !== '';

/** What a line of any document or recurring service may say of itself. */
const lineFields = {
  cantidad: decimalInput()
    .refine((value) => value !== 0, 'no puede ser 0')
    .describe('Negativa si se devuelve'),
  descripcion: text(2000).optional().describe('Obligatoria sin artículo'),
  importe_unitario: decimalInput().optional().describe('Sin IVA; si falta, el del artículo'),
  iva: decimalInput().min(0).max(100).optional().describe('Si falta, el del artículo o 21'),
  descuento: decimalInput().min(-100).max(100).optional().describe('%'),
  articulo_fk: id('product').optional(),
  variacion_articulo_fk: id('variation').optional(),
  descripcion_ampliada: text(10_000).optional(),
  formatoId: id('format', 'badInput').optional().describe('De consultar_formatos'),
  cantidad_base_real: decimalInput()
    .refine((value) => value > 0, 'tiene que ser mayor que 0')
    .optional()
    .describe('Si el peso es variable'),
  proyectoId: id('project').optional().describe('Si no es el del pedido'),
};

/** What a line of what is sold may say of its taxes beside its VAT. */
export const saleTaxes = {
  recargo: percentInput().optional().describe('De equivalencia, %'),
  exencion: z.enum(EXEMPTIONS).optional(),
};

/** A line that says why it has no VAT has neither VAT nor surcharge. */
export function checkTaxes({
  value: line,
  issues,
}: z.core.ParsePayload<{
  iva?: number | undefined;
  recargo?: number | undefined;
  exencion?: string | undefined;
}>): void {
  for (const field of ['iva', 'recargo'] as const) {
    if (line.exencion === undefined || !line[field]) continue;
    issues.push({ code: 'custom', path: [field], message: 'tiene que ser 0 con exencion', input: line });
  }
}

/**
 * A line of any document or recurring service. Without an article it says what it is and costs; what is of an
 * article needs one. DLV-08
 */
const anyLine = z.object(lineFields).check(({ value: line, issues }) => {
  const problem = (field: string, message: string) =>
    issues.push({ code: 'custom', path: [field], message, input: line });
  const article = line.articulo_fk !== undefined;
  if (!article && !filled(line.descripcion)) problem('descripcion', 'es obligatoria en una línea sin articulo_fk');
  if (!article && line.importe_unitario === undefined) {
    problem('importe_unitario', 'es obligatorio en una línea sin articulo_fk');
  }
  for (const field of ['variacion_articulo_fk', 'formatoId', 'cantidad_base_real'] as const) {
    if (!article && line[field] !== undefined) problem(field, 'necesita articulo_fk');
  }
});

/** A line of a recurring service: reservations are of one document. DLV-03 */
export const renewedLine = anyLine.safeExtend(saleTaxes).check(checkTaxes);

/** A line of a purchase document. */
export const purchaseLine = anyLine
  .safeExtend({
    startDate: isoDate().optional().describe('Reserva desde'),
    endDate: isoDate().optional().describe('Hasta, incluido'),
  })
  .check(({ value: line, issues }) => {
    const problem = (field: string, message: string) =>
      issues.push({ code: 'custom', path: [field], message, input: line });
    if ((line.startDate === undefined) !== (line.endDate === undefined)) {
      problem(line.startDate ? 'endDate' : 'startDate', 'las dos fechas de una reserva van juntas');
    } else if (line.startDate && line.endDate && line.endDate < line.startDate) {
      problem('endDate', 'no puede ser anterior a startDate');
    }
  });

/** A line of a sale document. */
export const saleLine = purchaseLine.safeExtend(saleTaxes).check(checkTaxes);

export type SaleLine = z.output<typeof saleLine>;

/** A decimal; as PostgreSQL's text where it was computed there, since a number might not hold all its digits. */
type Exact = number | string;

/** A line ready to be stored; without a `unit_price` it takes the article's, for `factor` base units. */
export interface ResolvedLine {
  position: number;
  description: string;
  quantity: Exact;
  unit_price: Exact | null;
  vat: number;
  surcharge: number;
  exemption: string | null;
  discount: number;
  product_id: number | null;
  variation_id: number | null;
  format_id: number | null;
  base_quantity: Exact | null;
  extended_description: string | null;
  start_date: string | null;
  end_date: string | null;
  /** Where it is another than the document's. */
  project_id?: number | null;
  /** The line of an estimate that it is converted from. W-04 */
  estimate_line_id?: number;
  /** The article's prices, where the line has none: by list, the price without VAT first. */
  list_prices?: Record<string, readonly [price: number, ...rest: unknown[]]> | undefined;
  /** What the article costs, where the line has no price. */
  cost?: number | undefined;
  /** Base units in one commercial unit; null without a format. */
  factor: number | null;
  /** Whether the line moves goods that are kept in stock. DLV-03 */
  moves_stock: boolean;
}

/** Where prices that are not sent come from: a price list, or what the articles cost. */
export type PriceSource = number | 'cost';

/**
 * Completes the lines from their articles and, where the company trades in formats, from those: what is sold without one is sold in the
 * article's default. 400 for what does not fit its article; `of` is the input's name of the lines. DLV-04, DLV-05, DLV-08
 */
export async function resolveLines(
  db: Db,
  accountId: number,
  lines: readonly (z.output<typeof anyLine> & Partial<SaleLine>)[],
  multiFormatStock: boolean,
  { trade = 'sale', of = 'detalles' }: { trade?: 'sale' | 'purchase'; of?: string } = {},
): Promise<ResolvedLine[]> {
  const productIds = [...new Set(lines.flatMap(({ articulo_fk }) => articulo_fk ?? []))];
  const ofProducts = sql<number>`any(${productIds}::bigint[])`;
  const withVariations = lines.some(({ variacion_articulo_fk }) => variacion_articulo_fk !== undefined);
  const [products, formats, variations] = await Promise.all([
    productIds.length === 0
      ? []
      : db
          .selectFrom('products')
          .select(['id', 'description', 'vat', 'mode', 'prices', 'cost'])
          .where('account_id', '=', accountId)
          .where('id', '=', ofProducts)
          .execute(),
    multiFormatStock && productIds.length > 0
      ? db
          .selectFrom('product_formats')
          .select(['id', 'product_id', 'factor', 'variable_weight', 'for_sale', 'for_purchase', 'sale_default'])
          .where('account_id', '=', accountId)
          .where('product_id', '=', ofProducts)
          .execute()
      : [],
    withVariations
      ? db
          .selectFrom('product_variations')
          .select(['id', 'product_id'])
          .where('account_id', '=', accountId)
          .where('product_id', '=', ofProducts)
          .execute()
      : [],
  ]);
  const productOf = new Map(products.map((product) => [product.id, product]));
  const problems: FieldProblem[] = [];
  const resolved = lines.map((line, index): ResolvedLine => {
    const problem = (field: string, mensaje: string) => problems.push({ campo: `${of}[${index}].${field}`, mensaje });
    const product = line.articulo_fk === undefined ? undefined : productOf.get(line.articulo_fk);
    const own = formats.filter(({ product_id }) => product_id === line.articulo_fk);
    const format =
      line.formatoId === undefined
        ? own.find(({ sale_default, for_sale }) => trade === 'sale' && sale_default && for_sale)
        : own.find(({ id }) => id === line.formatoId);
    if (line.formatoId !== undefined) {
      if (!multiFormatStock) problem('formatoId', 'la empresa no trabaja con stock multiformato');
      else if (!format) problem('formatoId', 'no es un formato de ese artículo');
      else if (trade === 'sale' && !format.for_sale) problem('formatoId', 'ese formato no se puede vender');
      else if (trade === 'purchase' && !format.for_purchase) problem('formatoId', 'ese formato no se puede comprar');
    }
    if (line.cantidad_base_real !== undefined && !format?.variable_weight) {
      problem('cantidad_base_real', 'solo se admite con un formato de peso variable');
    }
    const variation = line.variacion_articulo_fk;
    if (
      variation !== undefined &&
      !variations.some(({ id, product_id }) => id === variation && product_id === line.articulo_fk)
    ) {
      problem('variacion_articulo_fk', 'no es una variación de ese artículo');
    }
    return {
      position: index + 1,
      description: line.descripcion || product?.description || '',
      quantity: line.cantidad,
      unit_price: line.importe_unitario ?? null,
      vat: line.iva ?? (line.exencion ? 0 : (product?.vat ?? 21)),
      surcharge: line.recargo ?? 0,
      exemption: line.exencion ?? null,
      discount: line.descuento ?? 0,
      product_id: line.articulo_fk ?? null,
      variation_id: variation ?? null,
      format_id: format?.id ?? null,
      base_quantity: line.cantidad_base_real ?? null,
      extended_description: line.descripcion_ampliada || null,
      start_date: line.startDate ?? null,
      end_date: line.endDate ?? null,
      project_id: line.proyectoId ?? null,
      factor: format?.factor ?? null,
      moves_stock: product?.mode === 'sale',
      ...(line.importe_unitario === undefined && { list_prices: product?.prices, cost: product?.cost }),
    };
  });
  if (problems.length > 0) throw badInput(problems);
  return resolved;
}

/**
 * 400 for a line that amounts to more than one may, or lines that add up to more. `from`: where prices are taken from. `of`: the
 * input's name of the lines. W-08
 */
export function checkAmounts(lines: readonly ResolvedLine[], from: PriceSource, of = 'detalles'): void {
  const beyond = beyondLimits(
    lines.map(({ quantity, unit_price, factor, discount, vat, surcharge, list_prices, cost }) => ({
      quantity: Number(quantity),
      unitPrice: Number(unit_price ?? (from === 'cost' ? cost : list_prices?.[from]?.[0]) ?? 0),
      factor: unit_price === null ? (factor ?? 1) : 1,
      discount,
      vat,
      surcharge,
    })),
  );
  const problems = beyond.lines.map((index) => ({
    campo: `${of}[${index}].${lines[index]?.unit_price === null ? 'cantidad' : 'importe_unitario'}`,
    mensaje: LINE_TOO_LARGE,
  }));
  if (problems.length > 0) throw badInput(problems);
  if (beyond.sum) throw badField(of, SUM_TOO_LARGE);
}

/** The articles whose stock the lines move. */
export const goodsOf = (lines: readonly ResolvedLine[]): number[] =>
  lines.flatMap(({ moves_stock, product_id }) => (moves_stock && product_id !== null ? [product_id] : []));

/** The resolved lines as rows of a FROM, named `l`. */
export const lineRows = (lines: readonly ResolvedLine[]) =>
  sql`json_to_recordset(${JSON.stringify(lines.map(({ list_prices, cost, ...line }) => line))}::json) as l(position int, description text, quantity numeric,
    unit_price numeric, vat numeric, surcharge numeric, exemption text, discount numeric, product_id bigint, variation_id bigint, format_id bigint,
    base_quantity numeric, extended_description text, start_date date, end_date date, project_id bigint, estimate_line_id bigint, factor numeric,
    moves_stock boolean)`;
