import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { party } from '../sales/sale-document.ts';
import { sealedId } from '../shared/id.ts';
import { limit, offset, optionalDates, PAGE, page, paged, pageOf } from '../shared/schemas.ts';

const figures = { fecha: z.string(), importe: z.number(), pendiente: z.number(), vencido: z.boolean() };

/** A due date of a sale invoice (`cobro`, from the client) or of a purchase invoice (`pago`, to the supplier). */
const dueDate = z.discriminatedUnion('tipo', [
  z.object({
    vencimientoId: sealedId('dueDate'),
    tipo: z.literal('cobro'),
    ...figures,
    documento: z.object({ tipo: z.literal('factura'), id: sealedId('invoice'), numero: z.string() }),
    tercero: party,
  }),
  z.object({
    vencimientoId: sealedId('purchaseDueDate'),
    tipo: z.literal('pago'),
    ...figures,
    documento: z.object({ tipo: z.literal('factura_compra'), id: sealedId('purchaseInvoice'), numero: z.string() }),
    tercero: z.object({
      proveedorId: sealedId('supplier'),
      nombre_fiscal: z.string(),
      cif: z.string(),
      email: z.string(),
    }),
  }),
]);

interface DueDateRow {
  kind: 'cobro' | 'pago';
  id: number;
  date: string;
  amount: number;
  pending: number;
  overdue: boolean;
  document_id: number;
  number: string | null;
  party_id: number;
  legal_name: string;
  tax_id: string;
  email: string;
}

/**
 * Due dates, the soonest first: a list of what to do, unlike documents. Amounts with VAT. `pendiente` is what is left of
 * `importe`, negative where money has to go back (a credit note); `vencido` when something is left to collect or pay and
 * the date is before the company's today. PAG-02, DATE-02
 */
export const listDueDates = operation({
  title: 'Vencimientos',
  description:
    'Vencimientos de facturas de venta (cobro) y de compra (pago), del más próximo al más lejano, con lo que queda pendiente, IVA incluido. Para la evolución del saldo usa consultar_prevision_tesoreria.',
  rest: ['GET /treasury/due-dates'],
  alias: 'consultarVencimientos',
  scope: 'svc.read',
  input: {
    ...optionalDates(),
    tipo: z.enum(['cobro', 'pago']).optional().describe('Solo cobros o solo pagos'),
    pendiente: z.boolean().optional().describe('true: solo con algo pendiente; false: solo saldados'),
    ...page(PAGE),
  },
  output: paged('total_vencimientos', 'vencimientos', dueDate),
  async handler({ input, db, accountId, today }) {
    const { fecha_inicio, fecha_fin, tipo, pendiente } = input;
    const wanted = sql.join(
      [
        sql`account_id = ${accountId}`,
        ...(fecha_inicio === undefined ? [] : [sql`date >= ${fecha_inicio}::date`]),
        ...(fecha_fin === undefined ? [] : [sql`date <= ${fecha_fin}::date`]),
        ...(pendiente === undefined ? [] : [sql`(amount <> paid) = ${pendiente}`]),
      ],
      sql` and `,
    );
    const kinds = {
      cobro: sql`select 'cobro' as kind, id, date, amount, paid, invoice_id as document_id
        from invoice_due_dates where ${wanted}`,
      pago: sql`select 'pago' as kind, id, date, amount, paid, purchase_invoice_id as document_id
        from purchase_invoice_due_dates where ${wanted}`,
    };
    const selected = tipo ? kinds[tipo] : sql`${kinds.cobro} union all ${kinds.pago}`;
    const [counted, { rows }] = await Promise.all([
      sql<{ total: number }>`select count(*) as total from (${selected}) d`.execute(db),
      // Ids of the two kinds are numbered apart: the kind makes the order total.
      sql<DueDateRow>`
        select d.kind, d.id, d.date, d.amount, d.amount - d.paid as pending,
          d.amount > d.paid and d.date < ${today.toString()}::date as overdue, d.document_id,
          coalesce(i.number, b.number) as number, coalesce(c.id, s.id) as party_id,
          coalesce(c.legal_name, s.legal_name) as legal_name, coalesce(c.tax_id, s.tax_id) as tax_id,
          coalesce(c.email, s.email) as email
        from (select * from (${selected}) due order by date, id, kind
          limit ${limit(input)} offset ${offset(input)}) d
        left join invoices i on d.kind = 'cobro' and i.account_id = ${accountId} and i.id = d.document_id
        left join clients c on c.account_id = ${accountId} and c.id = i.client_id
        left join purchase_invoices b on d.kind = 'pago' and b.account_id = ${accountId} and b.id = d.document_id
        left join suppliers s on s.account_id = ${accountId} and s.id = b.supplier_id
        order by d.date, d.id, d.kind`.execute(db),
    ]);
    const total = counted.rows[0]?.total ?? 0;
    return { total_vencimientos: total, ...pageOf(total, input), vencimientos: rows.map(shown) };
  },
});

function shown(row: DueDateRow): z.input<typeof dueDate> {
  const { kind, id: vencimientoId, date: fecha, amount: importe, pending: pendiente, overdue: vencido } = row;
  const due = { fecha, importe, pendiente, vencido };
  const document = { id: row.document_id, numero: row.number ?? '' };
  const third = { nombre_fiscal: row.legal_name, cif: row.tax_id, email: row.email };
  return kind === 'cobro'
    ? {
        vencimientoId,
        tipo: kind,
        ...due,
        documento: { tipo: 'factura', ...document },
        tercero: { clienteId: row.party_id, ...third },
      }
    : {
        vencimientoId,
        tipo: kind,
        ...due,
        documento: { tipo: 'factura_compra', ...document },
        tercero: { proveedorId: row.party_id, ...third },
      };
}
