import { createTreasuryMovement } from './create-treasury-movement.ts';
import { forecastTreasury } from './forecast-treasury.ts';
import { listDueDates } from './list-due-dates.ts';
import { listTreasuryAccounts } from './list-treasury-accounts.ts';
import { listTreasuryMovements } from './list-treasury-movements.ts';
import { settleDueDate } from './settle-due-date.ts';

export const treasury = {
  treasuryAccounts: { list: listTreasuryAccounts },
  treasuryMovements: { list: listTreasuryMovements, create: createTreasuryMovement },
  dueDates: { list: listDueDates, settle: settleDueDate },
  treasuryForecast: { get: forecastTreasury },
};
