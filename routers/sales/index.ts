import { createDeliveryNote } from './create-delivery-note.ts';
import { getClient } from './get-client.ts';
import { getEstimate } from './get-estimate.ts';
import { listClients } from './list-clients.ts';
import { listEstimateAttachments } from './list-estimate-attachments.ts';
import { listEstimates } from './list-estimates.ts';
import { reportSales } from './report-sales.ts';

export const sales = {
  clients: { list: listClients, get: getClient },
  estimates: { list: listEstimates, get: getEstimate, listAttachments: listEstimateAttachments },
  salesReport: { get: reportSales },
  deliveryNotes: { create: createDeliveryNote },
};
