import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { documentHeader, issuedParty } from '../shared/documents/sale-document.ts';
import { baseOf, counts, FOUND, foundIn, isOfProject, wanted } from '../shared/documents/selection.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, optionalDates, PAGE, page, text } from '../shared/schemas.ts';
import { decimalOf, flagOf, idOf, shape } from '../shared/shape.ts';
import { isInvoiced, showsInvoiced } from './invoice.ts';

const sums = shape({ suma_base: decimalOf('base') });
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
  orderOf('d', 'date desc', 'id desc'),
  sums.schema.shape,
);

/**
 * Sale delivery notes, newest first; a project's are those with it and those with a line of it. `suma_base` is of all that are selected
 * and were not annulled. MON-01, PAG-02
 */
export const listDeliveryNotes = operation({
  title: 'Albaranes',
  description:
    'Albaranes de venta, del más reciente al más antiguo, facturados o no; sus líneas, con obtener_albaran. clienteId: de consultar_clientes; proyectoId: de consultar_proyectos.',
  rest: ['GET /delivery-notes'],
  alias: 'consultarAlbaranes',
  scope: 'svc.read',
  plan: 'custom',
  input: {
    ...optionalDates(),
    clienteId: id('client').optional().describe('Solo los de este cliente'),
    proyectoId: id('project').optional().describe('De este proyecto o con líneas suyas'),
    facturado: z.boolean().optional().describe('false: solo por facturar'),
    numero: text(100).optional().describe('Exacto'),
    busqueda: text(200).optional().describe('En número, concepto o datos del cliente'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: deliveryNotes.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio, fecha_fin, clienteId, proyectoId, facturado, numero, busqueda } = input;
    const invoiced = isInvoiced(accountId, sql<number>`d.id`);
    const found = busqueda ? foundIn('delivery_notes', accountId, busqueda) : undefined;
    const selected = db
      .selectFrom('delivery_notes as d')
      .where('d.account_id', '=', accountId)
      .$call(when(changedIn('d', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(fecha_inicio, (q, from) => q.where('d.date', '>=', from)))
      .$call(when(fecha_fin, (q, to) => q.where('d.date', '<=', to)))
      .$call(when(clienteId, (q, client) => q.where('d.client_id', '=', client)))
      .$call(when(proyectoId, (q, project) => q.where(isOfProject('delivery_notes', accountId, project))))
      .$call(when(numero, (q, number) => q.where('d.number', '=', number)))
      .$call(when(found, (q) => q.where('d.id', 'in', FOUND)))
      .$call(when(facturado, (q, asked) => q.where(sql<boolean>`${invoiced} = ${asked}`)))
      // One that was annulled is not to be invoiced.
      .$if(facturado === false, (q) => q.where('d.annulled_at', 'is', null));
    return deliveryNotes.read(db, input, {
      ...wanted(selected.select(['d.id', counts]), found),
      sums: { rows: baseOf('delivery_notes', accountId), row: sums },
      rows: selected
        .innerJoin('clients as c', (join) =>
          join.onRef('c.account_id', '=', 'd.account_id').onRef('c.id', '=', 'd.client_id'),
        )
        .select(deliveryNotes.columns)
        .select(issuedParty)
        .select(showsInvoiced(accountId, sql<number>`d.id`).as('invoiced'))
        .select(sql<boolean>`d.annulled_at is not null`.as('annulled'))
        .select((eb) =>
          eb
            .selectFrom('delivery_note_lines as l')
            .select(sql<number>`coalesce(sum(l.amount), 0)`.as('base'))
            .where('l.account_id', '=', accountId)
            .whereRef('l.delivery_note_id', '=', 'd.id')
            .as('base'),
        ),
    });
  },
});
