import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { pageOfRows } from '../shared/rows.ts';
import { optionalDates, PAGE, page, paged, pageOf, text } from '../shared/schemas.ts';
import { documentHeader, foundIn, HEADER_COLUMNS, headerOf } from './sale-document.ts';

/** An estimate without its lines. EST-01 */
export const estimateHeader = z.object({
  tipo: z.literal('presupuesto'),
  presupuestoId: sealedId('estimate'),
  ...documentHeader,
  num_lineas: z.int(),
});

/** Estimates, newest first. `base_imponible` without VAT, the sum of the lines. PAG-02, EST-01 */
export const listEstimates = operation({
  title: 'Presupuestos',
  description:
    'Presupuestos, del más reciente al más antiguo, sin sus líneas: para verlas, obtener_presupuesto con su presupuestoId. clienteId: de consultar_clientes.',
  rest: ['GET /estimates'],
  alias: 'consultarPresupuestos',
  scope: 'svc.read',
  input: {
    ...optionalDates(),
    clienteId: id('client').optional().describe('Solo los de este cliente'),
    busqueda: text(200).optional().describe('Texto en el número, el concepto o los datos del cliente'),
    ...page(PAGE),
  },
  output: paged('total_presupuestos', 'presupuestos', estimateHeader),
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, clienteId, busqueda } = input;
    const lines = sql<{ base: number; lines: number }>`(
      select coalesce(sum(l.amount), 0) as base, count(*) as lines from estimate_lines l
      where l.account_id = d.account_id and l.estimate_id = d.id)`;
    const selected = db
      .selectFrom('estimates as d')
      .where('d.account_id', '=', accountId)
      .$if(fecha_inicio !== undefined, (q) => q.where('d.date', '>=', fecha_inicio ?? ''))
      .$if(fecha_fin !== undefined, (q) => q.where('d.date', '<=', fecha_fin ?? ''))
      .$if(clienteId !== undefined, (q) => q.where('d.client_id', '=', clienteId ?? 0))
      .$if(Boolean(busqueda), (q) => q.where('d.id', 'in', foundIn('estimates', accountId, busqueda ?? '')));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected
        .innerJoin('clients as c', (join) =>
          join.onRef('c.account_id', '=', 'd.account_id').onRef('c.id', '=', 'd.client_id'),
        )
        .innerJoinLateral(lines.as('l'), (join) => join.onTrue())
        .select([...HEADER_COLUMNS, 'l.base', 'l.lines'])
        .orderBy('d.date', 'desc')
        .orderBy('d.id', 'desc'),
      input,
    );
    return {
      total_presupuestos: total,
      ...pageOf(total, input),
      presupuestos: rows.map((row) => ({
        tipo: 'presupuesto' as const,
        presupuestoId: row.id,
        ...headerOf(row),
        num_lineas: row.lines,
      })),
    };
  },
});
