import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { personOf } from '../shared/person.ts';
import { limit, offset, page, requiredDates, text, WHOLE_PAGE } from '../shared/schemas.ts';
import { fieldOf, shape, wholeOf } from '../shared/shape.ts';
import { daysWithin, period, periodOf } from './period.ts';

const summaries = listOf(
  'total_empleados',
  'empleados',
  shape({
    ...personOf('e.id'),
    total_ausencias: wholeOf('absences'),
    dias_en_periodo: wholeOf('days'),
    por_tipo: fieldOf<string>()(z.record(z.string(), z.int()), 'by_type', (column) => `'{' || ${column} || '}'`),
  }),
  orderOf('e', 'last_name', 'first_name', 'id'),
  period,
);

/**
 * Absences of a range, counted for each person of the staff or of a department, by surname and name: those who left too, and
 * those without any, with 0. The days are calendar days inside the range. They are counted for each absence, so that they add up to
 * what consultarAusencias says. Rejected absences are left out. AUS-01, PAG-02
 */
export const summariseAbsences = operation({
  title: 'Resumen de ausencias de la plantilla',
  description:
    'Ausencias y días naturales de cada persona en un periodo, por tipo, sin las rechazadas. Una a una: consultar_ausencias. departamentoId: de consultar_empleados.',
  rest: ['GET /time-off/summary'],
  alias: 'consultarAusenciasPlantilla',
  scope: 'svc.read',
  report: true,
  input: {
    ...requiredDates(),
    departamentoId: id('department').optional().describe('Solo su personal'),
    tipo: text(100).optional().describe('Código; cuenta solo estas'),
    ...page(WHOLE_PAGE),
  },
  output: summaries.schema,
  async handler({ input, db, accountId }) {
    const { fecha_inicio: from, fecha_fin: to, departamentoId, tipo } = input;
    const only = (wanted: unknown, condition: RawBuilder<unknown>) => (wanted ? condition : sql``);
    const staff = sql`employees e where e.account_id = ${accountId}
      ${only(departamentoId, sql`and e.department_id = ${departamentoId}`)}`;
    const { order } = summaries;
    const page = {
      total: sql`select count(*) from ${staff}`,
      rows: sql<typeof summaries.row.needs>`
        select ${sql.join(order.keys)}, e.id, e.first_name, e.last_name, coalesce(sum(a.absences), 0) as absences, coalesce(sum(a.days), 0) as days,
          coalesce(string_agg(to_json(a.day_type)::text || ':' || a.days, ',' order by a.day_type), '') as by_type
        from (select e.id, e.first_name, e.last_name from ${staff}
          ${order.andAfter(input)} order by ${order.by} limit ${limit(input)} offset ${offset(input)}) e
        left join (
          select employee_id, day_type, count(*) as absences, sum(${daysWithin(input)}) as days
          from absences a
          where account_id = ${accountId} and not rejected and start_date <= ${to}::date and end_date >= ${from}::date
            ${only(tipo, sql`and day_type = ${tipo}`)}
          group by employee_id, day_type) a on a.employee_id = e.id
        group by e.id, e.first_name, e.last_name
        order by ${order.by}`,
    };
    return summaries.page(db, input, page, periodOf(input));
  },
});
