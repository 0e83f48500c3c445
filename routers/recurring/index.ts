import { createRecurring } from './create-recurring.ts';
import { getRecurring } from './get-recurring.ts';
import { listNewRecurrings } from './list-new-recurrings.ts';
import { listRecurrings } from './list-recurrings.ts';
import { listRenewals } from './list-renewals.ts';
import { renewRecurring } from './renew-recurring.ts';
import { updateRecurring } from './update-recurring.ts';

export const recurring = {
  recurrings: {
    list: listRecurrings,
    get: getRecurring,
    create: createRecurring,
    update: updateRecurring,
    renew: renewRecurring,
    listNew: listNewRecurrings,
    listRenewals,
  },
};
