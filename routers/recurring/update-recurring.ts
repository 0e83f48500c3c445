import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { changed, refuseNothing, touch, updateRecord } from '../shared/changes.ts';
import { checkAmounts, renewedLine, resolveLines } from '../shared/documents/sale-lines.ts';
import { id } from '../shared/id.ts';
import { text } from '../shared/schemas.ts';
import {
  insertRecurringLines,
  readRecurring,
  refuseReversed,
  scheduleColumns,
  scheduleFields,
  wholeRecurring,
} from './recurring.ts';

/**
 * Changes what is sent of a recurring service, `detalles` as a whole; answers it as `obtenerRecurrente` does. What is due, is so by the
 * new schedule; what was issued stays. Prices without VAT, of list 1 where they are the article's. W-01, W-08, REN-02, ISS-01
 */
export const updateRecurring = operation({
  title: 'Actualizar recurrente',
  description:
    'Cambia los datos enviados; "" vacía una fecha o dia_ancla, y detalles sustituye todas las líneas. recurrenteId: de consultar_recurrentes; articulo_fk: de consultar_productos; proyectoId: de consultar_proyectos.',
  rest: ['PUT /recurring-invoices/{recurrenteId}'],
  alias: 'actualizarRecurrente',
  scope: 'svc.write',
  destructive: true,
  input: {
    recurrenteId: id('recurring').describe('El servicio recurrente'),
    datos: z
      .object({ descripcion: text(500).min(1), ...scheduleFields, detalles: z.array(renewedLine).min(1).max(1000) })
      .partial(),
  },
  output: wholeRecurring,
  async handler({ input, db, accountId, principal: { multiFormatStock }, today, now, journal }) {
    const { recurrenteId, datos } = input;
    const { descripcion, detalles } = datos;
    refuseNothing(datos);
    const columns = scheduleColumns(datos);
    const [{ rows }, lines] = await Promise.all([
      sql<{ start_date: string | null; end_date: string | null }>`
        select start_date, end_date from recurrings where account_id = ${accountId} and id = ${recurrenteId}
        for update`.execute(db),
      detalles && resolveLines(db, accountId, detalles, multiFormatStock, { of: 'datos.detalles' }),
    ]);
    const [before] = rows;
    if (!before) throw notFound('recurrenteId');
    refuseReversed('datos', changed(before, columns));
    if (lines) checkAmounts(lines, 1, 'datos.detalles');
    const [changes, , , answer] = await Promise.all([
      updateRecord(db, 'recurrings', { accountId, id: recurrenteId, now }, { description: descripcion, ...columns }),
      lines &&
        sql`delete from recurring_lines where account_id = ${accountId} and recurring_id = ${recurrenteId}`.execute(db),
      lines && insertRecurringLines(db, accountId, recurrenteId, lines),
      readRecurring(db, accountId, recurrenteId, today),
    ]);
    if (lines && !changes) await touch(db, 'recurrings', { accountId, ids: [recurrenteId], now });
    if (changes || lines) journal('modify', 'recurring', recurrenteId);
    return answer;
  },
});
