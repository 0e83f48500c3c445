import { sql } from 'kysely';
import { operation } from '../operation.ts';
import { issuedParty } from '../shared/documents/sale-document.ts';
import { baseOf, FOUND, foundIn, wanted } from '../shared/documents/selection.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, optionalDates, PAGE, page, text } from '../shared/schemas.ts';
import { decimalOf, shape } from '../shared/shape.ts';
import { estimateHeader } from './estimate.ts';

const sums = shape({ suma_base: decimalOf('base') });
const estimates = listOf(
  'total_presupuestos',
  'presupuestos',
  shape(estimateHeader),
  orderOf('d', 'date desc', 'id desc'),
  sums.schema.shape,
);

/** Estimates, newest first. `base_imponible` without VAT, the sum of the lines; `suma_base` of all that are selected. PAG-02, EST-01 */
export const listEstimates = operation({
  title: 'Presupuestos',
  description:
    'Presupuestos, del más reciente al más antiguo; sus líneas, con obtener_presupuesto. clienteId: de consultar_clientes.',
  rest: ['GET /estimates'],
  alias: 'consultarPresupuestos',
  scope: 'svc.read',
  plan: 'custom',
  input: {
    ...optionalDates(),
    clienteId: id('client').optional().describe('Solo los de este cliente'),
    numero: text(100).optional().describe('Exacto'),
    busqueda: text(200).optional().describe('En número, concepto o datos del cliente'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: estimates.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio, fecha_fin, clienteId, numero, busqueda } = input;
    const lines = sql<{ base: number; line_count: number }>`(
      select coalesce(sum(l.amount), 0) as base, count(*) as line_count from estimate_lines l
      where l.account_id = ${accountId} and l.estimate_id = d.id)`;
    const found = busqueda ? foundIn('estimates', accountId, busqueda) : undefined;
    const selected = db
      .selectFrom('estimates as d')
      .where('d.account_id', '=', accountId)
      .$call(when(changedIn('d', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(fecha_inicio, (q, from) => q.where('d.date', '>=', from)))
      .$call(when(fecha_fin, (q, to) => q.where('d.date', '<=', to)))
      .$call(when(clienteId, (q, client) => q.where('d.client_id', '=', client)))
      .$call(when(numero, (q, number) => q.where('d.number', '=', number)))
      .$call(when(found, (q) => q.where('d.id', 'in', FOUND)));
    return estimates.read(db, input, {
      ...wanted(selected.select(['d.id', sql<boolean>`true`.as('counts')]), found),
      sums: { rows: baseOf('estimates', accountId), row: sums },
      rows: selected
        .innerJoin('clients as c', (join) =>
          join.onRef('c.account_id', '=', 'd.account_id').onRef('c.id', '=', 'd.client_id'),
        )
        .innerJoinLateral(lines.as('l'), (join) => join.onTrue())
        .select(estimates.columns)
        .select(issuedParty)
        .select(['l.base', 'l.line_count']),
    });
  },
});
