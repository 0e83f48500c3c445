// Annulling what was issued: it keeps its number, says when, by whom and why, and counts nowhere. W-02
import { type RawBuilder, sql } from 'kysely';
import type { OperationContext } from '../../../platform/context.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { text } from '../schemas.ts';
import { addToProjects } from './insert-document.ts';

/** `motivo`: why something is annulled or rectified. */
export const reason = () => text(500).min(3, 'se esperaban al menos 3 caracteres').describe('Por qué');

type Call = Pick<OperationContext, 'db' | 'accountId' | 'principal' | 'now'>;

/** Marks a document, which the transaction has locked. */
export const markAnnulled = (
  { db, accountId, principal, now }: Call,
  table: 'delivery_notes' | 'invoices' | 'purchase_delivery_notes' | 'purchase_invoices',
  id: number,
  motivo: string,
) =>
  sql`update ${sql.table(table)}
    set annulled_at = ${now.toString()}, annulled_by = ${principal.actor}, annulment_reason = ${motivo}, version = version + 1,
      updated_at = ${now.toString()}
    where account_id = ${accountId} and id = ${id}`.execute(db);

/**
 * Undoes what a document has moved, by movements of now. The stock of articles that are no longer in sale mode stays: it is what was
 * said of it. DLV-03
 */
export function reverseMovements(
  { db, accountId, now }: Omit<Call, 'principal'>,
  document: 'delivery_note_id' | 'invoice_id' | 'purchase_delivery_note_id',
  id: number,
) {
  const moved = sql`m.account_id = ${accountId} and m.${sql.ref(document)} = ${id}`;
  return Promise.all([
    // First, while the movements are only those that are undone.
    sql<{ id: number }>`insert into product_stocks as s (account_id, product_id, quantity)
      select ${accountId}, m.product_id, -sum(m.quantity)
      from stock_movements m join products p on p.account_id = ${accountId} and p.id = m.product_id and p.mode = 'sale'
      where ${moved} group by m.product_id order by m.product_id
      on conflict (account_id, product_id) do update
        set quantity = s.quantity + excluded.quantity, version = s.version + 1, updated_at = excluded.updated_at
      returning product_id as id`.execute(db),
    // Added up in a query of its own: so a cluster runs it on the company's node alone.
    sql`insert into stock_movements (account_id, product_id, variation_id, moved_at, quantity, ${sql.ref(document)},
        delivery_note_line_id, factor)
      select ${accountId}, b.product_id, b.variation_id, ${now.toString()}::timestamptz, b.quantity, ${id}::bigint,
        b.delivery_note_line_id, b.factor
      from (
        select m.product_id, m.variation_id, m.delivery_note_line_id, m.factor, -sum(m.quantity) as quantity, min(m.id) as first
        from stock_movements m where ${moved}
        group by m.product_id, m.variation_id, m.delivery_note_line_id, m.factor having sum(m.quantity) <> 0) b
      order by b.first
      returning id`.execute(db),
  ]);
}

/** Of sale and purchase delivery notes: the record, the column of movements that names it, its id's parameter, and what undoes its invoice. */
const NOTES = {
  delivery_notes: {
    kind: 'deliveryNote',
    moved: 'delivery_note_id',
    field: 'albaranId',
    invoiced: 'está facturado: antes se rectifica o anula su factura',
  },
  purchase_delivery_notes: {
    kind: 'purchaseDeliveryNote',
    moved: 'purchase_delivery_note_id',
    field: 'albaranCompraId',
    invoiced: 'está facturado: antes se anula su factura',
  },
} as const;

/**
 * Annuls a delivery note: its goods go back today, and it counts nowhere. Answers its number. `isInvoiced`: SQL that says so of a
 * note `d`. 400 for one that is invoiced or annulled. W-02
 */
export async function annulNote(
  call: Call & Pick<OperationContext, 'beforeCommit' | 'journal' | 'seal'>,
  table: keyof typeof NOTES,
  { id, motivo, isInvoiced }: { id: number; motivo: string; isInvoiced: RawBuilder<boolean> },
): Promise<string> {
  const { db, accountId, beforeCommit, journal, seal } = call;
  const { kind, moved, field, invoiced } = NOTES[table];
  const named = sql`d.account_id = ${accountId} and d.id = ${id}`;
  const [, { rows }] = await Promise.all([
    sql`select d.id from ${sql.table(table)} d where ${named} for no key update`.execute(db),
    // A second statement, since it sees what was committed while the first one waited: an invoice of the note too.
    sql<{ number: string | null; annulled: boolean; invoiced: boolean }>`
      select d.number, d.annulled_at is not null as annulled, ${isInvoiced} as invoiced
      from ${sql.table(table)} d where ${named}`.execute(db),
  ]);
  const [note] = rows;
  if (!note) throw notFound(field);
  if (note.annulled) throw badField(field, 'ya está anulado');
  if (note.invoiced) throw badField(field, invoiced);
  beforeCommit(markAnnulled(call, table, id, motivo));
  // Stock before projects, as where documents are written.
  const [{ rows: products }] = await reverseMovements(call, moved, id);
  beforeCommit(addToProjects(db, { accountId, id, table }, -1));
  journal('annul', kind, id);
  if (table === 'delivery_notes') seal({ table, id, action: 'annul', reason: motivo });
  journal(
    'modify',
    'product',
    products.map((product) => product.id),
  );
  return note.number ?? '';
}
