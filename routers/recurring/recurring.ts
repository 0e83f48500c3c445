// How recurring services are read and shown, and what is written of them.
import { sql } from 'kysely';
import { z } from 'zod';
import { PERIODICITIES } from '../../entities/values.ts';
import type { Db } from '../../platform/database.ts';
import { badField, notFound } from '../../platform/errors.ts';
import { jsonObject, withMore } from '../../platform/json-text.ts';
import { orNull } from '../shared/changes.ts';
import { saleLineContents } from '../shared/documents/sale-document.ts';
import { checkTaxes, lineRows, type ResolvedLine, saleTaxes } from '../shared/documents/sale-lines.ts';
import { id } from '../shared/id.ts';
import { jsonArray, jsonRecord } from '../shared/pages.ts';
import { countDue, nextRenewal, schedules } from '../shared/renewals/issue-renewals.ts';
import { clientName } from '../shared/renewals/recurring.ts';
import { CYCLES, type Periodicity } from '../shared/renewals/renewal-dates.ts';
import { decimalInput, isoDateOrNone, text } from '../shared/schemas.ts';
import { arrayOf, decimalOf, fieldOf, idOf, plainOf, shape, textOf } from '../shared/shape.ts';

/** What a periodicity is called, or lasts. */
const ofCycle = <Schema extends z.ZodType>(
  schema: Schema,
  of: (cycle: (typeof CYCLES)[Periodicity]) => string | number,
) => {
  const cases = Object.entries(CYCLES).map(([stored, cycle]) => `when '${stored}' then '${JSON.stringify(of(cycle))}'`);
  return fieldOf<Periodicity>()(schema, 'r.periodicity', (column) => `case ${column} ${cases.join(' ')} end`);
};

/** What a recurring service `r` of a client `c` is; the query tells its `amount`, of one renewal, without VAT. */
export const recurring = {
  recurrenteId: idOf('recurring', 'r.id'),
  descripcion: textOf('r.description'),
  periodicidad: ofCycle(z.string(), ({ name }) => name),
  periodicidad_dias: ofCycle(z.int(), ({ periodicidad_dias }) => periodicidad_dias),
  importe_por_renovacion: decimalOf('amount'),
  cliente: clientName,
};

/** The renewals that are to come: `pendientes` are due and neither issued nor skipped, `proxima_renovacion` is after today. */
export const toCome = { proxima_renovacion: z.string().nullable(), pendientes: z.int() };

/** What is to come of these recurring services, by id. */
export async function comingOf(db: Db, accountId: number, today: Temporal.PlainDate, ids: readonly number[]) {
  const { rows } = await schedules(db, { accountId, today, until: today }, { ids });
  return new Map(
    rows.map((row) => [row.id, { proxima_renovacion: nextRenewal(row, today), pendientes: countDue(row, today) }]),
  );
}

/** SQL for the amount of one renewal. */
export const amountOf = (accountId: number) => sql<number>`(
  select coalesce(sum(l.amount), 0) from recurring_lines l where l.account_id = ${accountId} and l.recurring_id = r.id)`;

const line = shape(saleLineContents);

const stored = shape({
  ...recurring,
  fecha_creacion: plainOf('r.created_on'),
  fecha_inicio: plainOf('r.start_date').orNull(),
  fecha_caducidad: plainOf('r.end_date').orNull(),
  ultima_facturacion: plainOf('r.last_invoiced_on').orNull(),
  meses_activos: fieldOf<readonly number[]>()(
    z.array(z.int()),
    'r.active_months',
    (column) => `array_to_json(${column})::text`,
  ).orNull(),
  dia_ancla: fieldOf<number>()(z.int(), 'r.anchor_day', (column) => `${column}::text`).orNull(),
  lineas: arrayOf(line, 'lines'),
});

/** A recurring service by itself. */
export const wholeRecurring = z.object({ recurrente: z.object({ ...stored.schema.shape, ...toCome }) });

