import { sql } from 'kysely';
import { WORKED_SECONDS } from '../../figures/facts.ts';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, LONG_PAGE, optionalDates, page } from '../shared/schemas.ts';
import { decimalOf, shape } from '../shared/shape.ts';
import { byEntry, timeEntriesWithin, timeEntry, withPeople } from '../shared/time-entry.ts';

const sums = shape({ total_horas: decimalOf('hours') });
const timeEntries = listOf('total_fichajes', 'fichajes', timeEntry, byEntry, sums.schema.shape);

/**
 * The time entries that count for a project, by entry date: its own, and those of its tasks that have no project. Open ones
 * are listed and counted in `total_fichajes`; `total_horas` is the exact sum of the closed ones in decimal hours, rounded
 * once, as in the project's economics. No money. PRJ-01, FIC-01..04
 */
export const listProjectTimes = operation({
  title: 'Horas de un proyecto',
  description:
    'Fichajes cargados a un proyecto o a sus tareas, con el total de horas, sin importes. proyectoId: de consultar_proyectos.',
  rest: ['GET /projects/{proyectoId}/times'],
  alias: 'consultarHorasProyecto',
  scope: 'svc.read',
  input: {
    proyectoId: id('project').describe('El proyecto'),
    ...optionalDates(),
    ...changedSince(),
    ...page(LONG_PAGE),
  },
  output: timeEntries.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { proyectoId } = input;
    // As a list, so that the index on the task serves it.
    const tasks = sql`(select array_agg(id) from tasks where account_id = ${accountId} and project_id = ${proyectoId})::bigint[]`;
    const selected = timeEntriesWithin(db, { accountId, timeZone, ...input })
      .where(sql<boolean>`(t.project_id = ${proyectoId} or t.project_id is null and t.task_id = any(${tasks}))`)
      .$call(when(changedIn('t', input.modificado_desde, timeZone), (q, since) => q.where(since)));
    const worked = sql<number>`round(coalesce(sum(${WORKED_SECONDS}) filter (where exit_at is not null), 0) / 3600, 2)`;
    return timeEntries.read(db, input, {
      selected,
      sums: { rows: selected.select(worked.as('hours')), row: sums },
      rows: withPeople(selected, timeZone),
    });
  },
});
