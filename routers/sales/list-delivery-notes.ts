import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { documentHeader } from '../shared/documents/sale-document.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { listOf } from '../shared/pages.ts';
import { optionalDates, PAGE, page } from '../shared/schemas.ts';
import { flagOf, idOf, shape } from '../shared/shape.ts';
import { isInvoiced, showsInvoiced } from './invoice.ts';

const deliveryNotes = listOf(
  'total_albaranes',
  'documentos',
  shape({
    albaranId: idOf('deliveryNote', 'd.id'),
    ...documentHeader,
    proyectoId: idOf('project', 'd.project_id').orNull(),
    revisado: flagOf('d.reviewed'),
    facturado: flagOf('invoiced'),
    anulado: flagOf('annulled'),
  }),
);

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
    facturado: z.boolean().optional().describe('true: solo facturados; false: solo por facturar'),
    ...page(PAGE),
  },
  output: deliveryNotes.schema,
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin, clienteId, proyectoId, facturado } = input;
    const invoiced = isInvoiced(accountId, sql<number>`d.id`);
    const notesWithLinesOf = (project: number) =>
      db
        .selectFrom('delivery_note_lines')
        .select('delivery_note_id')
        .where('account_id', '=', accountId)
        .where('project_id', '=', project);
    const selected = db
      .selectFrom('delivery_notes as d')
      .where('d.account_id', '=', accountId)
      .$call(when(fecha_inicio, (q, from) => q.where('d.date', '>=', from)))
      .$call(when(fecha_fin, (q, to) => q.where('d.date', '<=', to)))
      .$call(when(clienteId, (q, client) => q.where('d.client_id', '=', client)))
      .$call(
        when(proyectoId, (q, project) =>
          q.where((eb) => eb.or([eb('d.project_id', '=', project), eb('d.id', 'in', notesWithLinesOf(project))])),
        ),
      )
      .$call(when(facturado, (q, wanted) => q.where(sql<boolean>`${invoiced} = ${wanted}`)))
      // One that was annulled is not to be invoiced.
      .$if(facturado === false, (q) => q.where('d.annulled_at', 'is', null));
    return deliveryNotes.read(db, input, {
      selected,
      rows: selected
        .innerJoin('clients as c', (join) =>
          join.onRef('c.account_id', '=', 'd.account_id').onRef('c.id', '=', 'd.client_id'),
        )
        .select(deliveryNotes.columns)
        .select(showsInvoiced(accountId, sql<number>`d.id`).as('invoiced'))
        .select(sql<boolean>`d.annulled_at is not null`.as('annulled'))
        .select((eb) =>
          eb
            .selectFrom('delivery_note_lines as l')
            .select(sql<number>`coalesce(sum(l.amount), 0)`.as('base'))
            .where('l.account_id', '=', accountId)
            .whereRef('l.delivery_note_id', '=', 'd.id')
            .as('base'),
        )
        .orderBy('d.date', 'desc')
        .orderBy('d.id', 'desc'),
    });
  },
});
