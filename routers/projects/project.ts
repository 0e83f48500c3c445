// How projects are read and shown, with their economics: one statement for a page of them.
import { type Expression, type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { sealedId } from '../shared/id.ts';
import { decimal, idOf, JsonSql, jsonOf, jsonPage, text } from '../shared/json-page.ts';
import { type EconomicsRange, economics, projectEconomics } from './economics.ts';

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

const NOBODY = {
  ...{ client_id: null, legal_name: null, trade_name: null, tax_id: null, email: null, phone: null, mobile: null },
  ...{ allows_email: null, allows_whatsapp: null, allows_sms: null, allows_images: null },
};

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

/**
 * The projects in `ids` (a query with a column `id`), by number, highest first, and how many there are in all; the range bounds
 * their economics. PRJ-02
 */
export function readProjects(
  db: Db,
  { total, ids }: { total: Expression<unknown>; ids: RawBuilder<unknown> },
  range: EconomicsRange,
) {
  const { accountId } = range;
  const rows = sql`
    select p.id, p.number, p.description, p.budgeted_cost, p.budgeted_sales, c.card as client, p.state_id, s.title as state, e.sales, e.purchases, e.staff, e.machines, e.costs, e.result, e.margin, e.hours
    from ${projectEconomics(ids, range)} e
    cross join lateral (select * from projects p where p.account_id = ${accountId} and p.id = e.project_id limit 1) p
    left join clients c on c.account_id = p.account_id and c.id = p.client_id
    left join project_states s on s.account_id = p.account_id and s.id = p.state_id
    order by p.number desc, p.id desc`;
  return jsonPage<z.input<typeof project>>(db, { total, rows, row: ROW });
}

const ROW = jsonOf<z.input<typeof project>>({
  proyectoId: idOf('project', 'id'),
  numero: text('number'),
  descripcion: text('description'),
  cliente: new JsonSql(`coalesce(client, '${JSON.stringify({ ...clientOf(NOBODY), clienteId: '' })}')`),
  estado: { estadoId: idOf('projectState', 'state_id'), titulo: text(`coalesce(state, '')`) },
  presupuesto_coste: decimal('budgeted_cost'),
  presupuesto_venta: decimal('budgeted_sales'),
  economico: {
    ventas: decimal('sales'),
    compras: decimal('purchases'),
    coste_personal: decimal('staff'),
    coste_maquinaria: decimal('machines'),
    costes: decimal('costs'),
    resultado: decimal('result'),
    margen: decimal('margin'),
    horas: decimal('hours'),
  },
});
