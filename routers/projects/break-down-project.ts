import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { countedLines } from '../../figures/counted-lines.ts';
import type { Kind } from '../../platform/ids.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { LONG_PAGE, limit, offset, optionalDates, page } from '../shared/schemas.ts';
import { always, decimalOf, idOf, nothing, oneOf, plainOf, shape, textOf } from '../shared/shape.ts';
import { type EconomicsRange, projectFacts } from './economics.ts';

const CONCEPTS = ['ventas', 'compras', 'coste_personal', 'coste_maquinaria'] as const;

const ofConcept = textOf('concept').as(z.enum(CONCEPTS));
const common = { concepto: ofConcept, fecha: plainOf('day'), importe: decimalOf('amount') };

/** A line of a document. */
const ofDocument = <const Type extends string>(tipo: Type, document: Kind, line: Kind) =>
  shape({
    ...common,
    horas: nothing,
    documento: { tipo: always(tipo), id: idOf(document, 'document_id'), numero: textOf('number') },
    lineaId: idOf(line, 'line_id'),
    descripcion: textOf('description'),
  });

/** What people or machines did. */
const ofTime = shape({
  ...common,
  horas: decimalOf('hours'),
  documento: nothing,
  lineaId: nothing,
  descripcion: textOf('description'),
});

const kinds = {
  note: ofDocument('albaran', 'deliveryNote', 'deliveryNoteLine'),
  invoice: ofDocument('factura', 'invoice', 'invoiceLine'),
  purchaseNote: ofDocument('albaran_compra', 'purchaseDeliveryNote', 'purchaseDeliveryNoteLine'),
  purchaseInvoice: ofDocument('factura_compra', 'purchaseInvoice', 'purchaseInvoiceLine'),
  time: ofTime,
};

const line = oneOf(
  z.object({
    ...ofTime.schema.shape,
    horas: z.number().nullable(),
    documento: z
      .object({
        tipo: z.enum(['albaran', 'factura', 'albaran_compra', 'factura_compra']),
        id: z.string(),
        numero: z.string(),
      })
      .nullable(),
    lineaId: z.string().nullable(),
  }),
  'kind',
  kinds,
);

type Line = typeof line.needs;

const totals = shape({
  totales: {
    ventas: decimalOf('sales'),
    compras: decimalOf('purchases'),
    coste_personal: decimalOf('staff'),
    coste_maquinaria: decimalOf('machines'),
  },
});

/** A line of costs has no document, and by its id nothing but its place. */
const inOrder = orderOf('lines', 'day desc', 'concept', 'document_id', 'line_id', 'kind');

const breakdown = listOf('total_lineas', 'desglose', line, inOrder, totals.schema.shape);

/**
 * What the economics of a project are made of, newest first; the amounts of a `concepto` add up to its figure in `totales`, which is
 * that of `obtenerProyecto` for the same dates. Staff costs are a line a calendar month, dated its first day within the range, without
 * a person; machine costs a line an entry. Amounts without VAT with up to 6 decimals; decimal hours. PRJ-01, CON-02
 */
export const breakDownProject = operation({
  title: 'Desglose de un proyecto',
  description:
    'De qué se componen ventas, compras y costes de un proyecto: cada línea de documento, el personal por meses y las máquinas. Explica por qué gana o pierde. proyectoId: de consultar_proyectos.',
  rest: ['GET /projects/{proyectoId}/breakdown'],
  alias: 'desglosarProyecto',
  scope: 'svc.read',
  plan: 'custom',
  input: {
    proyectoId: id('project').describe('El proyecto'),
    ...optionalDates(),
    concepto: z.enum(CONCEPTS).optional().describe('Solo este'),
    ...page(LONG_PAGE),
  },
  output: breakdown.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { proyectoId, fecha_inicio: from, fecha_fin: to, concepto } = input;
    const range = { accountId, timeZone, from, to };
    const wanted = concepto === undefined ? sql`where true` : sql`where concept = ${concepto}`;
    return breakdown.page(db, input, {
      before: sql`with ${linesOf(proyectoId, range)}`,
      total: sql`select count(*) from lines ${wanted}`,
      sums: { rows: sql<typeof totals.needs>`select ${sql.join(CONCEPTS.map(sumOf))} from lines`, row: totals },
      rows: sql<Line>`select *, ${sql.join(inOrder.keys)} from lines ${wanted} ${inOrder.andAfter(input)}
        order by ${inOrder.by} limit ${limit(input)} offset ${offset(input)}`,
    });
  },
});

/** Of each concept: its column, and how many of `exact` are an amount of 1. Costs of time are not divided before they are added up. */
const FIGURES = {
  ventas: { column: 'sales', unit: 1 },
  compras: { column: 'purchases', unit: 1 },
  coste_personal: { column: 'staff', unit: 3600 },
  coste_maquinaria: { column: 'machines', unit: 3600 },
} as const;

/** The exact sum of a concept's lines, rounded once. */
function sumOf(concept: (typeof CONCEPTS)[number]): RawBuilder<unknown> {
  const { column, unit } = FIGURES[concept];
  const sum = sql`sum(exact) filter (where concept = ${sql.lit(concept)})`;
  return sql`round(coalesce(${sum}, 0) / ${sql.lit(unit)}, 2) as ${sql.ref(column)}`;
}

/** CTEs of a statement, of which the last is `lines`: what counts for a project. */
function linesOf(projectId: number, range: EconomicsRange): RawBuilder<unknown> {
  const { accountId, from } = range;
  const documents = (concept: 'ventas' | 'compras', note: keyof typeof kinds, invoice: keyof typeof kinds) => sql`
    select case when note_id is not null then ${sql.lit(note)} else ${sql.lit(invoice)} end as kind, ${sql.lit(concept)} as concept,
      date as day, amount as exact, amount, null::numeric as hours, coalesce(note_id, invoice_id) as document_id, number, line_id,
      description
    from (${countedLines(concept === 'ventas' ? 'sales' : 'purchases', range, sql`and l.project_id = ${projectId}`)}) d`;
  const hours = sql`round(seconds / 3600, 6)`;
  return sql`${projectFacts(sql`array[${projectId}]::bigint[]`, range)},
    months as (
      select date_trunc('month', day::timestamp)::date as month, sum(seconds) as seconds, coalesce(sum(staff), 0) as staff
      from facts where seconds is not null group by 1),
    costs as (
      select 'time' as kind, 'coste_personal' as concept, greatest(month, ${from ?? '-infinity'}::date) as day, staff as exact,
        ${hours} as hours, 0 as line_id, 'Personal, ' || to_char(month, 'YYYY-MM') as description
      from months
      union all
      select 'time', 'coste_maquinaria', w.day, w.seconds * m.hourly_cost, ${hours}, w.id, m.title
      from worked w join machines m on m.account_id = ${accountId} and m.id = w.machine_id),
    lines as materialized (
      ${documents('ventas', 'note', 'invoice')}
      union all ${documents('compras', 'purchaseNote', 'purchaseInvoice')}
      union all
      -- Each amount takes what rounding left of those before it, so that they add up to the exact sum.
      select kind, concept, day, exact, round(so_far / 3600, 6) - round((so_far - exact) / 3600, 6), hours, 0, null, line_id, description
      from (select *, sum(exact) over (partition by concept order by day, line_id rows unbounded preceding) as so_far
        from costs) c)`;
}
