// How projects are read and shown, with their economics, and written.
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import { client } from '../shared/client.ts';
import { idOrNone } from '../shared/id.ts';
import { orderOf } from '../shared/order.ts';
import { jsonRecord } from '../shared/pages.ts';
import { amountInput, text } from '../shared/schemas.ts';
import { decimalOf, idOf, type RowOf, shape, textOf, wholeOf } from '../shared/shape.ts';
import { type EconomicsRange, economics, projectEconomics } from './economics.ts';
import { overdue } from './task.ts';

/** A project `p` of a client `c` in a state `s`, with its figures `e`. */
export const project = {
  proyectoId: idOf('project', 'p.id'),
  numero: textOf('p.number'),
  descripcion: textOf('p.description'),
  cliente: client,
  estado: { estadoId: idOf('projectState', 'p.state_id'), titulo: textOf('s.title as state') },
  presupuesto_coste: decimalOf('p.budgeted_cost'),
  presupuesto_venta: decimalOf('p.budgeted_sales'),
  economico: economics,
};

/** The highest first. */
export const byNumber = orderOf('p', 'number desc', 'id desc');

const summary = shape(project);

/**
 * The projects in `ids` (a query with a column `id`), by number, highest first; the range bounds their economics. `more`: SQL for
 * further columns, which begins with a comma. PRJ-02
 */
export const projectsIn = <More extends object = object>(
  ids: RawBuilder<unknown>,
  range: EconomicsRange,
  more: RawBuilder<unknown> = sql``,
) => sql<RowOf<typeof summary> & More>`
  select ${summary.selected} ${more}
  from ${projectEconomics(ids, range)} e
  cross join lateral (select * from projects p where p.account_id = ${range.accountId} and p.id = e.project_id limit 1) p
  left join clients c on c.account_id = ${range.accountId} and c.id = p.client_id
  left join project_states s on s.account_id = ${range.accountId} and s.id = p.state_id
  order by ${byNumber.by}`;

/** A project by itself. */
export const wholeProject = shape({
  proyecto: { ...project, num_tareas: wholeOf('tasks'), tareas_vencidas: wholeOf('overdue') },
});

/** The project `proyectoId` with how many tasks it has; the range bounds its economics. 404 without one. PRJ-01, TSK-01 */
export async function readProject(db: Db, proyectoId: number, range: EconomicsRange, today: Temporal.PlainDate) {
  const { accountId } = range;
  const ids = sql`select p.id from projects p where p.account_id = ${accountId} and p.id = ${proyectoId}`;
  const tasks = (which: RawBuilder<boolean>) => sql`(select count(*) from tasks t
    where t.account_id = ${accountId} and t.project_id = ${proyectoId} and not t.deleted and ${which})`;
  const counts = sql`, ${tasks(sql`true`)} as tasks, ${tasks(overdue(today))} as overdue`;
  const rows = projectsIn<{ tasks: number; overdue: number }>(ids, range, counts);
  const found = await jsonRecord(db, rows, wholeProject);
  if (!found) throw notFound('proyectoId');
  return found;
}

/** What is written of a project. */
export const projectFields = z.object({
  descripcion: text(500).min(1),
  clienteId: idOrNone('client').optional(),
  estadoId: idOrNone('projectState').optional(),
  presupuesto_coste: amountInput().optional(),
  presupuesto_venta: amountInput().optional(),
});

/** Its columns; what was not sent is undefined. */
export const projectColumns = (datos: Partial<z.output<typeof projectFields>>) => ({
  description: datos.descripcion,
  client_id: datos.clienteId,
  state_id: datos.estadoId,
  budgeted_cost: datos.presupuesto_coste,
  budgeted_sales: datos.presupuesto_venta,
});
