// Purchase documents with their lines, and the fiscal subtypes of expenses.
import { defineEntity, p } from '@mikro-orm/postgresql';
import {
  alphabetical,
  annulment,
  bigint,
  date,
  decimal,
  indexOn,
  isolated,
  line,
  record,
  uniqueRef,
} from './columns.ts';

export const PurchaseDeliveryNote = defineEntity({
  name: 'PurchaseDeliveryNote',
  tableName: 'purchase_delivery_notes',
  ...isolated,
  indexes: [
    uniqueRef('purchase_delivery_notes'),
    indexOn('purchase_delivery_notes', 'date', 'date desc, id desc'),
    indexOn('purchase_delivery_notes', 'supplier', 'supplier_id, date desc, id desc'),
    indexOn('purchase_delivery_notes', 'project', 'project_id, date', 'project_id is not null'),
  ],
  properties: {
    ...record('purchase_delivery_notes'),
    number: p.text().nullable(),
    date: date(),
    supplierId: bigint(),
    projectId: bigint().nullable(),
    ...annulment(),
  },
});

export const PurchaseDeliveryNoteLine = defineEntity({
  name: 'PurchaseDeliveryNoteLine',
  tableName: 'purchase_delivery_note_lines',
  ...isolated,
  indexes: [
    uniqueRef('purchase_delivery_note_lines', 'purchase_delivery_note_id'),
    indexOn('purchase_delivery_note_lines', 'note', 'purchase_delivery_note_id, position'),
    indexOn('purchase_delivery_note_lines', 'project', 'project_id', 'project_id is not null'),
  ],
  properties: { ...line('purchase_delivery_note_lines'), purchaseDeliveryNoteId: bigint() },
});

export const ExpenseSubtype = defineEntity({
  name: 'ExpenseSubtype',
  tableName: 'expense_subtypes',
  ...isolated,
  indexes: [uniqueRef('expense_subtypes')],
  uniques: [{ name: 'expense_subtypes_code', properties: ['accountId', 'code'] }],
  properties: { ...record('expense_subtypes'), code: p.text(), title: alphabetical() },
});

/** `subtype` is a code; an ExpenseSubtype may give it a title. */
export const PurchaseInvoice = defineEntity({
  name: 'PurchaseInvoice',
  tableName: 'purchase_invoices',
  ...isolated,
  indexes: [
    uniqueRef('purchase_invoices'),
    indexOn('purchase_invoices', 'date', 'date desc, id desc'),
    indexOn('purchase_invoices', 'supplier', 'supplier_id, date desc, id desc'),
    indexOn('purchase_invoices', 'subtype', 'subtype, date desc, id desc'),
    indexOn('purchase_invoices', 'project', 'project_id, date', 'project_id is not null'),
  ],
  properties: {
    ...record('purchase_invoices'),
    number: p.text(),
    date: date(),
    supplierId: bigint(),
    projectId: bigint().nullable(),
    subtype: p.text().nullable(),
    paid: decimal().default(0),
    ...annulment(),
  },
});

/** A line with `fromDeliveryNote` already counts as a purchase through its delivery note (PRJ-01). */
export const PurchaseInvoiceLine = defineEntity({
  name: 'PurchaseInvoiceLine',
  tableName: 'purchase_invoice_lines',
  ...isolated,
  indexes: [
    uniqueRef('purchase_invoice_lines', 'purchase_invoice_id'),
    indexOn('purchase_invoice_lines', 'invoice', 'purchase_invoice_id, position'),
    indexOn('purchase_invoice_lines', 'project', 'project_id', 'project_id is not null'),
    indexOn('purchase_invoice_lines', 'note', 'purchase_delivery_note_id', 'purchase_delivery_note_id is not null'),
  ],
  properties: {
    ...line('purchase_invoice_lines'),
    purchaseInvoiceId: bigint(),
    fromDeliveryNote: p.boolean().default(false),
    purchaseDeliveryNoteId: bigint().nullable(),
  },
});

export const PurchaseInvoiceDueDate = defineEntity({
  name: 'PurchaseInvoiceDueDate',
  tableName: 'purchase_invoice_due_dates',
  ...isolated,
  indexes: [
    indexOn('purchase_invoice_due_dates', 'invoice', 'purchase_invoice_id, position'),
    indexOn('purchase_invoice_due_dates', 'date', 'date, id'),
  ],
  properties: {
    ...record('purchase_invoice_due_dates'),
    purchaseInvoiceId: bigint(),
    position: p.integer(),
    date: date(),
    amount: decimal(),
    paid: decimal().default(0),
  },
});
