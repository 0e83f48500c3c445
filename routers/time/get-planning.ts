import { sql } from 'kysely';
import { badField } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { personOf } from '../shared/person.ts';
import { limit, offset, page, requiredDates, WHOLE_PAGE } from '../shared/schemas.ts';
import { arrayOf, decimalOf, flagOf, idOf, objectOf, plainOf, shape, textOf } from '../shared/shape.ts';
import { dayOff } from './day-off.ts';
import { period, periodOf } from './period.ts';

const MAX_DAYS = 92;
/** The bytes of a day with nothing on it. Every day has as many at least. */
const DAY_BYTES = '{"fecha":"2026-01-31","laborable":true,"horas_previstas":0,"ausencia":null,"tareas":[]},'.length;

const absence = shape({ ...dayOff, autorizada: flagOf('a.authorised') });
const task = shape({ tareaId: idOf('task', 't.id'), titulo: textOf('t.title') });
const day = shape({
  fecha: plainOf('d.date'),
  laborable: flagOf('d.working'),
  horas_previstas: decimalOf('hours'),
  ausencia: objectOf(absence, 'absence').orNull(),
  tareas: arrayOf(task, 'tasks'),
});
const planned = listOf(
  'total_empleados',
  'empleados',
  shape({ ...personOf('e.id'), dias: arrayOf(day, 'days') }),
  orderOf('d', 'last_name', 'first_name', 'id'),
  period,
);

/**
 * What each person has ahead, day by day: active people, and those with a contract in force at some moment of the range; the one
 * asked for in any case. `horas_previstas` are decimal hours: the daily minimum of the contract in force that day, the most
 * recent of several (PRJ-02), on a working day; an absence leaves them as they are. Weekends and the company's calendar are no
 * working days (CAL-01). `ausencia` is one that was not rejected (AUS-01): of several, an authorised one, then the earliest.
 * `tareas` are the person's own that live that day (TSK-02) and are not finished, by planned end, none last; with `proyectoId`,
 * that project's alone, and only of people who have any in the range. Pages of people, by surname and name (PAG-02); at most 92
 * days, else 400. All of it is PostgreSQL's work (FAIR-02), which counts the bytes before it writes them (FAIR-03).
 */
export const getPlanning = operation({
  title: 'Planificación de la plantilla',
  description:
    'Por persona y día: si es laborable, horas de contrato, ausencia y tareas sin terminar (92 días como máximo). empleadoId: de consultar_empleados; proyectoId: de consultar_proyectos.',
  rest: ['GET /planning'],
  alias: 'consultarPlanificacion',
  scope: 'svc.read',
  report: true,
  plan: 'custom',
  input: {
    ...requiredDates(),
    empleadoId: id('employee').optional().describe('Solo esta persona'),
    proyectoId: id('project').optional().describe('Solo sus tareas y quienes las tienen'),
    ...page(WHOLE_PAGE),
  },
  output: planned.schema,
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, empleadoId, proyectoId } = input;
    const days = Temporal.PlainDate.from(fecha_inicio).until(fecha_fin).days + 1;
    if (days > MAX_DAYS) {
      throw badField('fecha_fin', `el rango máximo es de ${MAX_DAYS} días`);
    }
    const from = sql`${fecha_inicio}::date`;
    const to = sql`${fecha_fin}::date`;
    const contracted = sql`c.account_id = ${accountId} and c.start_date <= ${to} and coalesce(c.end_date, ${from}) >= ${from}`;
    const alive = sql`t.account_id = ${accountId} and not t.deleted and t.progress < 100
      and coalesce(t.start_date, ${to}) <= ${to} and coalesce(t.planned_end_date, ${from}) >= ${from}
      ${proyectoId === undefined ? sql`` : sql`and t.project_id = ${proyectoId}`}`;
    /** The days of the range, from 0 on, that a span covers; a missing side is open. */
    const covered = (start: string, end: string) =>
      sql`generate_series(greatest(${sql.ref(start)}, ${from}) - ${from}, least(${sql.ref(end)}, ${to}) - ${from}) as n`;

    const { order } = planned;
    const staff = order.of('staff');
    const page = {
      before: sql`with staff as materialized (
          select e.id, e.first_name, e.last_name from employees e
          where e.account_id = ${accountId}
            and ${
              empleadoId === undefined
                ? sql`(e.active or e.id in (select c.employee_id from contracts c where ${contracted}))`
                : sql`e.id = ${empleadoId}`
            }
            ${proyectoId === undefined ? sql`` : sql`and e.id in (select t.owner_id from tasks t where ${alive})`}),
        people as materialized (
          select * from staff where true ${staff.andAfter(input)} order by ${staff.by} limit ${limit(input)} offset ${offset(input)}),
        task as materialized (
          select t.owner_id, t.id, t.start_date, t.planned_end_date, ${task.json('t')} as shown
          from tasks t where ${alive} and t.owner_id in (select id from people)),
        day as materialized (
          select n, ${from} + n as date, extract(isodow from ${from} + n) < 6 and not exists (
            select from calendar_entries h where h.account_id = ${accountId} and ${from} + n between h.start_date and h.end_date
          ) as working
          from generate_series(0, ${to} - ${from}) as n)`,
      total: sql`select count(*) from staff`,
      bytes: sql`select (select count(*) from people) * ${days * DAY_BYTES}::int + coalesce(sum(octet_length(shown)
        * (least(planned_end_date, ${to}) - greatest(start_date, ${from}) + 1)), 0) from task`,
      rows: sql<typeof planned.row.needs>`
        select ${sql.join(order.keys)}, d.id, d.first_name, d.last_name, '[' || string_agg(${day.json('d')}, ',' order by n) || ']' as days
        from (
          select p.id, p.first_name, p.last_name, d.n, d.date, d.working,
            case when d.working then coalesce(c.hours, 0) else 0 end as hours, a.shown as absence, '[' || t.shown || ']' as tasks
          from people p cross join day d
          left join (
            select distinct on (c.employee_id, n) c.employee_id, n, c.minimum_daily_hours as hours
            from contracts c cross join lateral ${covered('c.start_date', 'c.end_date')}
            where ${contracted} and c.employee_id in (select id from people)
            order by c.employee_id, n, c.start_date desc, c.id desc) c on c.employee_id = p.id and c.n = d.n
          left join (
            select distinct on (a.employee_id, n) a.employee_id, n, ${absence.json('a')} as shown
            from (
              select a.id, a.employee_id, a.start_date, a.end_date, ${absence.selected}
              from absences a join day_types t on t.account_id = ${accountId} and t.code = a.day_type
              where a.account_id = ${accountId} and not a.rejected and a.start_date <= ${to} and a.end_date >= ${from}
                and a.employee_id in (select id from people)) a
              cross join lateral ${covered('a.start_date', 'a.end_date')}
            order by a.employee_id, n, a.authorised desc, a.start_date, a.id) a on a.employee_id = p.id and a.n = d.n
          left join (
            select t.owner_id, n, string_agg(t.shown, ',' order by t.planned_end_date nulls last, t.id) as shown
            from task t cross join lateral ${covered('t.start_date', 't.planned_end_date')}
            group by t.owner_id, n) t on t.owner_id = p.id and t.n = d.n) d
        group by d.id, d.first_name, d.last_name
        order by ${order.by}`,
    };
    return planned.page(db, input, page, periodOf(input));
  },
});
