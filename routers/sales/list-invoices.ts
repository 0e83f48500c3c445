import { sql } from 'kysely';
import { z } from 'zod';
import { vatByRate, withheld } from '../../documents/vat-by-rate.ts';
import { operation } from '../operation.ts';
import { documentHeader, issuedParty } from '../shared/documents/sale-document.ts';
import { COUNTED, counts, FOUND, foundIn, isOfProject, wanted } from '../shared/documents/selection.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, optionalDates, PAGE, page, text } from '../shared/schemas.ts';
import { arrayOf, decimalOf, flagOf, idOf, objectOf, shape } from '../shared/shape.ts';
import { balance, invoiceAmounts, isPaid, otherInvoice, rectifications } from './invoice.ts';

const sums = shape({
  suma_base: decimalOf('base'),
  suma_con_iva: decimalOf('total'),
  suma_saldo: decimalOf('balance'),
});
const invoices = listOf(
  'total_facturas',
  'facturas',
  shape({
    facturaId: idOf('invoice', 'd.id'),
    ...documentHeader,
    total_con_iva: decimalOf('a.total'),
    saldo: decimalOf('balance'),
    pagada: flagOf('paid'),
    anulada: flagOf('annulled'),
    rectifica: objectOf(otherInvoice, 'rectifies').orNull(),
    rectificada_por: arrayOf(otherInvoice, 'rectified_by'),
  }),
  orderOf('d', 'date desc', 'id desc'),
  sums.schema.shape,
);

/**
 * Invoices, newest first. `base_imponible` without VAT, `total_con_iva` with it; `saldo` is what is left to collect of that,
 * and `pagada` says that nothing is. An annulled one is in the list alone: it is neither paid nor pending, and in no sum. MON-01,
 * PAG-02, W-02
 */
export const listInvoices = operation({
  title: 'Facturas',
  description:
    'Facturas de venta, de la más reciente a la más antigua, con lo que falta por cobrar; sus líneas, con obtener_factura. clienteId: de consultar_clientes; proyectoId: de consultar_proyectos.',
  rest: ['GET /invoices'],
  alias: 'consultarFacturas',
  scope: 'svc.read',
  plan: 'custom',
  input: {
    ...optionalDates(),
    clienteId: id('client').optional().describe('Solo las de este cliente'),
    proyectoId: id('project').optional().describe('De este proyecto o con líneas suyas'),
    pagada: z.boolean().optional().describe('false: solo pendientes'),
    numero: text(100).optional().describe('Exacto'),
    busqueda: text(200).optional().describe('En número, concepto o datos del cliente'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: invoices.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio, fecha_fin, clienteId, proyectoId, pagada, numero, busqueda } = input;
    const amounts = invoiceAmounts(accountId, sql<number>`d.id`);
    const { rectifies, rectifiedBy } = rectifications(accountId);
    const found = busqueda ? foundIn('invoices', accountId, busqueda) : undefined;
    const selected = db
      .selectFrom('invoices as d')
      .where('d.account_id', '=', accountId)
      .$call(when(changedIn('d', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(fecha_inicio, (q, from) => q.where('d.date', '>=', from)))
      .$call(when(fecha_fin, (q, to) => q.where('d.date', '<=', to)))
      .$call(when(clienteId, (q, client) => q.where('d.client_id', '=', client)))
      .$call(
        when(pagada, (q, paid) =>
          q.where(sql<boolean>`(select ${isPaid} from ${amounts} a) = ${paid}`).where('d.annulled_at', 'is', null),
        ),
      )
      .$call(when(proyectoId, (q, project) => q.where(isOfProject('invoices', accountId, project))))
      .$call(when(numero, (q, number) => q.where('d.number', '=', number)))
      .$call(when(found, (q) => q.where('d.id', 'in', FOUND)));
    const lines = sql`l.account_id = ${accountId} and l.invoice_id in ${COUNTED}`;
    const kept = withheld(
      sql`(select sum(l.amount) from invoice_lines l where l.account_id = ${accountId} and l.invoice_id = d.id)`,
      sql`d.withholding`,
    );
    const summed = sql`
      select a.base, a.total, a.total - (select coalesce(sum(${kept}), 0) from wanted d where d.counts and d.withholding is not null)
        - (select coalesce(sum(v.paid), 0) from invoice_due_dates v
          where v.account_id = ${accountId} and v.invoice_id in ${COUNTED}) as balance
      from ${vatByRate('invoice_lines', lines, 'invoice_id')} a`;
    return invoices.read(db, input, {
      ...wanted(selected.select(['d.id', counts, 'd.withholding']), found),
      sums: { rows: summed, row: sums },
      rows: selected
        .innerJoin('clients as c', (join) =>
          join.onRef('c.account_id', '=', 'd.account_id').onRef('c.id', '=', 'd.client_id'),
        )
        .innerJoinLateral(amounts.as('a'), (join) => join.onTrue())
        .select(invoices.columns)
        .select(issuedParty)
        .select([rectifies.as('rectifies'), rectifiedBy.as('rectified_by')])
        .select(['a.base', balance.as('balance'), isPaid.as('paid')])
        .select(sql<boolean>`d.annulled_at is not null`.as('annulled')),
    });
  },
});
