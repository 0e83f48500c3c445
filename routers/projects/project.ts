// How projects are read and shown, with their economics.
import { type RawBuilder, sql } from 'kysely';
import { client } from '../shared/client.ts';
import { decimalOf, idOf, type RowOf, shape, textOf } from '../shared/shape.ts';
import { type EconomicsRange, economics, projectEconomics } from './economics.ts';

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
  order by p.number desc, p.id desc`;
