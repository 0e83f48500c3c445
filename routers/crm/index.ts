import { closeOpportunity } from './close-opportunity.ts';
import { createOpportunity } from './create-opportunity.ts';
import { listFunnels } from './list-funnels.ts';
import { listLossReasons } from './list-loss-reasons.ts';

export const crm = {
  funnels: { list: listFunnels },
  opportunities: { create: createOpportunity, close: closeOpportunity },
  lossReasons: { list: listLossReasons },
};
