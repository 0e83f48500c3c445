import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { badField, badInput, type FieldProblem, notFound } from '../../platform/errors.ts';
import { markedId } from '../../platform/ids.ts';
import { operation } from '../operation.ts';
import { touch, updateRecord } from '../shared/changes.ts';
import { dueDates } from '../shared/documents/due-dates.ts';
import { insertDeliveryNote } from '../shared/documents/insert-document.ts';
import { checkAmounts, goodsOf, type ResolvedLine } from '../shared/documents/sale-lines.ts';
import { id, sealedId } from '../shared/id.ts';
import { decimalInput } from '../shared/schemas.ts';
import { convertedQuantity } from './estimate.ts';
import { insertInvoice } from './insert-invoice.ts';

const wantedLine = z.object({
  lineaId: id('estimateLine').describe('De obtener_presupuesto'),
  cantidad: decimalInput().refine((value) => value !== 0, 'no puede ser 0'),
});
type Wanted = z.output<typeof wantedLine>;

/**
 * Makes a delivery note or an invoice of today of what is left of an estimate, or of a part of it, and accepts the estimate. Prices,
 * VAT, discounts and texts are the estimate's; the client is as it is today. W-02, W-04, W-06
 */
export const convertEstimate = operation({
  title: 'Convertir presupuesto',
  description:
    'Hace de un presupuesto un albarán o una factura, con sus precios, y lo da por aceptado: todo lo que quede, o lo que digan lineas. Mueve stock. presupuestoId: de consultar_presupuestos.',
  rest: ['POST /estimates/{presupuestoId}/convert'],
  alias: 'convertirPresupuesto',
  scope: 'svc.write',
  input: {
    presupuestoId: id('estimate').describe('El presupuesto'),
    destino: z.enum(['albaran', 'factura']),
    lineas: z.array(wantedLine).min(1).max(1000).optional(),
    vencimientos: dueDates().describe('De una factura; suman el total'),
  },
  output: z.union([sealedId('deliveryNote'), sealedId('invoice')]).meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input, db, accountId, today: date, now, newId, beforeCommit, journal, seal }) {
    const { presupuestoId, destino, lineas, vencimientos } = input;
    const isInvoice = destino === 'factura';
    if (vencimientos && !isInvoice) throw badField('vencimientos', 'solo los tiene una factura');
    const [documentId, , estimate, rows] = await Promise.all([
      newId(isInvoice ? 'invoice' : 'deliveryNote'),
      // Conversions of an estimate take turns.
      sql`select id from estimates where account_id = ${accountId} and id = ${presupuestoId} for no key update`.execute(
        db,
      ),
      // Statements of their own, since they see what was committed while that one waited.
      db
        .selectFrom('estimates')
        .select(['concept', 'remarks', 'promo_code', 'client_id', 'project_id', 'state'])
        .where('account_id', '=', accountId)
        .where('id', '=', presupuestoId)
        .executeTakeFirst(),
      carriedLines(db, accountId, presupuestoId, lineas),
    ]);
    if (!estimate) throw notFound('presupuestoId');
    const lines = fitting(rows, lineas);
    checkAmounts(lines, 1);

    const { concept, remarks, promo_code: promoCode, client_id: clientId, project_id: projectId, state } = estimate;
    const document = { id: documentId, date, clientId, concept, remarks, promoCode, projectId, lines, priceList: 1 };
    if (isInvoice) {
      const context = { db, accountId, now, beforeCommit };
      await insertInvoice(context, { ...document, dueDates: vencimientos, source: 'presupuestoId' });
    } else beforeCommit(insertDeliveryNote(db, { ...document, accountId, now }));
    if (state !== 'accepted') {
      beforeCommit(updateRecord(db, 'estimates', { accountId, id: presupuestoId, now }, { state: 'accepted' }));
    } else beforeCommit(touch(db, 'estimates', { accountId, ids: [presupuestoId], now }));
    const kind = isInvoice ? 'invoice' : 'deliveryNote';
    const table = isInvoice ? 'invoices' : 'delivery_notes';
    journal('create', kind, documentId);
    seal({ table, id: documentId, action: 'issue' });
    seal({ table: 'estimates', id: presupuestoId, action: 'convert', related: { table, id: documentId } });
    journal('modify', 'estimate', presupuestoId);
    journal('modify', 'product', goodsOf(lines));
    return markedId(kind, documentId);
  },
});

type CarriedLine = ResolvedLine & {
  estimate_line_id: number;
  /** What was left of it. */
  rest: string;
  /** Whether that much is left, in the direction of the line. */
  fits: boolean;
};

/** The lines of an estimate, each with the quantity to be carried over: what is wanted, or all that is left. */
async function carriedLines(
  db: Db,
  accountId: number,
  estimateId: number,
  wanted: readonly Wanted[] | undefined,
): Promise<CarriedLine[]> {
  const quantities = wanted?.map(({ lineaId, cantidad }) => ({ id: lineaId, quantity: cantidad }));
  const carried = quantities
    ? sql`join json_to_recordset(${JSON.stringify(quantities)}::json) as w (id bigint, quantity numeric) on w.id = l.id`
    : sql`cross join lateral (select r.rest as quantity) w`;
  const { rows } = await sql<CarriedLine>`
    select l.id as estimate_line_id, l.description, w.quantity::text as quantity, l.unit_price::text as unit_price, l.discount,
      l.vat, l.surcharge, l.exemption, l.product_id, l.variation_id, l.format_id,
      case when w.quantity = l.quantity then l.base_quantity
        else round(l.base_quantity * w.quantity / nullif(l.quantity, 0), 6) end::text as base_quantity,
      l.extended_description, l.start_date, l.end_date, l.project_id, f.factor, coalesce(p.mode = 'sale', false) as moves_stock,
      trim_scale(r.rest)::text as rest,
      w.quantity * sign(l.quantity) > 0 and w.quantity * sign(l.quantity) <= r.rest * sign(l.quantity) as fits
    from estimate_lines l
    cross join lateral (select l.quantity - ${convertedQuantity(accountId)} as rest) r
    ${carried}
    left join products p on p.account_id = ${accountId} and p.id = l.product_id
    left join product_formats f on f.account_id = ${accountId} and f.id = l.format_id
    where l.account_id = ${accountId} and l.estimate_id = ${estimateId}
    order by l.position, l.id`.execute(db);
  return rows;
}

/** The lines to be written, in the estimate's order. 400 for what is not left. */
function fitting(rows: readonly CarriedLine[], wanted: readonly Wanted[] | undefined): ResolvedLine[] {
  const byId = new Map(rows.map((row) => [row.estimate_line_id, row]));
  const problems = (wanted ?? []).flatMap(({ lineaId }, index): FieldProblem[] => {
    const row = byId.get(lineaId);
    const [first] = (wanted ?? []).flatMap((line, at) => (line.lineaId === lineaId ? [at] : []));
    if (!row) return [{ campo: `lineas[${index}].lineaId`, mensaje: 'no es una línea de ese presupuesto' }];
    if (first !== index) return [{ campo: `lineas[${index}].lineaId`, mensaje: 'está repetida' }];
    return row.fits ? [] : [{ campo: `lineas[${index}].cantidad`, mensaje: `de esa línea queda ${row.rest}` }];
  });
  if (problems.length > 0) throw badInput(problems);
  const carried = rows.filter(({ fits }) => fits);
  if (carried.length === 0) throw badField('presupuestoId', 'no queda nada por convertir');
  return carried.map(({ rest, fits, ...line }, index) => ({ ...line, position: index + 1 }));
}
