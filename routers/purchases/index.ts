import { listPurchaseDeliveryNotes } from './list-purchase-delivery-notes.ts';
import { listPurchaseInvoices } from './list-purchase-invoices.ts';
import { listSuppliers } from './list-suppliers.ts';
import { reportPurchases } from './report-purchases.ts';

export const purchases = {
  suppliers: { list: listSuppliers },
  purchaseInvoices: { list: listPurchaseInvoices },
  purchaseDeliveryNotes: { list: listPurchaseDeliveryNotes },
  purchasesReport: { get: reportPurchases },
};
