import { z } from 'zod';
import { operation } from '../operation.ts';
import { billingClient, clientByIdAlone, resolveBillingClient } from '../shared/documents/billing-client.ts';
import { checkAmounts, resolveLines } from '../shared/documents/sale-lines.ts';
import { sealedId } from '../shared/id.ts';
import { text } from '../shared/schemas.ts';
import { insertRecurringLines, recurringLine, refuseReversed, scheduleColumns, scheduleFields } from './recurring.ts';

/**
 * Creates a recurring service, yearly and from today unless it says otherwise. Prices without VAT, of list 1 where they are the
 * article's. Its first cycle is of `fecha_inicio`, or today's. Where the company has automatic issuing on, cycles are issued from
 * today on; elsewhere they stay due. REC-01, REN-02, ISS-01, ISS-03, W-08
 */
export const createRecurring = operation({
  title: 'Crear recurrente',
  description:
    'Crea un servicio recurrente para un cliente (id de consultar_clientes, o cif). articulo_fk: de consultar_productos. No emite nada: el primer ciclo, de hoy o fecha_inicio, espera a renovar_recurrente, salvo que la empresa tenga emisión automática: entonces es un albarán en la próxima hora, si suma más de 0.',
  rest: ['POST /recurring-invoices'],
  alias: 'crearRecurrente',
  scope: 'svc.write',
  relevant: clientByIdAlone,
  input: {
    cliente: billingClient.describe('De facturación'),
    pedido: z.object({
      obra: text(500).min(1).describe('Descripción'),
      ...z.object(scheduleFields).partial().shape,
    }),
    detalles: z.array(recurringLine).min(1).max(1000).describe('De un ciclo'),
  },
  output: sealedId('recurring').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { cliente, pedido, detalles }, db, accountId, today, newId, journal }) {
    const [client, lines, recurringId] = await Promise.all([
      resolveBillingClient(db, accountId, cliente, journal),
      resolveLines(db, accountId, detalles, false),
      newId('recurring'),
    ]);
    checkAmounts(lines, 1);
    const { periodicity = 'yearly', ...schedule } = scheduleColumns(pedido);
    refuseReversed('pedido', schedule);
    await Promise.all([
      db
        .insertInto('recurrings')
        .values({
          account_id: accountId,
          id: recurringId,
          description: pedido.obra,
          client_id: client.id,
          periodicity,
          ...schedule,
          created_on: today.toString(),
          entered_on: today.toString(),
        })
        .execute(),
      insertRecurringLines(db, accountId, recurringId, lines),
    ]);
    journal('create', 'recurring', recurringId);
    return recurringId;
  },
});
