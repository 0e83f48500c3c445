// Seals of what may not change any more: a chain a company and a kind of record. platform/seals.ts adds to them.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, indexOn, instant, isolated, stamped } from './columns.ts';

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

/** One seal. `hash` is made over the rest and `previous`, the hash of the seal before. */
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
    /** The document that the action made. */
    relatedTable: p.text().nullable(),
    relatedId: bigint().nullable(),
    /** The seal of what the document said when something happened to it; null where this is that seal. */
    subject: p.text().nullable(),
    /** Canonical JSON: what the document says, or what is to be known of what happened. Null once a person was removed from it. */
    content: p.text().nullable(),
    contentHash: p.text(),
    previous: p.text().nullable(),
    hash: p.text(),
    ...stamped(),
  },
});
