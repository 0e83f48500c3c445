import { sql } from 'kysely';
import { z } from 'zod';
import { badField, badInput, type FieldProblem } from '../../platform/errors.ts';
import { searchable } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { decimalInput, isoDate } from '../shared/schemas.ts';
import { billingClient, resolveBillingClient } from './billing-client.ts';
import { nextNumber } from './document-number.ts';
import { insertLines, lastWritten } from './insert-document.ts';
import { invoiceAmounts } from './invoice.ts';
import { copyNoteLines, lockNotes } from './notes-to-invoice.ts';
import { saleOrder } from './sale-document.ts';
import { resolveLines, saleLine } from './sale-lines.ts';

const dueDate = z.object({
  fecha: isoDate(),
  importe: decimalInput().refine((value) => Number(value.toFixed(2)) === value, 'se esperaban como mucho 2 decimales'),
});

/**
 * Creates a numbered invoice of today, either of `detalles`, whose goods in sale mode leave stock, or of `albaranes` of one
 * client, whose goods left it before. `vencimientos` are with VAT and add up to the total; left out, one of today. DLV-01..08,
 * PRJ-01
 */
export const createInvoice = operation({
  title: 'Crear factura',
  description:
    'Crea una factura de hoy, numerada: de albaranes sin facturar de un cliente (consultar_albaranes), o de detalles nuevos, que mueven stock. Cliente: id de consultar_clientes o cif; articulo_fk: de consultar_productos.',
  rest: ['POST /invoices'],
  alias: 'crearFactura',
  scope: 'svc.write',
  input: {
    cliente: billingClient.optional().describe('Cliente de facturación; si falta, el de los albaranes'),
    pedido: saleOrder.partial().optional().describe('Obligatorio con detalles'),
    detalles: z.array(saleLine).min(1).max(1000).optional().describe('Líneas, o bien albaranes'),
    albaranes: z.array(id('deliveryNote')).min(1).max(500).optional().describe('Albaranes, o bien detalles'),
    vencimientos: z.array(dueDate).min(1).max(100).optional().describe('Suman el total con IVA; si faltan, uno, hoy'),
  },
  output: sealedId('invoice').meta({ example: 'k7Rw0bT4cX1n8mQ6vLs2dEg' }),
  async handler({ input, db, accountId, principal: { multiFormatStock }, today, now, audit }) {
    const { cliente, pedido, detalles, albaranes, vencimientos } = input;
    const problems = contradictions(input);
    if (problems.length > 0) throw badInput(problems);
    const [billed, lines, notes] = await Promise.all([
      cliente && resolveBillingClient(db, accountId, cliente, audit),
      detalles && resolveLines(db, accountId, detalles, multiFormatStock),
      albaranes && lockNotes(db, accountId, albaranes),
    ]);
    if (billed && notes && billed.id !== notes.client) {
      throw badField('cliente', 'no es el cliente de los albaranes');
    }
    const concept = pedido?.obra ?? notes?.concept ?? '';
    const amounts = invoiceAmounts(accountId, lastWritten('invoices'));

    // The counter's row is taken before stock, as delivery notes do, so that they never meet in a deadlock.
    const [{ rows: headers }, , , { rows: sums }] = await Promise.all([
      sql<{ id: number }>`with ${nextNumber(accountId, 'invoice', today)}
        insert into invoices (account_id, number, date, concept, remarks, client_id, promo_code, search)
        select ${accountId}, number, ${today.toString()}::date, ${concept}, ${pedido?.detalles_operacion ?? ''},
          ${billed?.id ?? notes?.client}, ${pedido?.promo_code || null},
          concat_ws(e'\n', lower(number), nullif(${searchable(concept)}::text, ''))
        from numbered
        returning id`.execute(db),
      lines && insertLines(db, { accountId, table: 'invoices', lines, priceList: billed?.priceList ?? 1, now }),
      albaranes && copyNoteLines(db, accountId, albaranes),
      sql<{ total: string; agreed: boolean }>`with due as (
          insert into invoice_due_dates (account_id, invoice_id, position, date, amount)
          select ${accountId}, ${lastWritten('invoices')}, v.position, coalesce(v.date, ${today.toString()}::date),
            coalesce(v.amount, a.total)
          from ${amounts} a, json_to_recordset(${JSON.stringify(dueRows(vencimientos))}::json)
            as v(position int, date date, amount numeric)
          order by v.position
          returning amount)
        select a.total::text as total, a.total = (select sum(amount) from due) as agreed from ${amounts} a`.execute(db),
    ]);
    const [[invoice], [sum]] = [headers, sums];
    if (!invoice || !sum) throw new Error('An invoice was not written');
    if (!sum.agreed) throw badField('vencimientos', `tienen que sumar el total con IVA, ${sum.total}`);
    audit('invoice', invoice.id);
    return invoice.id;
  },
});

interface Sources {
  cliente?: unknown;
  pedido?: { obra?: string | undefined } | undefined;
  detalles?: unknown;
  albaranes?: unknown;
}

/** What an input lacks or has too much of: its lines come from one place, and new ones need all that a delivery note does. */
function contradictions({ cliente, pedido, detalles, albaranes }: Sources): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const problem = (campo: string, mensaje: string) => problems.push({ campo, mensaje });
  if (detalles && albaranes) {
    problem('detalles', 'no puede ir junto con albaranes');
    problem('albaranes', 'no puede ir junto con detalles');
  } else if (detalles) {
    if (!cliente) problem('cliente', 'es obligatorio');
    if (!pedido) problem('pedido', 'es obligatorio');
    else if (!pedido.obra) problem('pedido.obra', 'es obligatorio');
  } else if (!albaranes) problem('detalles', 'es obligatorio si no se mandan albaranes');
  return problems;
}

/** Rows of the due dates; one without date or amount is of today, for the total. */
const dueRows = (dueDates: readonly z.output<typeof dueDate>[] = []) =>
  dueDates.length > 0
    ? dueDates.map(({ fecha, importe }, index) => ({ position: index + 1, date: fecha, amount: importe }))
    : [{ position: 1, date: null, amount: null }];
