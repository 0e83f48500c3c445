// How documents are written: header, lines, the goods that leave or enter stock with them, and what their projects have sold or bought.
// Every statement is sent at once: the document's id is drawn ahead.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/database.ts';
import { searchable } from '../../../platform/text.ts';
import { nextNumber } from './document-number.ts';
import { partyNow } from './sale-document.ts';
import { lineRows, type PriceSource, type ResolvedLine } from './sale-lines.ts';

const NOT_OF_NOTES = sql`and not l.from_delivery_note`;

const TAXES = sql`, surcharge, exemption`;
const SOLD = sql`${TAXES}, estimate_line_id`;

/**
 * Where lines go, which column names their document, what more they say than lines of purchases, what those that `count` are for their
 * project, and which way goods go.
 */
const PARTS = {
  // Nothing is sold by it.
  estimates: { lines: sql.table('estimate_lines'), parent: sql.ref('estimate_id'), more: TAXES, goods: 0 },
  delivery_notes: {
    lines: sql.table('delivery_note_lines'),
    parent: sql.ref('delivery_note_id'),
    more: SOLD,
    figure: sql.ref('sales'),
    count: sql``,
    goods: -1,
  },
  invoices: {
    lines: sql.table('invoice_lines'),
    parent: sql.ref('invoice_id'),
    more: SOLD,
    figure: sql.ref('sales'),
    count: NOT_OF_NOTES,
    goods: -1,
  },
  purchase_delivery_notes: {
    lines: sql.table('purchase_delivery_note_lines'),
    parent: sql.ref('purchase_delivery_note_id'),
    more: sql``,
    figure: sql.ref('purchases'),
    count: sql``,
    goods: 1,
  },
  // Goods come with a delivery note.
  purchase_invoices: {
    lines: sql.table('purchase_invoice_lines'),
    parent: sql.ref('purchase_invoice_id'),
    more: sql``,
    figure: sql.ref('purchases'),
    count: NOT_OF_NOTES,
    goods: 0,
  },
} as const;

/** The derived column `search` of a document that `numbered` gives its number. */
export const numberedSearch = (concept: string) =>
  sql`concat_ws(e'\n', lower(number), nullif(${searchable(concept)}::text, ''))`;

interface NewLines {
  accountId: number;
  /** The document that the lines belong to, of this table. */
  id: number;
  table: keyof typeof PARTS;
  lines: readonly ResolvedLine[];
  /** Where prices that were not sent come from: the client's list, or for purchases the cost. DLV-08 */
  priceList: PriceSource;
  projectId?: number | null;
  now: Temporal.Instant;
}

/**
 * Writes the lines of the document that was written just before. Goods in sale mode leave stock, below zero too, or enter it;
 * projects have sold or bought that much more. An estimate does neither. DLV-03, DLV-04, DLV-05, DLV-08, PRJ-01
 */
export async function insertLines(db: Db, { accountId, id, table, lines, priceList, projectId, now }: NewLines) {
  const { lines: lineTable, parent, more, goods: direction } = PARTS[table];
  const rows = lineRows(lines);
  const price = priceList === 'cost' ? sql`p.cost` : sql`(p.prices -> ${String(priceList)} ->> 0)::numeric`;
  const document = sql<number>`${id}::bigint`;
  // A price that was not sent is the list's or the cost, per base unit, for as many as the format holds.
  const written =
    sql`insert into ${lineTable} (account_id, ${parent}, position, description, quantity, unit_price, discount,
      vat, product_id, variation_id, format_id, base_quantity, extended_description, start_date, end_date, project_id${more})
    select ${accountId}, ${document}, l.position, l.description, l.quantity,
      coalesce(l.unit_price, ${price} * coalesce(l.factor, 1), 0),
      l.discount, l.vat, l.product_id, l.variation_id, l.format_id, l.base_quantity, l.extended_description,
      l.start_date, l.end_date, coalesce(l.project_id, ${projectId ?? null}::bigint)${more}
    from ${rows} left join products p on p.account_id = ${accountId} and p.id = l.product_id
    order by l.position
    returning id`.execute(db);
  const goods = lines.filter(({ moves_stock }) => moves_stock && direction !== 0);
  const moved = goods.length > 0 && moveStock(db, { accountId, id, table, goods, now });
  // After stock, and in the order of projects: so that no two documents wait for each other in a circle.
  const onProject = projectId != null || lines.some(({ project_id }) => project_id != null);
  const added = onProject && table !== 'estimates' && addToProjects(db, { accountId, id, table });
  await Promise.all([written, moved, added]);
}

