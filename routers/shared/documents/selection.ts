// Which documents a list selects, and what they add up to.
import { type Expression, sql } from 'kysely';
import { containing } from '../../../platform/text.ts';
import { folded } from '../folded.ts';

const CLIENT = { parties: 'clients', party: 'client_id' } as const;
const SUPPLIER = { parties: 'suppliers', party: 'supplier_id' } as const;
/** What is searched of documents that keep it for that, and of those that don't: it is folded for each search. */
const KEPT = [sql`search`];
const NUMBER = folded(sql`number`);

/** Where the lines of documents are, their party, and the texts that they are searched by. */
export const DOCUMENTS = {
  estimates: { lines: 'estimate_lines', parent: 'estimate_id', ...CLIENT, texts: KEPT },
  delivery_notes: {
    lines: 'delivery_note_lines',
    parent: 'delivery_note_id',
    ...CLIENT,
    texts: [NUMBER, folded(sql`concept`)],
  },
  invoices: { lines: 'invoice_lines', parent: 'invoice_id', ...CLIENT, texts: KEPT },
  purchase_delivery_notes: {
    lines: 'purchase_delivery_note_lines',
    parent: 'purchase_delivery_note_id',
    ...SUPPLIER,
    texts: [NUMBER],
  },
  purchase_invoices: {
    lines: 'purchase_invoice_lines',
    parent: 'purchase_invoice_id',
    ...SUPPLIER,
    texts: [NUMBER],
  },
} as const;

type Documents = keyof typeof DOCUMENTS;

/**
 * The documents of a table that a text is found in, by their own texts or their party's: each by an index of its own, which
 * the two conditions in one could not use.
 */
export function foundIn(table: Documents, accountId: number, wanted: string) {
  const { parties, party, texts } = DOCUMENTS[table];
  const pattern = containing(wanted);
  const own = texts.map((text) => sql`${text} like ${pattern}`);
  return sql<number>`(
    select id from ${sql.table(table)} where account_id = ${accountId} and (${sql.join(own, sql` or `)})
    union
    select s.id from ${sql.table(table)} s where s.account_id = ${accountId} and s.${sql.ref(party)} in (
      select id from ${sql.table(parties)} where account_id = ${accountId} and search like ${pattern}))`;
}

/** Whether a document `d` is a project's, or a line of it is. */
export function isOfProject(table: Documents, accountId: number, project: number) {
  const { lines, parent } = DOCUMENTS[table];
  return sql<boolean>`(d.project_id = ${project} or d.id in (
    select ${sql.ref(parent)} from ${sql.table(lines)} where account_id = ${accountId} and project_id = ${project}))`;
}

/** Whether a document `d` counts in sums: one that was annulled is in the list alone. W-02 */
export const counts = sql<boolean>`d.annulled_at is null`.as('counts');

/** The documents that `found` of `wanted` finds. */
export const FOUND = sql<number>`(select id from found)`;

/** For `listOf`: the documents selected, read once for their number and their sums; `found`: what a selection by `FOUND` stands on. */
export const wanted = (selected: Expression<{ id: number; counts: boolean }>, found?: Expression<unknown>) => ({
  before: sql`with ${found ? sql`found as materialized ${found}, ` : sql``}wanted as materialized (${selected})`,
  total: sql`select count(*) from wanted`,
});

/** Those of `wanted` that count. */
export const COUNTED = sql`(select id from wanted where counts)`;

/** One row: what the lines of those that count add up to, without VAT. */
export function baseOf(table: Documents, accountId: number) {
  const { lines, parent } = DOCUMENTS[table];
  return sql<{ base: number }>`select coalesce(sum(l.amount), 0) as base from ${sql.table(lines)} l
    where l.account_id = ${accountId} and l.${sql.ref(parent)} in ${COUNTED}`;
}
