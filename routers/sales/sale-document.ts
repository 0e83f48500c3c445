// How one sale document is read: header, counterpart and lines. Estimates, delivery notes and invoices share it.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import type { Kind } from '../../platform/ids.ts';
import { sealedId } from '../shared/id.ts';

/** `contraparte`: the client of a document. */
export const party = z.object({
  clienteId: sealedId('client'),
  nombre_fiscal: z.string(),
  cif: z.string(),
  email: z.string(),
});

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

/** Header and lines, in two statements; undefined when there is no such document. */
export async function readDocument(db: Db, accountId: number, table: 'estimates', id: number) {
  const [header, lines] = await Promise.all([
    db
      .selectFrom(`${table} as d`)
      .innerJoin('clients as c', (join) =>
        join.onRef('c.account_id', '=', 'd.account_id').onRef('c.id', '=', 'd.client_id'),
      )
      .select(['d.id', 'd.number', 'd.date', 'd.concept', 'd.client_id', 'c.legal_name', 'c.tax_id', 'c.email'])
      .select((eb) =>
        eb
          .selectFrom('estimate_lines as l')
          .select(sql<number>`coalesce(sum(l.amount), 0)`.as('base'))
          .whereRef('l.account_id', '=', 'd.account_id')
          .whereRef('l.estimate_id', '=', 'd.id')
          .as('base'),
      )
      .where('d.account_id', '=', accountId)
      .where('d.id', '=', id)
      .executeTakeFirst(),
    db
      .selectFrom('estimate_lines')
      .select(['id', 'description', 'quantity', 'unit_price', 'discount', 'vat', 'amount', 'product_id'])
      .where('account_id', '=', accountId)
      .where('estimate_id', '=', id)
      .orderBy('position')
      .execute(),
  ]);
  return (
    header && {
      numero: header.number ?? '',
      fecha: header.date,
      concepto: header.concept,
      contraparte: {
        clienteId: header.client_id,
        nombre_fiscal: header.legal_name,
        cif: header.tax_id,
        email: header.email,
      },
      base_imponible: header.base ?? 0,
      num_lineas: lines.length,
      lineas: lines.map((line) => ({
        lineaId: line.id,
        descripcion: line.description,
        cantidad: line.quantity,
        importe_unitario: line.unit_price,
        descuento: line.discount,
        iva: line.vat,
        importe: line.amount ?? 0,
        articuloId: line.product_id,
      })),
    }
  );
}
