// How an invoice is written: its header, its lines, and due dates that add up to its total.
import { sql } from 'kysely';
import type { OperationContext } from '../../platform/context.ts';
import { nextNumber } from '../shared/documents/document-number.ts';
import { type DueDate, dueOf, insertDueDates } from '../shared/documents/due-dates.ts';
import { insertLines, numberedSearch } from '../shared/documents/insert-document.ts';
import { partyNow } from '../shared/documents/sale-document.ts';
import type { ResolvedLine } from '../shared/documents/sale-lines.ts';
import { copyNoteLines } from './notes-to-invoice.ts';

export interface NewInvoice {
  /** Drawn before: no other invoice has it. */
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
  dueDates: readonly DueDate[] | undefined;
  /** Percent of income tax that the client keeps back. */
  withholding?: number | null;
  /** The parameter at fault for lines that amount to more than they may. */
  source: string;
}

/** Writes a numbered invoice; goods of new lines leave stock. 400 for due dates that don't add up, and for amounts beyond W-08. */
export async function insertInvoice(
  { db, accountId, now, beforeCommit }: Pick<OperationContext, 'db' | 'accountId' | 'now' | 'beforeCommit'>,
  {
    id,
    date,
    clientId,
    concept,
    projectId,
    lines,
    priceList = 1,
    notes,
    dueDates,
    withholding = null,
    source,
    ...more
  }: NewInvoice,
): Promise<void> {
  const invoice = { accountId, id, table: 'invoices' } as const;
  // The number's counter is locked before stock, as for delivery notes, so that the two never deadlock.
  const { taken, numbered } = nextNumber(db, accountId, 'invoice', date);
  const [, , , , due] = await Promise.all([
    taken,
    sql`insert into invoices (account_id, id, number, date, concept, remarks, client_id, project_id,
        promo_code, search, party, withholding)
      select ${accountId}, ${id}, number, ${date.toString()}::date, ${concept}, ${more.remarks ?? ''},
        ${clientId}, ${projectId}::bigint, ${more.promoCode || null}, ${numberedSearch(concept)}, ${partyNow}, ${withholding}::numeric
      from ${numbered} join clients c on c.account_id = ${accountId} and c.id = ${clientId}
      returning id`.execute(db),
    lines && insertLines(db, { ...invoice, lines, priceList, projectId, now }),
    notes && copyNoteLines(db, accountId, id, notes),
    dueOf(db, invoice, { sent: dueDates, date, source, withholding }),
  ]);
  beforeCommit(insertDueDates(db, invoice, due));
}
