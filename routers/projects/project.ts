// How a project is shown, and its economics: one statement for a page of projects.
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { sealedId } from '../shared/id.ts';

/** The `cliente` block of projects and of the client list. */
export const client = z.object({
  clienteId: sealedId('client'),
  nombre_fiscal: z.string(),
  nombre_comercial: z.string(),
  cif: z.string(),
  email: z.string(),
  telefono: z.string(),
  movil: z.string(),
  rgpd: z.object({
    comunicaciones_email: z.boolean().nullable(),
    comunicaciones_whatsapp: z.boolean().nullable(),
    comunicaciones_sms: z.boolean().nullable(),
    tratamiento_imagenes: z.boolean().nullable(),
  }),
});

export interface ClientRow {
  client_id: number | null;
  legal_name: string | null;
  trade_name: string | null;
  tax_id: string | null;
  email: string | null;
  phone: string | null;
  mobile: string | null;
  allows_email: boolean | null;
  allows_whatsapp: boolean | null;
  allows_sms: boolean | null;
  allows_images: boolean | null;
}

export const clientOf = (row: ClientRow) => ({
  clienteId: row.client_id,
  nombre_fiscal: row.legal_name ?? '',
  nombre_comercial: row.trade_name ?? '',
  cif: row.tax_id ?? '',
  email: row.email ?? '',
  telefono: row.phone ?? '',
  movil: row.mobile ?? '',
  rgpd: {
    comunicaciones_email: row.allows_email,
    comunicaciones_whatsapp: row.allows_whatsapp,
    comunicaciones_sms: row.allows_sms,
    tratamiento_imagenes: row.allows_images,
  },
});

/** Amounts without VAT; `margen` in percent of `ventas`; decimal hours. PRJ-01 */
export const economics = z.object({
  ventas: z.number(),
  compras: z.number(),
  coste_personal: z.number(),
  coste_maquinaria: z.number(),
  costes: z.number(),
  resultado: z.number(),
  margen: z.number(),
  horas: z.number(),
});

export const project = z.object({
  proyectoId: sealedId('project'),
  numero: z.string(),
  descripcion: z.string(),
  cliente: client,
  estado: z.object({ estadoId: sealedId('projectState'), titulo: z.string() }),
  presupuesto_coste: z.number(),
  presupuesto_venta: z.number(),
  economico: economics,
});

export interface EconomicsRow {
  sales: number;
  purchases: number;
  staff: number;
  machines: number;
  costs: number;
  result: number;
  margin: number;
  hours: number;
}

export const economicsOf = (row: EconomicsRow) => ({
  ventas: row.sales,
  compras: row.purchases,
  coste_personal: row.staff,
  coste_maquinaria: row.machines,
  costes: row.costs,
  resultado: row.result,
  margen: row.margin,
  horas: row.hours,
});

export interface EconomicsRange {
  accountId: number;
  timeZone: string;
  from: string | undefined;
  to: string | undefined;
}

/**
 * The economics of the projects in `ids` (a relation with a column `id`), as a relation with `project_id` and the columns of
 * EconomicsRow, a row for each project. Documents count by header date, hours by the local date of entry; what an invoice
 * brings from a delivery note was counted with the note. Each figure is computed exactly and rounded once. PRJ-01, PRJ-02
 */
