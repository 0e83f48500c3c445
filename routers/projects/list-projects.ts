import { sql } from 'kysely';
import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, limit, offset, optionalDates, PAGE, page, text } from '../shared/schemas.ts';
import { shape } from '../shared/shape.ts';
import { byNumber, project, projectsIn } from './project.ts';

const projects = listOf('total_proyectos', 'proyectos', shape(project), byNumber);

/** Projects with their economics; the dates bound the economics, not the list. Amounts without VAT. PRJ-01..03 */
export const listProjects = operation({
  title: 'Proyectos',
  description:
    'Proyectos con su situación económica (ventas, costes, resultado, margen, horas); las fechas acotan solo lo económico. clienteId: de consultar_clientes; estadoId: de listar_estados_proyecto.',
  rest: ['GET /projects'],
  alias: 'consultarProyectos',
  scope: 'svc.read',
  input: {
    ...optionalDates(),
    busqueda: text(200).optional().describe('Texto en la descripción o el número'),
    clienteId: id('client').optional().describe('Solo los de este cliente'),
    estadoId: id('projectState').optional().describe('Solo los de este estado'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: projects.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { busqueda, clienteId, estadoId, fecha_inicio, fecha_fin, modificado_desde } = input;
    const since = changedIn('p', modificado_desde, timeZone);
    const filters = [
      sql`p.account_id = ${accountId}`,
      ...(busqueda ? [sql`p.search like ${containing(busqueda)}`] : []),
      ...(clienteId === undefined ? [] : [sql`p.client_id = ${clienteId}`]),
      ...(estadoId === undefined ? [] : [sql`p.state_id = ${estadoId}`]),
      ...(since ? [since] : []),
    ];
    const where = sql.join(filters, sql` and `);
    const ids = sql`select p.id from projects p where ${where} ${byNumber.andAfter(input)}
      order by ${byNumber.by} limit ${limit(input)} offset ${offset(input)}`;
    const total =
      filters.length === 1
        ? sql`select projects from record_counts where account_id = ${accountId}`
        : sql`select count(*) from projects p where ${where}`;
    const range = { accountId, timeZone, from: fecha_inicio, to: fecha_fin };
    const rows = projectsIn(ids, range, sql`, ${sql.join(byNumber.keys)}`);
    return projects.page(db, input, { total, rows });
  },
});
