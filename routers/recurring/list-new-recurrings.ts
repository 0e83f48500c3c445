import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { requiredDates } from '../shared/schemas.ts';
import { byPeriodicity, cents, clientName, fromCents } from './recurring.ts';
import type { Periodicity } from './renewal-dates.ts';

interface RecurringRow {
  id: number;
  description: string;
  periodicity: Periodicity;
  created_on: string;
  start_date: string | null;
  end_date: string | null;
  client_id: number;
  legal_name: string;
  amount: number;
}

/** Recurring services registered in a range, by periodicity. Amounts are of one cycle, without VAT. NEW-01 */
export const listNewRecurrings = operation({
  title: 'Recurrentes creados',
  description:
    'Servicios recurrentes dados de alta en un periodo, por periodicidad, con el importe de un ciclo. Para lo que renueva usa consultar_recurrentes_renovaciones.',
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
        recurrentes: z.array(
          z.object({
            recurrenteId: sealedId('recurring'),
            descripcion: z.string(),
            importe: z.number(),
            fecha_creacion: z.string(),
            fecha_inicio: z.string().nullable(),
            fecha_caducidad: z.string().nullable(),
            cliente: clientName,
          }),
        ),
      }),
    ),
  }),
  async handler({ input: { fecha_inicio, fecha_fin }, db, accountId }) {
    const { rows } = await sql<RecurringRow>`
      select r.id, r.description, r.periodicity, r.created_on, r.start_date, r.end_date, r.client_id, c.legal_name,
        (select coalesce(sum(l.amount), 0) from recurring_lines l
          where l.account_id = r.account_id and l.recurring_id = r.id) as amount
      from recurrings r join clients c on c.account_id = r.account_id and c.id = r.client_id
      where r.account_id = ${accountId} and r.created_on between ${fecha_inicio}::date and ${fecha_fin}::date
      order by r.description, r.id`.execute(db);
    const total = (of: readonly RecurringRow[]) => fromCents(of.reduce((sum, { amount }) => sum + cents(amount), 0));
    return {
      fecha_inicio,
      fecha_fin,
      num_recurrentes: rows.length,
      importe_total: total(rows),
      por_periodicidad: Object.fromEntries(
        byPeriodicity<RecurringRow>(rows).map(({ name, periodicidad_dias, rows: group }) => [
          name,
          {
            periodicidad_dias,
            num: group.length,
            importe_total: total(group),
            recurrentes: group.map((row) => ({
              recurrenteId: row.id,
              descripcion: row.description,
              importe: row.amount,
              fecha_creacion: row.created_on,
              fecha_inicio: row.start_date,
              fecha_caducidad: row.end_date,
              cliente: { clienteId: row.client_id, nombre_fiscal: row.legal_name },
            })),
          },
        ]),
      ),
    };
  },
});
