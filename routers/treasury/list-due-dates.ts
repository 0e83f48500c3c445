import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { countsToSettle } from '../shared/documents/due-dates.ts';
import { party, supplierParty } from '../shared/documents/sale-document.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, limit, offset, optionalDates, PAGE, page } from '../shared/schemas.ts';
import { always, decimalOf, flagOf, idOf, oneOf, plainOf, shape, textOf } from '../shared/shape.ts';

const figures = {
  fecha: plainOf('date'),
  importe: decimalOf('amount'),
  pendiente: decimalOf('pending'),
  vencido: flagOf('overdue'),
};

/** Of a sale invoice, from the client. */
const collection = shape({
  vencimientoId: idOf('dueDate', 'id'),
  tipo: always('cobro'),
  ...figures,
  documento: { tipo: always('factura'), id: idOf('invoice', 'document_id'), numero: textOf('number') },
  tercero: party,
});

/** Of a purchase invoice, to the supplier. */
const payment = shape({
  vencimientoId: idOf('purchaseDueDate', 'id'),
  tipo: always('pago'),
  ...figures,
  documento: { tipo: always('factura_compra'), id: idOf('purchaseInvoice', 'document_id'), numero: textOf('number') },
  tercero: supplierParty,
});

const sums = shape({ suma_importe: decimalOf('amount'), suma_pendiente: decimalOf('pending') });
const dueDates = listOf(
  'total_vencimientos',
  'vencimientos',
  oneOf(z.discriminatedUnion('tipo', [collection.schema, payment.schema]), 'kind', {
    cobro: collection,
    pago: payment,
  }),
  // Ids of the two kinds are numbered apart.
  orderOf('d', 'date', 'id', 'kind'),
  sums.schema.shape,
);

/**
 * Due dates, the soonest first: a list of what to do, unlike documents. Amounts with VAT. `pendiente` is what is left of
 * `importe`, negative where money has to go back (a credit note); `vencido` when something is left to collect or pay and
 * the date is before the company's today. The sums are of all that are selected, collections and payments alike. PAG-02, DATE-02
 */
export const listDueDates = operation({
  title: 'Vencimientos',
  description:
    'Vencimientos de facturas de venta (cobro) y de compra (pago), del más próximo al más lejano, con lo que queda pendiente, IVA incluido; las sumas no restan los pagos: usa tipo. clienteId: de consultar_clientes; proveedorId: de consultar_proveedores; facturaId: de consultar_facturas. Para la evolución del saldo usa consultar_prevision_tesoreria.',
  rest: ['GET /treasury/due-dates'],
  alias: 'consultarVencimientos',
  scope: 'svc.read',
  plan: 'custom',
  input: {
    ...optionalDates(),
    tipo: z.enum(['cobro', 'pago']).optional().describe('Solo cobros o solo pagos'),
    pendiente: z.boolean().optional().describe('false: solo saldados'),
    vencidos: z.boolean().optional().describe('true: solo vencidos; false: los demás'),
    clienteId: id('client').optional().describe('Solo cobros de este cliente'),
    proveedorId: id('supplier').optional().describe('Solo pagos a este proveedor'),
    facturaId: id('invoice').optional().describe('Solo cobros de esta factura'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: dueDates.schema,
  async handler({ input, db, accountId, principal: { timeZone }, today }) {
    const { fecha_inicio, fecha_fin, tipo, pendiente, vencidos, clienteId, proveedorId, facturaId } = input;
    const since = changedIn('v', input.modificado_desde, timeZone);
    const overdue = sql`(amount > paid and date < ${today.toString()}::date)`;
    const all = [
      sql`account_id = ${accountId}`,
      ...(fecha_inicio === undefined ? [] : [sql`date >= ${fecha_inicio}::date`]),
      ...(fecha_fin === undefined ? [] : [sql`date <= ${fecha_fin}::date`]),
      ...(pendiente === undefined ? [] : [sql`(amount <> paid) = ${pendiente}`]),
      ...(vencidos === undefined ? [] : [vencidos ? overdue : sql`not ${overdue}`]),
      ...(since ? [since] : []),
    ];
    const toCollect = [
      ...all,
      countsToSettle(accountId, 'invoices'),
      ...(proveedorId === undefined ? [] : [sql`false`]),
      ...(facturaId === undefined ? [] : [sql`invoice_id = ${facturaId}`]),
      ...(clienteId === undefined
        ? []
        : [sql`invoice_id in (select id from invoices where account_id = ${accountId} and client_id = ${clienteId})`]),
    ];
    const toPay = [
      ...all,
      countsToSettle(accountId, 'purchase_invoices'),
      ...(clienteId === undefined && facturaId === undefined ? [] : [sql`false`]),
      ...(proveedorId === undefined
        ? []
        : [
            sql`purchase_invoice_id in (
              select id from purchase_invoices where account_id = ${accountId} and supplier_id = ${proveedorId})`,
          ]),
    ];
    const kinds = {
      cobro: sql`select 'cobro' as kind, id, date, amount, paid, invoice_id as document_id
        from invoice_due_dates v where ${sql.join(toCollect, sql` and `)}`,
      pago: sql`select 'pago' as kind, id, date, amount, paid, purchase_invoice_id as document_id
        from purchase_invoice_due_dates v where ${sql.join(toPay, sql` and `)}`,
    };
    const selected = tipo ? kinds[tipo] : sql`${kinds.cobro} union all ${kinds.pago}`;
    const { order } = dueDates;
    return dueDates.page(db, input, {
      before: sql`with due as materialized (${selected})`,
      total: sql`select count(*) from due`,
      sums: {
        rows: sql`select coalesce(sum(amount), 0) as amount, coalesce(sum(amount - paid), 0) as pending from due`,
        row: sums,
      },
      rows: sql<typeof dueDates.row.needs>`
        select ${sql.join(order.keys)}, d.kind, d.id, d.date, d.amount, d.amount - d.paid as pending,
          d.amount > d.paid and d.date < ${today.toString()}::date as overdue, d.document_id,
          coalesce(i.number, b.number) as number, c.id as client_id, s.id as supplier_id,
          coalesce(c.legal_name, s.legal_name) as legal_name, coalesce(c.tax_id, s.tax_id) as tax_id,
          coalesce(c.email, s.email) as email
        from (select * from due d where true ${order.andAfter(input)} order by ${order.by}
          limit ${limit(input)} offset ${offset(input)}) d
        left join invoices i on d.kind = 'cobro' and i.account_id = ${accountId} and i.id = d.document_id
        left join clients c on c.account_id = ${accountId} and c.id = i.client_id
        left join purchase_invoices b on d.kind = 'pago' and b.account_id = ${accountId} and b.id = d.document_id
        left join suppliers s on s.account_id = ${accountId} and s.id = b.supplier_id
        order by ${order.by}`,
    });
  },
});
