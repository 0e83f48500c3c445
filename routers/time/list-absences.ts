import { z } from 'zod';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { personOf } from '../shared/person.ts';
import { changedSince, page, requiredDates, text, WHOLE_PAGE } from '../shared/schemas.ts';
import { decimalOf, flagOf, idOf, shape } from '../shared/shape.ts';
import { daysOff } from './day-off.ts';
import { daysWithin, period, periodOf } from './period.ts';

const absences = listOf(
  'total_ausencias',
  'ausencias',
  shape({
    ausenciaId: idOf('absence', 'a.id'),
    empleado: personOf('a.employee_id'),
    ...daysOff,
    porcentaje_imputable: decimalOf('a.chargeable_percent'),
    autorizada: flagOf('a.authorised'),
    rechazada: flagOf('a.rejected'),
  }),
  orderOf('a', 'start_date', 'id'),
  period,
);

/** Absences that overlap the range, by start; their days are those inside it. AUS-01, PAG-02 */
export const listAbsences = operation({
  title: 'Ausencias',
  description:
    'Ausencias de la plantilla que tocan un periodo (vacaciones, bajas, permisos). Sin las rechazadas salvo incluir_rechazadas. empleadoId: de consultar_empleados.',
  rest: ['GET /time-off'],
  alias: 'consultarAusencias',
  scope: 'svc.read',
  input: {
    ...requiredDates(),
    empleadoId: id('employee').optional().describe('Solo las de esta persona'),
    tipo: text(100).optional().describe('Código del tipo, como en la respuesta'),
    incluir_rechazadas: z.boolean().optional().describe('true: también las rechazadas'),
    ...changedSince(),
    ...page(WHOLE_PAGE),
  },
  output: absences.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio, fecha_fin, empleadoId, tipo, incluir_rechazadas } = input;
    const selected = db
      .selectFrom('absences as a')
      .where('a.account_id', '=', accountId)
      .$call(when(changedIn('a', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .where('a.start_date', '<=', fecha_fin)
      .where('a.end_date', '>=', fecha_inicio)
      .$call(when(empleadoId, (q, employee) => q.where('a.employee_id', '=', employee)))
      .$call(when(tipo, (q, type) => q.where('a.day_type', '=', type)))
      .$if(incluir_rechazadas !== true, (q) => q.where('a.rejected', '=', false));
    const rows = selected
      .innerJoin('employees as e', (join) =>
        join.onRef('e.account_id', '=', 'a.account_id').onRef('e.id', '=', 'a.employee_id'),
      )
      .innerJoin('day_types as t', (join) =>
        join.onRef('t.account_id', '=', 'a.account_id').onRef('t.code', '=', 'a.day_type'),
      )
      .select(absences.columns)
      .select(daysWithin(input).as('days'));
    return absences.read(db, input, { selected, rows }, periodOf(input));
  },
});
