import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { optionalDates } from '../shared/schemas.ts';
import { shape, wholeOf } from '../shared/shape.ts';
import { project, projectsIn } from './project.ts';
import { overdue } from './task.ts';

const detail = shape({ ...project, num_tareas: wholeOf('tasks'), tareas_vencidas: wholeOf('overdue') });

/** One project with its economics, which the dates bound, and how many tasks it has. Amounts without VAT. PRJ-01, TSK-01 */
export const getProject = operation({
  title: 'Proyecto',
  description:
    'Un proyecto con su situación económica y cuántas tareas tiene; las fechas acotan solo lo económico. proyectoId: de consultar_proyectos.',
  rest: ['GET /projects/{proyectoId}'],
  alias: 'obtenerProyecto',
  scope: 'svc.read',
  input: { proyectoId: id('project').describe('El proyecto'), ...optionalDates() },
  output: z.object({ proyecto: detail.schema }),
  async handler({ input, db, accountId, today, principal: { timeZone } }) {
    const { proyectoId, fecha_inicio, fecha_fin } = input;
    const ids = sql`select p.id from projects p where p.account_id = ${accountId} and p.id = ${proyectoId}`;
    const range = { accountId, timeZone, from: fecha_inicio, to: fecha_fin };
    const tasks = (which: RawBuilder<boolean>) => sql`(select count(*) from tasks t
      where t.account_id = ${accountId} and t.project_id = ${proyectoId} and not t.deleted and ${which})`;
    const counts = sql`, ${tasks(sql`true`)} as tasks, ${tasks(overdue(today))} as overdue`;
    const proyecto = await jsonRecord(db, projectsIn<{ tasks: number; overdue: number }>(ids, range, counts), detail);
    if (!proyecto) throw notFound('proyectoId');
    return jsonObject({ proyecto });
  },
});
