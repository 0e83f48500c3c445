import { createDeliveryNote } from './create-delivery-note.ts';

export const sales = { deliveryNotes: { create: createDeliveryNote } };
