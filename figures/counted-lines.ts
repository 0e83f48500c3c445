// Which document lines count as sales and as purchases. Only this file decides it; the economics of projects and of the company
// and the sales report use it.
import { type RawBuilder, sql } from 'kysely';

const SALES = {
  party: 'client_id',
  notes: { headers: 'delivery_notes', lines: 'delivery_note_lines', parent: 'delivery_note_id' },
  invoices: { headers: 'invoices', lines: 'invoice_lines', parent: 'invoice_id' },
};
const PURCHASES = {
  party: 'supplier_id',
  notes: {
    headers: 'purchase_delivery_notes',
    lines: 'purchase_delivery_note_lines',
    parent: 'purchase_delivery_note_id',
  },
  invoices: { headers: 'purchase_invoices', lines: 'purchase_invoice_lines', parent: 'purchase_invoice_id' },
};

/** Both days are included. A missing one leaves that side open. */
export interface DateRange {
  from?: string | undefined;
  to?: string | undefined;
}

/**
 * The lines that count as sales or as purchases, by header date: all lines of delivery notes, and the invoice lines that do not
 * come from a delivery note (those were counted with the note). Annulled documents count nowhere. A query with `project_id`, `product_id`, `amount` (without VAT),
 * `date`, `party_id` (client or supplier), `note_id` and `invoice_id` (one of the two is null). `only` is an extra condition on
 * the line, alias `l`. PRJ-01, W-02
 */
export function countedLines(
  kind: 'sales' | 'purchases',
  { accountId, from, to }: DateRange & { accountId: number },
  only: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const { party, notes, invoices } = kind === 'sales' ? SALES : PURCHASES;
  const within = sql`h.date between ${from ?? '-infinity'}::date and ${to ?? 'infinity'}::date`;
  const lines = ({ headers, lines, parent }: typeof notes, document: RawBuilder<unknown>) => sql`
    select l.project_id, l.product_id, l.amount, h.date, h.${sql.ref(party)} as party_id, ${document}
    from ${sql.table(lines)} l
    join ${sql.table(headers)} h on h.account_id = ${accountId} and h.id = l.${sql.ref(parent)}
    where l.account_id = ${accountId} and h.annulled_at is null and ${within} ${only}`;
  return sql`${lines(notes, sql`h.id as note_id, null::bigint as invoice_id`)}
    union all ${lines(invoices, sql`null::bigint as note_id, h.id as invoice_id`)} and not l.from_delivery_note`;
}
