import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { pageOfRows } from '../shared/rows.ts';
import { optionalDates, PAGE, page, paged, pageOf, person } from '../shared/schemas.ts';
import { overdue } from './task.ts';

const task = z.object({
  tareaId: sealedId('task'),
  titulo: z.string(),
  proyecto: z.object({ proyectoId: sealedId('project'), numero: z.string(), descripcion: z.string() }),
  estado: z.object({ estadoId: sealedId('taskState'), titulo: z.string() }),
  responsable: person,
  fecha_inicio: z.string().nullable(),
  fecha_prevista_fin: z.string().nullable(),
  progreso: z.number(),
  vencida: z.boolean(),
  importe_presupuestado: z.number(),
});

/** Tasks that are not deleted; those alive in the range when one is given. Amounts without VAT. TSK-01, TSK-02 */
export const listTasks = operation({
  title: 'Tareas',
  description:
    'Tareas de proyectos, por fecha prevista de fin. Las fechas filtran por solapamiento; vencidas=true solo las vencidas. proyectoId: de consultar_proyectos; estadoId: de listar_estados_tarea.',
  rest: ['GET /tasks'],
  alias: 'consultarTareas',
  scope: 'svc.read',
  planned: 'anew',
  input: {
    proyectoId: id('project').optional().describe('Solo las de este proyecto'),
    estadoId: id('taskState').optional().describe('Solo las de este estado'),
    ...optionalDates(),
    vencidas: z.boolean().optional().describe('true: solo las vencidas'),
    ...page(PAGE),
  },
  output: paged('total_tareas', 'tareas', task),
  async handler({ input, db, accountId, today }) {
    const { proyectoId, estadoId, fecha_inicio, fecha_fin, vencidas } = input;
    const late = overdue(today);
    const selected = db
      .selectFrom('tasks as t')
      .where('t.account_id', '=', accountId)
      .where('t.deleted', '=', false)
      .$if(proyectoId !== undefined, (q) => q.where('t.project_id', '=', proyectoId ?? 0))
      .$if(estadoId !== undefined, (q) => q.where('t.state_id', '=', estadoId ?? 0))
      // A missing start or end leaves that side open.
      .$if(fecha_inicio !== undefined, (q) =>
        q.where((eb) =>
          eb.or([eb('t.planned_end_date', 'is', null), eb('t.planned_end_date', '>=', fecha_inicio ?? '')]),
        ),
      )
      .$if(fecha_fin !== undefined, (q) =>
        q.where((eb) => eb.or([eb('t.start_date', 'is', null), eb('t.start_date', '<=', fecha_fin ?? '')])),
      )
      .$if(vencidas === true, (q) => q.where(late));
    const { total, rows } = await pageOfRows(
      db,
      selected,
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
        .select(['t.id', 't.title', 't.project_id', 'p.number', 'p.description', 't.state_id', 's.title as state'])
        .select(['t.owner_id', 'e.first_name', 'e.last_name', 't.start_date', 't.planned_end_date', 't.progress'])
        .select(['t.budgeted_amount', late.as('overdue')])
        .orderBy('t.planned_end_date', (order) => order.asc().nullsLast())
        .orderBy('t.id'),
      input,
    );
    return {
      total_tareas: total,
      ...pageOf(total, input),
      tareas: rows.map((row) => ({
        tareaId: row.id,
        titulo: row.title,
        proyecto: { proyectoId: row.project_id, numero: row.number ?? '', descripcion: row.description ?? '' },
        estado: { estadoId: row.state_id, titulo: row.state ?? '' },
        responsable: { empleadoId: row.owner_id, nombre: row.first_name ?? '', apellidos: row.last_name ?? '' },
        fecha_inicio: row.start_date,
        fecha_prevista_fin: row.planned_end_date,
        progreso: row.progress,
        vencida: row.overdue,
        importe_presupuestado: row.budgeted_amount,
      })),
    };
  },
});
