import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { refuseManyMonths, requiredDates } from '../shared/schemas.ts';

const TOP = 25;
const figures = { total: z.number(), num_documentos: z.int() };

interface Group {
  id: number | null;
  code: string | null;
  title: string | null;
  total: number;
  documents: number;
}

/** What was bought in a range, from the lines of purchase invoices dated in it, without VAT. PRP-01 */
export const reportPurchases = operation({
  title: 'Informe de compras',
  description:
    'Total de compras de un periodo (facturas de compra, sin IVA), si se quiere agrupado por mes, proveedor (los 25 mayores) o subtipo fiscal. Para el detalle usa consultar_facturas_compra.',
  rest: ['GET /reports/purchases'],
  alias: 'consultarCompras',
  scope: 'svc.read',
  planned: 'anew',
  input: {
    ...requiredDates(),
    agrupar: z.enum(['mes', 'proveedor', 'subtipo']).optional().describe('Añade la agrupación'),
  },
  output: z.object({
    fecha_inicio: z.string(),
    fecha_fin: z.string(),
    total_compras: z.number(),
    num_documentos: z.int(),
    agrupacion: z
      .discriminatedUnion('por', [
        z.object({ por: z.literal('mes'), grupos: z.array(z.object({ mes: z.string(), ...figures })) }),
        z.object({
          por: z.literal('proveedor'),
          grupos: z.array(z.object({ proveedorId: sealedId('supplier'), nombre_fiscal: z.string(), ...figures })),
        }),
        z.object({
          por: z.literal('subtipo'),
          grupos: z.array(z.object({ subtipo: z.string().nullable(), titulo: z.string(), ...figures })),
        }),
      ])
      .optional(),
  }),
  async handler({ input, db, accountId }) {
    const { fecha_inicio: from, fecha_fin: to, agrupar } = input;
    if (agrupar === 'mes') refuseManyMonths(from, to);
    const documents = sql`(
      select i.supplier_id, i.subtype, i.date, (select coalesce(sum(l.amount), 0) from purchase_invoice_lines l
        where l.account_id = i.account_id and l.purchase_invoice_id = i.id) as base
      from purchase_invoices i
      where i.account_id = ${accountId} and i.date between ${from}::date and ${to}::date) d`;
    const groups: Record<NonNullable<typeof agrupar>, RawBuilder<Group>> = {
      // Every month of the range is there, those without documents at zero.
      mes: sql<Group>`select to_char(month, 'YYYY-MM') as code, coalesce(sum(d.base), 0) as total, count(d.date) as documents
        from generate_series(date_trunc('month', ${from}::timestamp), ${to}::timestamp, '1 month') month
        left join ${documents} on date_trunc('month', d.date::timestamp) = month
        group by month order by month`,
      proveedor: sql<Group>`select d.supplier_id as id, p.legal_name as title, sum(d.base) as total, count(*) as documents
        from ${documents} join suppliers p on p.account_id = ${accountId} and p.id = d.supplier_id
        group by d.supplier_id, p.legal_name order by total desc, p.legal_name, d.supplier_id limit ${TOP}`,
      subtipo: sql<Group>`select d.subtype as code, s.title, sum(d.base) as total, count(*) as documents
        from ${documents} left join expense_subtypes s on s.account_id = ${accountId} and s.code = d.subtype
        group by d.subtype, s.title order by total desc, d.subtype nulls last`,
    };
    const [totals, grouped] = await Promise.all([
      sql<Group>`select coalesce(sum(d.base), 0) as total, count(*) as documents from ${documents}`.execute(db),
      agrupar && groups[agrupar].execute(db),
    ]);
    const [sum] = totals.rows;
    return {
      fecha_inicio: from,
      fecha_fin: to,
      total_compras: sum?.total ?? 0,
      num_documentos: sum?.documents ?? 0,
      ...(agrupar && grouped && { agrupacion: shown(agrupar, grouped.rows) }),
    };
  },
});

function shown(por: 'mes' | 'proveedor' | 'subtipo', groups: Group[]) {
  const of = ({ total, documents }: Group) => ({ total, num_documentos: documents });
  switch (por) {
    case 'mes':
      return { por, grupos: groups.map((group) => ({ mes: group.code ?? '', ...of(group) })) };
    case 'proveedor':
      return {
        por,
        grupos: groups.map((group) => ({ proveedorId: group.id, nombre_fiscal: group.title ?? '', ...of(group) })),
      };
    case 'subtipo':
      return {
        por,
        grupos: groups.map((group) => ({
          subtipo: group.code,
          titulo: group.title ?? group.code ?? 'Sin clasificar',
          ...of(group),
        })),
      };
  }
}
