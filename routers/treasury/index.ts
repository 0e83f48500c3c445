import { createTreasuryMovement } from './create-treasury-movement.ts';
import { forecastTreasury } from './forecast-treasury.ts';
import { listDueDates } from './list-due-dates.ts';
import { listTreasuryAccounts } from './list-treasury-accounts.ts';
import { listTreasuryMovements } from './list-treasury-movements.ts';

export const treasury = {
  treasuryAccounts: { list: listTreasuryAccounts },
  treasuryMovements: { list: listTreasuryMovements, create: createTreasuryMovement },
  dueDates: { list: listDueDates },
  treasuryForecast: { get: forecastTreasury },
};
