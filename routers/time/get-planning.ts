import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { badField } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { person, requiredDates } from '../shared/schemas.ts';

const MAX_DAYS = 92;
const SATURDAY = 6;

const day = z.object({
  fecha: z.string(),
  laborable: z.boolean(),
  horas_previstas: z.number(),
  ausencia: z
    .object({ titulo: z.string(), tipo: z.string(), tipo_titulo: z.string(), autorizada: z.boolean() })
    .nullable(),
  tareas: z.array(z.object({ tareaId: sealedId('task'), titulo: z.string() })),
});

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
    'Por persona y día: si es laborable, horas de contrato, ausencia y tareas sin terminar (92 días como máximo). empleadoId: de consultar_empleados; proyectoId: de consultar_proyectos.',
  rest: ['GET /planning'],
  alias: 'consultarPlanificacion',
  scope: 'svc.read',
  planned: 'anew',
  input: {
    ...requiredDates(),
    empleadoId: id('employee').optional().describe('Solo esta persona'),
    proyectoId: id('project').optional().describe('Solo sus tareas y quienes las tienen'),
  },
  output: z.object({
    periodo: z.object({ desde: z.string(), hasta: z.string() }),
    empleados: z.array(person.extend({ dias: z.array(day) })),
  }),
  async handler({ input: { fecha_inicio: from, fecha_fin: to, empleadoId, proyectoId }, db, accountId }) {
    const first = Temporal.PlainDate.from(from);
    const length = first.until(to).days + 1;
    if (length > MAX_DAYS) {
      throw badField('fecha_fin', `el rango máximo es de ${MAX_DAYS} días`);
    }
    const overlapping = { accountId, empleadoId, from, to };
    const [people, contracts, closures, absences, tasks] = await Promise.all([
      db
        .selectFrom('employees')
        .select(['id', 'first_name', 'last_name', 'active'])
        .where('account_id', '=', accountId)
        .$if(empleadoId !== undefined, (q) => q.where('id', '=', empleadoId ?? 0))
        .orderBy('last_name')
        .orderBy('first_name')
        .orderBy('id')
        .execute(),
      contractsIn(db, overlapping),
      db
        .selectFrom('calendar_entries')
        .select(['start_date', 'end_date'])
        .where('account_id', '=', accountId)
        .where('start_date', '<=', to)
        .where('end_date', '>=', from)
        .execute(),
      absencesIn(db, overlapping),
      tasksIn(db, { ...overlapping, proyectoId }),
    ]);
    const contractsOf = Map.groupBy(contracts, ({ employee_id }) => employee_id);
    const absencesOf = Map.groupBy(absences, ({ employee_id }) => employee_id);
    const tasksOf = Map.groupBy(tasks, ({ owner_id }) => owner_id);
    const days = Array.from({ length }, (_, index) => {
      const date = first.add({ days: index });
      const fecha = date.toString();
      return { fecha, laborable: date.dayOfWeek < SATURDAY && !closures.some(covers(fecha)) };
    });
    const planned = people.filter(
      ({ id, active }) =>
        (active || empleadoId !== undefined || contractsOf.has(id)) && (proyectoId === undefined || tasksOf.has(id)),
    );
    return {
      periodo: { desde: from, hasta: to },
      empleados: planned.map(({ id, first_name, last_name }) => ({
        empleadoId: id,
        nombre: first_name,
        apellidos: last_name,
        dias: days.map(({ fecha, laborable }) => {
          const contract = contractsOf.get(id)?.find(covers(fecha));
          const absence = absencesOf.get(id)?.find(covers(fecha));
          return {
            fecha,
            laborable,
            horas_previstas: laborable ? (contract?.minimum_daily_hours ?? 0) : 0,
            ausencia: absence
              ? {
                  titulo: absence.title,
                  tipo: absence.day_type,
                  tipo_titulo: absence.type,
                  autorizada: absence.authorised,
                }
              : null,
            tareas: (tasksOf.get(id) ?? [])
              .filter(covers(fecha))
              .map((task) => ({ tareaId: task.id, titulo: task.title })),
          };
        }),
      })),
    };
  },
});

interface Span {
  start_date: string | null;
  end_date: string | null;
}

/** Whether a span, both ends included and a missing one open, holds this day. */
const covers =
  (day: string) =>
  ({ start_date, end_date }: Span) =>
    (start_date === null || start_date <= day) && (end_date === null || end_date >= day);

interface Overlapping {
  accountId: number;
  empleadoId: number | undefined;
  from: string;
  to: string;
}

/** The most recent first. */
const contractsIn = (db: Db, { accountId, empleadoId, from, to }: Overlapping) =>
  db
    .selectFrom('contracts')
    .select(['employee_id', 'start_date', 'end_date', 'minimum_daily_hours'])
    .where('account_id', '=', accountId)
    .where('start_date', '<=', to)
    .where((eb) => eb.or([eb('end_date', 'is', null), eb('end_date', '>=', from)]))
    .$if(empleadoId !== undefined, (q) => q.where('employee_id', '=', empleadoId ?? 0))
    .orderBy('start_date', 'desc')
    .orderBy('id', 'desc')
    .execute();

/** Those that were not rejected: the authorised ones first, then by start. */
const absencesIn = (db: Db, { accountId, empleadoId, from, to }: Overlapping) =>
  db
    .selectFrom('absences as a')
    .innerJoin('day_types as t', (join) =>
      join.onRef('t.account_id', '=', 'a.account_id').onRef('t.code', '=', 'a.day_type'),
    )
    .select(['a.employee_id', 'a.start_date', 'a.end_date', 'a.title', 'a.day_type', 't.title as type', 'a.authorised'])
    .where('a.account_id', '=', accountId)
    .where('a.rejected', '=', false)
    .where('a.start_date', '<=', to)
    .where('a.end_date', '>=', from)
    .$if(empleadoId !== undefined, (q) => q.where('a.employee_id', '=', empleadoId ?? 0))
    .orderBy('a.authorised', 'desc')
    .orderBy('a.start_date')
    .orderBy('a.id')
    .execute();

/** Those of somebody, neither finished nor deleted, by planned end, none last. */
const tasksIn = (db: Db, { accountId, empleadoId, proyectoId, from, to }: Overlapping & { proyectoId?: number }) =>
  db
    .selectFrom('tasks')
    .select(['id', 'title', 'owner_id', 'start_date', 'planned_end_date as end_date'])
    .where('account_id', '=', accountId)
    .where('owner_id', 'is not', null)
    .where('deleted', '=', false)
    .where('progress', '<', 100)
    .where((eb) => eb.or([eb('start_date', 'is', null), eb('start_date', '<=', to)]))
    .where((eb) => eb.or([eb('planned_end_date', 'is', null), eb('planned_end_date', '>=', from)]))
    .$if(empleadoId !== undefined, (q) => q.where('owner_id', '=', empleadoId ?? 0))
    .$if(proyectoId !== undefined, (q) => q.where('project_id', '=', proyectoId ?? 0))
    .orderBy('planned_end_date', (order) => order.asc().nullsLast())
    .orderBy('id')
    .execute();
