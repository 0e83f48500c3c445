import { listTreasuryAccounts } from './list-treasury-accounts.ts';

export const treasury = {
  treasuryAccounts: { list: listTreasuryAccounts },
};
