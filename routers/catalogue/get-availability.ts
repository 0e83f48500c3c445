import { sql } from 'kysely';
import { z } from 'zod';
import { badField, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { decimalInput, requiredDates } from '../shared/schemas.ts';

const MAX_DAYS = 366;

interface Row {
  description: string;
  stock: number;
  day: string;
  reserved: number;
  available: number;
}

/**
 * What is free of a product each day: its stock less what lines with `startDate` and `endDate` reserve, both days included.
 * Reserving are the lines of delivery notes, and of invoices those that come from no note; a return gives back, and so does an annulment. Quantities are
 * base units: those of the format, or the real ones where they are on the line (DLV-04, DLV-05). What is sold has already left
 * the stock, so nothing reserves an article in sale mode; a service is reserved as a rental is. DLV-06. 400 for more than
 * 366 days.
 */
export const getAvailability = operation({
  title: 'Disponibilidad de un artículo',
  description:
    'Unidades libres de un artículo cada día (366 días como máximo): stock menos reservas. articuloId: de consultar_productos.',
  rest: ['GET /products/{articuloId}/availability'],
  alias: 'consultarDisponibilidad',
  scope: 'svc.read',
  input: {
    articuloId: id('product').describe('El artículo'),
    ...requiredDates(),
    cantidad: decimalInput().gt(0).default(1).describe('Unidades base necesarias'),
  },
  output: z.object({
    articulo: z.object({ articuloId: sealedId('product'), descripcion: z.string() }),
    stock: z.number(),
    minimo_disponible: z.number(),
    disponible: z.boolean(),
    dias: z.array(z.object({ fecha: z.string(), reservado: z.number(), disponible: z.number() })),
  }),
  async handler({ input: { articuloId, fecha_inicio: from, fecha_fin: to, cantidad }, db, accountId }) {
    if (Temporal.PlainDate.from(from).until(to).days >= MAX_DAYS) {
      throw badField('fecha_fin', `el rango máximo es de ${MAX_DAYS} días`);
    }
    const reserving = (kind: 'delivery_note' | 'invoice') => sql`
      select l.quantity, l.base_quantity, l.format_id, l.start_date, l.end_date from ${sql.table(`${kind}_lines`)} l
      join ${sql.table(`${kind}s`)} d on d.account_id = ${accountId} and d.id = l.${sql.ref(`${kind}_id`)} and d.annulled_at is null
      where l.account_id = ${accountId} and l.product_id = ${articuloId}
        and l.start_date <= ${to}::date and l.end_date >= ${from}::date`;
    // A line adds its units on its first day and takes them off after its last: what is reserved is the sum so far.
    const { rows } = await sql<Row>`
      with line as (
        select greatest(l.start_date, ${from}::date) as first, l.end_date + 1 as after,
          coalesce(sign(l.quantity) * l.base_quantity, l.quantity * coalesce(f.factor, 1)) as units
        from (${reserving('delivery_note')} union all ${reserving('invoice')} and not l.from_delivery_note) l
        left join product_formats f on f.account_id = ${accountId} and f.id = l.format_id),
      change as (
        select day, sum(units) as units
        from (select first as day, units from line union all select after, -units from line) c group by day),
      reserved as (
        select d.day, coalesce(sum(c.units) over (order by d.day), 0) as units
        from (select ${from}::date + n as day from generate_series(0, ${to}::date - ${from}::date) n) d
        left join change c on c.day = d.day)
      select p.description, s.quantity as stock, r.day, r.reserved, s.quantity - r.reserved as available
      from products p
      join product_stocks s on s.account_id = ${accountId} and s.product_id = p.id
      cross join lateral (select day, case when p.mode = 'sale' then 0 else units end as reserved from reserved) r
      where p.account_id = ${accountId} and p.id = ${articuloId}
      order by r.day`.execute(db);
    const [first] = rows;
    if (!first) throw notFound('articuloId');
    const least = Math.min(...rows.map(({ available }) => available));
    return {
      articulo: { articuloId, descripcion: first.description },
      stock: first.stock,
      minimo_disponible: least,
      disponible: least >= cantidad,
      dias: rows.map(({ day, reserved, available }) => ({ fecha: day, reservado: reserved, disponible: available })),
    };
  },
});
