// Sale documents and recurring services, with their lines.
import { defineEntity, p } from '@mikro-orm/postgresql';
import {
  alphabetical,
  annulment,
  bigint,
  date,
  decimal,
  indexOn,
  instant,
  isolated,
  line,
  record,
  uniqueRef,
} from './columns.ts';
import { ESTIMATE_STATES, EXEMPTIONS, type PARTY_COLUMNS, PERIODICITIES, RECTIFICATION_TYPES } from './values.ts';

const numberedByYear = (table: string) => ({
  name: `${table}_number`,
  expression: `create unique index ${table}_number on ${table} (account_id, extract(year from date), number) where number is not null`,
});

/** Null in documents that an earlier version wrote: they show the client as it is. */
const party = () => p.json<Record<(typeof PARTY_COLUMNS)[number], string>>().nullable();

/** A line of what is sold: it may have an equivalence surcharge beside its VAT (percent), or say why it has neither. */
const saleLine = (table: string) => ({
  ...line(table),
  surcharge: decimal().default(0),
  exemption: p.enum(EXEMPTIONS).columnType('text').nullable(),
});

export const Estimate = defineEntity({
  name: 'Estimate',
  tableName: 'estimates',
  ...isolated,
  indexes: [
    uniqueRef('estimates'),
    numberedByYear('estimates'),
    indexOn('estimates', 'date', 'date desc, id desc'),
    indexOn('estimates', 'client', 'client_id, date desc, id desc'),
  ],
  properties: {
    ...record('estimates'),
    number: p.text().nullable(),
    date: date(),
    concept: p.text().default(''),
    clientId: bigint(),
    party: party(),
    search: p.text(),
    state: p.enum(ESTIMATE_STATES).columnType('text').default('pending'),
    validUntil: date().nullable(),
    remarks: p.text().default(''),
    promoCode: p.text().nullable(),
    projectId: bigint().nullable(),
  },
});

export const EstimateLine = defineEntity({
  name: 'EstimateLine',
  tableName: 'estimate_lines',
  ...isolated,
  indexes: [uniqueRef('estimate_lines', 'estimate_id'), indexOn('estimate_lines', 'estimate', 'estimate_id, position')],
  properties: { ...saleLine('estimate_lines'), estimateId: bigint() },
});

export const Attachment = defineEntity({
  name: 'Attachment',
  tableName: 'attachments',
  ...isolated,
  indexes: [uniqueRef('attachments'), indexOn('attachments', 'estimate', 'estimate_id, uploaded_at, id')],
  properties: {
    ...record('attachments'),
    estimateId: bigint(),
    name: p.text(),
    mimeType: p.text(),
    uploadedAt: instant(),
    content: p.blob(),
  },
});

export const Recurring = defineEntity({
  name: 'Recurring',
  tableName: 'recurrings',
  ...isolated,
  indexes: [
    uniqueRef('recurrings'),
    indexOn('recurrings', 'description', 'description, id'),
    indexOn('recurrings', 'creation', 'created_on, id'),
    indexOn('recurrings', 'client', 'client_id'),
  ],
  properties: {
    ...record('recurrings'),
    description: alphabetical(),
    clientId: bigint(),
    periodicity: p.enum(PERIODICITIES).columnType('text'),
    createdOn: date(),
    startDate: date().nullable(),
    endDate: date().nullable(),
    lastInvoicedOn: date().nullable(),
    activeMonths: p.integer().array().nullable(),
    anchorDay: p.integer().nullable(),
    /** The company's local day on which it was created or imported here. ISS-01 */
    enteredOn: date().defaultRaw('current_date'),
    /** Set while cycles before `lastInvoicedOn` are due: those from this day on that have no delivery note. */
    pendingFrom: date().nullable(),
    /** Cycles that will never be issued. */
    skippedCycles: p.date().array().defaultRaw(`'{}'`),
  },
});

export const RecurringLine = defineEntity({
  name: 'RecurringLine',
  tableName: 'recurring_lines',
  ...isolated,
  indexes: [
    uniqueRef('recurring_lines', 'recurring_id'),
    indexOn('recurring_lines', 'recurring', 'recurring_id, position'),
  ],
  properties: { ...saleLine('recurring_lines'), recurringId: bigint() },
});

