// How tasks are read and shown, and written.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { badField, notFound } from '../../platform/errors.ts';
import { orNull } from '../shared/changes.ts';
import { idOrNone } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { personOf } from '../shared/person.ts';
import { amountInput, decimalInput, isoDateOrNone, text } from '../shared/schemas.ts';
import { decimalOf, flagOf, idOf, oneOf, plainOf, shape, textOf } from '../shared/shape.ts';

/** Of a task `t`: not finished, and planned to end before today. TSK-01 */
export const overdue = (today: Temporal.PlainDate) =>
  sql<boolean>`coalesce(t.progress < 100 and t.planned_end_date < ${today.toString()}::date, false)`;

const properties = {
  tareaId: idOf('task', 't.id'),
  titulo: textOf('t.title'),
  proyecto: {
    proyectoId: idOf('project', 't.project_id'),
    numero: textOf('p.number'),
    descripcion: textOf('p.description'),
  },
  estado: { estadoId: idOf('taskState', 't.state_id'), titulo: textOf('s.title as state') },
  responsable: personOf('t.owner_id'),
  fecha_inicio: plainOf('t.start_date').orNull(),
  fecha_prevista_fin: plainOf('t.planned_end_date').orNull(),
  progreso: decimalOf('t.progress'),
  vencida: flagOf('overdue'),
  importe_presupuestado: decimalOf('t.budgeted_amount'),
};

/** A task `t` of a project `p` in a state `s`, of a person `e`; the query tells whether it is `overdue`. */
export const task = shape(properties);

const deletedTask = shape({ ...properties, eliminada: flagOf('t.deleted') });

/** A task by itself; `eliminada` where it is. */
export const wholeTask = shape({
  tarea: oneOf(z.object({ ...task.schema.shape, eliminada: z.boolean().optional() }), 'kind', {
    there: task,
    deleted: deletedTask,
  }),
});

/** The company's tasks, to be narrowed down before `withDetails`. */
export const tasksOf = (db: Db, accountId: number) => db.selectFrom('tasks as t').where('t.account_id', '=', accountId);

/** The rows of these tasks as `task` shows them. */
export const withDetails = (selected: ReturnType<typeof tasksOf>, today: Temporal.PlainDate) =>
  selected
    .leftJoin('projects as p', (join) =>
      join.onRef('p.account_id', '=', 't.account_id').onRef('p.id', '=', 't.project_id'),
    )
    .leftJoin('task_states as s', (join) =>
      join.onRef('s.account_id', '=', 't.account_id').onRef('s.id', '=', 't.state_id'),
    )
    .leftJoin('employees as e', (join) =>
      join.onRef('e.account_id', '=', 't.account_id').onRef('e.id', '=', 't.owner_id'),
    )
    .select(task.columns)
    .select(overdue(today).as('overdue'));

/** The task `tareaId`, a deleted one too; 404 without one. */
export async function readTask(db: Db, accountId: number, tareaId: number, today: Temporal.PlainDate) {
  const kind = sql<string>`case when t.deleted then 'deleted' else 'there' end`;
  const selected = withDetails(tasksOf(db, accountId).where('t.id', '=', tareaId), today);
  const found = await jsonRecord(db, selected.select(['t.deleted', kind.as('kind')]), wholeTask);
  if (!found) throw notFound('tareaId');
  return found;
}

/** What is written of a task. */
export const taskFields = z.object({
  titulo: text(500).min(1),
  proyectoId: idOrNone('project').optional(),
  estadoId: idOrNone('taskState').optional(),
  responsableId: idOrNone('employee').optional(),
  fecha_inicio: isoDateOrNone().optional(),
  fecha_prevista_fin: isoDateOrNone().optional(),
  progreso: decimalInput().min(0).max(100).optional(),
  importe_presupuestado: amountInput().optional(),
});

/** Its columns; what was not sent is undefined. */
export const taskColumns = (datos: Partial<z.output<typeof taskFields>>) => ({
  title: datos.titulo,
  project_id: datos.proyectoId,
  state_id: datos.estadoId,
  owner_id: datos.responsableId,
  start_date: orNull(datos.fecha_inicio),
  planned_end_date: orNull(datos.fecha_prevista_fin),
  progress: datos.progreso,
  budgeted_amount: datos.importe_presupuestado,
});

/** 400 for a task that would end before it starts. */
export function refuseReversed(task: {
  start_date?: string | null | undefined;
  planned_end_date?: string | null | undefined;
}): void {
  if (task.start_date && task.planned_end_date && task.planned_end_date < task.start_date) {
    throw badField('datos.fecha_prevista_fin', 'no puede ser anterior a fecha_inicio');
  }
}
