// Settling due dates: what is paid of them rises, and a settlement says when.
import { sql } from 'kysely';
import type { Db } from '../../../platform/database.ts';
import { touch } from '../changes.ts';

/** The due dates of sales and of purchases. */
export const DUE_DATES = {
  dueDate: { table: 'invoice_due_dates', parent: 'invoice_id', invoices: 'invoices' },
  purchaseDueDate: {
    table: 'purchase_invoice_due_dates',
    parent: 'purchase_invoice_id',
    invoices: 'purchase_invoices',
  },
} as const;

export interface Settled {
  accountId: number;
  kind: keyof typeof DUE_DATES;
  invoiceId: number;
  /** By their position in the invoice; exact decimals. */
  amounts: readonly { position: number; amount: string }[];
  date: string;
  now: Temporal.Instant;
  movementId?: number | null;
}

/** Settles amounts of an invoice's due dates. Its row is locked, and what is pending was looked at since. W-04 */
export function settle(db: Db, { accountId, kind, invoiceId, amounts, date, now, movementId }: Settled) {
  const { table, parent, invoices } = DUE_DATES[kind];
  const rows = sql`unnest(${amounts.map(({ position }) => position)}::int[], ${amounts.map(({ amount }) => amount)}::numeric[])
    as s (position, amount)`;
  const changed = sql`version = version + 1, updated_at = ${now.toString()}`;
  return Promise.all([
    sql`update ${sql.table(table)} v set paid = v.paid + s.amount, ${changed} from ${rows}
      where v.account_id = ${accountId} and v.${sql.ref(parent)} = ${invoiceId} and v.position = s.position`.execute(
      db,
    ),
    // A purchase invoice keeps the sum.
    kind === 'purchaseDueDate'
      ? sql`update ${sql.table(invoices)} set paid = paid + (select sum(s.amount) from ${rows}), ${changed}
          where account_id = ${accountId} and id = ${invoiceId}`.execute(db)
      : touch(db, invoices, { accountId, ids: [invoiceId], now }),
    sql`insert into settlements (account_id, ${sql.ref(parent)}, position, date, amount, treasury_movement_id)
      select ${accountId}, ${invoiceId}::bigint, s.position, ${date}::date, s.amount, ${movementId ?? null}::bigint
      from ${rows} order by s.position
      returning id`.execute(db),
  ]);
}
