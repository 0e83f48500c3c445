import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { person, requiredDates, text } from '../shared/schemas.ts';

interface Row {
  id: number;
  first_name: string;
  last_name: string;
  absences: number;
  days: number;
  by_type: Record<string, number>;
}

/**
 * Absences of a range, counted for each person of the staff: everybody that the department takes, at 0 without any, those who
 * left included. Calendar days inside the range, each absence's own, so that sums are those of consultarAusencias; rejected ones
 * are left out. AUS-01, PAG-02
 */
export const summariseAbsences = operation({
  title: 'Resumen de ausencias de la plantilla',
  description:
    'Ausencias y días naturales de cada persona en un periodo, por tipo, sin las rechazadas. Una a una: consultar_ausencias. departamentoId: de consultar_empleados.',
  rest: ['GET /time-off/summary'],
  alias: 'consultarAusenciasPlantilla',
  scope: 'svc.read',
  input: {
    ...requiredDates(),
    departamentoId: id('department').optional().describe('Solo su personal'),
    tipo: text(100).optional().describe('Código; cuenta solo estas'),
  },
  output: z.object({
    periodo: z.object({ desde: z.string(), hasta: z.string() }),
    empleados: z.array(
      person.extend({
        total_ausencias: z.int(),
        dias_en_periodo: z.int(),
        por_tipo: z.record(z.string(), z.int()),
      }),
    ),
  }),
  async handler({ input: { fecha_inicio: from, fecha_fin: to, departamentoId, tipo }, db, accountId }) {
    const only = (wanted: unknown, condition: RawBuilder<unknown>) => (wanted ? condition : sql``);
    const { rows } = await sql<Row>`
      select e.id, e.first_name, e.last_name, coalesce(sum(a.absences), 0) as absences, coalesce(sum(a.days), 0) as days,
        coalesce(json_object_agg(a.day_type, a.days order by a.day_type) filter (where a.day_type is not null), '{}') as by_type
      from employees e
      left join (select employee_id, day_type, count(*) as absences,
          sum(least(end_date, ${to}::date) - greatest(start_date, ${from}::date) + 1) as days
        from absences
        where account_id = ${accountId} and not rejected and start_date <= ${to}::date and end_date >= ${from}::date
          ${only(tipo, sql`and day_type = ${tipo}`)}
        group by employee_id, day_type) a on a.employee_id = e.id
      where e.account_id = ${accountId} ${only(departamentoId, sql`and e.department_id = ${departamentoId}`)}
      group by e.account_id, e.id
      order by e.last_name, e.first_name, e.id`.execute(db);
    return {
      periodo: { desde: from, hasta: to },
      empleados: rows.map((row) => ({
        empleadoId: row.id,
        nombre: row.first_name,
        apellidos: row.last_name,
        total_ausencias: row.absences,
        dias_en_periodo: row.days,
        por_tipo: row.by_type,
      })),
    };
  },
});
