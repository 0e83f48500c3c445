import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { updateRecord } from '../shared/changes.ts';
import { id, sealedId } from '../shared/id.ts';
import { STATES } from './estimate.ts';

const estado = z.enum(['pendiente', 'aceptado', 'rechazado']);

const SEALED_AS = { pendiente: 'reopen', aceptado: 'accept', rechazado: 'reject' } as const;

/** Notes what the client says to an estimate. Any state may follow any other; the same one changes nothing. W-01 */
export const answerEstimate = operation({
  title: 'Responder presupuesto',
  description: 'Anota si el cliente acepta o rechaza un presupuesto. presupuestoId: de consultar_presupuestos.',
  rest: ['PUT /estimates/{presupuestoId}/state'],
  alias: 'responderPresupuesto',
  scope: 'svc.write',
  destructive: true,
  input: { presupuestoId: id('estimate').describe('El presupuesto'), estado },
  output: z.object({ presupuestoId: sealedId('estimate'), numero: z.string(), estado }),
  async handler({ input: { presupuestoId, estado }, db, accountId, now, journal, seal }) {
    const [changes, estimate] = await Promise.all([
      updateRecord(db, 'estimates', { accountId, id: presupuestoId, now }, { state: STATES[estado] }),
      db
        .selectFrom('estimates')
        .select('number')
        .where('account_id', '=', accountId)
        .where('id', '=', presupuestoId)
        .executeTakeFirst(),
    ]);
    if (!estimate) throw notFound('presupuestoId');
    if (changes) {
      journal('modify', 'estimate', presupuestoId);
      seal({ table: 'estimates', id: presupuestoId, action: SEALED_AS[estado] });
    }
    return { presupuestoId, numero: estimate.number ?? '', estado };
  },
});
