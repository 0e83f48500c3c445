import { sql } from 'kysely';
import { z } from 'zod';
import { INVOICE_TYPE } from '../../documents/sealed-content.ts';
import { RECTIFICATION_TYPES } from '../../entities/values.ts';
import { MAX_LINE, MAX_SUM } from '../../platform/amounts.ts';
import type { Db } from '../../platform/database.ts';
import { badField, badInput, type FieldProblem, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { touch } from '../shared/changes.ts';
import { reason } from '../shared/documents/annulment.ts';
import { nextNumber } from '../shared/documents/document-number.ts';
import { addToProjects, numberedSearch } from '../shared/documents/insert-document.ts';
import { settle } from '../shared/documents/settlement.ts';
import { id, sealedId } from '../shared/id.ts';
import { decimalInput } from '../shared/schemas.ts';
import { invoiceAmounts } from './invoice.ts';

const rectifiedLine = z.object({
  lineaId: id('invoiceLine').describe('De obtener_factura'),
  cantidad: decimalInput()
    .refine((cantidad) => cantidad !== 0, 'no puede ser 0')
    .describe('Con el signo de la línea; como mucho lo que queda'),
});

/**
 * Rectifies an invoice, whole or by lines, by an invoice of today in the series R of the year: its lines are those of the original with
 * negative quantities, in all never more than was invoiced. It undoes the sale of lines that delivery notes brought too, unless it frees
 * these notes: then they are to be invoiced again, and go on counting themselves. As much is kept back of it. DLV-02, W-02, W-04
 */
export const rectifyInvoice = operation({
  title: 'Rectificar factura',
  description: 'Emite la rectificativa de una factura, entera o por líneas. facturaId: de consultar_facturas.',
  rest: ['POST /invoices/{facturaId}/rectify'],
  alias: 'rectificarFactura',
  scope: 'svc.write',
  input: {
    facturaId: id('invoice').describe('La factura'),
    motivo: reason(),
    tipo: z.enum(RECTIFICATION_TYPES).optional().describe('Si falta, R1; R5 si es simplificada'),
    lineas: z.array(rectifiedLine).min(1).max(1000).optional().describe('Si faltan, todo lo que queda'),
    devolver_stock: z.boolean().default(false).describe('La mercancía vuelve'),
    liberar_albaranes: z.boolean().default(false).describe('Sus albaranes quedan por facturar'),
    compensar: z.boolean().default(true).describe('Contra lo pendiente de la factura'),
  },
  output: sealedId('invoice').meta({ example: 'k7Rw0bT4cX1n8mQ6vLs2dEg' }),
  async handler({ input, db, accountId, today, now, newId, beforeCommit, journal, seal }) {
    const { facturaId, motivo, devolver_stock, liberar_albaranes, compensar } = input;
    const [id, { original, lines }] = await Promise.all([
      newId('invoice'),
      lockInvoice(db, accountId, facturaId, input.lineas),
    ]);
    if (original.annulled) throw badField('facturaId', 'está anulada');
    if (original.rectifying) throw badField('facturaId', 'es rectificativa');
    const chosen = chosenOf(lines, input.lineas);
    const released = liberar_albaranes ? releasedNotes(lines, chosen) : [];
    const date = today.toString();
    const tipo = typeOf(original, input.tipo);
    const amounts = amountsOf(accountId, id, original);
    const ofReleased = sql`coalesce(l.delivery_note_id = any(${released}::bigint[]), false)`;

    // The counter, then stock, then projects, as invoices do.
    const { taken, numbered } = nextNumber(db, accountId, 'rectification', today);
    const [, , , , , , , returned, , , { rows: sums }, { rows: offsets }] = await Promise.all([
      // Those that are freed, in the order of their ids, as where they are invoiced.
      released.length > 0 &&
        sql`select id from delivery_notes where account_id = ${accountId} and id = any(${released}::bigint[]) order by id
          for no key update`.execute(db),
      released.length > 0 && touch(db, 'delivery_notes', { accountId, ids: released, now }),
      touch(db, 'invoices', { accountId, ids: [facturaId], now }),
      taken,
      sql`insert into invoices (account_id, id, number, date, concept, client_id, project_id, search, party,
          rectified_invoice_id, rectification_reason, rectification_type, withholding)
        select ${accountId}, ${id}, number, ${date}::date, o.concept, o.client_id, o.project_id,
          ${numberedSearch(original.concept)}, o.party, o.id, ${motivo}, ${tipo}, o.withholding
        from ${numbered}, (select i.id, i.concept, i.client_id, i.project_id, i.party, i.withholding from invoices i
          where i.account_id = ${accountId} and i.id = ${facturaId}) o
        returning id`.execute(db),
      sql`insert into invoice_lines (account_id, invoice_id, position, description, quantity, unit_price, discount, vat, surcharge,
          exemption, product_id, variation_id, format_id, base_quantity, extended_description, start_date, end_date, project_id, from_delivery_note,
          delivery_note_id, note_released, rectified_position)
        select ${accountId}, ${id}::bigint, row_number() over (order by l.position), l.description, -s.quantity, l.unit_price,
          l.discount, l.vat, l.surcharge, l.exemption, l.product_id, l.variation_id, l.format_id, s.base, l.extended_description, l.start_date, l.end_date,
          l.project_id, l.from_delivery_note and ${ofReleased}, case when ${ofReleased} then l.delivery_note_id end, ${ofReleased},
          l.position
        from unnest(${chosen.map(({ position }) => position)}::int[], ${chosen.map(({ asked }) => asked)}::numeric[],
          ${chosen.map(({ base }) => base)}::numeric[]) as s (position, quantity, base)
        join invoice_lines l on l.account_id = ${accountId} and l.invoice_id = ${facturaId} and l.position = s.position
        order by l.position
        returning id`.execute(db),
      released.length > 0 &&
        sql`update invoice_lines l set note_released = true, version = version + 1, updated_at = ${now.toString()}
          where l.account_id = ${accountId} and l.invoice_id = ${facturaId} and ${ofReleased}`.execute(db),
      devolver_stock && returnGoods(db, { accountId, id, facturaId, now }),
      addToProjects(db, { accountId, id, table: 'invoices' }),
      // An import may write what is paid without the invoice's lock.
      sql`select id from invoice_due_dates where account_id = ${accountId} and invoice_id = ${facturaId} order by id
        for no key update`.execute(db),
      sql<{ payable: string; within: boolean }>`
        select a.payable::text as payable, greatest(abs(a.base), abs(a.total), abs(a.payable)) <= ${MAX_SUM} and not exists (
            select from invoice_lines l where l.account_id = ${accountId} and l.invoice_id = ${id} and abs(l.amount) > ${MAX_LINE}
          ) as within
        from ${amounts} a`.execute(db),
      offsetsOf(db, accountId, facturaId, amounts),
    ]);
    const [sum] = sums;
    if (!sum) throw new Error('A rectifying invoice was not written');
    if (!sum.within) throw badField('lineas', 'suman más de lo que una factura puede sumar');
    beforeCommit(
      sql`insert into invoice_due_dates (account_id, invoice_id, position, date, amount)
        values (${accountId}, ${id}, 1, ${date}::date, ${sum.payable}::numeric)`.execute(db),
    );
    const [first] = offsets;
    if (compensar && first) {
      const settled = { accountId, kind: 'dueDate', date, now } as const;
      beforeCommit(settle(db, { ...settled, invoiceId: facturaId, amounts: offsets }));
      beforeCommit(settle(db, { ...settled, invoiceId: id, amounts: [{ position: 1, amount: first.in_all }] }));
    }
    journal('create', 'invoice', id);
    seal({ table: 'invoices', id, action: 'issue' });
    seal({
      table: 'invoices',
      id: facturaId,
      action: 'rectify',
      reason: motivo,
      related: { table: 'invoices', id },
    });
    journal('modify', 'invoice', facturaId);
    journal('modify', 'deliveryNote', released);
    journal('modify', 'product', returned || []);
    return id;
  },
});

interface OriginalRow {
  concept: string;
  annulled: boolean;
  rectifying: boolean;
  /** As `INVOICE_TYPES`. */
  type: string;
  withholding: string | null;
}

/** What an invoice `id` that rectifies the original amounts to: as much is kept back of it. */
const amountsOf = (accountId: number, id: number, { withholding }: OriginalRow) =>
  invoiceAmounts(accountId, sql<number>`${id}::bigint`, sql`${withholding}::numeric`);

/** R5 rectifies a simplified invoice, and nothing else does. */
function typeOf({ type }: OriginalRow, asked: (typeof RECTIFICATION_TYPES)[number] | undefined) {
  const simplified = type === 'F2';
  if (asked !== undefined && simplified !== (asked === 'R5')) {
    throw badField('tipo', simplified ? 'de una factura simplificada es R5' : 'R5 es de una factura simplificada');
  }
  return asked ?? (simplified ? 'R5' : 'R1');
}

/** A line of the original. Quantities are exact decimals. */
interface LineRow {
  id: number;
  position: number;
  note: number | null;
  /** What is left to rectify. */
  left: string;
  /** What is to be rectified now, and its weight; null where the line is not asked for. */
  asked: string | null;
  base: string | null;
  fits: boolean;
  /** All of the line, of which nothing was rectified before. */
  whole: boolean;
}

type Asked = readonly { lineaId: number; cantidad: number }[];

/** Locks an invoice: settlements and other rectifications of it wait. Its lines, with what earlier rectifications left of them. W-04 */
async function lockInvoice(db: Db, accountId: number, invoiceId: number, asked: Asked | undefined) {
  const named = sql`i.account_id = ${accountId} and i.id = ${invoiceId}`;
  // Left out: all that is left of every line.
  const wanted = asked
    ? sql`(select sum(w.quantity) from unnest(${asked.map(({ lineaId }) => lineaId)}::bigint[],
        ${asked.map(({ cantidad }) => cantidad)}::numeric[]) as w (id, quantity) where w.id = l.id)`
    : sql`nullif(l.quantity - r.quantity, 0)`;
  const [, { rows: originals }, { rows: lines }] = await Promise.all([
    sql`select i.id from invoices i where ${named} for no key update`.execute(db),
    // Later statements, since they see what was committed while the first one waited.
    sql<OriginalRow>`select d.concept, d.annulled_at is not null as annulled, d.rectified_invoice_id is not null as rectifying,
        ${INVOICE_TYPE} as type, d.withholding::text as withholding
      from invoices d where d.account_id = ${accountId} and d.id = ${invoiceId}`.execute(db),
    sql<LineRow>`
      with rectified as (
        select b.rectified_position as position, -sum(b.quantity) as quantity, sum(b.base_quantity) as base
        from invoices k join invoice_lines b on b.account_id = ${accountId} and b.invoice_id = k.id
        where k.account_id = ${accountId} and k.rectified_invoice_id = ${invoiceId} and k.annulled_at is null
        group by b.rectified_position),
      line as (
        select l.id, l.position, l.delivery_note_id as note, l.quantity, l.quantity - r.quantity as left, l.base_quantity,
          l.base_quantity - r.base as base_left, ${wanted} as asked
        from invoice_lines l
        cross join lateral (select coalesce(sum(d.quantity), 0) as quantity, coalesce(sum(d.base), 0) as base
          from rectified d where d.position = l.position) r
        where l.account_id = ${accountId} and l.invoice_id = ${invoiceId})
      select id, position, note, trim_scale("left")::text as left, asked::text as asked,
        (case when asked = "left" then base_left else round(base_quantity * asked / quantity, 6) end)::text as base,
        sign(asked) = sign("left") and abs(asked) <= abs("left") as fits, asked = quantity as whole
      from line order by position`.execute(db),
  ]);
  const [original] = originals;
  if (!original) throw notFound('facturaId');
  return { original, lines };
}

type ChosenRow = LineRow & { asked: string };

/** The lines to be rectified. 400 for one that is not of the invoice, is named twice, or has less left. */
function chosenOf(lines: readonly LineRow[], asked: Asked | undefined): ChosenRow[] {
  const byId = new Map(lines.map((line) => [line.id, line]));
  const problems = (asked ?? []).flatMap(({ lineaId }, index): FieldProblem[] => {
    const line = byId.get(lineaId);
    const problem = (field: string, mensaje: string) => [{ campo: `lineas[${index}].${field}`, mensaje }];
    if (!line) return problem('lineaId', 'no es de esta factura');
    if (asked?.findIndex((one) => one.lineaId === lineaId) !== index) return problem('lineaId', 'está repetida');
    return line.fits ? [] : problem('cantidad', `queda por rectificar ${line.left}`);
  });
  if (problems.length > 0) throw badInput(problems);
  const chosen = lines.filter((line): line is ChosenRow => line.asked !== null);
  if (chosen.length === 0) throw badField('facturaId', 'no queda nada por rectificar');
  return chosen;
}

/** The delivery notes of these lines, to be invoiced again. 400 for a part of one: a note is invoiced whole. */
function releasedNotes(lines: readonly LineRow[], chosen: readonly LineRow[]): number[] {
  const notes = new Set(chosen.flatMap(({ note }) => note ?? []));
  if (lines.some(({ note, whole }) => note !== null && notes.has(note) && !whole)) {
    throw badField('liberar_albaranes', 'un albarán se libera entero: todas sus líneas, sin rectificar antes');
  }
  return [...notes];
}

/** Goods in sale mode come back with the lines that were just written, but for those of freed delivery notes. Answers their articles. DLV-03 */
async function returnGoods(
  db: Db,
  { accountId, id, facturaId, now }: { accountId: number; id: number; facturaId: number; now: Temporal.Instant },
) {
  const units = (factor: string) =>
    sql`coalesce(sign(o.quantity) * o.base_quantity, o.quantity * coalesce(${sql.ref(factor)}, 1))`;
  const [, { rows }] = await Promise.all([
    // The factor is that of the movement which the original line made, or the format's where an import brought the line.
    sql`insert into stock_movements (account_id, product_id, variation_id, moved_at, quantity, factor, invoice_id)
      select ${accountId}, b.product_id, b.variation_id, ${now.toString()}::timestamptz,
        -coalesce(sign(b.quantity) * b.base_quantity, b.quantity * coalesce(b.factor, 1)), b.factor, ${id}::bigint
      from (
        select l.position, l.product_id, l.variation_id, l.quantity, l.base_quantity, coalesce((
            select max(m.factor) from stock_movements m
            where m.account_id = ${accountId} and (m.invoice_id = ${facturaId} or m.delivery_note_id = o.delivery_note_id)
              and m.product_id = o.product_id and m.quantity = -${units('m.factor')}), f.factor) as factor
        from invoice_lines l
        join invoice_lines o on o.account_id = ${accountId} and o.invoice_id = ${facturaId} and o.position = l.rectified_position
        join products p on p.account_id = ${accountId} and p.id = l.product_id and p.mode = 'sale'
        left join product_formats f on f.account_id = ${accountId} and f.id = l.format_id
        where l.account_id = ${accountId} and l.invoice_id = ${id} and not l.note_released) b
      order by b.position
      returning id`.execute(db),
    sql<{ id: number }>`insert into product_stocks as s (account_id, product_id, quantity)
      select ${accountId}, m.product_id, sum(m.quantity) from stock_movements m
      where m.account_id = ${accountId} and m.invoice_id = ${id}
      group by m.product_id order by m.product_id
      on conflict (account_id, product_id) do update
        set quantity = s.quantity + excluded.quantity, version = s.version + 1, updated_at = excluded.updated_at
      returning product_id as id`.execute(db),
  ]);
  return rows.map((product) => product.id);
}

/** How much of each due date of the original its rectifying invoice sets off, in their order; `in_all` is that of the latter. */
const offsetsOf = (db: Db, accountId: number, facturaId: number, amounts: ReturnType<typeof invoiceAmounts>) =>
  sql<{ position: number; amount: string; in_all: string }>`
    select position, amount::text as amount, (-sum(amount) over ())::text as in_all
    from (
      select p.position, sign(t.wanted) * least(p.size, abs(t.wanted) - p.before) as amount
      from (select -a.payable as wanted from ${amounts} a) t
      cross join lateral (
        select v.position, abs(v.amount - v.paid) as size, coalesce(sum(abs(v.amount - v.paid))
            over (order by v.position rows between unbounded preceding and 1 preceding), 0) as before
        from invoice_due_dates v
        where v.account_id = ${accountId} and v.invoice_id = ${facturaId} and sign(v.amount - v.paid) = sign(t.wanted)) p
      where p.before < abs(t.wanted)) s
    order by position`.execute(db);
