import { z } from 'zod';
import { badField, badInput, type FieldProblem } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { touch } from '../shared/changes.ts';
import { billingClient, clientByIdAlone, resolveBillingClient } from '../shared/documents/billing-client.ts';
import { refuseBeforeLast } from '../shared/documents/document-number.ts';
import { dueDates } from '../shared/documents/due-dates.ts';
import { refuseFuture, saleOrder } from '../shared/documents/sale-document.ts';
import { checkAmounts, goodsOf, resolveLines, saleLine } from '../shared/documents/sale-lines.ts';
import { id, sealedId } from '../shared/id.ts';
import { percentInput } from '../shared/schemas.ts';
import { insertInvoice } from './insert-invoice.ts';
import { lockNotes } from './notes-to-invoice.ts';

/**
 * Creates a numbered invoice, of today unless it says otherwise, either of `detalles`, whose goods in sale mode leave stock, or of
 * `albaranes` of one client, whose goods left it before. `vencimientos` are with VAT and add up to the total, without what the
 * client keeps back of it (`retencion`); left out, one of the invoice's day. DLV-01..08, PRJ-01, W-07, W-08
 */
export const createInvoice = operation({
  title: 'Crear factura',
  description:
    'Crea una factura numerada: de albaranes sin facturar de un cliente (consultar_albaranes), o de detalles nuevos, que mueven stock. Cliente: id de consultar_clientes o cif; articulo_fk: de consultar_productos; proyectoId: de consultar_proyectos.',
  rest: ['POST /invoices'],
  alias: 'crearFactura',
  scope: 'svc.write',
  relevant: clientByIdAlone,
  input: {
    cliente: billingClient.optional().describe('De facturación; si falta, el de los albaranes'),
    pedido: saleOrder.partial().optional().describe('Obligatorio con detalles'),
    detalles: z.array(saleLine).min(1).max(1000).optional().describe('O bien albaranes'),
    albaranes: z.array(id('deliveryNote')).min(1).max(500).optional().describe('O bien detalles'),
    vencimientos: dueDates(),
    retencion: percentInput().optional().describe('IRPF, % de la base'),
  },
  output: sealedId('invoice').meta({ example: 'k7Rw0bT4cX1n8mQ6vLs2dEg' }),
  async handler({
    input,
    db,
    accountId,
    principal: { multiFormatStock },
    today,
    now,
    newId,
    beforeCommit,
    journal,
    seal,
  }) {
    const { cliente, pedido, detalles, albaranes, vencimientos, retencion } = input;
    const problems = contradictions(input);
    if (problems.length > 0) throw badInput(problems);
    const date = refuseFuture(pedido?.fecha, today);
    const projectId = pedido?.proyectoId ?? null;
    const [id, billed, lines, notes] = await Promise.all([
      newId('invoice'),
      cliente && resolveBillingClient(db, accountId, cliente, journal),
      detalles && resolveLines(db, accountId, detalles, multiFormatStock),
      albaranes && lockNotes(db, accountId, albaranes),
    ]);
    if (billed && notes && billed.id !== notes.client) {
      throw badField('cliente', 'no es el cliente de los albaranes');
    }
    if (lines) checkAmounts(lines, billed?.priceList ?? 1);
    const concept = pedido?.obra ?? notes?.concept ?? '';
    const clientId = billed?.id ?? notes?.client;
    if (clientId === undefined) throw new Error('An invoice of nobody');
    if (albaranes) beforeCommit(touch(db, 'delivery_notes', { accountId, ids: albaranes, now }));
    const context = { db, accountId, now, beforeCommit };
    await insertInvoice(context, {
      id,
      date,
      clientId,
      concept,
      remarks: pedido?.detalles_operacion,
      promoCode: pedido?.promo_code,
      projectId,
      lines,
      priceList: billed?.priceList ?? 1,
      notes: albaranes,
      dueDates: vencimientos,
      withholding: retencion || null,
      source: 'albaranes',
    });
    if (pedido?.fecha !== undefined) beforeCommit(refuseBeforeLast(db, accountId, { document: 'invoice', id, date }));
    journal('create', 'invoice', id);
    seal({ table: 'invoices', id, action: 'issue' });
    journal('modify', 'product', goodsOf(lines ?? []));
    journal('modify', 'deliveryNote', albaranes ?? []);
    return id;
  },
});

interface Sources {
  cliente?: unknown;
  pedido?: { obra?: string | undefined } | undefined;
  detalles?: unknown;
  albaranes?: unknown;
}

/** What an input lacks or must not have: its lines come from one place, and new lines need a client and an order. */
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
