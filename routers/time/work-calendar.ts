import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { person, requiredDates } from '../shared/schemas.ts';

const day = {
  titulo: z.string(),
  tipo: z.string(),
  tipo_titulo: z.string(),
  fecha_inicio: z.string(),
  fecha_fin: z.string(),
  dias_en_periodo: z.int(),
};

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
    periodo: z.object({ desde: z.string(), hasta: z.string() }),
    empleado: person.optional(),
    total_dias: z.int(),
    dias_empresa: z.int(),
    dias_empleado: z.int(),
    dias: z.array(
      z.discriminatedUnion('ambito', [
        z.object({ diaId: sealedId('calendarEntry'), ambito: z.literal('empresa'), ...day, autorizada: z.null() }),
        z.object({ diaId: sealedId('absence'), ambito: z.literal('empleado'), ...day, autorizada: z.boolean() }),
      ]),
    ),
  }),
  async handler({ input, db, accountId }) {
    const { fecha_inicio: from, fecha_fin: to, empleadoId, incluir_rechazadas = false } = input;
    const [employee, { rows }] = await Promise.all([
      empleadoId === undefined
        ? undefined
        : db
            .selectFrom('employees')
            .select(['id', 'first_name', 'last_name'])
            .where('account_id', '=', accountId)
            .where('id', '=', empleadoId)
            .executeTakeFirst(),
      sql<{
        id: number;
        own: boolean;
        title: string;
        code: string;
        type: string;
        start_date: string;
        end_date: string;
        days: number;
        authorised: boolean | null;
      }>`
        select d.id, d.own, d.title, d.day_type as code, t.title as type, d.start_date, d.end_date, d.authorised,
          least(d.end_date, ${to}::date) - greatest(d.start_date, ${from}::date) + 1 as days
        from (
          select account_id, id, false as own, title, day_type, start_date, end_date, null::boolean as authorised
          from calendar_entries
          where account_id = ${accountId} and start_date <= ${to}::date and end_date >= ${from}::date
          union all
          select account_id, id, true, title, day_type, start_date, end_date, authorised
          from absences
          where account_id = ${accountId} and employee_id = ${empleadoId ?? null}::bigint
            and start_date <= ${to}::date and end_date >= ${from}::date and (not rejected or ${incluir_rechazadas})
        ) d
        join day_types t on t.account_id = d.account_id and t.code = d.day_type
        order by d.start_date, d.own, d.id`.execute(db),
    ]);
    const ofEmployee = rows.filter(({ own }) => own).length;
    return {
      periodo: { desde: from, hasta: to },
      ...(employee && {
        empleado: { empleadoId: employee.id, nombre: employee.first_name, apellidos: employee.last_name },
      }),
      total_dias: rows.length,
      dias_empresa: rows.length - ofEmployee,
      dias_empleado: ofEmployee,
      dias: rows.map((row) => {
        const shown = {
          titulo: row.title,
          tipo: row.code,
          tipo_titulo: row.type,
          fecha_inicio: row.start_date,
          fecha_fin: row.end_date,
          dias_en_periodo: row.days,
        };
        return row.own
          ? { diaId: row.id, ambito: 'empleado' as const, ...shown, autorizada: row.authorised ?? false }
          : { diaId: row.id, ambito: 'empresa' as const, ...shown, autorizada: null };
      }),
    };
  },
});
