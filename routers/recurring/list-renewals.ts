import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { AnswerTooLong } from '../../platform/errors.ts';
import { JsonText, jsonObject, LONGEST_ANSWER, listOfTexts, withMore } from '../../platform/json-text.ts';
import { inSlices } from '../../platform/slices.ts';
import { operation } from '../operation.ts';
import { orderOf } from '../shared/order.ts';
import { pageOf } from '../shared/pages.ts';
import { byPeriodicity, cents, fromCents, refuseLongRange } from '../shared/renewals/recurring.ts';
import { countRenewals, renewalDates, type Schedule } from '../shared/renewals/renewal-dates.ts';
import { page, paged, requiredDates, WHOLE_PAGE } from '../shared/schemas.ts';
import { shape } from '../shared/shape.ts';
import { recurring } from './recurring.ts';

const totals = z.object({ num: z.int(), importe_total: z.number() });

/** What the renewals of a range don't change. */
const service = shape(recurring);

const renewed = service.schema.extend({
  renovaciones_previstas: z.object({ num: z.int(), fechas: z.array(z.string()), importe_total: z.number() }),
  renovaciones_generadas: totals,
});

interface RecurringRow extends Schedule {
  id: number;
  amount: number;
  issued: number;
  issued_amount: number;
  /** Whether it comes after the page before. */
  after: boolean;
}

/** One that has a renewal in the range, forecast or issued. */
interface ActiveRow extends RecurringRow {
  /** Forecast renewals. */
  num: number;
  /** What they come to, in cents. */
  forecast: number;
}

const order = orderOf('r', 'description', 'id');

const DATE_BYTES = '"2026-01-31",'.length;

/**
 * The forecast and the issued renewals of a range: totals of all, and a page of the recurring services that have any. Amounts
 * without VAT. REN-01..05, PAG-02
 */
export const listRenewals = operation({
  title: 'Renovaciones de recurrentes',
  description:
    'Renovaciones previstas en un periodo (5 años como máximo) frente a las ya generadas como albaranes. Para altas nuevas usa consultar_recurrentes_creados.',
  rest: ['GET /recurring/renewals'],
  alias: 'consultarRecurrentesRenovaciones',
  scope: 'svc.read',
  report: true,
  plan: 'custom',
  input: { ...requiredDates(), ...page(WHOLE_PAGE) },
  output: z.object({
    fecha_inicio: z.string(),
    fecha_fin: z.string(),
    renovaciones_previstas: totals,
    renovaciones_generadas: totals,
    por_periodicidad: z.record(
      z.string(),
      z.object({ periodicidad_dias: z.int(), previstas_num: z.int(), previstas_importe: z.number() }),
    ),
    ...paged('total_recurrentes', 'recurrentes', renewed).shape,
  }),
  async handler({ input, db, accountId }) {
    const { fecha_inicio, fecha_fin } = input;
    const from = Temporal.PlainDate.from(fecha_inicio);
    const to = Temporal.PlainDate.from(fecha_fin);
    refuseLongRange(from, to);
    const { rows } = await sql<RecurringRow>`
      select ${sql.join(order.keys)}, ${order.after(input) ?? sql`true`} as after, r.id, r.periodicity, r.created_on, r.start_date, r.end_date, r.last_invoiced_on, r.active_months, r.anchor_day,
        coalesce(l.amount, 0) as amount, coalesce(n.issued, 0) as issued, coalesce(n.amount, 0) as issued_amount
      from recurrings r
      left join (select recurring_id, sum(amount) as amount from recurring_lines
        where account_id = ${accountId} group by recurring_id) l on l.recurring_id = r.id
      left join (select n.recurring_id, count(distinct n.id) as issued, sum(l.amount) as amount
        from delivery_notes n left join delivery_note_lines l on l.account_id = ${accountId} and l.delivery_note_id = n.id
        where n.account_id = ${accountId} and n.recurring_id is not null and n.annulled_at is null
          and n.date between ${fecha_inicio}::date and ${fecha_fin}::date
        group by n.recurring_id) n on n.recurring_id = r.id
      where r.account_id = ${accountId}
      order by ${order.by}`.execute(db);

    const active: ActiveRow[] = [];
    await inSlices(rows, (row) => {
      const num = countRenewals(row, from, to);
      if (num > 0 || row.issued > 0) active.push({ ...row, num, forecast: num * cents(row.amount) });
    });
    const sum = (of: readonly ActiveRow[], figure: (row: ActiveRow) => number) =>
      of.reduce((total, row) => total + figure(row), 0);
    const left = active.filter(({ after }) => after).slice((input.pagina - 1) * input.por_pagina);
    const { rows: ofPage, counters } = pageOf(order, input, active.length, left);
    // The dates alone would be too long: the answer is refused before it is made.
    if (sum(ofPage, ({ num }) => num) * DATE_BYTES > LONGEST_ANSWER) throw new AnswerTooLong();
    const texts = await textsOf(db, accountId, ofPage);
    const shown: JsonText<z.input<typeof renewed>>[] = [];
    await inSlices(ofPage, (row) => {
      const text = texts.get(row.id);
      if (text) shown.push(withRenewals(text, row, from, to));
    });
    return jsonObject({
      fecha_inicio,
      fecha_fin,
      renovaciones_previstas: {
        num: sum(active, ({ num }) => num),
        importe_total: fromCents(sum(active, ({ forecast }) => forecast)),
      },
      renovaciones_generadas: {
        num: sum(active, ({ issued }) => issued),
        importe_total: fromCents(sum(active, ({ issued_amount }) => cents(issued_amount))),
      },
      por_periodicidad: Object.fromEntries(
        byPeriodicity<ActiveRow>(active).map(({ name, periodicidad_dias, rows: group }) => [
          name,
          {
            periodicidad_dias,
            previstas_num: sum(group, ({ num }) => num),
            previstas_importe: fromCents(sum(group, ({ forecast }) => forecast)),
          },
        ]),
      ),
      total_recurrentes: active.length,
      ...counters,
      recurrentes: listOfTexts(shown),
    });
  },
});

/** The text of `service` for each of these, by its number: written for those that are shown, since a company may have thousands. */
async function textsOf(db: Db, accountId: number, rows: readonly RecurringRow[]) {
  const { rows: texts } = await sql<{ id: number; text: string }>`
    select x.id, ${service.json('x')} as text
    from (
      select r.id, r.description, r.periodicity, r.client_id, c.legal_name, (
        select coalesce(sum(l.amount), 0) from recurring_lines l
        where l.account_id = ${accountId} and l.recurring_id = r.id) as amount
      from recurrings r join clients c on c.account_id = ${accountId} and c.id = r.client_id
      where r.account_id = ${accountId} and r.id = any(${rows.map(({ id }) => id)}::bigint[])) x`.execute(db);
  return new Map(texts.map(({ id, text }) => [id, new JsonText<z.input<typeof service.schema>>(text)]));
}

/** One with its renewals. */
const withRenewals = (
  text: JsonText<z.input<typeof service.schema>>,
  row: ActiveRow,
  from: Temporal.PlainDate,
  to: Temporal.PlainDate,
) =>
  withMore(text, {
    renovaciones_previstas: {
      num: row.num,
      fechas: renewalDates(row, from, to),
      importe_total: fromCents(row.forecast),
    },
    renovaciones_generadas: { num: row.issued, importe_total: row.issued_amount },
  });
