import { sql } from 'kysely';
import { z } from 'zod';
import { JsonText, jsonObject, listOfTexts, withMore } from '../../platform/json-text.ts';
import { containing } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { folded } from '../shared/folded.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { pageOf } from '../shared/pages.ts';
import { changedSince, limit, offset, PAGE, page, paged, text } from '../shared/schemas.ts';
import { plainOf, shape } from '../shared/shape.ts';
import { amountOf, comingOf, recurring, toCome } from './recurring.ts';

const service = shape({
  ...recurring,
  fecha_inicio: plainOf('r.start_date').orNull(),
  fecha_caducidad: plainOf('r.end_date').orNull(),
});

const order = orderOf('r', 'description', 'id');

/** The recurring services by description, with the renewals that are to come. Amounts without VAT. PAG-02, REN-02, ISS-01 */
export const listRecurrings = operation({
  title: 'Recurrentes',
  description:
    'Servicios recurrentes, por descripción, con sus ciclos vencidos sin emitir y la próxima renovación. Da el recurrenteId. clienteId: de consultar_clientes.',
  rest: ['GET /recurring-invoices'],
  alias: 'consultarRecurrentes',
  scope: 'svc.read',
  input: {
    busqueda: text(200).optional().describe('En descripción o cliente'),
    clienteId: id('client').optional().describe('Solo los de este cliente'),
    vigentes: z.boolean().optional().describe('true: sin caducar; false: caducados'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: paged('total_recurrentes', 'recurrentes', service.schema.extend(toCome)),
  async handler({ input, db, accountId, principal: { timeZone }, today }) {
    const { busqueda, clienteId, vigentes } = input;
    const pattern = busqueda && containing(busqueda);
    const since = changedIn('r', input.modificado_desde, timeZone);
    const of = sql`r.account_id = ${accountId}
      ${clienteId === undefined ? sql`` : sql`and r.client_id = ${clienteId}`}
      ${vigentes === undefined ? sql`` : sql`and (r.end_date is null or r.end_date >= ${today.toString()}::date) = ${vigentes}`}
      ${pattern ? sql`and (${folded(sql`r.description`)} like ${pattern} or c.search like ${pattern})` : sql``}
      ${since ? sql`and ${since}` : sql``}`;
    const from = sql`recurrings r join clients c on c.account_id = ${accountId} and c.id = r.client_id where ${of}`;
    const [{ rows }, { rows: totals }] = await Promise.all([
      sql<{ id: number; text: string }>`
        select ${sql.join(order.selected.map((key) => sql.ref(key)))}, x.id, ${service.json('x')} as text
        from (
          select ${sql.join(order.keys)}, ${service.selected}, ${amountOf(accountId)} as amount from ${from}
          ${order.andAfter(input)} order by ${order.by} limit ${limit(input)} offset ${offset(input)}) x
        order by x.description, x.id`.execute(db),
      sql<{ total: number }>`select count(*)::int as total from ${from}`.execute(db),
    ]);
    const total = totals[0]?.total ?? 0;
    const { rows: ofPage, counters } = pageOf(order, input, total, rows);
    const ids = ofPage.map((row) => row.id);
    const coming = await comingOf(db, accountId, today, ids);
    const shown = ofPage.flatMap((row) => {
      const next = coming.get(row.id);
      return next ? [withMore(new JsonText<z.input<typeof service.schema>>(row.text), next)] : [];
    });
    return jsonObject({ total_recurrentes: total, ...counters, recurrentes: listOfTexts(shown) });
  },
});
