import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { countedLines } from '../../figures/counted-lines.ts';
import { operation } from '../operation.ts';
import { groupedBy } from '../shared/grouped-report.ts';
import { jsonArray, jsonRow } from '../shared/pages.ts';
import { refuseManyMonths, requiredDates } from '../shared/schemas.ts';
import { decimalOf, idOf, oneOf, plainOf, shape, textOf, wholeOf } from '../shared/shape.ts';

const TOP = 25;
const GROUPINGS = ['mes', 'cliente', 'familia', 'articulo'] as const;
type Grouping = (typeof GROUPINGS)[number];

const figures = { total: decimalOf('total'), num_documentos: wholeOf('documents') };
const month = shape({ mes: textOf('title'), ...figures });
const client = shape({ clienteId: idOf('client', 'id'), nombre_fiscal: textOf('title'), ...figures });
const family = shape({ familiaId: idOf('family', 'id').orNull(), titulo: textOf('title'), ...figures });
const product = shape({ articuloId: idOf('product', 'id').orNull(), descripcion: textOf('title'), ...figures });

const groupings = {
  mes: groupedBy('mes', month),
  cliente: groupedBy('cliente', client),
  familia: groupedBy('familia', family),
  articulo: groupedBy('articulo', product),
};
const { mes, cliente, familia, articulo } = groupings;

const total = {
  fecha_inicio: plainOf('first_day'),
  fecha_fin: plainOf('last_day'),
  total_ventas: decimalOf('total'),
  num_documentos: wholeOf('documents'),
};
const whole = shape(total);
const report = shape({
  ...total,
  agrupacion: oneOf(
    z.discriminatedUnion('por', [mes.schema, cliente.schema, familia.schema, articulo.schema]),
    'grouped_by',
    groupings,
  ),
});

/**
 * What was sold in a range, without VAT: the lines of delivery notes, and those of invoices that no delivery note brought,
 * by date of the document. `num_documentos` counts the delivery notes and invoices with such a line, so an invoice of delivery
 * notes alone is not counted. The highest 25 clients, families or articles; lines without a family or an article are a group with
 * a null id. PRJ-01
 */
export const reportSales = operation({
  title: 'Informe de ventas',
  description:
    'Ventas de un periodo (albaranes y lo facturado sin albarán, sin IVA), si se quiere por mes, cliente, familia o artículo (los 25 mayores). Con costes: consultar_resultados.',
  rest: ['GET /reports/sales'],
  alias: 'consultarVentas',
  scope: 'svc.read',
  report: true,
  plan: 'custom',
  input: { ...requiredDates(), agrupar: z.enum(GROUPINGS).optional().describe('Desglose') },
  output: report.schema.partial({ agrupacion: true }),
  async handler({ input, db, accountId }) {
    const { fecha_inicio: from, fecha_fin: to, agrupar } = input;
    if (agrupar === 'mes') refuseManyMonths(from, to);
    const sums = sql`coalesce(sum(c.amount), 0) as total, count(distinct c.note_id) + count(distinct c.invoice_id) as documents`;
    /** The highest groups by id and title; `rest` is the title of lines that have none. */
    const ranked = (id: string, title: string, joins: RawBuilder<unknown>, rest = '') => sql<typeof client.needs>`
      select ${sql.ref(id)} as id, coalesce(${sql.ref(title)}, ${rest}) as title, ${sums}
      from counted c ${joins} group by ${sql.ref(id)}, ${sql.ref(title)}
      order by total desc, ${sql.ref(title)} nulls last, ${sql.ref(id)} limit ${TOP}`;
    const products = sql`left join products p on p.account_id = ${accountId} and p.id = c.product_id`;
    const groups: Record<Grouping, RawBuilder<string>> = {
      // Every month of the range is there, those without documents at zero.
      mes: jsonArray(
        sql<typeof month.needs>`select to_char(m.start, 'YYYY-MM') as title, ${sums}
          from generate_series(date_trunc('month', ${from}::timestamp), ${to}::timestamp, '1 month') as m (start)
          left join counted c on date_trunc('month', c.date::timestamp) = m.start
          group by m.start order by m.start`,
        month,
      ),
      cliente: jsonArray(
        ranked('k.id', 'k.legal_name', sql`join clients k on k.account_id = ${accountId} and k.id = c.party_id`),
        client,
      ),
      familia: jsonArray(
        ranked(
          'f.id',
          'f.title',
          sql`${products} left join product_families f on f.account_id = ${accountId} and f.id = p.family_id`,
          'Sin clasificar',
        ),
        family,
      ),
      articulo: jsonArray(ranked('p.id', 'p.description', products, 'Sin artículo'), product),
    };
    const found = sql<typeof report.needs>`
      with counted as materialized (${countedLines('sales', { accountId, from, to })})
      select ${from}::text as first_day, ${to}::text as last_day, ${sums}, ${agrupar ?? null}::text as grouped_by,
        ${agrupar ? groups[agrupar] : sql`null`} as groups
      from counted c`;
    return agrupar ? jsonRow(db, found, report) : jsonRow(db, found, whole);
  },
});
