// How an invoice is written: its header, its lines, and due dates that add up to its total.
import { sql } from 'kysely';
import { z } from 'zod';
import { LINE_TOO_LARGE, MAX_LINE, MAX_SUM, SUM_TOO_LARGE } from '../../platform/amounts.ts';
import type { OperationContext } from '../../platform/context.ts';
import { badField } from '../../platform/errors.ts';
import { nextNumber } from '../shared/documents/document-number.ts';
import { insertLines, numberedSearch } from '../shared/documents/insert-document.ts';
import { partyNow } from '../shared/documents/sale-document.ts';
import type { ResolvedLine } from '../shared/documents/sale-lines.ts';
import { centsInput, isoDate } from '../shared/schemas.ts';
import { invoiceAmounts } from './invoice.ts';
import { copyNoteLines } from './notes-to-invoice.ts';

const dueDate = z.object({
  fecha: isoDate(),
  importe: centsInput(),
});

/** `vencimientos` of a new invoice. */
export const newDueDates = z
  .array(dueDate)
  .min(1)
  .max(100)
  .optional()
  .describe('Suman el total con IVA; si faltan, uno, a la fecha de la factura');

export interface NewInvoice {
  /** From `nextId`. */
  id: number;
  date: Temporal.PlainDate;
  clientId: number;
  concept: string;
  remarks?: string | undefined;
  promoCode?: string | null | undefined;
  /** Of the invoice, and of its new lines that have none of their own. */
  projectId: number | null;
  /** New lines, and the list that prices come from that were not sent. */
  lines?: readonly ResolvedLine[] | undefined;
  priceList?: number;
  /** Locked delivery notes, whose lines it brings. */
  notes?: readonly number[] | undefined;
  /** Left out: one of the invoice's day. */
  dueDates: z.output<typeof newDueDates>;
  /** The parameter at fault for lines that amount to more than they may. */
  source: string;
}

/** Writes a numbered invoice; goods of new lines leave stock. 400 for due dates that don't add up, and for amounts beyond W-08. */
export async function insertInvoice(
  { db, accountId, now, beforeCommit }: Pick<OperationContext, 'db' | 'accountId' | 'now' | 'beforeCommit'>,
  { id, date, clientId, concept, projectId, lines, priceList = 1, notes, dueDates, source, ...more }: NewInvoice,
): Promise<void> {
  const amounts = invoiceAmounts(accountId, sql<number>`${id}::bigint`);
  // The number's counter is locked before stock, as for delivery notes, so that the two never deadlock.
  const { taken, numbered } = nextNumber(db, accountId, 'invoice', date);
  const [, , , , { rows: sums }] = await Promise.all([
    taken,
    sql`insert into invoices (account_id, id, number, date, concept, remarks, client_id, project_id,
        promo_code, search, party)
      select ${accountId}, ${id}, number, ${date.toString()}::date, ${concept}, ${more.remarks ?? ''},
        ${clientId}, ${projectId}::bigint, ${more.promoCode || null}, ${numberedSearch(concept)}, ${partyNow}
      from ${numbered} join clients c on c.account_id = ${accountId} and c.id = ${clientId}
      returning id`.execute(db),
    lines && insertLines(db, { accountId, id, table: 'invoices', lines, priceList, projectId, now }),
    notes && copyNoteLines(db, accountId, id, notes),
    sql<{ total: string; agreed: boolean; within: boolean; lines_within: boolean }>`
      select a.total::text as total,
        a.total = (select sum(v) from unnest(${dueDates?.map(({ importe }) => importe) ?? []}::numeric[]) v) as agreed,
        greatest(abs(a.base), abs(a.total)) <= ${MAX_SUM} as within,
        not exists (select from invoice_lines l where l.account_id = ${accountId}
          and l.invoice_id = ${id} and abs(l.amount) > ${MAX_LINE}) as lines_within
      from ${amounts} a`.execute(db),
  ]);
  const [sum] = sums;
  if (!sum) throw new Error('An invoice was not written');
  // New lines were checked before; lines of other documents may be older than the limits.
  if (!sum.lines_within) throw badField(source, LINE_TOO_LARGE);
  if (!sum.within) throw badField(source, SUM_TOO_LARGE);
  if (dueDates && !sum.agreed) throw badField('vencimientos', `tienen que sumar el total con IVA, ${sum.total}`);
  const due = dueDates ?? [{ fecha: date.toString(), importe: Number(sum.total) }];
  beforeCommit(
    db
      .insertInto('invoice_due_dates')
      .values(
        due.map(({ fecha, importe }, index) => ({
          account_id: accountId,
          invoice_id: id,
          position: index + 1,
          date: fecha,
          amount: importe,
        })),
      )
      .execute(),
  );
}
