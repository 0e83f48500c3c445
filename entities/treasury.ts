// Bank and cash accounts with their movements.
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
