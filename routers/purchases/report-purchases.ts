import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { groupedBy } from '../shared/grouped-report.ts';
import { jsonArray, jsonRow } from '../shared/pages.ts';
import { refuseManyMonths, requiredDates } from '../shared/schemas.ts';
import { decimalOf, idOf, oneOf, plainOf, shape, textOf, wholeOf } from '../shared/shape.ts';

const TOP = 25;
const GROUPINGS = ['mes', 'proveedor', 'subtipo'] as const;
type Grouping = (typeof GROUPINGS)[number];

const figures = { total: decimalOf('total'), num_documentos: wholeOf('documents') };
const month = shape({ mes: plainOf('month'), ...figures });
const supplier = shape({ proveedorId: idOf('supplier', 'id'), nombre_fiscal: textOf('legal_name'), ...figures });
const subtype = shape({ subtipo: textOf('code').orNull(), titulo: textOf('title'), ...figures });

const groupings = {
  mes: groupedBy('mes', month),
  proveedor: groupedBy('proveedor', supplier),
  subtipo: groupedBy('subtipo', subtype),
};
const { mes, proveedor, subtipo } = groupings;

const total = {
  fecha_inicio: plainOf('first_day'),
  fecha_fin: plainOf('last_day'),
  total_compras: decimalOf('total'),
  num_documentos: wholeOf('documents'),
};
const whole = shape(total);
const report = shape({
  ...total,
  agrupacion: oneOf(
    z.discriminatedUnion('por', [mes.schema, proveedor.schema, subtipo.schema]),
    'grouped_by',
    groupings,
  ),
});

/** What was bought in a range, from the lines of purchase invoices dated in it that were not annulled, without VAT. PRP-01, W-02 */
export const reportPurchases = operation({
  title: 'Informe de compras',
  description:
    'Total de compras de un periodo (facturas de compra, sin IVA), si se quiere agrupado por mes, proveedor (los 25 mayores) o subtipo fiscal. Para el detalle usa consultar_facturas_compra.',
  rest: ['GET /reports/purchases'],
  alias: 'consultarCompras',
  scope: 'svc.read',
  report: true,
  plan: 'custom',
  input: {
    ...requiredDates(),
    agrupar: z.enum(GROUPINGS).optional().describe('Desglose'),
  },
  output: report.schema.partial({ agrupacion: true }),
  async handler({ input, db, accountId }) {
    const { fecha_inicio: from, fecha_fin: to, agrupar } = input;
    if (agrupar === 'mes') refuseManyMonths(from, to);
    const groups: Record<Grouping, RawBuilder<string>> = {
      // Every month of the range is there, those without documents at zero.
      mes: jsonArray(
        sql<typeof month.needs>`
          select to_char(m.start, 'YYYY-MM') as month, coalesce(sum(d.base), 0) as total, count(d.date) as documents
          from generate_series(date_trunc('month', ${from}::timestamp), ${to}::timestamp, '1 month') as m (start)
          left join document d on date_trunc('month', d.date::timestamp) = m.start
          group by m.start order by m.start`,
        month,
      ),
      proveedor: jsonArray(
        sql<typeof supplier.needs>`select d.supplier_id as id, p.legal_name, sum(d.base) as total, count(*) as documents
          from document d join suppliers p on p.account_id = ${accountId} and p.id = d.supplier_id
          group by d.supplier_id, p.legal_name order by total desc, p.legal_name, d.supplier_id limit ${TOP}`,
        supplier,
      ),
      subtipo: jsonArray(
        sql<typeof subtype.needs>`
          select d.subtype as code, coalesce(s.title, d.subtype, 'Sin clasificar') as title, sum(d.base) as total,
            count(*) as documents
          from document d left join expense_subtypes s on s.account_id = ${accountId} and s.code = d.subtype
          group by d.subtype, s.title order by total desc, d.subtype nulls last`,
        subtype,
      ),
    };
    const found = sql<typeof report.needs>`
      with document as (
        select i.supplier_id, i.subtype, i.date, (select coalesce(sum(l.amount), 0) from purchase_invoice_lines l
          where l.account_id = ${accountId} and l.purchase_invoice_id = i.id) as base
        from purchase_invoices i
        where i.account_id = ${accountId} and i.annulled_at is null and i.date between ${from}::date and ${to}::date)
      select ${from}::text as first_day, ${to}::text as last_day, coalesce(sum(d.base), 0) as total, count(*) as documents,
        ${agrupar ?? null}::text as grouped_by, ${agrupar ? groups[agrupar] : sql`null`} as groups
      from document d`;
    return agrupar ? jsonRow(db, found, report) : jsonRow(db, found, whole);
  },
});
