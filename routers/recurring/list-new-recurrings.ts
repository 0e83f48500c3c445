import { sql } from 'kysely';
import { z } from 'zod';
import { JsonText, jsonObject, listOfTexts } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { byPeriodicity, cents, clientName, fromCents } from '../shared/renewals/recurring.ts';
import type { Periodicity } from '../shared/renewals/renewal-dates.ts';
import { requiredDates } from '../shared/schemas.ts';
import { decimalOf, idOf, plainOf, shape, textOf } from '../shared/shape.ts';

const recurring = shape({
  recurrenteId: idOf('recurring', 'id'),
  descripcion: textOf('description'),
  importe: decimalOf('amount'),
  fecha_creacion: plainOf('created_on'),
  fecha_inicio: plainOf('start_date').orNull(),
  fecha_caducidad: plainOf('end_date').orNull(),
  cliente: clientName,
});

interface RecurringRow {
  periodicity: Periodicity;
  amount: number;
  /** The text that a caller gets. */
  shown: string;
}

/** Recurring services registered in a range, by periodicity. Amounts are of one cycle, without VAT. NEW-01 */
export const listNewRecurrings = operation({
  title: 'Recurrentes creados',
  description:
    'Recurrentes dados de alta en un periodo, por periodicidad, con el importe de un ciclo. Para lo que renueva usa consultar_recurrentes_renovaciones.',
  rest: ['GET /recurring/new'],
  alias: 'consultarRecurrentesCreados',
  scope: 'svc.read',
  input: requiredDates(),
  output: z.object({
    fecha_inicio: z.string(),
    fecha_fin: z.string(),
    num_recurrentes: z.int(),
    importe_total: z.number(),
    por_periodicidad: z.record(
      z.string(),
      z.object({
        periodicidad_dias: z.int(),
        num: z.int(),
        importe_total: z.number(),
        recurrentes: z.array(recurring.schema),
      }),
    ),
  }),
  async handler({ input: { fecha_inicio, fecha_fin }, db, accountId }) {
    // Without the OFFSET, PostgreSQL would sum the lines once for each place that names their sum.
    const { rows } = await sql<RecurringRow>`
      select x.periodicity, x.amount, ${recurring.json('x')} as shown
      from (
        select r.id, r.description, r.periodicity, r.created_on, r.start_date, r.end_date, r.client_id, c.legal_name,
          (select coalesce(sum(l.amount), 0) from recurring_lines l
            where l.account_id = ${accountId} and l.recurring_id = r.id) as amount
        from recurrings r join clients c on c.account_id = ${accountId} and c.id = r.client_id
        where r.account_id = ${accountId} and r.created_on between ${fecha_inicio}::date and ${fecha_fin}::date
        offset 0) x
      order by x.description, x.id`.execute(db);
    const total = (of: readonly RecurringRow[]) => fromCents(of.reduce((sum, { amount }) => sum + cents(amount), 0));
    const groups = byPeriodicity<RecurringRow>(rows).map(({ name, periodicidad_dias, rows: group }) => [
      name,
      jsonObject({
        periodicidad_dias,
        num: group.length,
        importe_total: total(group),
        recurrentes: listOfTexts(group.map(({ shown }) => new JsonText<z.input<typeof recurring.schema>>(shown))),
      }),
    ]);
    return jsonObject({
      fecha_inicio,
      fecha_fin,
      num_recurrentes: rows.length,
      importe_total: total(rows),
      por_periodicidad: jsonObject(Object.fromEntries(groups)),
    });
  },
});
