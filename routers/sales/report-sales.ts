import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { countedLines } from '../../entities/economics/counted-lines.ts';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { refuseManyMonths, requiredDates } from '../shared/schemas.ts';

const TOP = 25;
const figures = { total: z.number(), num_documentos: z.int() };
const GROUPINGS = ['mes', 'cliente', 'familia', 'articulo'] as const;
type Grouping = (typeof GROUPINGS)[number];

/** One group beside the figures of the whole; `position` is null where there is no group. */
interface Row {
  whole_total: number;
  whole_documents: number;
  position: number | null;
  id: number | null;
  title: string | null;
  total: number;
  documents: number;
}

/**
 * What was sold in a range, without VAT: the lines of delivery notes, and those of invoices that no delivery note brought,
 * by header date. `num_documentos` counts the delivery notes and invoices with a line that counts, so an invoice made of
 * delivery notes alone is not one more. The highest 25 clients, families or articles; lines without a family or an article
 * are a group with a null id. PRJ-01
 */
export const reportSales = operation({
  title: 'Informe de ventas',
  description:
    'Ventas de un periodo (albaranes y lo facturado sin albarán, sin IVA), si se quiere por mes, cliente, familia o artículo (los 25 mayores). Con costes: consultar_resultados.',
  rest: ['GET /reports/sales'],
  alias: 'consultarVentas',
  scope: 'svc.read',
  planned: 'anew',
  input: { ...requiredDates(), agrupar: z.enum(GROUPINGS).optional().describe('Desglose') },
  output: z.object({
    fecha_inicio: z.string(),
    fecha_fin: z.string(),
    total_ventas: z.number(),
    num_documentos: z.int(),
    agrupacion: z
      .discriminatedUnion('por', [
        z.object({ por: z.literal('mes'), grupos: z.array(z.object({ mes: z.string(), ...figures })) }),
        z.object({
          por: z.literal('cliente'),
          grupos: z.array(z.object({ clienteId: sealedId('client'), nombre_fiscal: z.string(), ...figures })),
        }),
        z.object({
          por: z.literal('familia'),
          grupos: z.array(z.object({ familiaId: sealedId('family').nullable(), titulo: z.string(), ...figures })),
        }),
        z.object({
          por: z.literal('articulo'),
          grupos: z.array(
            z.object({ articuloId: sealedId('product').nullable(), descripcion: z.string(), ...figures }),
          ),
        }),
      ])
      .optional(),
  }),
  async handler({ input, db, accountId }) {
    const { fecha_inicio: from, fecha_fin: to, agrupar } = input;
    if (agrupar === 'mes') refuseManyMonths(from, to);
    const sums = sql`coalesce(sum(c.amount), 0) as total, count(distinct c.note_id) + count(distinct c.invoice_id) as documents`;
    /** The highest by the id and the title that a line has. */
    const ranked = (id: string, title: string, joins: RawBuilder<unknown>) => sql`
      select row_number() over (order by sum(c.amount) desc, ${sql.ref(title)} nulls last, ${sql.ref(id)}) as position,
        ${sql.ref(id)} as id, ${sql.ref(title)} as title, ${sums}
      from counted c ${joins} group by ${sql.ref(id)}, ${sql.ref(title)} order by position limit ${TOP}`;
    const product = sql`left join products p on p.account_id = ${accountId} and p.id = c.product_id`;
    const groups: Record<Grouping | 'none', RawBuilder<unknown>> = {
      // Every month of the range is there, those without documents at zero.
      mes: sql`select row_number() over (order by month) as position, null::bigint as id, to_char(month, 'YYYY-MM') as title, ${sums}
        from generate_series(date_trunc('month', ${from}::timestamp), ${to}::timestamp, '1 month') month
        left join counted c on date_trunc('month', c.date::timestamp) = month group by month`,
      cliente: ranked('k.id', 'k.legal_name', sql`join clients k on k.account_id = ${accountId} and k.id = c.party_id`),
      familia: ranked(
        'f.id',
        'f.title',
        sql`${product} left join product_families f on f.account_id = ${accountId} and f.id = p.family_id`,
      ),
      articulo: ranked('p.id', 'p.description', product),
      none: sql`select null::bigint as position, null::bigint as id, null as title, 0 as total, 0 as documents where false`,
    };
    const { rows } = await sql<Row>`
      with counted as materialized (${countedLines('sales', { accountId, from, to })}),
        whole as (select ${sums} from counted c)
      select w.total as whole_total, w.documents as whole_documents, g.* from whole w
      left join (${groups[agrupar ?? 'none']}) g on true order by g.position`.execute(db);
    return {
      fecha_inicio: from,
      fecha_fin: to,
      total_ventas: rows[0]?.whole_total ?? 0,
      num_documentos: rows[0]?.whole_documents ?? 0,
      ...(agrupar && {
        agrupacion: shown(
          agrupar,
          rows.filter(({ position }) => position !== null),
        ),
      }),
    };
  },
});

function shown(por: Grouping, groups: Row[]) {
  const of = ({ total, documents }: Row) => ({ total, num_documentos: documents });
  switch (por) {
    case 'mes':
      return { por, grupos: groups.map((group) => ({ mes: group.title ?? '', ...of(group) })) };
    case 'cliente':
      return {
        por,
        grupos: groups.map((group) => ({ clienteId: group.id, nombre_fiscal: group.title ?? '', ...of(group) })),
      };
    case 'familia':
      return {
        por,
        grupos: groups.map((group) => ({
          familiaId: group.id,
          titulo: group.title ?? 'Sin clasificar',
          ...of(group),
        })),
      };
    case 'articulo':
      return {
        por,
        grupos: groups.map((group) => ({
          articuloId: group.id,
          descripcion: group.title ?? 'Sin artículo',
          ...of(group),
        })),
      };
  }
}
