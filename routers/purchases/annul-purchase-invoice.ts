import { sql } from 'kysely';
import { z } from 'zod';
import { badField, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { touch } from '../shared/changes.ts';
import { markAnnulled, reason } from '../shared/documents/annulment.ts';
import { addToProjects } from '../shared/documents/insert-document.ts';
import { id, sealedId } from '../shared/id.ts';

interface InvoiceRow {
  number: string;
  annulled: boolean;
  paid: boolean;
}

/**
 * Annuls a purchase invoice: it counts nowhere, its due dates are void, its delivery notes and its number are free again. 400 where
 * anything of it was paid. W-02
 */
export const annulPurchaseInvoice = operation({
  title: 'Anular factura de compra',
  description:
    'Anula una factura de compra; sus albaranes quedan por facturar. facturaCompraId: de consultar_facturas_compra.',
  rest: ['POST /purchase-invoices/{facturaCompraId}/annul'],
  alias: 'anularFacturaCompra',
  scope: 'svc.write',
  destructive: true,
  input: { facturaCompraId: id('purchaseInvoice').describe('La factura'), motivo: reason() },
  output: z.object({ facturaCompraId: sealedId('purchaseInvoice'), numero: z.string(), anulado: z.boolean() }),
  async handler({ input: { facturaCompraId: id, motivo }, ...call }) {
    const { db, accountId, now, beforeCommit, journal } = call;
    const dueDates = sql`v.account_id = ${accountId} and v.purchase_invoice_id = ${id}`;
    const named = sql`d.account_id = ${accountId} and d.id = ${id}`;
    const [, , { rows }, { rows: notes }] = await Promise.all([
      sql`select v.id from purchase_invoice_due_dates v where ${dueDates} order by v.id for no key update`.execute(db),
      sql`select d.id from purchase_invoices d where ${named} for no key update`.execute(db),
      // It sees what was paid while the first ones waited.
      sql<InvoiceRow>`
        select d.number, d.annulled_at is not null as annulled,
          d.paid <> 0 or exists (select from purchase_invoice_due_dates v where ${dueDates} and v.paid <> 0) as paid
        from purchase_invoices d where ${named}`.execute(db),
      // In the order of their ids, as where they are invoiced.
      sql<{ id: number }>`select n.id from purchase_delivery_notes n where n.account_id = ${accountId} and n.id in (
          select l.purchase_delivery_note_id from purchase_invoice_lines l
          where l.account_id = ${accountId} and l.purchase_invoice_id = ${id})
        order by n.id for no key update`.execute(db),
    ]);
    const [invoice] = rows;
    if (!invoice) throw notFound('facturaCompraId');
    if (invoice.annulled) throw badField('facturaCompraId', 'ya está anulada');
    if (invoice.paid) throw badField('facturaCompraId', 'ya se ha pagado algo de ella');
    beforeCommit(markAnnulled(call, 'purchase_invoices', id, motivo));
    beforeCommit(touch(db, 'purchase_delivery_notes', { accountId, ids: notes.map((note) => note.id), now }));
    beforeCommit(addToProjects(db, { accountId, id, table: 'purchase_invoices' }, -1));
    journal('annul', 'purchaseInvoice', id);
    journal(
      'modify',
      'purchaseDeliveryNote',
      notes.map((note) => note.id),
    );
    return { facturaCompraId: id, numero: invoice.number, anulado: true };
  },
});
