import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { pageOfRows } from '../shared/rows.ts';
import { optionalDates, PAGE, page, paged, pageOf } from '../shared/schemas.ts';
import { isInvoiced, showsInvoiced } from './invoice.ts';
import { documentHeader, HEADER_COLUMNS, headerOf } from './sale-document.ts';

const deliveryNote = z.object({
  albaranId: sealedId('deliveryNote'),
  ...documentHeader,
  proyectoId: sealedId('project').nullable(),
  revisado: z.boolean(),
  facturado: z.boolean(),
});

/** Sale delivery notes, newest first; a project's are those with it and those with a line of it. MON-01, PAG-02 */
export const listDeliveryNotes = operation({
  title: 'Albaranes',
  description:
    'Albaranes de venta, del más reciente al más antiguo, facturados o no; sus líneas, con obtener_albaran. clienteId: de consultar_clientes; proyectoId: de consultar_proyectos.',
  rest: ['GET /delivery-notes'],
  alias: 'consultarAlbaranes',
  scope: 'svc.read',
  input: {
    ...optionalDates(),
    clienteId: id('client').optional().describe('Solo los de este cliente'),
    proyectoId: id('project').optional().describe('Solo los de este proyecto o con líneas suyas'),
    facturado: z.boolean().optional().describe('true: solo facturados; false: solo sin facturar'),
    ...page(PAGE),
  },
  output: paged('total_albaranes', 'documentos', deliveryNote),
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, clienteId, proyectoId, facturado } = input;
    const invoiced = isInvoiced(accountId, sql<number>`d.id`);
    const ofProject = db
      .selectFrom('delivery_note_lines')
      .select('delivery_note_id')
      .where('account_id', '=', accountId)
      .where('project_id', '=', proyectoId ?? 0);
    const selected = db
      .selectFrom('delivery_notes as d')
      .where('d.account_id', '=', accountId)
      .$if(fecha_inicio !== undefined, (q) => q.where('d.date', '>=', fecha_inicio ?? ''))
      .$if(fecha_fin !== undefined, (q) => q.where('d.date', '<=', fecha_fin ?? ''))
      .$if(clienteId !== undefined, (q) => q.where('d.client_id', '=', clienteId ?? 0))
      .$if(proyectoId !== undefined, (q) =>
        q.where((eb) => eb.or([eb('d.project_id', '=', proyectoId ?? 0), eb('d.id', 'in', ofProject)])),
      )
      .$if(facturado !== undefined, (q) => q.where(sql<boolean>`${invoiced} = ${facturado ?? false}`));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected
        .innerJoin('clients as c', (join) =>
          join.onRef('c.account_id', '=', 'd.account_id').onRef('c.id', '=', 'd.client_id'),
        )
        .select([...HEADER_COLUMNS, 'd.project_id', 'd.reviewed'])
        .select(showsInvoiced(accountId, sql<number>`d.id`).as('invoiced'))
        .select((eb) =>
          eb
            .selectFrom('delivery_note_lines as l')
            .select(sql<number>`coalesce(sum(l.amount), 0)`.as('base'))
            .whereRef('l.account_id', '=', 'd.account_id')
            .whereRef('l.delivery_note_id', '=', 'd.id')
            .as('base'),
        )
        .orderBy('d.date', 'desc')
        .orderBy('d.id', 'desc'),
      input,
    );
    return {
      total_albaranes: total,
      ...pageOf(total, input),
      documentos: rows.map((row) => ({
        albaranId: row.id,
        ...headerOf(row),
        proyectoId: row.project_id,
        revisado: row.reviewed,
        facturado: row.invoiced,
      })),
    };
  },
});
