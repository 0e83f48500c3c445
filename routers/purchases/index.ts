import { listPurchaseDeliveryNotes } from './list-purchase-delivery-notes.ts';
import { listPurchaseInvoices } from './list-purchase-invoices.ts';
import { reportPurchases } from './report-purchases.ts';

export const purchases = {
  purchaseInvoices: { list: listPurchaseInvoices },
  purchaseDeliveryNotes: { list: listPurchaseDeliveryNotes },
  purchasesReport: { get: reportPurchases },
};
