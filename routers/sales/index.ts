import { createDeliveryNote } from './create-delivery-note.ts';
import { getEstimate } from './get-estimate.ts';
import { listEstimateAttachments } from './list-estimate-attachments.ts';

export const sales = {
  deliveryNotes: { create: createDeliveryNote },
  estimates: { get: getEstimate, listAttachments: listEstimateAttachments },
};
