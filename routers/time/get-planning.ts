import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { badField } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { person, requiredDates } from '../shared/schemas.ts';

const MAX_DAYS = 92;

const day = z.object({
  fecha: z.string(),
  laborable: z.boolean(),
  horas_previstas: z.number(),
  ausencia: z
    .object({ titulo: z.string(), tipo: z.string(), tipo_titulo: z.string(), autorizada: z.boolean() })
    .nullable(),
  tareas: z.array(z.object({ tareaId: sealedId('task'), titulo: z.string() })),
});

interface Row {
  id: number;
  first_name: string;
  last_name: string;
  days: z.input<typeof day>[];
}

/**
 * What each person has ahead, day by day: active people, and those with a contract in force at some moment of the range; the one
 * asked for in any case. `horas_previstas` are decimal hours: the daily minimum of the contract in force that day, the most
 * recent of several (PRJ-02), on a working day; an absence leaves them as they are. Weekends and the company's calendar are no
 * working days (CAL-01). `ausencia` is one that was not rejected (AUS-01): of several, an authorised one, then the earliest.
 * `tareas` are the person's own that live that day (TSK-02) and are not finished; with `proyectoId`, that project's alone,
 * and only of people who have any in the range. By surname and name (PAG-02); at most 92 days, else 400.
 */
export const getPlanning = operation({
  title: 'Planificación de la plantilla',
  description:
    'Por persona y día: si es laborable, horas previstas por contrato, ausencia y tareas sin terminar a su cargo (92 días como máximo). empleadoId: de consultar_empleados; proyectoId: de consultar_proyectos.',
  rest: ['GET /planning'],
  alias: 'consultarPlanificacion',
  scope: 'svc.read',
  input: {
    ...requiredDates(),
    empleadoId: id('employee').optional().describe('Solo esta persona'),
    proyectoId: id('project').optional().describe('Solo tareas de este proyecto y quienes las tienen'),
  },
  output: z.object({
    periodo: z.object({ desde: z.string(), hasta: z.string() }),
    empleados: z.array(person.extend({ dias: z.array(day) })),
  }),
  async handler({ input: { fecha_inicio: from, fecha_fin: to, empleadoId, proyectoId }, db, accountId }) {
    if (Temporal.PlainDate.from(from).until(to).days >= MAX_DAYS) {
      throw badField('fecha_fin', `el rango máximo es de ${MAX_DAYS} días`);
    }
    const only = (wanted: unknown, condition: RawBuilder<unknown>) => (wanted ? condition : sql``);
    const { rows } = await sql<Row>`
      with day as materialized (
        select d.day, extract(isodow from d.day) < 6 and not exists (select from calendar_entries c
          where c.account_id = ${accountId} and d.day between c.start_date and c.end_date) as working
        from (select ${from}::date + n as day from generate_series(0, ${to}::date - ${from}::date) n) d),
      contract as (
        select distinct on (c.employee_id, d.day) c.employee_id, d.day, c.minimum_daily_hours as hours
        from contracts c join day d on d.day between c.start_date and coalesce(c.end_date, 'infinity')
        where c.account_id = ${accountId} ${only(empleadoId, sql`and c.employee_id = ${empleadoId}`)}
        order by c.employee_id, d.day, c.start_date desc, c.id desc),
      absence as (
        select distinct on (a.employee_id, d.day) a.employee_id, d.day, json_build_object('titulo', a.title,
          'tipo', a.day_type, 'tipo_titulo', t.title, 'autorizada', a.authorised) as shown
        from absences a join day d on d.day between a.start_date and a.end_date
        join day_types t on t.account_id = ${accountId} and t.code = a.day_type
        where a.account_id = ${accountId} and not a.rejected
          ${only(empleadoId, sql`and a.employee_id = ${empleadoId}`)}
        order by a.employee_id, d.day, a.authorised desc, a.start_date, a.id),
      task as (
        select t.owner_id as employee_id, d.day, json_agg(json_build_object('tareaId', t.id, 'titulo', t.title)
          order by t.planned_end_date nulls last, t.id) as shown
        from tasks t join day d
          on d.day between coalesce(t.start_date, '-infinity') and coalesce(t.planned_end_date, 'infinity')
        where t.account_id = ${accountId} and not t.deleted and t.progress < 100
          ${only(empleadoId, sql`and t.owner_id = ${empleadoId}`)}
          ${only(proyectoId, sql`and t.project_id = ${proyectoId}`)}
        group by t.owner_id, d.day)
      select e.id, e.first_name, e.last_name, json_agg(json_build_object('fecha', d.day, 'laborable', d.working,
        'horas_previstas', case when d.working then coalesce(c.hours, 0) else 0 end,
        'ausencia', a.shown, 'tareas', coalesce(t.shown, '[]')) order by d.day) as days
      from employees e cross join day d
      left join contract c on c.employee_id = e.id and c.day = d.day
      left join absence a on a.employee_id = e.id and a.day = d.day
      left join task t on t.employee_id = e.id and t.day = d.day
      where e.account_id = ${accountId}
        and ${empleadoId ? sql`e.id = ${empleadoId}` : sql`(e.active or e.id in (select employee_id from contract))`}
        ${only(proyectoId, sql`and e.id in (select employee_id from task)`)}
      group by e.account_id, e.id
      order by e.last_name, e.first_name, e.id`.execute(db);
    return {
      periodo: { desde: from, hasta: to },
      empleados: rows.map((row) => ({
        empleadoId: row.id,
        nombre: row.first_name,
        apellidos: row.last_name,
        dias: row.days,
      })),
    };
  },
});
