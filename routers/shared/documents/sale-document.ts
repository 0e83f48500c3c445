// What estimates, delivery notes and invoices share: how a caller describes a new one, and how one is read.
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { partyOf } from '../../../entities/values.ts';
import { badField } from '../../../platform/errors.ts';
import type { Kind } from '../../../platform/ids.ts';
import { id } from '../id.ts';
import { isoDate, text } from '../schemas.ts';
import { decimalOf, fieldOf, idOf, plainOf, type Shown, textOf } from '../shape.ts';
import { DOCUMENTS } from './selection.ts';

/** `pedido`: what a caller says of a new document beside its client and lines. DLV-07 */
export const saleOrder = z.object({
  obra: text(500).min(1).describe('Concepto o referencia'),
  detalles_operacion: text(20_000).optional().describe('Observaciones; admite HTML'),
  promo_code: text(100).optional().describe('No cambia precios'),
  proyectoId: id('project').optional().describe('De las líneas que no tengan otro'),
  fecha: isoDate().optional().describe('Si falta, hoy; no antes del último número de la serie'),
});

/** 400 for a document of a day to come. W-07 */
export function refuseFuture(
  fecha: string | undefined,
  today: Temporal.PlainDate,
  field = 'pedido.fecha',
): Temporal.PlainDate {
  const date = fecha === undefined ? today : Temporal.PlainDate.from(fecha);
  if (Temporal.PlainDate.compare(date, today) > 0) throw badField(field, 'no puede ser posterior a hoy');
  return date;
}

/** `contraparte`: the client of a document. */
export const party = {
  clienteId: idOf('client', 'd.client_id'),
  nombre_fiscal: textOf('legal_name'),
  cif: textOf('tax_id'),
  email: textOf('email'),
};

const issued = (column: 'legal_name' | 'tax_id' | 'email') =>
  sql<string>`coalesce(d.party ->> ${sql.lit(column)}, c.${sql.ref(column)})`.as(column);

/** The columns of `contraparte`: the client `c` of a document `d` as it was when the document was issued. W-06 */
export const issuedParty = [issued('legal_name'), issued('tax_id'), issued('email')] as const;

/** SQL for what a document that is being issued keeps of its client `c`. W-06 */
export const partyNow = sql.raw(partyOf('c'));
/** The same of a purchase document: the supplier `s`. */
export const supplierParty = {
  proveedorId: idOf('supplier', 'd.supplier_id'),
  nombre_fiscal: textOf('s.legal_name'),
  cif: textOf('s.tax_id'),
  email: textOf('s.email'),
};

/** What every sale document `d` of a client `c` says of itself; `base_imponible` without VAT, the sum of its lines. */
export const documentHeader = {
  numero: textOf('d.number'),
  fecha: plainOf('d.date'),
  concepto: textOf('d.concept'),
  contraparte: party,
  base_imponible: decimalOf('base'),
};

/** What documents say of themselves where they are read whole. W-05 */
export const documentDetails = {
  observaciones: textOf('d.remarks'),
  promo_code: textOf('d.promo_code'),
  proyectoId: idOf('project', 'd.project_id').orNull(),
};

/** What a line `l` holds; `importe` is without VAT, rounded to cents. W-05 */
export const lineContents = {
  descripcion: textOf('l.description'),
  cantidad: decimalOf('l.quantity'),
  importe_unitario: decimalOf('l.unit_price'),
  descuento: decimalOf('l.discount'),
  iva: decimalOf('l.vat'),
  importe: decimalOf('l.amount'),
  articuloId: idOf('product', 'l.product_id').orNull(),
  variacionId: idOf('variation', 'l.variation_id').orNull(),
  formatoId: idOf('format', 'l.format_id').orNull(),
  cantidad_base_real: decimalOf('l.base_quantity').orNull(),
  descripcion_ampliada: textOf('l.extended_description').orNull(),
  startDate: plainOf('l.start_date').orNull(),
  endDate: plainOf('l.end_date').orNull(),
  proyectoId: idOf('project', 'l.project_id').orNull(),
};

/** What a line of what is sold, or a rate of such lines, says of its taxes beside its VAT. */
export const taxes = <const Row extends string>(row: Row) => ({
  recargo: decimalOf(`${row}.surcharge`),
  exencion: plainOf(`${row}.exemption`).orNull(),
});

/** What a line `l` of what is sold holds. */
export const saleLineContents = { ...lineContents, ...taxes('l') };

/** One line `l` of a document with all that is stored of it. W-05 */
export const documentLine = (kind: Kind) => ({ lineaId: idOf(kind, 'l.id'), ...lineContents });
export const saleDocumentLine = (kind: Kind) => ({ lineaId: idOf(kind, 'l.id'), ...saleLineContents });

/** Whether a line `l` of an invoice came with a delivery note, as 0 or 1. PRJ-01 */
export const fromDeliveryNote = fieldOf<boolean>()(
  z.union([z.literal(0), z.literal(1)]),
  'l.from_delivery_note',
  (column) => `${column}::int::text`,
);

/** SQL for one row with what a document's lines `l` add up to, how many they are and their text, in their order. */
export const linesOf = (
  { lines, parent }: { lines: string; parent: string },
  { accountId, id, line }: { accountId: number; id: number; line: Shown<z.ZodType, object> },
) => sql`(
  select coalesce(sum(l.amount), 0) as base, count(*) as line_count,
    '[' || coalesce(string_agg(${line.json('l')}, ',' order by l.position), '') || ']' as lines
  from ${sql.table(lines)} l where l.account_id = ${accountId} and l.${sql.ref(parent)} = ${id})`;

interface DocumentRow {
  id: number;
  number: string | null;
  date: string;
  concept: string;
  client_id: number;
  legal_name: string;
  tax_id: string;
  email: string;
  base: number;
  line_count: number;
  lines: string;
}

/**
 * A document `d` with its client `c` and the text of its lines `l`, in their order. `more`: SQL for further columns, which begins
 * with a comma; `from`: SQL for what they are taken from, which begins with a join.
 */
export const documentOf = <More extends object = object>(
  table: 'estimates' | 'delivery_notes' | 'invoices',
  { accountId, id, line }: { accountId: number; id: number; line: Shown<z.ZodType, object> },
  more: RawBuilder<unknown> = sql``,
  from: RawBuilder<unknown> = sql``,
) => {
  return sql<DocumentRow & More>`
    select d.id, d.number, d.date, d.concept, d.client_id, ${sql.join(issuedParty)}, l.* ${more}
    from ${sql.table(table)} d join clients c on c.account_id = ${accountId} and c.id = d.client_id
      cross join lateral ${linesOf(DOCUMENTS[table], { accountId, id, line })} l ${from}
    where d.account_id = ${accountId} and d.id = ${id}`;
};
