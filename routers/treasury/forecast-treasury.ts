import { sql } from 'kysely';
import { z } from 'zod';
import { badField } from '../../platform/errors.ts';
import { inSlices } from '../../platform/slices.ts';
import { operation } from '../operation.ts';
import { countsToSettle } from '../shared/documents/due-dates.ts';
import { jsonArray, jsonRow } from '../shared/pages.ts';
import { countDue, dueCycles, schedules } from '../shared/renewals/issue-renewals.ts';
import { cents, fromCents, MAX_YEARS, refuseLongRange } from '../shared/renewals/recurring.ts';
import { requiredDates } from '../shared/schemas.ts';
import { arrayOf, decimalOf, shape, textOf } from '../shared/shape.ts';

/** As `date_trunc` calls it, the first day of the period of a day, and the period's name. */
const GROUPINGS = {
  mes: {
    unit: 'month',
    start: (day: Temporal.PlainDate) => day.with({ day: 1 }),
    name: (day: Temporal.PlainDate) => day.toPlainYearMonth().toString(),
  },
  // Weeks of ISO 8601, from Monday to Sunday.
  semana: {
    unit: 'week',
    start: (day: Temporal.PlainDate) => day.subtract({ days: day.dayOfWeek - 1 }),
    name: (day: Temporal.PlainDate) => `${digits(day.yearOfWeek, 4)}-W${digits(day.weekOfYear, 2)}`,
  },
} as const;

const digits = (number: number | undefined, length: number) => String(number).padStart(length, '0');

interface Period {
  /** Its first day, which may be before the range. */
  start: string;
  name: string;
  /** In cents. */
  renewals: number;
}

const period = shape({
  periodo: textOf('name'),
  movimientos: decimalOf('moved'),
  cobros: decimalOf('collections'),
  pagos: decimalOf('payments'),
  recurrentes: decimalOf('renewals'),
  saldo_final: decimalOf('balance'),
});

const forecast = shape({ saldo_inicial: decimalOf('initial'), periodos: arrayOf(period, 'periods') });

/**
 * The balance of all accounts, period by period. `saldo_inicial` is the balance at the start of `fecha_inicio`. Each `saldo_final`
 * is the one before it plus `movimientos` (the net of those dated in the period), `cobros` and `recurrentes`, less `pagos`. Amounts
 * with VAT, since that is what moves.
 *
 * `cobros` and `pagos` are what is left of due dates, and `recurrentes` the renewals that are still to be issued, each in the
 * period of its date. What is overdue counts as of today. What is expected before the range counts in its first period, so that
 * the balance of a day does not depend on the range. A range that ends before today has movements alone. Delivery notes that are
 * not invoiced count nowhere: they have no due date.
 */
export const forecastTreasury = operation({
  title: 'Previsión de tesorería',
  description:
    'Saldo previsto por mes o semana: saldo de partida, movimientos hechos, cobros y pagos pendientes (los atrasados cuentan hoy) y renovaciones de recurrentes, IVA incluido. El detalle, en consultar_vencimientos y consultar_recurrentes_renovaciones.',
  rest: ['GET /treasury/forecast'],
  alias: 'consultarPrevisionTesoreria',
  scope: 'svc.read',
  report: true,
  plan: 'custom',
  input: {
    ...requiredDates(),
    agrupar: z.enum(['semana', 'mes']).default('mes').describe('Semanas ISO, de lunes a domingo, o meses'),
  },
  output: forecast.schema,
  async handler({ input: { fecha_inicio, fecha_fin, agrupar }, db, accountId, today }) {
    const from = Temporal.PlainDate.from(fecha_inicio);
    const to = Temporal.PlainDate.from(fecha_fin);
    refuseLongRange(from, to);
    if (Temporal.PlainDate.compare(to, today.add({ years: MAX_YEARS })) > 0) {
      throw badField('fecha_fin', `la previsión llega como máximo a ${MAX_YEARS} años desde hoy`);
    }
    const { periods, periodOf } = periodsOf(agrupar, from, to);
    /** The first day that expected amounts fall on: today, or the start of the range where that is later. */
    const soonest = Temporal.PlainDate.compare(today, from) > 0 ? today : from;
    const earliest = soonest.toString();
    const { rows: recurrings } = await schedules(db, { accountId, today, until: to });
    const first = periodOf.get(earliest);
    await inSlices(first ? recurrings : [], (recurring) => {
      if (first) first.renewals += countDue(recurring, soonest) * cents(recurring.total);
      for (const cycle of dueCycles(recurring, to, soonest.add({ days: 1 }).toString())) {
        const period = periodOf.get(cycle);
        if (period) period.renewals += cents(recurring.total);
      }
    });

    const expected = sql`greatest(date, ${earliest}::date)`;
    return jsonRow(
      db,
      sql<typeof forecast.needs>`with flow as (
        select date as day, amount as moved, 0 as collected, 0 as paid from treasury_movements
          where account_id = ${accountId} and date between ${fecha_inicio}::date and ${fecha_fin}::date
        union all
        select ${expected}, 0, amount - paid, 0 from invoice_due_dates v
          where account_id = ${accountId} and date <= ${fecha_fin}::date and amount <> paid
            and ${countsToSettle(accountId, 'invoices')}
        union all
        select ${expected}, 0, 0, amount - paid from purchase_invoice_due_dates v
          where account_id = ${accountId} and date <= ${fecha_fin}::date and amount <> paid
            and ${countsToSettle(accountId, 'purchase_invoices')}),
      flows as (
        select date_trunc(${GROUPINGS[agrupar].unit}, day::timestamp)::date as start, sum(moved) as moved,
          sum(collected) as collected, sum(paid) as paid
        from flow where day <= ${fecha_fin}::date group by 1),
      opening as (
        select (select coalesce(sum(opening_balance), 0) from treasury_accounts where account_id = ${accountId})
          + (select coalesce(sum(amount), 0) from treasury_movements
            where account_id = ${accountId} and date < ${fecha_inicio}::date) as initial),
      period as (
        select p.start, p.name, p.renewals, coalesce(f.moved, 0) as moved, coalesce(f.collected, 0) as collections,
          coalesce(f.paid, 0) as payments
        from unnest(${periods.map(({ start }) => start)}::date[], ${periods.map(({ name }) => name)}::text[],
          ${periods.map(({ renewals }) => fromCents(renewals))}::numeric[]) as p (start, name, renewals)
        left join flows f on f.start = p.start)
      select initial, ${jsonArray(
        sql<typeof period.needs>`
          select *, initial + sum(moved + collections - payments + renewals) over (order by start) as balance
          from period order by start`,
        period,
      )} as periods
      from opening`,
      forecast,
    );
  },
});

/** Every period that the range touches, in order, and the one of each day. */
function periodsOf(grouping: keyof typeof GROUPINGS, from: Temporal.PlainDate, to: Temporal.PlainDate) {
  const { start, name } = GROUPINGS[grouping];
  const periods: Period[] = [];
  const periodOf = new Map<string, Period>();
  for (let day = from; Temporal.PlainDate.compare(day, to) <= 0; day = day.add({ days: 1 })) {
    const first = start(day).toString();
    let period = periods.at(-1);
    if (period?.start !== first) {
      period = { start: first, name: name(day), renewals: 0 };
      periods.push(period);
    }
    periodOf.set(day.toString(), period);
  }
  return { periods, periodOf };
}