/** The recurring service `recurrenteId`; 404 without one. */
export async function readRecurring(db: Db, accountId: number, recurrenteId: number, today: Temporal.PlainDate) {
  const lines = sql<typeof line.needs>`
    select ${line.selected}
    from recurring_lines l where l.account_id = ${accountId} and l.recurring_id = r.id order by l.position, l.id`;
  const rows = sql<typeof stored.needs>`
    select ${stored.selected}, ${amountOf(accountId)} as amount, ${jsonArray(lines, line)} as lines
    from recurrings r join clients c on c.account_id = ${accountId} and c.id = r.client_id
    where r.account_id = ${accountId} and r.id = ${recurrenteId}`;
  const [found, coming] = await Promise.all([
    jsonRecord(db, rows, stored),
    comingOf(db, accountId, today, [recurrenteId]),
  ]);
  const next = coming.get(recurrenteId);
  if (!found || !next) throw notFound('recurrenteId');
  return jsonObject({ recurrente: withMore(found, next) });
}

/** A line of a renewal, as a caller sends it. */
export const recurringLine = z
  .object({
    cantidad: decimalInput().refine((value) => value !== 0, 'no puede ser 0'),
    articulo_fk: id('product').optional().describe('Sin importe_unitario, iva o descripcion toma los suyos'),
    descripcion: text(2000).optional().describe('Obligatoria sin artículo'),
    importe_unitario: decimalInput().optional().describe('Sin IVA'),
    iva: decimalInput().min(0).max(100).optional().describe('%'),
    descuento: decimalInput().min(-100).max(100).optional().describe('%'),
    ...saleTaxes,
  })
  .check(checkTaxes)
  .check(({ value: line, issues }) => {
    if (line.articulo_fk !== undefined) return;
    const missing = (field: string) =>
      issues.push({
        code: 'custom',
        path: [field],
        message: 'es obligatorio en una línea sin articulo_fk',
        input: line,
      });
    if (!line.descripcion) missing('descripcion');
    if (line.importe_unitario === undefined) missing('importe_unitario');
  });

/** When a service renews, as a caller says it. REN-02 */
export const scheduleFields = {
  periodicidad: z.enum(PERIODICITIES.map((periodicity) => CYCLES[periodicity].name)),
  fecha_inicio: isoDateOrNone().describe('Primer ciclo'),
  fecha_caducidad: isoDateOrNone(),
  meses_activos: z
    .array(z.int().min(1).max(12))
    .refine((months) => new Set(months).size === months.length, 'hay meses repetidos')
    .describe('Vacío: todos'),
  dia_ancla: z
    .union([z.literal(''), z.int().min(1).max(31)], { error: () => 'se esperaba un día del 1 al 31' })
    .describe('Día del mes al que volver'),
};

const schedule = z.object(scheduleFields).partial();

/** Its columns; what was not sent is undefined. */
export const scheduleColumns = (sent: z.output<typeof schedule>) => ({
  periodicity: PERIODICITIES.find((periodicity) => CYCLES[periodicity].name === sent.periodicidad),
  start_date: orNull(sent.fecha_inicio),
  end_date: orNull(sent.fecha_caducidad),
  active_months: sent.meses_activos?.length === 0 ? null : sent.meses_activos,
  anchor_day: sent.dia_ancla === '' ? null : sent.dia_ancla,
});

/** 400 for a service that would expire before it starts. `of`: the input's name of what holds the two dates. */
export function refuseReversed(
  of: string,
  { start_date, end_date }: { start_date?: string | null | undefined; end_date?: string | null | undefined },
): void {
  if (start_date && end_date && end_date < start_date) {
    throw badField(`${of}.fecha_caducidad`, 'no puede ser anterior a fecha_inicio');
  }
}

/** Writes the lines of a recurring service; a price that was not sent is the article's of list 1. */
export const insertRecurringLines = (db: Db, accountId: number, recurringId: number, lines: readonly ResolvedLine[]) =>
  sql`insert into recurring_lines (account_id, recurring_id, position, description, quantity, unit_price, vat, surcharge, exemption, discount,
      product_id, variation_id, format_id, base_quantity, extended_description, project_id)
    select ${accountId}, ${recurringId}, l.position, l.description, l.quantity,
      coalesce(l.unit_price, (p.prices -> '1' ->> 0)::numeric * coalesce(l.factor, 1), 0), l.vat, l.surcharge, l.exemption, l.discount,
      l.product_id, l.variation_id, l.format_id, l.base_quantity, l.extended_description, l.project_id
    from ${lineRows(lines)} left join products p on p.account_id = ${accountId} and p.id = l.product_id
    order by l.position
    returning id`.execute(db);
