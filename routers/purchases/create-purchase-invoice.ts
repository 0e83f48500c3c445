import { sql } from 'kysely';
import { z } from 'zod';
import type { OperationContext } from '../../platform/context.ts';
import { badField, badInput } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { touch } from '../shared/changes.ts';
import { byIdAlone } from '../shared/documents/billing-client.ts';
import { dueDates, dueOf, insertDueDates } from '../shared/documents/due-dates.ts';
import { insertLines } from '../shared/documents/insert-document.ts';
import { refuseFuture } from '../shared/documents/sale-document.ts';
import { checkAmounts, purchaseLine, resolveLines } from '../shared/documents/sale-lines.ts';
import { id, sealedId } from '../shared/id.ts';
import { isoDate, text } from '../shared/schemas.ts';
import { billingSupplier, resolveSupplier } from './billing-supplier.ts';
import { copyNoteLines, lockNotes } from './notes-to-invoice.ts';

/**
 * Creates the invoice of a supplier, under the supplier's number, either of `detalles` or of `albaranes`; stock moves with delivery notes
 * alone. 400 for a number that the supplier has used in the same year. `vencimientos` are with VAT and add up to the total; left out,
 * one of the invoice's day. DLV-01, DLV-08, PRJ-01, W-08
 */
export const createPurchaseInvoice = operation({
  title: 'Crear factura de compra',
  description:
    'Registra una factura recibida: de albaranes sin facturar (consultar_albaranes_compra) o de detalles, que no mueven stock. De quién: id de consultar_proveedores o cif; articulo_fk: de consultar_productos; proyectoId: de consultar_proyectos.',
  rest: ['POST /purchase-invoices'],
  alias: 'crearFacturaCompra',
  scope: 'svc.write',
  relevant: byIdAlone('proveedor'),
  input: {
    proveedor: billingSupplier,
    numero: text(100).min(1).describe('El del proveedor'),
    fecha: isoDate(),
    subtipo: text(100).optional().describe('Código de clasificación fiscal'),
    proyectoId: id('project').optional().describe('De las líneas que no tengan otro'),
    detalles: z.array(purchaseLine).min(1).max(1000).optional().describe('O bien albaranes'),
    albaranes: z.array(id('purchaseDeliveryNote')).min(1).max(500).optional().describe('O bien detalles'),
    vencimientos: dueDates(),
    actualizar_coste: z.boolean().default(false).describe('Pone el precio neto como coste de los artículos'),
  },
  output: sealedId('purchaseInvoice').meta({ example: 'k7Rw0bT4cX1n8mQ6vLs2dEg' }),
  async handler({ input, ...call }) {
    const { db, accountId, principal, today, now, newId, beforeCommit, journal } = call;
    const { numero, subtipo, detalles, albaranes } = input;
    if (detalles && albaranes) {
      throw badInput([
        { campo: 'detalles', mensaje: 'no puede ir junto con albaranes' },
        { campo: 'albaranes', mensaje: 'no puede ir junto con detalles' },
      ]);
    }
    if (!detalles && !albaranes) throw badField('detalles', 'es obligatorio si no se mandan albaranes');
    const date = refuseFuture(input.fecha, today, 'fecha');
    const projectId = input.proyectoId ?? null;
    const [invoiceId, supplierId, lines] = await Promise.all([
      newId('purchaseInvoice'),
      resolveSupplier(call, input.proveedor),
      detalles && resolveLines(db, accountId, detalles, principal.multiFormatStock, { trade: 'purchase' }),
    ]);
    if (lines) checkAmounts(lines, 'cost');
    await refuseUsedNumber(call, supplierId, numero, date);
    if (albaranes) {
      await lockNotes(db, accountId, supplierId, albaranes);
      beforeCommit(touch(db, 'purchase_delivery_notes', { accountId, ids: albaranes, now }));
    }
    const invoice = { accountId, id: invoiceId, table: 'purchase_invoices' } as const;
    const row = {
      account_id: accountId,
      id: invoiceId,
      number: numero,
      date: date.toString(),
      supplier_id: supplierId,
    };
    const [, , due] = await Promise.all([
      db
        .insertInto('purchase_invoices')
        .values({ ...row, project_id: projectId, subtype: subtipo || null })
        .execute(),
      lines
        ? insertLines(db, { ...invoice, lines, priceList: 'cost', projectId, now })
        : copyNoteLines(db, accountId, invoiceId, albaranes ?? []),
      dueOf(db, invoice, { sent: input.vencimientos, date, source: 'albaranes' }),
    ]);
    beforeCommit(insertDueDates(db, invoice, due));
    journal('create', 'purchaseInvoice', invoiceId);
    journal('modify', 'purchaseDeliveryNote', albaranes ?? []);
    if (input.actualizar_coste) {
      const { rows: products } = await takeCosts(call, invoiceId);
      journal(
        'modify',
        'product',
        products.map(({ id }) => id),
      );
    }
    return invoiceId;
  },
});

/** 400 for a number that an invoice of the supplier has in the same year; until the transaction ends, no other call writes one of it. */
async function refuseUsedNumber(
  { db, accountId }: OperationContext,
  supplierId: number,
  number: string,
  { year }: Temporal.PlainDate,
): Promise<void> {
  const [, { rows }] = await Promise.all([
    sql`select id from suppliers where account_id = ${accountId} and id = ${supplierId} for no key update`.execute(db),
    sql<{ number: string; date: string }>`
      select number, date::text as date from purchase_invoices
      where account_id = ${accountId} and supplier_id = ${supplierId} and number = ${number} and annulled_at is null
        and date between make_date(${year}::int, 1, 1) and make_date(${year}::int, 12, 31)
      limit 1`.execute(db),
  ]);
  const [used] = rows;
  if (used) throw badField('numero', `ya lo tiene la factura ${used.number} de ese proveedor, de ${used.date}`);
}

/** Articles cost what the invoice says of a base unit, without VAT and less discounts; of several lines of one the last counts. */
const takeCosts = ({ db, accountId, now }: OperationContext, invoiceId: number) =>
  sql<{ id: number }>`update products p set cost = n.cost, version = p.version + 1, updated_at = ${now.toString()}
    from (
      select distinct on (l.product_id) l.product_id, trim_scale(round(l.unit_price * (1 - l.discount / 100)
        * l.quantity / coalesce(l.base_quantity, l.quantity * coalesce(f.factor, 1)), 6)) as cost
      from purchase_invoice_lines l
      left join product_formats f on f.account_id = ${accountId} and f.id = l.format_id
      where l.account_id = ${accountId} and l.purchase_invoice_id = ${invoiceId} and l.product_id is not null
        and l.quantity > 0 and l.amount > 0
      order by l.product_id, l.position desc) n
    where p.account_id = ${accountId} and p.id = n.product_id and p.cost <> n.cost
    returning p.id`.execute(db);
