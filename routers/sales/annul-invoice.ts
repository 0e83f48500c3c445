import { sql } from 'kysely';
import { z } from 'zod';
import { badField, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { touch } from '../shared/changes.ts';
import { markAnnulled, reason, reverseMovements } from '../shared/documents/annulment.ts';
import { addToProjects } from '../shared/documents/insert-document.ts';
import { id, sealedId } from '../shared/id.ts';
import { isInvoiced } from './invoice.ts';

interface InvoiceRow {
  number: string | null;
  annulled: boolean;
  /** The invoice that it rectifies. */
  original: number | null;
  rectified: boolean;
  collected: boolean;
  /** Whether a delivery note that it freed was invoiced again or annulled. */
  taken: boolean;
}

/**
 * Annuls an invoice that was issued by mistake: it keeps its number and counts nowhere, its due dates are void, its goods come back
 * today, its delivery notes are free, and what it took of an estimate or of the invoice that it rectifies is open again. 400 where
 * anything of it was collected, set off or rectified. W-02, W-04
 */
export const annulInvoice = operation({
  title: 'Anular factura',
  description:
    'Anula una factura emitida por error, sin cobrar ni rectificar; libera sus albaranes. facturaId: de consultar_facturas.',
  rest: ['POST /invoices/{facturaId}/annul'],
  alias: 'anularFactura',
  scope: 'svc.write',
  destructive: true,
  input: { facturaId: id('invoice').describe('La factura'), motivo: reason() },
  output: z.object({ facturaId: sealedId('invoice'), numero: z.string(), anulada: z.boolean() }),
  async handler({ input: { facturaId: id, motivo }, ...call }) {
    const { db, accountId, now, beforeCommit, journal, seal } = call;
    const named = sql`d.account_id = ${accountId} and d.id = ${id}`;
    const lines = sql`l.account_id = ${accountId} and l.invoice_id = ${id}`;
    const dueDates = sql`v.account_id = ${accountId} and v.invoice_id = ${id}`;
    const [, , { rows: estimates }, { rows: notes }, { rows }] = await Promise.all([
      // Settlements and rectifications of it wait, and so do those of the invoice that it rectifies.
      sql`select i.id from invoices i where i.account_id = ${accountId}
          and (i.id = ${id} or i.id = (select d.rectified_invoice_id from invoices d where ${named}))
        order by i.id for no key update`.execute(db),
      // An import may write what is paid without the invoice's lock.
      sql`select v.id from invoice_due_dates v where ${dueDates} order by v.id for no key update`.execute(db),
      sql<{ id: number }>`select e.id from estimates e where e.account_id = ${accountId} and e.id in (
          select o.estimate_id from invoice_lines l
          join estimate_lines o on o.account_id = ${accountId} and o.id = l.estimate_line_id where ${lines})
        order by e.id for no key update`.execute(db),
      // In the order of their ids, as where they are invoiced.
      sql<{ id: number }>`select n.id from delivery_notes n where n.account_id = ${accountId} and n.id in (
          select l.delivery_note_id from invoice_lines l where ${lines})
        order by n.id for no key update`.execute(db),
      // It sees what was committed while the first ones waited.
      sql<InvoiceRow>`
        select d.number, d.annulled_at is not null as annulled, d.rectified_invoice_id as original,
          exists (select from invoices k where k.account_id = ${accountId} and k.rectified_invoice_id = ${id}
            and k.annulled_at is null) as rectified,
          exists (select from invoice_due_dates v where ${dueDates} and v.paid <> 0) as collected,
          d.rectified_invoice_id is not null and exists (
            select from invoice_lines l
            join delivery_notes n on n.account_id = ${accountId} and n.id = l.delivery_note_id
            where ${lines} and l.note_released
              and (n.annulled_at is not null or ${isInvoiced(accountId, sql<number>`n.id`)})) as taken
        from invoices d where ${named}`.execute(db),
    ]);
    const [invoice] = rows;
    if (!invoice) throw notFound('facturaId');
    const { number, original } = invoice;
    if (invoice.annulled) throw badField('facturaId', 'ya está anulada');
    if (invoice.rectified) throw badField('facturaId', 'está rectificada');
    if (invoice.collected) throw badField('facturaId', 'ya se ha cobrado o compensado algo de ella');
    if (invoice.taken) throw badField('facturaId', 'un albarán que liberó se ha vuelto a facturar o se ha anulado');
    const noteIds = notes.map((note) => note.id);
    const estimateIds = estimates.map((estimate) => estimate.id);
    beforeCommit(markAnnulled(call, 'invoices', id, motivo));
    beforeCommit(touch(db, 'estimates', { accountId, ids: estimateIds, now }));
    beforeCommit(touch(db, 'delivery_notes', { accountId, ids: noteIds, now }));
    if (original !== null) {
      beforeCommit(touch(db, 'invoices', { accountId, ids: [original], now }));
      // The delivery notes that it freed are the original's again.
      beforeCommit(
        sql`update invoice_lines o set note_released = false, version = o.version + 1, updated_at = ${now.toString()}
          from invoice_lines l
          where ${lines} and l.note_released and o.account_id = ${accountId} and o.invoice_id = ${original}
            and o.position = l.rectified_position and o.delivery_note_id = l.delivery_note_id`.execute(db),
      );
      journal('modify', 'invoice', original);
    }
    // Stock before projects, as where documents are written.
    const [{ rows: products }] = await reverseMovements(call, 'invoice_id', id);
    beforeCommit(addToProjects(db, { accountId, id, table: 'invoices' }, -1));
    journal('annul', 'invoice', id);
    seal({ table: 'invoices', id, action: 'annul', reason: motivo });
    journal('modify', 'estimate', estimateIds);
    journal('modify', 'deliveryNote', noteIds);
    journal(
      'modify',
      'product',
      products.map((product) => product.id),
    );
    return { facturaId: id, numero: number ?? '', anulada: true };
  },
});
