// What estimates, delivery notes and invoices share: how a caller describes a new one, and how one is read.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import type { Kind } from '../../platform/ids.ts';
import { containing } from '../../platform/text.ts';
import { sealedId } from '../shared/id.ts';
import { text } from '../shared/schemas.ts';

/** `pedido`: what a caller says of a new document beside its client and lines. DLV-07 */
export const saleOrder = z.object({
  obra: text(500).min(1).describe('Concepto o referencia'),
  detalles_operacion: text(20_000).optional().describe('Observaciones; admite HTML'),
  promo_code: text(100).optional().describe('Código promocional; no cambia precios'),
});

/** `contraparte`: the client of a document. */
export const party = z.object({
  clienteId: sealedId('client'),
  nombre_fiscal: z.string(),
  cif: z.string(),
  email: z.string(),
});

/** What every sale document says of itself; `base_imponible` without VAT, the sum of its lines. */
export const documentHeader = {
  numero: z.string(),
  fecha: z.string(),
  concepto: z.string(),
  contraparte: party,
  base_imponible: z.number(),
};

/** One line; `importe` is without VAT, rounded to cents. */
export const documentLine = (kind: Kind) =>
  z.object({
    lineaId: sealedId(kind),
    descripcion: z.string(),
    cantidad: z.number(),
    importe_unitario: z.number(),
    descuento: z.number(),
    iva: z.number(),
    importe: z.number(),
    articuloId: sealedId('product').nullable(),
  });

/** Columns of a document `d` and its client `c`, beside which a query has `base`. */
export const HEADER_COLUMNS = [
  'd.id',
  'd.number',
  'd.date',
  'd.concept',
  'd.client_id',
  'c.legal_name',
  'c.tax_id',
  'c.email',
] as const;

/**
 * The documents of a table that a text is found in, by their own texts or their client's: each by an index of its own, which
 * the two conditions in one could not use.
 */
export function foundIn(table: 'invoices' | 'estimates', accountId: number, wanted: string) {
  const pattern = containing(wanted);
  return sql<number>`(
    select id from ${sql.table(table)} where account_id = ${accountId} and search like ${pattern}
    union
    select s.id from ${sql.table(table)} s where s.account_id = ${accountId} and s.client_id in (
      select id from clients where account_id = ${accountId} and search like ${pattern}))`;
}

interface HeaderRow {
  number: string | null;
  date: string;
  concept: string;
  client_id: number;
  legal_name: string;
  tax_id: string;
  email: string;
  base: number | null;
}

export const headerOf = (row: HeaderRow) => ({
  numero: row.number ?? '',
  fecha: row.date,
  concepto: row.concept,
  contraparte: {
    clienteId: row.client_id,
    nombre_fiscal: row.legal_name,
    cif: row.tax_id,
    email: row.email,
  },
  base_imponible: row.base ?? 0,
});

interface LineRow {
  id: number;
  description: string;
  quantity: number;
  unit_price: number;
  discount: number;
  vat: number;
  amount: number;
  product_id: number | null;
  /** Only of an invoice's line. */
  from_delivery_note: boolean;
}

export const lineOf = (line: LineRow) => ({
  lineaId: line.id,
  descripcion: line.description,
  cantidad: line.quantity,
  importe_unitario: line.unit_price,
  descuento: line.discount,
  iva: line.vat,
  importe: line.amount,
  articuloId: line.product_id,
});

const LINES = {
  estimates: { lines: 'estimate_lines', parent: 'estimate_id' },
  delivery_notes: { lines: 'delivery_note_lines', parent: 'delivery_note_id' },
  invoices: { lines: 'invoice_lines', parent: 'invoice_id' },
} as const;

/** Header and lines, in two statements; undefined when there is no such document. */
export async function readDocument(db: Db, accountId: number, table: keyof typeof LINES, id: number) {
  const { lines: lineTable, parent } = LINES[table];
  const ofDocument = sql`l.account_id = ${accountId} and l.${sql.ref(parent)} = ${id}`;
  const fromNote = sql.raw(table === 'invoices' ? 'l.from_delivery_note' : 'false');
  const [headers, lines] = await Promise.all([
    sql<HeaderRow>`
      select d.number, d.date, d.concept, d.client_id, c.legal_name, c.tax_id, c.email,
        (select coalesce(sum(l.amount), 0) from ${sql.table(lineTable)} l where ${ofDocument}) as base
      from ${sql.table(table)} d join clients c on c.account_id = ${accountId} and c.id = d.client_id
      where d.account_id = ${accountId} and d.id = ${id}`.execute(db),
    sql<LineRow>`
      select l.id, l.description, l.quantity, l.unit_price, l.discount, l.vat, l.amount, l.product_id,
        ${fromNote} as from_delivery_note
      from ${sql.table(lineTable)} l where ${ofDocument} order by l.position`.execute(db),
  ]);
  const [header] = headers.rows;
  return header && { header: { ...headerOf(header), num_lineas: lines.rows.length }, lines: lines.rows };
}
