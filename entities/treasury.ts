// Bank and cash accounts with their movements, and when due dates were settled.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { alphabetical, bigint, date, decimal, indexOn, isolated, record, uniqueRef } from './columns.ts';

export const TreasuryAccount = defineEntity({
  name: 'TreasuryAccount',
  tableName: 'treasury_accounts',
  ...isolated,
  indexes: [uniqueRef('treasury_accounts')],
  properties: {
    ...record('treasury_accounts'),
    title: alphabetical(),
    kind: p.enum(['bank', 'cash'] as const).columnType('text'),
    iban: p.text().nullable(),
    openingBalance: decimal().default(0),
  },
});

export const TreasuryMovement = defineEntity({
  name: 'TreasuryMovement',
  tableName: 'treasury_movements',
  ...isolated,
  indexes: [
    uniqueRef('treasury_movements'),
    indexOn('treasury_movements', 'date', 'date desc, id desc'),
    indexOn('treasury_movements', 'account', 'treasury_account_id, date desc, id desc'),
  ],
  properties: {
    ...record('treasury_movements'),
    treasuryAccountId: bigint(),
    date: date(),
    concept: p.text(),
    amount: decimal(),
  },
});

/** An amount collected or paid of a due date, `position` of its invoice. `treasuryMovementId` is null where no account was named. */
export const Settlement = defineEntity({
  name: 'Settlement',
  tableName: 'settlements',
  ...isolated,
  indexes: [
    uniqueRef('settlements'),
    indexOn('settlements', 'invoice', 'invoice_id', 'invoice_id is not null'),
    indexOn('settlements', 'purchase_invoice', 'purchase_invoice_id', 'purchase_invoice_id is not null'),
  ],
  properties: {
    ...record('settlements'),
    invoiceId: bigint().nullable(),
    purchaseInvoiceId: bigint().nullable(),
    position: p.integer(),
    date: date(),
    amount: decimal(),
    treasuryMovementId: bigint().nullable(),
  },
});
