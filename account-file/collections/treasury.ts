// Bank and cash accounts with their movements, and when due dates were settled.
import { collection } from '../collection.ts';
import {
  choice,
  date,
  decimal,
  decimalOr,
  optionalReference,
  optionalText,
  product,
  reference,
  text,
  whole,
  wholeNumber,
} from '../fields.ts';
import { purchaseInvoices } from './purchases.ts';
import { invoices } from './sales.ts';

export const treasuryAccounts = collection('cuentas_tesoreria', 'treasury_accounts', {
  titulo: text('title'),
  tipo: choice('kind', { banco: 'bank', caja: 'cash' }),
  iban: optionalText('iban'),
  saldo_inicial: decimalOr('opening_balance', 0),
});

export const treasuryMovements = collection('movimientos_tesoreria', 'treasury_movements', {
  cuenta: reference(treasuryAccounts, 'treasury_account_id'),
  fecha: date('date'),
  concepto: text('concept'),
  importe: decimal('amount'),
});

/** What is paid of a due date stands with it; this says when. */
export const settlements = collection(
  'liquidaciones',
  'settlements',
  {
    factura: optionalReference(invoices, 'invoice_id'),
    factura_compra: optionalReference(purchaseInvoices, 'purchase_invoice_id'),
    vencimiento: whole('position', wholeNumber(1)),
    fecha: date('date'),
    importe: product('amount'),
    movimiento: optionalReference(treasuryMovements, 'treasury_movement_id'),
  },
  {
    check({ factura, factura_compra }, wrong) {
      if ((factura === null) === (factura_compra === null))
        wrong('factura', 'se esperaba o bien factura o bien factura_compra');
    },
  },
);
