// Purchase delivery notes and invoices, and the fiscal subtypes of expenses.
import { collection } from '../collection.ts';
import { date, decimalOr, flag, optionalReference, optionalText, reference, text } from '../fields.ts';
import { annulment, annulmentSaysWhy, dueDates, lines, paidAddsUp } from './lines.ts';
import { suppliers } from './parties.ts';
import { projects } from './projects.ts';

export const purchaseDeliveryNotes = collection(
  'albaranes_compra',
  'purchase_delivery_notes',
  {
    numero: optionalText('number'),
    fecha: date('date'),
    proveedor: reference(suppliers, 'supplier_id'),
    proyecto: optionalReference(projects, 'project_id'),
    ...annulment,
  },
  {
    children: { lineas: lines('purchase_delivery_note_lines', 'purchase_delivery_note_id', {}) },
    check: annulmentSaysWhy,
  },
);

export const expenseSubtypes = collection(
  'subtipos_gasto',
  'expense_subtypes',
  { subtipo: text('code'), titulo: text('title') },
  { key: 'subtipo' },
);

export const purchaseInvoices = collection(
  'facturas_compra',
  'purchase_invoices',
  {
    numero: text('number'),
    fecha: date('date'),
    proveedor: reference(suppliers, 'supplier_id'),
    proyecto: optionalReference(projects, 'project_id'),
    subtipo: optionalText('subtype'),
    pagado: decimalOr('paid', 0),
    ...annulment,
  },
  {
    children: {
      lineas: lines('purchase_invoice_lines', 'purchase_invoice_id', {
        proviene_albaranes: flag('from_delivery_note', false),
        albaran_compra: optionalReference(purchaseDeliveryNotes, 'purchase_delivery_note_id'),
      }),
      vencimientos: dueDates('purchase_invoice_due_dates', 'purchase_invoice_id', 'purchase_invoice_lines', 'pagado'),
    },
    check(record, wrong) {
      paidAddsUp(record.pagado, record.vencimientos, wrong);
      annulmentSaysWhy(record, wrong);
    },
  },
);
