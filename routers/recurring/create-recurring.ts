import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { billingClient, clientByIdAlone, resolveBillingClient } from '../shared/documents/billing-client.ts';
import { nextId } from '../shared/documents/insert-document.ts';
import { checkAmounts, lineRows, resolveLines } from '../shared/documents/sale-lines.ts';
import { id, sealedId } from '../shared/id.ts';
import { decimalInput, text } from '../shared/schemas.ts';

const recurringLine = z
  .object({
    cantidad: decimalInput()
      .refine((value) => value !== 0, 'no puede ser 0')
      .describe('Unidades'),
    articulo_fk: id('product').optional().describe('Artículo; sin importe_unitario, iva o descripcion toma los suyos'),
    descripcion: text(2000).optional().describe('Obligatoria si no hay artículo'),
    importe_unitario: decimalInput().optional().describe('Sin IVA'),
    iva: decimalInput().min(0).max(100).optional().describe('Porcentaje'),
  })
  .check(({ value: line, issues }) => {
    if (line.articulo_fk !== undefined) return;
    const missing = (field: string) =>
      issues.push({ code: 'custom', path: [field], message: 'es obligatorio en una línea sin artículo', input: line });
    if (!line.descripcion) missing('descripcion');
    if (line.importe_unitario === undefined) missing('importe_unitario');
  });

/**
 * Creates a yearly recurring service of today. Prices without VAT, of list 1 where they are the article's. Its first cycle is
 * today's. Where the company has automatic issuing on, it is issued; elsewhere it stays due. REC-01, ISS-01, ISS-03, W-08
 */
export const createRecurring = operation({
  title: 'Crear recurrente',
  description:
    'Crea un servicio recurrente anual para un cliente (id de consultar_clientes, o cif). articulo_fk: de consultar_productos. No emite nada: el primer ciclo vence hoy y queda pendiente, salvo que la empresa tenga emisión automática (obtener_cuenta) y sume más de 0: entonces es un albarán en la próxima hora.',
  rest: ['POST /recurring-invoices'],
  alias: 'crearRecurrente',
  scope: 'svc.write',
  relevant: clientByIdAlone,
  input: {
    cliente: billingClient.describe('Cliente de facturación'),
    pedido: z.object({ obra: text(500).min(1).describe('Descripción de la recurrencia') }),
    detalles: z.array(recurringLine).min(1).max(1000).describe('Líneas de un ciclo'),
  },
  output: sealedId('recurring').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input, db, accountId, today, audit }) {
    const [client, lines, recurringId] = await Promise.all([
      resolveBillingClient(db, accountId, input.cliente, audit),
      resolveLines(db, accountId, input.detalles, false),
      nextId(db, 'recurrings'),
    ]);
    checkAmounts(lines, 1);
    await Promise.all([
      db
        .insertInto('recurrings')
        .values({
          account_id: accountId,
          id: recurringId,
          description: input.pedido.obra,
          client_id: client.id,
          periodicity: 'yearly',
          created_on: today.toString(),
          entered_on: today.toString(),
        })
        .execute(),
      sql`insert into recurring_lines (account_id, recurring_id, position, description, quantity, unit_price, vat, product_id)
        select ${accountId}, ${recurringId}, l.position, l.description, l.quantity,
          coalesce(l.unit_price, (p.prices -> '1' ->> 0)::numeric, 0), l.vat, l.product_id
        from ${lineRows(lines)} left join products p on p.account_id = ${accountId} and p.id = l.product_id
        order by l.position
        returning id`.execute(db),
    ]);
    audit('recurring', recurringId);
    return recurringId;
  },
});
