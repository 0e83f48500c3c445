// Seals of what may not change any more: a chain a company and a kind of record. platform/seals.ts adds to them.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, indexOn, instant, isolated, stamped } from './columns.ts';

/** The tables of documents that are sealed, in the order in which their chains are locked. DOC-01 */
export const SEALED_TABLES = ['delivery_notes', 'estimates', 'invoices'] as const;
export type SealedTable = (typeof SEALED_TABLES)[number];

/** What a seal is made for. All but the first two are what happened to a document after it was sealed. */
export const SEAL_ACTIONS = ['issue', 'import', 'annul', 'rectify', 'accept', 'reject', 'reopen', 'convert'] as const;
export type SealAction = (typeof SEAL_ACTIONS)[number];

/** How long a chain is, and its last seal. */
export const SealChain = defineEntity({
  name: 'SealChain',
  tableName: 'seal_chains',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    recordTable: p.text().primary(),
    n: bigint().defaultRaw('0'),
    hash: p.text().nullable(),
    ...stamped(),
  },
});

/** One seal: `hash` is the SHA-256 of all the others that matter, `previous` that of the seal before. */
export const Seal = defineEntity({
  name: 'Seal',
  tableName: 'seals',
  ...isolated,
  indexes: [indexOn('seals', 'record', 'record_table, record_id, n')],
  properties: {
    accountId: bigint().primary(),
    recordTable: p.text().primary(),
    n: bigint().primary(),
    recordId: bigint(),
    action: p.text(),
    sealedAt: instant(),
    actor: p.text(),
    door: p.text(),
    operation: p.text(),
    reason: p.text().nullable(),
    relatedTable: p.text().nullable(),
    relatedId: bigint().nullable(),
    related: p.text().nullable(),
    subject: p.text().nullable(),
    content: p.text().nullable(),
    previous: p.text().nullable(),
    hash: p.text(),
    ...stamped(),
  },
});
