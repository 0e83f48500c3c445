import { sql } from 'kysely';
import { z } from 'zod';
import { AnswerTooLong } from '../../platform/errors.ts';
import { JsonText, jsonObject, LONGEST_ANSWER, listOfTexts, withMore } from '../../platform/json-text.ts';
import { inSlices } from '../../platform/slices.ts';
import { operation } from '../operation.ts';
import { byPeriodicity, cents, clientName, fromCents, refuseLongRange } from '../shared/renewals/recurring.ts';
import {
  CYCLES,
  countRenewals,
  type Periodicity,
  renewalDates,
  type Schedule,
} from '../shared/renewals/renewal-dates.ts';
import { page, paged, pageOf, requiredDates, WHOLE_PAGE } from '../shared/schemas.ts';
import { decimalOf, fieldOf, idOf, shape, textOf } from '../shared/shape.ts';

/** What a periodicity is called, or lasts. */
const ofCycle = <Schema extends z.ZodType>(
  schema: Schema,
  of: (cycle: (typeof CYCLES)[Periodicity]) => string | number,
) => {
  const cases = Object.entries(CYCLES).map(([stored, cycle]) => `when '${stored}' then '${JSON.stringify(of(cycle))}'`);
  return fieldOf<Periodicity>()(schema, 'periodicity', (column) => `case ${column} ${cases.join(' ')} end`);
};

const totals = z.object({ num: z.int(), importe_total: z.number() });

/** Of a recurring service, what its renewals in a range don't change. */
const recurring = shape({
  recurrenteId: idOf('recurring', 'id'),
  descripcion: textOf('description'),
  periodicidad: ofCycle(z.string(), ({ name }) => name),
  periodicidad_dias: ofCycle(z.int(), ({ periodicidad_dias }) => periodicidad_dias),
  importe_por_renovacion: decimalOf('amount'),
  cliente: clientName,
});

const renewed = recurring.schema.extend({
  renovaciones_previstas: z.object({ num: z.int(), fechas: z.array(z.string()), importe_total: z.number() }),
  renovaciones_generadas: totals,
});

interface RecurringRow extends Schedule {
  amount: number;
  issued: number;
  issued_amount: number;
  /** The text of `recurring`. */
  shown: string;
}

/** One that has a renewal in the range, forecast or issued. */
interface ActiveRow extends RecurringRow {
  /** Forecast renewals. */
  num: number;
  /** What they come to, in cents. */
  forecast: number;
}

const DATE_BYTES = '"2026-01-31",'.length;

/**
 * The forecast and the issued renewals of a range: totals of all, and a page of the recurring services that have any. Amounts
 * without VAT. REN-01..05, PAG-02
 */
export const listRenewals = operation({
  title: 'Renovaciones de recurrentes',
  description:
    'Renovaciones previstas de los servicios recurrentes en un periodo (5 años como máximo) frente a las ya generadas como albaranes. Para altas nuevas usa consultar_recurrentes_creados.',
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
      select x.periodicity, x.created_on, x.start_date, x.end_date, x.last_invoiced_on, x.active_months, x.anchor_day,
        x.amount, x.issued, x.issued_amount, ${recurring.json('x')} as shown
      from (
        select r.*, c.legal_name, coalesce(l.amount, 0) as amount, coalesce(n.issued, 0) as issued,
          coalesce(n.amount, 0) as issued_amount
        from recurrings r
        join clients c on c.account_id = ${accountId} and c.id = r.client_id
        left join (select recurring_id, sum(amount) as amount from recurring_lines
          where account_id = ${accountId} group by recurring_id) l on l.recurring_id = r.id
        left join (select n.recurring_id, count(distinct n.id) as issued, sum(l.amount) as amount
          from delivery_notes n left join delivery_note_lines l on l.account_id = ${accountId} and l.delivery_note_id = n.id
          where n.account_id = ${accountId} and n.recurring_id is not null
            and n.date between ${fecha_inicio}::date and ${fecha_fin}::date
          group by n.recurring_id) n on n.recurring_id = r.id
        where r.account_id = ${accountId}) x
      order by x.description, x.id`.execute(db);

    const active: ActiveRow[] = [];
    await inSlices(rows, (row) => {
      const num = countRenewals(row, from, to);
      if (num > 0 || row.issued > 0) active.push({ ...row, num, forecast: num * cents(row.amount) });
    });
    const sum = (of: readonly ActiveRow[], figure: (row: ActiveRow) => number) =>
      of.reduce((total, row) => total + figure(row), 0);
    const ofPage = active.slice((input.pagina - 1) * input.por_pagina, input.pagina * input.por_pagina);
    // The dates alone would be too long: the answer is refused before it is made.
    if (sum(ofPage, ({ num }) => num) * DATE_BYTES > LONGEST_ANSWER) throw new AnswerTooLong();
    const shown: JsonText<z.input<typeof renewed>>[] = [];
    await inSlices(ofPage, (row) => shown.push(withRenewals(row, from, to)));
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
      ...pageOf(active.length, input),
      recurrentes: listOfTexts(shown),
    });
  },
});

/** One with its renewals. */
const withRenewals = (row: ActiveRow, from: Temporal.PlainDate, to: Temporal.PlainDate) =>
  withMore(new JsonText<z.input<typeof recurring.schema>>(row.shown), {
    renovaciones_previstas: {
      num: row.num,
      fechas: renewalDates(row, from, to),
      importe_total: fromCents(row.forecast),
    },
    renovaciones_generadas: { num: row.issued, importe_total: row.issued_amount },
  });
