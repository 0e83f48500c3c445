import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { pageOfRows } from '../shared/rows.ts';
import { optionalDates, PAGE, page, paged, pageOf, text } from '../shared/schemas.ts';
import { invoiceAmounts } from './invoice.ts';
import { documentHeader, foundIn, HEADER_COLUMNS, headerOf } from './sale-document.ts';

const invoice = z.object({
  facturaId: sealedId('invoice'),
  ...documentHeader,
  total_con_iva: z.number(),
  saldo: z.number(),
  pagada: z.boolean(),
});

/**
 * Invoices, newest first. `base_imponible` without VAT, `total_con_iva` with it; `saldo` is what is left to collect of that,
 * and `pagada` says that nothing is. MON-01, PAG-02
 */
export const listInvoices = operation({
  title: 'Facturas',
  description:
    'Facturas de venta, de la más reciente a la más antigua, con lo que falta por cobrar. Para ver sus líneas, obtener_factura con su facturaId. clienteId: de consultar_clientes.',
  rest: ['GET /invoices'],
  alias: 'consultarFacturas',
  scope: 'svc.read',
  input: {
    ...optionalDates(),
    clienteId: id('client').optional().describe('Solo las de este cliente'),
    pagada: z.boolean().optional().describe('true: solo pagadas; false: solo pendientes'),
    busqueda: text(200).optional().describe('Texto en el número, el concepto o los datos del cliente'),
    ...page(PAGE),
  },
  output: paged('total_facturas', 'facturas', invoice),
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, clienteId, pagada, busqueda } = input;
    const amounts = invoiceAmounts(accountId, sql<number>`d.id`);
    const selected = db
      .selectFrom('invoices as d')
      .where('d.account_id', '=', accountId)
      .$if(fecha_inicio !== undefined, (q) => q.where('d.date', '>=', fecha_inicio ?? ''))
      .$if(fecha_fin !== undefined, (q) => q.where('d.date', '<=', fecha_fin ?? ''))
      .$if(clienteId !== undefined, (q) => q.where('d.client_id', '=', clienteId ?? 0))
      .$if(pagada !== undefined, (q) =>
        q.where(sql<boolean>`(select f.total <= f.paid from ${amounts} f) = ${pagada ?? false}`),
      )
      .$if(Boolean(busqueda), (q) => q.where('d.id', 'in', foundIn('invoices', accountId, busqueda ?? '')));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected
        .innerJoin('clients as c', (join) =>
          join.onRef('c.account_id', '=', 'd.account_id').onRef('c.id', '=', 'd.client_id'),
        )
        .innerJoinLateral(amounts.as('a'), (join) => join.onTrue())
        .select([...HEADER_COLUMNS, 'a.base', 'a.total', sql<number>`a.total - a.paid`.as('balance')])
        .orderBy('d.date', 'desc')
        .orderBy('d.id', 'desc'),
      input,
    );
    return {
      total_facturas: total,
      ...pageOf(total, input),
      facturas: rows.map((row) => ({
        facturaId: row.id,
        ...headerOf(row),
        total_con_iva: row.total,
        saldo: row.balance,
        pagada: row.balance <= 0,
      })),
    };
  },
});
