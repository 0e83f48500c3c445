import { annulPurchaseDeliveryNote } from './annul-purchase-delivery-note.ts';
import { annulPurchaseInvoice } from './annul-purchase-invoice.ts';
import { createPurchaseDeliveryNote } from './create-purchase-delivery-note.ts';
import { createPurchaseInvoice } from './create-purchase-invoice.ts';
import { createSupplier } from './create-supplier.ts';
import { getPurchaseDeliveryNote } from './get-purchase-delivery-note.ts';
import { getPurchaseInvoice } from './get-purchase-invoice.ts';
import { getSupplier } from './get-supplier.ts';
import { listPurchaseDeliveryNotes } from './list-purchase-delivery-notes.ts';
import { listPurchaseInvoices } from './list-purchase-invoices.ts';
import { listSuppliers } from './list-suppliers.ts';
import { reportPurchases } from './report-purchases.ts';
import { updateSupplier } from './update-supplier.ts';

export const purchases = {
  suppliers: { list: listSuppliers, get: getSupplier, create: createSupplier, update: updateSupplier },
  purchaseInvoices: {
    list: listPurchaseInvoices,
    get: getPurchaseInvoice,
    create: createPurchaseInvoice,
    annul: annulPurchaseInvoice,
  },
  purchaseDeliveryNotes: {
    list: listPurchaseDeliveryNotes,
    get: getPurchaseDeliveryNote,
    create: createPurchaseDeliveryNote,
    annul: annulPurchaseDeliveryNote,
  },
  purchasesReport: { get: reportPurchases },
};