export function projectEconomics(ids: RawBuilder<unknown>, range: EconomicsRange): RawBuilder<unknown> {
  const { accountId, timeZone } = range;
  const from = range.from ?? '-infinity';
  const to = range.to ?? 'infinity';
  // Half-open in instants, so that the index on the entry serves it.
  const since = range.from
    ? sql`${range.from}::date::timestamp at time zone ${timeZone}`
    : sql`'-infinity'::timestamptz`;
  const until = range.to
    ? sql`(${range.to}::date + 1)::timestamp at time zone ${timeZone}`
    : sql`'infinity'::timestamptz`;
  const lines = (lineTable: string, parentColumn: string, headerTable: string, fromNotes: RawBuilder<unknown>) => sql`
    select l.project_id, l.amount
    from ${sql.table(lineTable)} l
    join ${sql.table(headerTable)} h on h.account_id = ${accountId} and h.id = l.${sql.ref(parentColumn)}
    where l.account_id = ${accountId} and l.project_id = any(${wanted})
      and h.date between ${from}::date and ${to}::date ${fromNotes}`;
  // As a list, so that the projects' own indexes serve it whatever the planner knows of the tables.
  const wanted = sql`(select array_agg(id) from ids)::bigint[]`;
  const notFromNotes = sql`and not l.from_delivery_note`;
  return sql`(
    with ids as materialized (${ids}),
    sales as (
      select project_id, sum(amount) as amount from (
        ${lines('delivery_note_lines', 'delivery_note_id', 'delivery_notes', sql``)}
        union all ${lines('invoice_lines', 'invoice_id', 'invoices', notFromNotes)}) s group by project_id),
    purchases as (
      select project_id, sum(amount) as amount from (
        ${lines('purchase_delivery_note_lines', 'purchase_delivery_note_id', 'purchase_delivery_notes', sql``)}
        union all ${lines('purchase_invoice_lines', 'purchase_invoice_id', 'purchase_invoices', notFromNotes)}) p
      group by project_id),
    entry as (
      select t.project_id, t.employee_id, t.machine_id, t.entry_at, t.exit_at, t.break_minutes
      from time_entries t
      where t.account_id = ${accountId} and t.project_id = any(${wanted})
        and t.exit_at is not null and t.entry_at >= ${since} and t.entry_at < ${until}
      union all
      select k.project_id, t.employee_id, t.machine_id, t.entry_at, t.exit_at, t.break_minutes
      from tasks k join time_entries t on t.account_id = ${accountId} and t.task_id = k.id
      where k.account_id = ${accountId} and k.project_id = any(${wanted})
        and t.task_id = any((select array_agg(id) from tasks
          where account_id = ${accountId} and project_id = any(${wanted}))::bigint[])
        and t.project_id is null and t.exit_at is not null and t.entry_at >= ${since} and t.entry_at < ${until}),
    worked as (
      select project_id, employee_id, machine_id, (entry_at at time zone ${timeZone})::date as day,
        greatest(extract(epoch from exit_at - entry_at) - break_minutes * 60, 0) as seconds
      from entry),
    per_day as (
      select project_id, employee_id, day, sum(seconds) as seconds from worked group by project_id, employee_id, day),
    staff as (
      select w.project_id, sum(w.seconds) as seconds, sum(w.seconds * coalesce(c.hourly, 0)) as amount
      from per_day w left join lateral (
        select c.hourly_cost + c.hourly_pension + c.hourly_social_security as hourly from contracts c
        where c.account_id = ${accountId} and c.employee_id = w.employee_id and c.start_date <= w.day
          and (c.end_date is null or c.end_date >= w.day)
        order by c.start_date desc, c.id desc limit 1) c on true
      group by w.project_id),
    machines as (
      select w.project_id, sum(w.seconds * m.hourly_cost) as amount
      from worked w join machines m on m.account_id = ${accountId} and m.id = w.machine_id group by w.project_id),
    figures as (
      select ids.id as project_id, round(coalesce(sales.amount, 0), 2) as sales,
        round(coalesce(purchases.amount, 0), 2) as purchases, round(coalesce(staff.amount, 0) / 3600, 2) as staff,
        round(coalesce(machines.amount, 0) / 3600, 2) as machines, round(coalesce(staff.seconds, 0) / 3600, 2) as hours
      from ids left join sales on sales.project_id = ids.id left join purchases on purchases.project_id = ids.id
      left join staff on staff.project_id = ids.id left join machines on machines.project_id = ids.id)
    select *, purchases + staff + machines as costs, sales - (purchases + staff + machines) as result,
      case when sales <> 0 then round((sales - (purchases + staff + machines)) * 100 / sales, 2)
           when purchases + staff + machines > 0 then -100 else 0 end as margin
    from figures)`;
}
