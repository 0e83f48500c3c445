// The due dates of invoices: as they are sent, checked and written.
import { sql } from 'kysely';
import { z } from 'zod';
import { vatByRate, withheld } from '../../../documents/vat-by-rate.ts';
import { LINE_TOO_LARGE, MAX_LINE, MAX_SUM, SUM_TOO_LARGE } from '../../../platform/amounts.ts';
import type { Db } from '../../../platform/database.ts';
import { badField } from '../../../platform/errors.ts';
import { centsInput, isoDate } from '../schemas.ts';

const dueDate = z.object({
  fecha: isoDate(),
  importe: centsInput(),
});
/** One of them. */
export type DueDate = z.output<typeof dueDate>;

/** `vencimientos` of a new invoice. */
export const dueDates = () =>
  z
    .array(dueDate)
    .min(1)
    .max(100)
    .optional()
    .describe('Suman lo que se paga; si faltan, uno, a la fecha de la factura');

const PARTS = {
  invoices: { lines: 'invoice_lines', parent: 'invoice_id', due: 'invoice_due_dates' },
  purchase_invoices: {
    lines: 'purchase_invoice_lines',
    parent: 'purchase_invoice_id',
    due: 'purchase_invoice_due_dates',
  },
} as const;

interface Invoice {
  accountId: number;
  id: number;
  table: keyof typeof PARTS;
}

/**
 * The due dates of the invoice whose lines were written just before: those sent, or one of its day for what is to be paid, the total with
 * VAT without `withholding` (percent of its base). 400 where they don't add up to it, or lines of other documents, older than the
 * limits, are beyond them: `source` is the parameter at fault. W-08
 */
export async function dueOf(
  db: Db,
  { accountId, id, table }: Invoice,
  {
    sent,
    date,
    source,
    withholding = null,
  }: {
    sent: readonly DueDate[] | undefined;
    date: Temporal.PlainDate;
    source: string;
    withholding?: number | null;
  },
): Promise<readonly DueDate[]> {
  const { lines, parent } = PARTS[table];
  const which = sql`l.account_id = ${accountId} and l.${sql.ref(parent)} = ${id}::bigint`;
  const { rows } = await sql<{ payable: string; agreed: boolean; within: boolean; lines_within: boolean }>`
    select p.payable::text as payable,
      p.payable = (select sum(v) from unnest(${sent?.map(({ importe }) => importe) ?? []}::numeric[]) v) as agreed,
      greatest(abs(a.base), abs(a.total), abs(p.payable)) <= ${MAX_SUM} as within,
      not exists (select from ${sql.table(lines)} l where ${which} and abs(l.amount) > ${MAX_LINE}) as lines_within
    from ${vatByRate(lines, which)} a
    cross join lateral (select a.total - ${withheld(sql`a.base`, sql`${withholding}::numeric`)} as payable) p`.execute(
    db,
  );
  const [sum] = rows;
  if (!sum) throw new Error('An invoice was not written');
  if (!sum.lines_within) throw badField(source, LINE_TOO_LARGE);
  if (!sum.within) throw badField(source, SUM_TOO_LARGE);
  if (sent && !sum.agreed) {
    const what = withholding === null ? 'el total con IVA' : 'el total con IVA menos la retención';
    throw badField('vencimientos', `tienen que sumar ${what}, ${sum.payable}`);
  }
  return sent ?? [{ fecha: date.toString(), importe: Number(sum.payable) }];
}

/** Writes the due dates of an invoice, in their order. */
export function insertDueDates(db: Db, { accountId, id, table }: Invoice, due: readonly DueDate[]) {
  const { due: into, parent } = PARTS[table];
  const rows = due.map(
    ({ fecha, importe }, index) => sql`(${accountId}, ${id}, ${index + 1}, ${fecha}::date, ${importe})`,
  );
  return sql`insert into ${sql.table(into)} (account_id, ${sql.ref(parent)}, position, date, amount)
    values ${sql.join(rows)}`.execute(db);
}

/** Whether a due date `v` of an invoice counts: those of an annulled one are void. W-02 */
export const countsToSettle = (accountId: number, table: Invoice['table']) =>
  sql<boolean>`(select i.annulled_at is null from ${sql.table(table)} i
    where i.account_id = ${accountId} and i.id = v.${sql.ref(PARTS[table].parent)})`;