export const DeliveryNote = defineEntity({
  name: 'DeliveryNote',
  tableName: 'delivery_notes',
  ...isolated,
  indexes: [
    uniqueRef('delivery_notes'),
    numberedByYear('delivery_notes'),
    indexOn('delivery_notes', 'date', 'date desc, id desc'),
    indexOn('delivery_notes', 'client', 'client_id, date desc, id desc'),
    indexOn('delivery_notes', 'project', 'project_id, date', 'project_id is not null'),
    indexOn('delivery_notes', 'recurring', 'recurring_id, date', 'recurring_id is not null'),
    {
      name: 'delivery_notes_issued_cycle',
      expression:
        'create unique index delivery_notes_issued_cycle on delivery_notes (account_id, recurring_id, recurring_cycle) where recurring_cycle is not null and annulled_at is null',
    },
  ],
  properties: {
    ...record('delivery_notes'),
    number: p.text().nullable(),
    date: date(),
    concept: p.text().default(''),
    remarks: p.text().default(''),
    clientId: bigint(),
    party: party(),
    projectId: bigint().nullable(),
    recurringId: bigint().nullable(),
    /** The renewal date that the note was issued for; a cycle has at most one that is not annulled. Imported notes may lack it. */
    recurringCycle: date().nullable(),
    promoCode: p.text().nullable(),
    reviewed: p.boolean().default(true),
    ...annulment(),
  },
});

export const DeliveryNoteLine = defineEntity({
  name: 'DeliveryNoteLine',
  tableName: 'delivery_note_lines',
  ...isolated,
  indexes: [
    uniqueRef('delivery_note_lines', 'delivery_note_id'),
    indexOn('delivery_note_lines', 'delivery_note', 'delivery_note_id, position'),
    indexOn('delivery_note_lines', 'project', 'project_id', 'project_id is not null'),
    indexOn('delivery_note_lines', 'reservation', 'product_id, start_date', 'start_date is not null'),
    indexOn('delivery_note_lines', 'estimate_line', 'estimate_line_id', 'estimate_line_id is not null'),
  ],
  properties: { ...saleLine('delivery_note_lines'), deliveryNoteId: bigint(), estimateLineId: bigint().nullable() },
});

export const Invoice = defineEntity({
  name: 'Invoice',
  tableName: 'invoices',
  ...isolated,
  indexes: [
    uniqueRef('invoices'),
    numberedByYear('invoices'),
    indexOn('invoices', 'date', 'date desc, id desc'),
    indexOn('invoices', 'client', 'client_id, date desc, id desc'),
    indexOn('invoices', 'project', 'project_id, date', 'project_id is not null'),
    indexOn('invoices', 'rectified', 'rectified_invoice_id', 'rectified_invoice_id is not null'),
  ],
  properties: {
    ...record('invoices'),
    number: p.text().nullable(),
    date: date(),
    concept: p.text().default(''),
    remarks: p.text().default(''),
    clientId: bigint(),
    party: party(),
    projectId: bigint().nullable(),
    promoCode: p.text().nullable(),
    search: p.text(),
    /** What it rectifies, and why. */
    rectifiedInvoiceId: bigint().nullable(),
    rectificationReason: p.text().nullable(),
    /** Null in those of before it was stored: R1, or R5 without a tax id. */
    rectificationType: p.enum(RECTIFICATION_TYPES).columnType('text').nullable(),
    /** Percent of income tax that the client keeps back. */
    withholding: decimal().nullable(),
    ...annulment(),
  },
});

/** A line with `fromDeliveryNote` already counts as a sale through its delivery note (PRJ-01). */
export const InvoiceLine = defineEntity({
  name: 'InvoiceLine',
  tableName: 'invoice_lines',
  ...isolated,
  indexes: [
    uniqueRef('invoice_lines', 'invoice_id'),
    indexOn('invoice_lines', 'invoice', 'invoice_id, position'),
    indexOn('invoice_lines', 'project', 'project_id', 'project_id is not null'),
    indexOn('invoice_lines', 'delivery_note', 'delivery_note_id', 'delivery_note_id is not null'),
    indexOn('invoice_lines', 'reservation', 'product_id, start_date', 'start_date is not null'),
    indexOn('invoice_lines', 'estimate_line', 'estimate_line_id', 'estimate_line_id is not null'),
  ],
  properties: {
    ...saleLine('invoice_lines'),
    invoiceId: bigint(),
    fromDeliveryNote: p.boolean().default(false),
    deliveryNoteId: bigint().nullable(),
    /** Of a line that was converted by itself: one that a delivery note brought is its line's. */
    estimateLineId: bigint().nullable(),
    /** The position of the line that it rectifies, in the invoice that its own rectifies. */
    rectifiedPosition: p.integer().nullable(),
    /** The delivery note is to be invoiced again. */
    noteReleased: p.boolean().default(false),
  },
});

export const InvoiceDueDate = defineEntity({
  name: 'InvoiceDueDate',
  tableName: 'invoice_due_dates',
  ...isolated,
  indexes: [
    indexOn('invoice_due_dates', 'invoice', 'invoice_id, position'),
    indexOn('invoice_due_dates', 'date', 'date, id'),
  ],
  properties: {
    ...record('invoice_due_dates'),
    invoiceId: bigint(),
    position: p.integer(),
    date: date(),
    amount: decimal(),
    paid: decimal().default(0),
  },
});
