import { sql } from 'kysely';
import { z } from 'zod';
import { badField } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { dueCycles, schedules } from '../recurring/issue-renewals.ts';
import { cents, fromCents, MAX_YEARS, refuseLongRange } from '../recurring/recurring.ts';
import { requiredDates } from '../shared/schemas.ts';

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
  /** Its first day, be it in the range or before. */
  start: string;
  name: string;
  /** In cents. */
  renewals: number;
}

interface PeriodRow {
  initial: number;
  moved: number;
  collections: number;
  payments: number;
  renewals: number;
  balance: number;
}

/**
 * The balance of all accounts, period by period. `saldo_inicial` is that of the start of `fecha_inicio`; each `saldo_final`
 * adds to the one before it `movimientos` (those dated in the period, net: what has already happened), `cobros` and
 * `recurrentes`, and takes off `pagos`. Amounts with VAT, since that is what moves.
 *
 * `cobros` and `pagos` are what is left of due dates, and `recurrentes` the renewals that are still to be issued, each in the
 * period of its date. What is overdue of them is still to come, so it counts as of today; and what is to come before the range
 * falls in its first period, so that the balance of a day is the same whatever range it is seen in. A range that ends before
 * today holds movements alone. A delivery note that is not invoiced yet is in none of these: no date says when it is paid.
 */
export const forecastTreasury = operation({
  title: 'Previsión de tesorería',
  description:
    'Saldo previsto por mes o semana: saldo de partida, movimientos hechos, cobros y pagos pendientes (los atrasados cuentan hoy) y renovaciones de recurrentes, IVA incluido. El detalle, en consultar_vencimientos y consultar_recurrentes_renovaciones.',
  rest: ['GET /treasury/forecast'],
  alias: 'consultarPrevisionTesoreria',
  scope: 'svc.read',
  planned: 'anew',
  input: {
    ...requiredDates(),
    agrupar: z.enum(['semana', 'mes']).default('mes').describe('Semanas ISO, de lunes a domingo, o meses'),
  },
  output: z.object({
    saldo_inicial: z.number(),
    periodos: z.array(
      z.object({
        periodo: z.string(),
        movimientos: z.number(),
        cobros: z.number(),
        pagos: z.number(),
        recurrentes: z.number(),
        saldo_final: z.number(),
      }),
    ),
  }),
  async handler({ input: { fecha_inicio, fecha_fin, agrupar }, db, accountId, today }) {
    const from = Temporal.PlainDate.from(fecha_inicio);
    const to = Temporal.PlainDate.from(fecha_fin);
    refuseLongRange(from, to);
    if (Temporal.PlainDate.compare(to, today.add({ years: MAX_YEARS })) > 0) {
      throw badField('fecha_fin', `la previsión llega como máximo a ${MAX_YEARS} años desde hoy`);
    }
    const { periods, periodOf } = periodsOf(agrupar, from, to);
    /** What is to come is not before today, nor before the range. */
    const earliest = today.toString() > fecha_inicio ? today.toString() : fecha_inicio;
    const { rows: recurrings } = await schedules(db, { accountId, today, until: to });
    for (const recurring of recurrings) {
      for (const cycle of dueCycles(recurring, to)) {
        const period = periodOf.get(cycle > earliest ? cycle : earliest);
        if (period) period.renewals += cents(recurring.total);
      }
    }

    const expected = sql`greatest(date, ${earliest}::date)`;
    const { rows } = await sql<PeriodRow>`
      with flow as (
        select date as day, amount as moved, 0 as collected, 0 as paid from treasury_movements
          where account_id = ${accountId} and date between ${fecha_inicio}::date and ${fecha_fin}::date
        union all
        select ${expected}, 0, amount - paid, 0 from invoice_due_dates
          where account_id = ${accountId} and date <= ${fecha_fin}::date and amount <> paid
        union all
        select ${expected}, 0, 0, amount - paid from purchase_invoice_due_dates
          where account_id = ${accountId} and date <= ${fecha_fin}::date and amount <> paid),
      flows as (
        select date_trunc(${GROUPINGS[agrupar].unit}, day::timestamp)::date as start, sum(moved) as moved,
          sum(collected) as collected, sum(paid) as paid
        from flow where day <= ${fecha_fin}::date group by 1),
      period as (
        select p.start, coalesce(f.moved, 0) as moved, coalesce(f.collected, 0) as collections,
          coalesce(f.paid, 0) as payments, p.renewals
        from unnest(${periods.map((period) => period.start)}::date[],
          ${periods.map((period) => fromCents(period.renewals))}::numeric[]) as p (start, renewals)
        left join flows f on f.start = p.start),
      opening as (
        select (select coalesce(sum(opening_balance), 0) from treasury_accounts where account_id = ${accountId})
          + (select coalesce(sum(amount), 0) from treasury_movements
            where account_id = ${accountId} and date < ${fecha_inicio}::date) as initial)
      select initial, moved, collections, payments, renewals,
        initial + sum(moved + collections - payments + renewals) over (order by start) as balance
      from period cross join opening
      order by start`.execute(db);
    return {
      saldo_inicial: rows[0]?.initial ?? 0,
      periodos: rows.map((row, index) => ({
        periodo: periods[index]?.name ?? '',
        movimientos: row.moved,
        cobros: row.collections,
        pagos: row.payments,
        recurrentes: row.renewals,
        saldo_final: row.balance,
      })),
    };
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
