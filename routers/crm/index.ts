import { closeOpportunity } from './close-opportunity.ts';
import { createContact } from './create-contact.ts';
import { createOpportunity } from './create-opportunity.ts';
import { getContact } from './get-contact.ts';
import { getOpportunity } from './get-opportunity.ts';
import { listChannels } from './list-channels.ts';
import { listContacts } from './list-contacts.ts';
import { listFunnels } from './list-funnels.ts';
import { listLossReasons } from './list-loss-reasons.ts';
import { listOpportunities } from './list-opportunities.ts';
import { moveOpportunity } from './move-opportunity.ts';
import { updateContact } from './update-contact.ts';
import { updateOpportunity } from './update-opportunity.ts';

export const crm = {
  funnels: { list: listFunnels },
  channels: { list: listChannels },
  contacts: { list: listContacts, get: getContact, create: createContact, update: updateContact },
  opportunities: {
    list: listOpportunities,
    get: getOpportunity,
    create: createOpportunity,
    update: updateOpportunity,
    move: moveOpportunity,
    close: closeOpportunity,
  },
  lossReasons: { list: listLossReasons },
};
