import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { settleCycle } from '../shared/renewals/issue-renewals.ts';
import { isoDate } from '../shared/schemas.ts';

/**
 * Issues the delivery note of one renewal that is due, dated today, or skips the renewal for good; what is due before it stays due. 400
 * for one that is not due, or was issued or skipped. ISS-01, ISS-03, REN-01
 */
export const renewRecurring = operation({
  title: 'Renovar recurrente',
  description:
    'Emite como albarán de hoy un ciclo vencido, o lo salta para siempre. Cuántos hay, en obtener_recurrente. recurrenteId: de consultar_recurrentes.',
  rest: ['POST /recurring-invoices/{recurrenteId}/renew'],
  alias: 'renovarRecurrente',
  scope: 'svc.write',
  input: {
    recurrenteId: id('recurring').describe('El servicio recurrente'),
    accion: z.enum(['emitir', 'saltar']),
    ciclo: isoDate().optional().describe('Si falta, el primero vencido'),
  },
  output: z.object({ ciclo: z.string(), albaranId: sealedId('deliveryNote').nullable() }),
  async handler({ input: { recurrenteId, accion, ciclo }, db, accountId, today, now, journal, seal }) {
    const action = accion === 'emitir' ? 'issue' : 'skip';
    const settled = await settleCycle(db, { accountId, today, now }, recurrenteId, { action, cycle: ciclo });
    journal('modify', 'recurring', recurrenteId);
    if (settled.noteId !== null) {
      journal('create', 'deliveryNote', settled.noteId);
      seal({ table: 'delivery_notes', id: settled.noteId, action: 'issue' });
    }
    journal('modify', 'product', settled.goods);
    return { ciclo: settled.cycle, albaranId: settled.noteId };
  },
});
