import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { readRecurring, wholeRecurring } from './recurring.ts';

/** One recurring service with the lines of a renewal, and the renewals that are to come. Amounts without VAT. REN-02, ISS-01, W-05 */
export const getRecurring = operation({
  title: 'Recurrente',
  description: 'Un servicio recurrente con sus líneas. recurrenteId: de consultar_recurrentes.',
  rest: ['GET /recurring-invoices/{recurrenteId}'],
  alias: 'obtenerRecurrente',
  scope: 'svc.read',
  input: { recurrenteId: id('recurring').describe('El servicio recurrente') },
  output: wholeRecurring,
  handler: ({ input: { recurrenteId }, db, accountId, today }) => readRecurring(db, accountId, recurrenteId, today),
});
