import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { jsonObject, onlyOf, withMore } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { optionalDates } from '../shared/schemas.ts';
import { project, readProjects } from './project.ts';
import { overdue } from './task.ts';

/** One project with its economics, which the dates bound, and how many tasks it has. Amounts without VAT. PRJ-01, TSK-01 */
export const getProject = operation({
  title: 'Proyecto',
  description:
    'Un proyecto con su situación económica y cuántas tareas tiene; las fechas acotan solo lo económico. proyectoId: de consultar_proyectos.',
  rest: ['GET /projects/{proyectoId}'],
  alias: 'obtenerProyecto',
  scope: 'svc.read',
  input: { proyectoId: id('project').describe('El proyecto'), ...optionalDates() },
  output: z.object({ proyecto: project.extend({ num_tareas: z.int(), tareas_vencidas: z.int() }) }),
  async handler({ input, db, accountId, today, principal: { timeZone } }) {
    const { proyectoId, fecha_inicio, fecha_fin } = input;
    const ids = sql`select p.id from projects p where p.account_id = ${accountId} and p.id = ${proyectoId}`;
    const [{ rows }, tasks] = await Promise.all([
      readProjects(db, { total: sql`select 1`, ids }, { accountId, timeZone, from: fecha_inicio, to: fecha_fin }),
      db
        .selectFrom('tasks as t')
        .where('t.account_id', '=', accountId)
        .where('t.project_id', '=', proyectoId)
        .where('t.deleted', '=', false)
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .select((eb) => eb.fn.countAll<number>().filterWhere(overdue(today)).as('overdue'))
        .executeTakeFirstOrThrow(),
    ]);
    const found = onlyOf(rows);
    if (!found) throw notFound('proyectoId');
    return jsonObject({ proyecto: withMore(found, { num_tareas: tasks.total, tareas_vencidas: tasks.overdue }) });
  },
});