/** What the lines of a document count for their projects; with `sign` -1 no longer. PRJ-01 */
export function addToProjects(
  db: Db,
  { accountId, id, table }: Pick<NewLines, 'accountId' | 'id'> & { table: Exclude<keyof typeof PARTS, 'estimates'> },
  sign: 1 | -1 = 1,
) {
  const { lines, parent, figure, count } = PARTS[table];
  return sql`insert into project_totals as t (account_id, project_id, ${figure})
    select ${accountId}, l.project_id, ${sql.lit(sign)} * sum(l.amount) from ${lines} l
    where l.account_id = ${accountId} and l.${parent} = ${id} and l.project_id is not null ${count}
    group by l.project_id order by l.project_id
    on conflict (account_id, project_id) do update
      set ${figure} = t.${figure} + excluded.${figure}, version = t.version + 1, updated_at = excluded.updated_at
    returning project_id`.execute(db);
}

/** Goods leave or enter stock with the lines that were written just before. A movement names its document, that of a delivery note the line too. */
async function moveStock(
  db: Db,
  {
    accountId,
    id,
    table,
    goods,
    now,
  }: Pick<NewLines, 'accountId' | 'id' | 'table' | 'now'> & { goods: readonly ResolvedLine[] },
) {
  const rows = lineRows(goods);
  const quantity = sql`${sql.lit(PARTS[table].goods)} * coalesce(sign(l.quantity) * l.base_quantity, l.quantity * coalesce(l.factor, 1))`;
  const source: Record<'columns' | 'values' | 'line', RawBuilder<unknown>> = table === 'delivery_notes'
    ? {
        columns: sql`delivery_note_id, delivery_note_line_id`,
        values: sql`n.delivery_note_id, n.id`,
        line: sql`join delivery_note_lines n on n.account_id = ${accountId} and n.delivery_note_id = ${id} and n.position = l.position`,
      }
    : { columns: PARTS[table].parent, values: sql`${id}::bigint`, line: sql`` };
  await Promise.all([
    sql`insert into stock_movements (account_id, product_id, variation_id, moved_at, quantity, factor, ${source.columns})
      select ${accountId}, l.product_id, l.variation_id, ${now.toString()}, ${quantity}, l.factor, ${source.values}
      from ${rows} ${source.line}
      order by l.position
      returning id`.execute(db),
    sql`insert into product_stocks as s (account_id, product_id, quantity)
      select ${accountId}, l.product_id, sum(${quantity}) from ${rows} group by l.product_id order by l.product_id
      on conflict (account_id, product_id) do update
        set quantity = s.quantity + excluded.quantity, version = s.version + 1, updated_at = excluded.updated_at
      returning product_id`.execute(db),
  ]);
}

/** The id of a delivery note that is about to be written, where no call draws it (`newId`). */
export async function nextNoteId(db: Db): Promise<number> {
  const next = sql<number>`nextval('delivery_notes_id_seq')`.as('id');
  return (await db.selectNoFrom(next).executeTakeFirstOrThrow()).id;
}

export interface NewDeliveryNote {
  /** Drawn before: no other note has it. */
  id: number;
  accountId: number;
  date: Temporal.PlainDate;
  now: Temporal.Instant;
  clientId: number;
  /** Where prices that were not sent come from. */
  priceList: number;
  concept: string;
  remarks?: string | undefined;
  promoCode?: string | null | undefined;
  /** Of the note, and of its lines that have none of their own. */
  projectId?: number | null;
  /** The recurring it is issued from. */
  recurringId?: number | null;
  /** Which of its renewals it is, `YYYY-MM-DD`. */
  recurringCycle?: string | null;
  lines: readonly ResolvedLine[];
}

/** Writes a reviewed, numbered delivery note; stock follows. DLV-02..06 */
export async function insertDeliveryNote(db: Db, note: NewDeliveryNote): Promise<void> {
  const { id, accountId, date, clientId, concept, remarks, promoCode, projectId, recurringId, recurringCycle } = note;
  // The counter's row is taken first, so that notes of one company follow each other and never meet in a deadlock.
  const { taken, numbered } = nextNumber(db, accountId, 'delivery_note', date);
  await Promise.all([
    taken,
    sql`insert into delivery_notes (account_id, id, number, date, concept, remarks, client_id, project_id, recurring_id,
        recurring_cycle, promo_code, reviewed, party)
      select ${accountId}, ${id}, number, ${date.toString()}::date, ${concept}, ${remarks ?? ''}, ${clientId},
        ${projectId ?? null}::bigint, ${recurringId ?? null}::bigint,
        ${recurringCycle ?? null}::date, ${promoCode || null}, true, ${partyNow}
      from ${numbered} join clients c on c.account_id = ${accountId} and c.id = ${clientId}
      returning id`.execute(db),
    insertLines(db, { ...note, table: 'delivery_notes' }),
  ]);
}
