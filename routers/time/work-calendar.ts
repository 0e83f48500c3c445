import { sql } from 'kysely';
import { z } from 'zod';
import { JsonText, jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { personOf } from '../shared/person.ts';
import { requiredDates } from '../shared/schemas.ts';
import { always, flagOf, idOf, nothing, oneOf, shape } from '../shared/shape.ts';
import { daysOff } from './day-off.ts';
import { daysWithin, period, periodOf } from './period.ts';

const employee = shape(personOf('e.id'));
const ofCompany = shape({
  diaId: idOf('calendarEntry', 'a.id'),
  ambito: always('empresa'),
  ...daysOff,
  autorizada: nothing,
});
const ofEmployee = shape({
  diaId: idOf('absence', 'a.id'),
  ambito: always('empleado'),
  ...daysOff,
  autorizada: flagOf('a.authorised'),
});
const day = oneOf(z.discriminatedUnion('ambito', [ofCompany.schema, ofEmployee.schema]), 'own', {
  false: ofCompany,
  true: ofEmployee,
});

/** Non-working days of a period: the company's, and a person's own when one is asked for. CAL-01..05 */
export const getWorkCalendar = operation({
  title: 'Calendario laboral',
  description:
    'Días no laborables de un periodo: festivos y cierres de la empresa y, con empleadoId (de consultar_empleados), también las ausencias de esa persona.',
  rest: ['GET /work-calendar', 'GET /employees/{empleadoId}/work-calendar'],
  alias: 'consultarCalendarioLaboral',
  scope: 'svc.read',
  input: {
    ...requiredDates(),
    empleadoId: id('employee').optional().describe('Añade los días de esta persona'),
    incluir_rechazadas: z.boolean().optional().describe('true: también sus solicitudes rechazadas'),
  },
  output: z.object({
    ...period,
    empleado: employee.schema.optional(),
    total_dias: z.int(),
    dias_empresa: z.int(),
    dias_empleado: z.int(),
    dias: z.array(day.schema),
  }),
  async handler({ input, db, accountId }) {
    const { fecha_inicio: from, fecha_fin: to, empleadoId, incluir_rechazadas = false } = input;
    const [empleado, { rows }] = await Promise.all([
      empleadoId === undefined
        ? undefined
        : jsonRecord(
            db,
            db
              .selectFrom('employees as e')
              .select(employee.columns)
              .where('e.account_id', '=', accountId)
              .where('e.id', '=', empleadoId),
            employee,
          ),
      sql<{ days: number; own: number; shown: string }>`
        select count(*) as days, count(*) filter (where own) as own, coalesce(string_agg(${day.json()}, ','), '') as shown
        from (
          select a.*, t.title as type, ${daysWithin(input)} as days
          from (
            select id, false as own, title, day_type, start_date, end_date, null::boolean as authorised
            from calendar_entries
            where account_id = ${accountId} and start_date <= ${to}::date and end_date >= ${from}::date
            union all
            select id, true, title, day_type, start_date, end_date, authorised
            from absences
            where account_id = ${accountId} and employee_id = ${empleadoId ?? null}::bigint
              and start_date <= ${to}::date and end_date >= ${from}::date and (not rejected or ${incluir_rechazadas})
          ) a
          join day_types t on t.account_id = ${accountId} and t.code = a.day_type
          order by a.start_date, a.own, a.id) r`.execute(db),
    ]);
    const [{ days, own, shown } = { days: 0, own: 0, shown: '' }] = rows;
    return jsonObject({
      ...periodOf(input),
      ...(empleado && { empleado }),
      total_dias: days,
      dias_empresa: days - own,
      dias_empleado: own,
      dias: new JsonText<z.input<typeof day.schema>[]>(`[${shown}]`),
    });
  },
});
