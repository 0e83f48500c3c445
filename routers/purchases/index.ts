import { createSupplier } from './create-supplier.ts';
import { getSupplier } from './get-supplier.ts';
import { listPurchaseDeliveryNotes } from './list-purchase-delivery-notes.ts';
import { listPurchaseInvoices } from './list-purchase-invoices.ts';
import { listSuppliers } from './list-suppliers.ts';
import { reportPurchases } from './report-purchases.ts';
import { updateSupplier } from './update-supplier.ts';

export const purchases = {
  suppliers: { list: listSuppliers, get: getSupplier, create: createSupplier, update: updateSupplier },
  purchaseInvoices: { list: listPurchaseInvoices },
  purchaseDeliveryNotes: { list: listPurchaseDeliveryNotes },
  purchasesReport: { get: reportPurchases },
};
