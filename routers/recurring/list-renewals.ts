import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { requiredDates } from '../shared/schemas.ts';
import { byPeriodicity, cents, clientName, fromCents, refuseLongRange } from './recurring.ts';
import { CYCLES, type Periodicity, renewalDates, type Schedule } from './renewal-dates.ts';

const totals = z.object({ num: z.int(), importe_total: z.number() });

interface RecurringRow extends Schedule {
  id: number;
  description: string;
  client_id: number;
  legal_name: string;
  amount: number;
  issued: number;
  issued_amount: number;
}

/** Forecast against issued renewals of a range. Amounts without VAT. REN-01..05 */
export const listRenewals = operation({
  title: 'Renovaciones de recurrentes',
  description:
    'Renovaciones previstas de los servicios recurrentes en un periodo (5 años como máximo) frente a las ya generadas como albaranes. Para altas nuevas usa consultar_recurrentes_creados.',
  rest: ['GET /recurring/renewals'],
  alias: 'consultarRecurrentesRenovaciones',
  scope: 'svc.read',
  planned: 'anew',
  input: requiredDates(),
  output: z.object({
    fecha_inicio: z.string(),
    fecha_fin: z.string(),
    renovaciones_previstas: totals,
    renovaciones_generadas: totals,
    por_periodicidad: z.record(
      z.string(),
      z.object({ periodicidad_dias: z.int(), previstas_num: z.int(), previstas_importe: z.number() }),
    ),
    recurrentes: z.array(
      z.object({
        recurrenteId: sealedId('recurring'),
        descripcion: z.string(),
        periodicidad: z.string(),
        periodicidad_dias: z.int(),
        importe_por_renovacion: z.number(),
        cliente: clientName,
        renovaciones_previstas: z.object({ num: z.int(), fechas: z.array(z.string()), importe_total: z.number() }),
        renovaciones_generadas: totals,
      }),
    ),
  }),
  async handler({ input: { fecha_inicio, fecha_fin }, db, accountId }) {
    const from = Temporal.PlainDate.from(fecha_inicio);
    const to = Temporal.PlainDate.from(fecha_fin);
    refuseLongRange(from, to);
    const { rows } = await sql<RecurringRow>`
      select r.id, r.description, r.client_id, c.legal_name, r.periodicity, r.created_on, r.start_date, r.end_date,
        r.last_invoiced_on, r.active_months, r.anchor_day, coalesce(l.amount, 0) as amount,
        coalesce(n.issued, 0) as issued, coalesce(n.amount, 0) as issued_amount
      from recurrings r
      join clients c on c.account_id = r.account_id and c.id = r.client_id
      left join (select recurring_id, sum(amount) as amount from recurring_lines
        where account_id = ${accountId} group by recurring_id) l on l.recurring_id = r.id
      left join (select n.recurring_id, count(distinct n.id) as issued, sum(l.amount) as amount
        from delivery_notes n left join delivery_note_lines l on l.account_id = n.account_id and l.delivery_note_id = n.id
        where n.account_id = ${accountId} and n.recurring_id is not null
          and n.date between ${fecha_inicio}::date and ${fecha_fin}::date
        group by n.recurring_id) n on n.recurring_id = r.id
      where r.account_id = ${accountId}
      order by r.description, r.id`.execute(db);

    const active = rows.flatMap((row) => {
      const dates = renewalDates(row, from, to);
      return dates.length > 0 || row.issued > 0 ? [{ ...row, dates, forecast: dates.length * cents(row.amount) }] : [];
    });
    const sum = (of: readonly (typeof active)[number][], figure: (row: (typeof active)[number]) => number) =>
      of.reduce((total, row) => total + figure(row), 0);
    return {
      fecha_inicio,
      fecha_fin,
      renovaciones_previstas: {
        num: sum(active, ({ dates }) => dates.length),
        importe_total: fromCents(sum(active, ({ forecast }) => forecast)),
      },
      renovaciones_generadas: {
        num: sum(active, ({ issued }) => issued),
        importe_total: fromCents(sum(active, ({ issued_amount }) => cents(issued_amount))),
      },
      por_periodicidad: Object.fromEntries(
        byPeriodicity<(typeof active)[number]>(active).map(({ name, periodicidad_dias, rows: group }) => [
          name,
          {
            periodicidad_dias,
            previstas_num: sum(group, ({ dates }) => dates.length),
            previstas_importe: fromCents(sum(group, ({ forecast }) => forecast)),
          },
        ]),
      ),
      recurrentes: active.map((row) => ({
        recurrenteId: row.id,
        descripcion: row.description,
        ...periodicityOf(row.periodicity),
        importe_por_renovacion: row.amount,
        cliente: { clienteId: row.client_id, nombre_fiscal: row.legal_name },
        renovaciones_previstas: {
          num: row.dates.length,
          fechas: row.dates,
          importe_total: fromCents(row.forecast),
        },
        renovaciones_generadas: { num: row.issued, importe_total: row.issued_amount },
      })),
    };
  },
});

const periodicityOf = (periodicity: Periodicity) => {
  const { name, periodicidad_dias } = CYCLES[periodicity];
  return { periodicidad: name, periodicidad_dias };
};
