import { createRecurring } from './create-recurring.ts';
import { listNewRecurrings } from './list-new-recurrings.ts';
import { listRenewals } from './list-renewals.ts';

export const recurring = { recurrings: { create: createRecurring, listNew: listNewRecurrings, listRenewals } };
